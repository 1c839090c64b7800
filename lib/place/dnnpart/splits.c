/* splits.c - items, what they cost on each class of devices, and the values between them. */
#include <math.h>
#include <string.h>

#include "place/simulate/dnnpart.h"
#include "place/dnnpart/splits_impl.h"

static const double NO_WAY_S = 1e30; /* finite: sums of it can be taken back */

/* Does a copy to another device occupy d? */
static bool copies_hold(const struct place_model *m, uint32_t d)
{
	bool any = false;

	for (uint32_t o = 0; o < m->k; o++)
		any |= o != d && sched_copy_holds(&m->costs, d, o, COPY_HOLDS_SRC);
	return any;
}

static bool find_classes(struct splits *p)
{
	const struct place_units *u = p->u;
	const struct place_model *m = u->m;
	uint32_t *class = MEM_NEWN(uint32_t, m->k), c = 0;

	for (uint32_t d = 0; d < m->k && c <= MAX_CLASSES; d++) {
		if (u->equivalent[d] < d) {
			p->size[class[u->equivalent[d]]]++;
			continue;
		}
		class[d] = c;
		if (c < MAX_CLASSES) {
			p->first[c] = d;
			p->size[c] = 1;
			p->sum[c] = m->rules == PLACE_SCHEDULE ? copies_hold(m, d)
							       : !dnnpart_is_cpu(m, d);
		}
		c++;
	}
	mem_free(class);
	if (c > MAX_CLASSES)
		return false;
	p->n_classes = c;
	return true;
}

static void sum_items(struct splits *p, struct arena *a)
{
	const struct place_units *u = p->u;
	uint32_t nc = p->n_classes;

	p->cost_s = ARENA_NEWN(a, double, (size_t)p->n *nc);
	p->least_s = ARENA_NEWN(a, double, p->n);
	p->mem = ARENA_NEWN(a, uint64_t, p->n);
	for (uint32_t i = 0; i < u->n; i++) {
		uint32_t x = p->of_unit[i];

		p->least_s[x] += u->least_s[i];
		p->mem[x] += u->mem[i];
		for (uint32_t c = 0; c < nc; c++) {
			double s = u->cost_s[(size_t)i * u->m->k + p->first[c]];

			p->cost_s[(size_t)x * nc + c] += s < 0 ? INFINITY : s;
		}
	}
}

/* The fastest way of `bytes` to (or from) device d. */
static double fastest_copy_s(const struct place_model *m, uint32_t d, bool to, uint64_t bytes)
{
	const struct sched_links *l = &m->costs.links;
	double least = m->k > 1 ? NO_WAY_S : 0;

	for (uint32_t x = 0; x < m->k; x++) {
		uint32_t from = to ? x : d, dst = to ? d : x;

		if (x != d && l->latency_s[(size_t)from * m->k + dst] >= 0)
			least = fmin(least, sched_copy_s(l, from, dst, bytes));
	}
	return least;
}

/* What it takes to move the tensors [t, end) as one value. */
static void price_value(struct splits *p, uint32_t value, uint32_t task, uint32_t t)
{
	const struct place_model *m = p->u->m;

	for (uint32_t c = 0; c < p->n_classes; c++) {
		double *in = &p->in_s[(size_t)value * p->n_classes + c];
		double *out = &p->out_s[(size_t)value * p->n_classes + c];

		if (m->rules == PLACE_SCHEDULE) {
			*in = fastest_copy_s(m, p->first[c], true, m->tasks.dag.tensor_bytes[t]);
			*out = fastest_copy_s(m, p->first[c], false, m->tasks.dag.tensor_bytes[t]);
		} else {
			*in = *out = m->move_s[m->tasks.task_set[task]];
		}
	}
}

/* ---- values: what an item makes and other items read ---- */

/* Of a schedule each tensor is a value, of dnn-partitioning all tensors of a task are one. */
static bool is_value_a_task(const struct splits *p)
{
	return p->u->m->rules != PLACE_SCHEDULE;
}

static uint32_t value_task(const struct splits *p, uint32_t v)
{
	return is_value_a_task(p) ? v : p->u->m->tasks.dag.tensor_task[v];
}

/* Value v of the model gets number[v]; those that item i makes are made_ptr[i] up to
 * made_ptr[i + 1]: a counting sort by maker. */
static void number_values(struct splits *p, uint32_t *number)
{
	uint32_t *next = MEM_NEWN(uint32_t, (size_t)p->n + 1);

	for (uint32_t v = 0; v < p->n_values; v++)
		p->made_ptr[splits_item(p, value_task(p, v)) + 1]++;
	for (uint32_t i = 0; i < p->n; i++) {
		p->made_ptr[i + 1] += p->made_ptr[i];
		next[i] = p->made_ptr[i];
	}
	for (uint32_t v = 0; v < p->n_values; v++) {
		uint32_t task = value_task(p, v), maker = splits_item(p, task);

		number[v] = next[maker]++;
		p->maker[number[v]] = maker;
		price_value(p, number[v], task, v);
	}
	mem_free(next);
}

/* Each pair of a value and another item that reads it, once: counted in n_readers and
 * n_read[item], or, where n_read is NULL, appended to `read` at read_ptr[item], which moves on. */
