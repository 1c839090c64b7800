/* memplan.c - greedy offsets for buffers with known lifetimes. */
#include <stdlib.h>
#include <string.h>

#include "sched/memplan.h"

/* Largest first; equal sizes by number, so that the plan is reproducible. */
struct by_size {
	uint64_t bytes;
	uint32_t block;
};

static int size_compare(const void *pa, const void *pb)
{
	const struct by_size *a = pa, *b = pb;

	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return (a->block > b->block) - (a->block < b->block);
}

static uint64_t round_up(uint64_t x, uint64_t align)
{
	return (x + align - 1) & ~(align - 1);
}

/* Blocks that have a place, by the moments at which they are alive: an interval tree (de Berg et al., Computational Geometry, 3rd
 * ed., section 10.1).  Node 1 is all moments, 2i and 2i + 1 the halves of node i; a block is in the first node on the way down whose
 * middle it covers. */
struct alive {
	uint32_t n;     /* moments */
	uint32_t *head; /* (nodes) the first block; NONE */
	uint32_t *next; /* (blocks) */
	uint32_t *held; /* (nodes) blocks in a node and below it */
};

#define NONE UINT32_MAX

static void alive_add(struct alive *t, const struct mem_block *b, uint32_t v)
{
	uint32_t i = 1, lo = 0, hi = t->n - 1;
	for (;;) {
		uint32_t mid = lo + (hi - lo) / 2;
		t->held[i]++;
		if (b[v].last < mid) {
			hi = mid - 1;
			i = 2 * i;
		} else if (b[v].first > mid) {
			lo = mid + 1;
			i = 2 * i + 1;
		} else {
			break;
		}
	}
	t->next[v] = t->head[i];
	t->head[i] = v;
}

/* Those of node i and below, moments lo .. hi, that are alive together with v, to found[n]; how many there are then. */
static uint32_t alive_with(const struct alive *t, const struct mem_block *b, uint32_t v, uint32_t i,
			   uint32_t lo, uint32_t hi, uint32_t *found, uint32_t n)
{
	if (lo > hi || t->held[i] == 0)
		return n;
	uint32_t mid = lo + (hi - lo) / 2;
	for (uint32_t u = t->head[i]; u != NONE; u = t->next[u])
		if (b[u].last >= b[v].first && b[u].first <= b[v].last)
			found[n++] = u;
	if (b[v].first < mid)
		n = alive_with(t, b, v, 2 * i, lo, mid - 1, found, n);
	if (b[v].last > mid)
		n = alive_with(t, b, v, 2 * i + 1, mid + 1, hi, found, n);
	return n;
}

static int offset_compare(const void *pa, const void *pb, void *blocks)
{
	const struct mem_block *b = blocks;
	uint64_t x = b[*(const uint32_t *)pa].offset, y = b[*(const uint32_t *)pb].offset;
	return (x > y) - (x < y);
}

/* The smallest gap, or the end, among blocks found[n] by ascending offset, that holds block v. */
static uint64_t find_place(const struct mem_block *b, const uint32_t *found, uint32_t n, uint32_t v,
			   uint64_t align)
{
	uint64_t end = 0, best = UINT64_MAX, best_gap = UINT64_MAX;
	for (uint32_t i = 0; i < n; i++) {
		const struct mem_block *x = &b[found[i]];
		if (x->offset >= end && x->offset - end >= b[v].bytes &&
		    x->offset - end < best_gap) {
			best = end;
			best_gap = x->offset - end;
		}
		if (round_up(x->offset + x->bytes, align) > end)
			end = round_up(x->offset + x->bytes, align);
	}
	return best == UINT64_MAX ? end : best;
}

/* All blocks that have a place, by ascending offset.  Of few blocks it takes less to read them all than to sort those that are alive
 * together: 2 instead of 60 ms for 2,741. */
enum { FEW_BLOCKS = 8192 };
struct placed {
	uint64_t offset;
	uint32_t first, last, block;
};

static uint32_t placed_with(const struct placed *p, uint32_t n, const struct mem_block *v,
			    uint32_t *found)
{
	uint32_t k = 0;
	for (uint32_t i = 0; i < n; i++) {
		found[k] = p[i].block;
		k += p[i].last >= v->first && p[i].first <= v->last;
	}
	return k;
}

static void placed_add(struct placed *p, uint32_t n, const struct mem_block *b, uint32_t v)
{
	uint32_t lo = 0, hi = n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (p[mid].offset <= b[v].offset)
			lo = mid + 1;
		else
			hi = mid;
	}
	memmove(&p[lo + 1], &p[lo], (n - lo) * sizeof *p);
	p[lo] = (struct placed){b[v].offset, b[v].first, b[v].last, v};
}

uint64_t memplan_offsets(struct mem_block *b, uint32_t n, uint64_t align)
{
	struct by_size *order = MEM_NEWN(struct by_size, n);
	uint32_t *found = MEM_NEWN(uint32_t, (size_t)n + 1), nodes = 1;
	struct placed *placed = n <= FEW_BLOCKS ? MEM_NEWN(struct placed, (size_t)n + 1) : NULL;
	struct alive t = {.n = 1};
	uint64_t extent = 0;

	for (uint32_t i = 0; i < n; i++) {
		order[i] = (struct by_size){b[i].bytes, i};
		t.n = b[i].last >= t.n ? b[i].last + 1 : t.n;
	}
	while (nodes <= t.n)
		nodes *= 2;
	t.head = MEM_NEWN(uint32_t, 2 * (size_t)nodes);
	t.held = MEM_NEWN(uint32_t, 2 * (size_t)nodes);
	t.next = MEM_NEWN(uint32_t, n);
	memset(t.head, 0xff, 2 * (size_t)nodes * sizeof *t.head);
	if (n > 1)
		qsort(order, n, sizeof(*order), size_compare);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = order[i].block;
		uint32_t k = placed ? placed_with(placed, i, &b[v], found)
				    : alive_with(&t, b, v, 1, 0, t.n - 1, found, 0);
		if (!placed && k > 1)
			qsort_r(found, k, sizeof *found, offset_compare, b);
		b[v].offset = find_place(b, found, k, v, align);
		if (placed)
			placed_add(placed, i, b, v);
		else
			alive_add(&t, b, v);
		if (b[v].offset + b[v].bytes > extent)
			extent = b[v].offset + b[v].bytes;
	}
	mem_free(order);
	mem_free(found);
	mem_free(placed);
	mem_free(t.head);
	mem_free(t.held);
	mem_free(t.next);
	return extent;
}
