/* repair_items.c - what moves for memory's sake: units that share large values, as one. */
#include <math.h>
#include <string.h>

#include "base/disjoint.h"
#include "graph/rows.h"
#include "place/method/repair_impl.h"

static uint64_t most_of(const uint64_t *bytes, uint32_t k)
{
	uint64_t most = 0;

	for (uint32_t d = 0; d < k; d++)
		most = bytes[d] > most ? bytes[d] : most;
	return most;
}

/* up (units): roots of classes of units that share values of at least so many bytes. */
static void join_units(const struct repair *r, uint64_t least, uint32_t *up)
{
	const struct place_model *m = r->m;
	const uint32_t *of = r->w->u->of_set;

	for (uint32_t i = 0; i < r->w->u->n; i++)
		up[i] = i;
	for (uint32_t i = 0; i < m->n_shared; i++) {
		const struct shared_weight *x = &m->shared[i];

		if (most_of(x->bytes, m->k) < least)
			continue;
		for (uint32_t j = 1; j < x->n; j++)
			disjoint_join(up, of[m->tasks.task_set[m->weight_task[x->first]]],
				      of[m->tasks.task_set[m->weight_task[x->first + j]]]);
	}
}

/* Bytes of what unit i makes and reads, half of each: a tensor has two ends. */
static double made_by(const struct unit_traffic *w, uint32_t i)
{
	double size = 0;

	for (uint32_t j = w->ptr[i]; j < w->ptr[i + 1]; j++)
		size += 0.5 * (double)w->m->tasks.dag.tensor_bytes[w->exchange[j].tensor];
	return size;
}

/* Sums over the units of an item; what several of them share once, small values included. */
static void sum_items(struct repair *r)
{
	uint32_t k = r->m->k, *last = MEM_NEWN(uint32_t, r->m->n_shared);

	memset(last, 0xff, r->m->n_shared * sizeof(*last));
	memset(r->mem_on, 0, (size_t)r->w->u->n * k * sizeof(*r->mem_on));
	memset(r->makes, 0, r->w->u->n * sizeof(*r->makes));
	for (uint32_t i = 0; i < r->n_items; i++) {
		uint64_t *sum = &r->mem_on[(size_t)i * k];
		bool alone = r->item_ptr[i + 1] - r->item_ptr[i] == 1;

		for (uint32_t j = r->item_ptr[i]; j < r->item_ptr[i + 1]; j++) {
			uint32_t unit = r->item_unit[j];

			r->makes[i] += made_by(r->w, unit);
			for (uint32_t d = 0; d < k; d++)
				sum[d] += r->w->u->mem_on[(size_t)unit * k + d];
			for (uint32_t x = r->held->ptr[unit]; !alone && x < r->held->ptr[unit + 1];
			     x++) {
				uint32_t value = r->held->shared[x];

				for (uint32_t d = 0; last[value] != i && d < k; d++)
					sum[d] += r->m->shared[value].bytes[d];
				last[value] = i;
			}
		}
	}
	mem_free(last);
}

void repair_make_items(struct repair *r, uint64_t least)
{
	uint32_t n = r->w->u->n, *up = MEM_NEWN(uint32_t, n), *number = MEM_NEWN(uint32_t, n);

	join_units(r, least, up);
	r->n_items = 0;
	memset(r->item_ptr, 0, ((size_t)n + 2) * sizeof(*r->item_ptr));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t root = disjoint_find(up, i);

		/* In the order of their first units. */
		number[i] = root < i ? number[root] : r->n_items++;
	}
	rows_sort(number, NULL, ROWS_STEP, n, n, r->item_ptr, r->item_unit);
	sum_items(r);
	mem_free(number);
	mem_free(up);
}

void repair_put_item(struct repair *r, uint32_t i, uint16_t dev)
{
	for (uint32_t j = r->item_ptr[i]; j < r->item_ptr[i + 1]; j++)
		r->on[r->item_unit[j]] = dev;
}

double repair_item_cost_s(struct repair *r, uint32_t i, uint16_t dev)
{
	uint32_t first = r->item_ptr[i], end = r->item_ptr[i + 1];
	double sum = 0;

	if (end - first == 1)
		return unit_traffic_cost_s(r->w, r->item_unit[first], dev, r->on);
	uint16_t *was = MEM_NEWN(uint16_t, end - first);
	for (uint32_t j = first; j < end; j++)
		was[j - first] = r->on[r->item_unit[j]];
	repair_put_item(r, i, dev);
	for (uint32_t j = first; j < end && sum < INFINITY; j++)
		sum += unit_traffic_cost_s(r->w, r->item_unit[j], dev, r->on);
	for (uint32_t j = first; j < end; j++)
		r->on[r->item_unit[j]] = was[j - first];
	mem_free(was);
	return sum;
}

/* Values of less than this part of the smallest limit may be on several devices without harm. */
enum { SMALL_VALUE = 1000 };

uint64_t repair_large_value(const struct place_model *m, uint64_t *largest)
{
	uint64_t least = UINT64_MAX;

	*largest = 0;
	for (uint32_t i = 0; i < m->n_shared; i++) {
		uint64_t bytes = most_of(m->shared[i].bytes, m->k);

		*largest = bytes > *largest ? bytes : *largest;
	}
	for (uint32_t d = 0; d < m->k; d++)
		if (m->mem_limit[d] && m->mem_limit[d] / SMALL_VALUE < least)
			least = m->mem_limit[d] / SMALL_VALUE + 1;
	return least;
}

int repair_cheaper_first(const void *pa, const void *pb)
{
	const struct item_move *a = pa, *b = pb;

	if (a->price != b->price)
		return a->price < b->price ? -1 : 1;
	if (a->item != b->item)
		return a->item < b->item ? -1 : 1;
	return (a->dev > b->dev) - (a->dev < b->dev);
}

/* Bytes by which the pool of dev has too much with so many more; 0: none, or it is in no pool. */
static double pool_over(const struct repair *r, const double *used, uint32_t dev, double more)
{
	const struct place_pools *p = &r->m->pools;
	double sum = more;

	if (p->n == 0 || p->of[dev] == p->n || !p->pool[p->of[dev]].mem_limit)
		return 0;
	for (uint32_t d = 0; d < r->m->k; d++)
		sum += p->of[d] == p->of[dev] ? used[d] : 0;
	return fmax(0, sum - (double)p->pool[p->of[dev]].mem_limit);
}

bool repair_memory_fits(const struct repair *r, const double *used, uint32_t dev, double size)
{
	return (!r->m->mem_limit[dev] || used[dev] + size <= (double)r->m->mem_limit[dev]) &&
	       pool_over(r, used, dev, size) == 0;
}

bool repair_is_over(const struct repair *r, const double *used, uint32_t dev)
{
	return (r->m->mem_limit[dev] && used[dev] > (double)r->m->mem_limit[dev]) ||
	       pool_over(r, used, dev, 0) > 0;
}

uint64_t repair_mem_of(const struct repair *r, uint32_t i, uint32_t dev)
{
	return r->mem_on[(size_t)i * r->m->k + dev];
}