static void visit_readers(struct splits *p, const uint32_t *number, uint32_t *n_read)
{
	const struct sched_dag *d = &p->u->m->tasks.dag;
	uint32_t *last =
		MEM_NEWN(uint32_t, p->n); /* 1 + the value that an item was last seen with */

	for (uint32_t v = 0; v < p->n_values; v++) {
		uint32_t tensor = is_value_a_task(p) ? d->out_ptr[v] : v;
		uint32_t end = is_value_a_task(p) ? d->out_ptr[v + 1] : v + 1, x = number[v];

		for (uint32_t j = d->use_ptr[tensor]; j < d->use_ptr[end]; j++) {
			uint32_t item = splits_item(p, d->use_task[j]);

			if (item == p->maker[x] || last[item] == v + 1)
				continue;
			last[item] = v + 1;
			if (n_read) {
				p->n_readers[x]++;
				n_read[item]++;
			} else {
				p->read[p->read_ptr[item]++] = x;
			}
		}
	}
	mem_free(last);
}

/* The values that item i reads: read[read_ptr[i]] up to read_ptr[i + 1]. */
static void list_reads(struct splits *p, const uint32_t *number)
{
	uint32_t *n_read = MEM_NEWN(uint32_t, p->n), begin = 0;

	visit_readers(p, number, n_read);
	for (uint32_t i = 0; i < p->n; i++) {
		p->read_ptr[i] = begin;
		begin += n_read[i];
	}
	visit_readers(p, number, NULL);
	/* Each entry now is the end of its item's list, where the next one begins. */
	for (uint32_t i = p->n; i > 0; i--)
		p->read_ptr[i] = p->read_ptr[i - 1];
	p->read_ptr[0] = 0;
	mem_free(n_read);
}

static void find_values(struct splits *p, struct arena *a)
{
	const struct sched_dag *d = &p->u->m->tasks.dag;
	uint32_t n = is_value_a_task(p) ? d->n : d->n_tensors, *number = MEM_NEWN(uint32_t, n);

	p->n_values = n;
	p->made_ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 1);
	p->read_ptr = ARENA_NEWN(a, uint32_t, (size_t)p->n + 1);
	p->read = ARENA_NEWN(a, uint32_t, d->n_uses);
	p->maker = ARENA_NEWN(a, uint32_t, n);
	p->n_readers = ARENA_NEWN(a, uint32_t, n);
	p->in_s = ARENA_NEWN(a, double, (size_t)n * p->n_classes);
	p->out_s = ARENA_NEWN(a, double, (size_t)n * p->n_classes);
	number_values(p, number);
	list_reads(p, number);
	mem_free(number);
}

/* ---- items ---- */

/* Order, costs and values of items as of_unit has them. */
static void describe_items(struct splits *p, struct arena *a)
{
	splits_order(p, a);
	sum_items(p, a);
	find_values(p, a);
}

/* Does everything fit on every device? */
static bool has_room(const struct place_units *u)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < u->n; i++)
		sum += u->mem[i];
	for (uint32_t d = 0; d < u->m->k; d++)
		if (u->m->mem_limit[d] && u->m->mem_limit[d] < sum)
			return false;
	return true;
}

bool splits_init(struct splits *p, const struct place_units *u, struct arena *a)
{
	*p = (struct splits){.u = u, .n = u->n, .of_unit = ARENA_NEWN(a, uint32_t, u->n)};
	for (uint32_t i = 0; i < u->n; i++)
		p->of_unit[i] = i;
	splits_order(p, a);
	for (; p->fold < FOLD_LATER && splits_in_circle(p); splits_order(p, a))
		p->fold++;
	if (!find_classes(p))
		return false;
	describe_items(p, a);
	while (splits_glue(p, has_room(u)))
		describe_items(p, a);
	return true;
}

/* ---- chains ---- */

/* Runs of `order` as items: as many as there are items, or max_items of about equal cost. */
static void cut_runs(struct splits *chain, const struct splits *p, const uint32_t *order,
		     uint32_t max_items)
{
	uint32_t *run = MEM_NEWN(uint32_t, p->n), last = UINT32_MAX;
	double sum = 0, upto = 0;

	for (uint32_t i = 0; i < p->n; i++)
		sum += p->least_s[i];
	chain->n = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t at = p->n <= max_items || !(sum > 0)
				      ? i
				      : (uint32_t)(upto / sum * (max_items - 1));

		chain->n += at != last;
		last = at;
		run[order[i]] = chain->n - 1;
		upto += p->least_s[order[i]];
	}
	for (uint32_t i = 0; i < p->u->n; i++)
		chain->of_unit[i] = run[p->of_unit[i]];
	mem_free(run);
}

void splits_chain(struct splits *chain, const struct splits *p, const uint32_t *order,
		  uint32_t max_items, struct arena *a)
{
	*chain = *p;
	chain->of_unit = ARENA_NEWN(a, uint32_t, p->u->n);
	cut_runs(chain, p, order, max_items);
	chain->succ_ptr = ARENA_NEWN(a, uint32_t, (size_t)chain->n + 1);
	chain->succ = ARENA_NEWN(a, uint32_t, chain->n);
	for (uint32_t i = 0; i + 1 < chain->n; i++) {
		chain->succ_ptr[i + 1] = i + 1;
		chain->succ[i] = i + 1;
	}
	chain->succ_ptr[chain->n] = chain->n ? chain->n - 1 : 0;
	splits_reverse_edges(chain, a);
	sum_items(chain, a);
	find_values(chain, a);
}
