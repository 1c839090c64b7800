/* repair_packing.c - all items of a placement packed anew: depth-first, by descending memory. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "place/method/repair_impl.h"

/* Limits: of packings that leave more and more room for what is made; in the last one, of placements
 * evaluated; in each, of items set down. */
enum { PACKINGS = 8, LEAVES = 300, VISITS = 50000, LOOKS = 256 };

/* Bytes of item i where it holds the most. */
static uint64_t most_held(const struct repair *r, uint32_t i)
{
	uint64_t most = 0;

	for (uint32_t d = 0; d < r->m->k; d++)
		most = repair_mem_of(r, i, d) > most ? repair_mem_of(r, i, d) : most;
	return most;
}

struct packed_item {
	uint64_t mem;
	uint32_t item;
};

static int larger_first(const void *pa, const void *pb)
{
	const struct packed_item *a = pa, *b = pb;

	if (a->mem != b->mem)
		return a->mem > b->mem ? -1 : 1;
	return (a->item > b->item) - (a->item < b->item);
}

/* Items in order of descending memory, one a depth of the search; each tries the devices that have
 * room, the cheapest first. */
struct packing {
	struct repair *r;
	struct packed_item *order;   /* (items) */
	struct item_move *candidate; /* (k) scratch */
	uint16_t *dev;               /* (items,k) by depth: devices to try */
	uint16_t *at;                /* (items) by depth: where it is; UINT16_MAX: nowhere */
	uint32_t *n, *next;          /* (items) by depth: how many, which is next */
	double *used;                /* (k) with what is kept free */
	double *free;                /* (k) bytes for what is made while the model runs */
};

static void list_devices(struct packing *p, uint32_t depth)
{
	struct repair *r = p->r;
	uint32_t i = p->order[depth].item, k = r->m->k, n = 0;

	for (uint32_t d = 0; d < k; d++) {
		double s = repair_item_cost_s(r, i, (uint16_t)d);

		if (s < INFINITY &&
		    repair_memory_fits(r, p->used, d, (double)repair_mem_of(r, i, d)))
			p->candidate[n++] = (struct item_move){s, i, (uint16_t)d};
	}
	if (n > 1)
		qsort(p->candidate, n, sizeof(*p->candidate), repair_cheaper_first);
	for (uint32_t j = 0; j < n; j++)
		p->dev[(size_t)depth * k + j] = p->candidate[j].dev;
	p->n[depth] = n;
	p->next[depth] = 0;
}

static void take_out(struct packing *p, uint32_t depth)
{
	uint32_t i = p->order[depth].item;

	if (p->at[depth] == UINT16_MAX)
		return;
	p->used[p->at[depth]] -= (double)repair_mem_of(p->r, i, p->at[depth]);
	p->at[depth] = UINT16_MAX;
	repair_put_item(p->r, i, UINT16_MAX);
}

/* Is the placement that was packed legal?  If not for memory, what is missing will be kept free. */
static bool packed_is_legal(struct packing *p)
{
	struct repair *r = p->r;
	const struct place_model *m = r->m;

	for (uint32_t j = 0; j < r->w->u->n; j++)
		place_unit_set(r->w->u, j, r->on[j], r->device);
	const struct place_result *x = place_evaluate(r->ev, r->device);

	for (uint32_t d = 0; x->status == PLACE_MEMORY && d < m->k; d++)
		if (m->mem_limit[d] && x->mem_bytes[d] > m->mem_limit[d])
			p->free[d] += (double)(x->mem_bytes[d] - m->mem_limit[d]);
	return x->status == PLACE_OK;
}

/* Depth-first search with backtracking, until so many placements were evaluated; its first descent
 * is first-fit decreasing.  False: none was legal, *leaves is how many there were. */
static bool pack(struct packing *p, uint32_t most, uint32_t *leaves)
{
	struct repair *r = p->r;
	uint32_t n = r->n_items, depth = 0, visits = 0, k = r->m->k;

	for (uint32_t i = 0; i < r->w->u->n; i++)
		r->on[i] = UINT16_MAX;
	memset(p->at, 0xff, n * sizeof(*p->at));
	memcpy(p->used, p->free, k * sizeof(*p->used));
	*leaves = 0;
	list_devices(p, 0);
	for (;;) {
		uint32_t i = p->order[depth].item;

		take_out(p, depth);
		if (visits++ > VISITS + n || (visits % LOOKS == 0 && repair_is_late(r)))
			return false;
		if (p->next[depth] == p->n[depth]) {
			if (depth-- == 0)
				return false;
			continue;
		}
		uint16_t dev = p->dev[(size_t)depth * k + p->next[depth]++];

		repair_put_item(r, i, dev);
		p->at[depth] = dev;
		p->used[dev] += (double)repair_mem_of(r, i, dev);
		if (++depth < n) {
			list_devices(p, depth);
			continue;
		}
		if (packed_is_legal(p))
			return true;
		if (++*leaves == most)
			return false;
		depth--;
	}
}

/* Packings of which each keeps free what the last one missed; then one that keeps nothing free, and
 * looks at more placements. */
static bool pack_again(struct packing *p)
{
	uint32_t leaves = 1;

	for (int i = 0; i < PACKINGS && leaves; i++)
		if (pack(p, 1, &leaves))
			return true;
	memset(p->free, 0, p->r->m->k * sizeof(*p->free));
	return pack(p, LEAVES, &leaves);
}

bool repair_pack_items(struct repair *r)
{
	uint32_t n = r->n_items, k = r->m->k;
	struct packing p = {r,
			    MEM_NEWN(struct packed_item, n),
			    MEM_NEWN(struct item_move, k),
			    MEM_NEWN(uint16_t, (size_t)n * k),
			    MEM_NEWN(uint16_t, n),
			    MEM_NEWN(uint32_t, n),
			    MEM_NEWN(uint32_t, n),
			    MEM_NEWN(double, k),
			    MEM_NEWN(double, k)};

	for (uint32_t i = 0; i < n; i++)
		p.order[i] = (struct packed_item){most_held(r, i), i};
	if (n > 1)
		qsort(p.order, n, sizeof(*p.order), larger_first);
	bool packed = n && pack_again(&p);

	for (uint32_t i = 0; i < r->w->u->n; i++)
		if (r->on[i] == UINT16_MAX)
			r->on[i] = 0;
	mem_free(p.free);
	mem_free(p.used);
	mem_free(p.next);
	mem_free(p.n);
	mem_free(p.at);
	mem_free(p.dev);
	mem_free(p.candidate);
	mem_free(p.order);
	return packed;
}
