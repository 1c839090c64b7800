/* memplan.c - greedy offsets for buffers with known lifetimes. */
#include <stdbool.h>
#include <stdlib.h>

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

/* Place block v; placed[n] lists earlier blocks by ascending offset.  Returns
 * the place in the list where v belongs. */
static uint32_t place_block(struct mem_block *b, const uint32_t *placed, uint32_t n, uint32_t v,
			    uint64_t align)
{
	uint64_t end = 0, best = UINT64_MAX, best_gap = UINT64_MAX;
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct mem_block *x = &b[placed[i]];

		if (x->last < b[v].first || x->first > b[v].last)
			continue;
		if (x->offset >= end && x->offset - end >= b[v].bytes &&
		    x->offset - end < best_gap) {
			best = end;
			best_gap = x->offset - end;
		}
		if (round_up(x->offset + x->bytes, align) > end)
			end = round_up(x->offset + x->bytes, align);
	}
	b[v].offset = best == UINT64_MAX ? end : best;
	while (at < n && b[placed[at]].offset <= b[v].offset)
		at++;
	return at;
}

uint64_t memplan_offsets(struct mem_block *b, uint32_t n, uint64_t align)
{
	struct by_size *order = MEM_NEWN(struct by_size, n);
	uint32_t *placed = MEM_NEWN(uint32_t, n);
	uint64_t extent = 0;

	for (uint32_t i = 0; i < n; i++)
		order[i] = (struct by_size){b[i].bytes, i};
	if (n > 1)
		qsort(order, n, sizeof(*order), size_compare);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t v = order[i].block, at = place_block(b, placed, i, v, align);

		for (uint32_t j = i; j > at; j--)
			placed[j] = placed[j - 1];
		placed[at] = v;
		if (b[v].offset + b[v].bytes > extent)
			extent = b[v].offset + b[v].bytes;
	}
	mem_free(order);
	mem_free(placed);
	return extent;
}
