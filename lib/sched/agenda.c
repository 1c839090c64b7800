/* agenda.c - slots of a device, by time. */
#include "base/ascending.h"
#include "base/extremes.h"
#include "sched/agenda.h"
#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

static size_t n_blocks(const struct agenda *a)
{
	return (a->n + AGENDA_BLOCK - 1) / AGENDA_BLOCK;
}

/* The first slot that ends after `ready`: its block, then where in it. */
static size_t first_after(const struct agenda *a, double ready)
{
	size_t lo = 0, hi = n_blocks(a);

	BISECT(lo, hi, mid, !(a->block[mid].end_s > ready))
	lo *= AGENDA_BLOCK;
	if (lo >= a->n)
		return a->n;
	hi = lo + AGENDA_BLOCK < a->n ? lo + AGENDA_BLOCK : a->n;
	BISECT(lo, hi, mid, !(a->slot[mid].end_s > ready))
	return lo;
}

/* Is there certainly no gap of `cost` in front of any slot of a block?  Half of `cost` leaves room
 * for the rounding of ends and costs. */
static bool is_full(const struct agenda_block *b, double cost)
{
	return b->gap_s < cost / 2 && b->end_s + cost > b->end_s;
}

/* The same of all blocks of a wide one: where half of `cost` is more than rounding at the last end,
 * `cost` is so at all ends before it. */
static bool are_full(const struct agenda_block *b, double cost)
{
	return b->gap_s < cost / 2 && b->end_s + cost / 2 > b->end_s;
}

/* The first of `blocks` blocks, from `block` on, that is not full; all of them are: `blocks`. */
static size_t next_open(const struct agenda *a, size_t block, size_t blocks, double cost)
{
	while (block < blocks) {
		if (block % AGENDA_BLOCK == 0 && are_full(&a->wide[block / AGENDA_BLOCK], cost))
			block += AGENDA_BLOCK;
		else if (is_full(&a->block[block], cost))
			block++;
		else
			return block;
	}
	return blocks;
}

double agenda_earliest_s(const struct agenda *a, double ready, double cost, size_t *at)
{
	size_t i = first_after(a, ready);
	double start = ready;

	while (i < a->n && start + cost > a->slot[i].start_s) {
		start = max2(start, a->slot[i].end_s);
		i++;
		if (i % AGENDA_BLOCK != 0 || i >= a->n ||
		    !is_full(&a->block[i / AGENDA_BLOCK], cost))
			continue;
		i = next_open(a, i / AGENDA_BLOCK, n_blocks(a), cost) * AGENDA_BLOCK;
		i = i < a->n ? i : a->n;
		start = a->slot[i - 1].end_s;
	}
	*at = i;
	return start;
}

/* Find wide blocks again: blocks from `first` on have changed; behind: only by a slot behind all. */
static void find_wide(struct agenda *a, size_t first, bool behind)
{
	size_t blocks = n_blocks(a), n = (blocks + AGENDA_BLOCK - 1) / AGENDA_BLOCK;

	a->wide = mem_grow(a->wide, &a->wide_cap, n, sizeof(*a->wide));
	for (size_t w = first / AGENDA_BLOCK; w < n; w++) {
		size_t begin = w * AGENDA_BLOCK, end = begin + AGENDA_BLOCK;
		size_t i = behind && first > begin ? first : begin;
		double most = i > begin ? a->wide[w].gap_s : 0;

		for (end = end < blocks ? end : blocks; i < end; i++)
			most = max2(most, a->block[i].gap_s);
		a->wide[w] = (struct agenda_block){most, a->block[end - 1].end_s};
	}
}

/* Find blocks again: slots from `at` on have changed; behind: `at` came behind all. */
static void find_blocks(struct agenda *a, size_t at, bool behind)
{
	a->block = mem_grow(a->block, &a->block_cap, n_blocks(a), sizeof(*a->block));
	/* What is behind the last slot changes nothing in front of it. */
	for (size_t i = behind ? at : at / AGENDA_BLOCK * AGENDA_BLOCK; i < a->n;) {
		size_t block = i / AGENDA_BLOCK, end = (block + 1) * AGENDA_BLOCK;
		double most = i % AGENDA_BLOCK ? a->block[block].gap_s : 0;

		for (end = end < a->n ? end : a->n; i < end; i++)
			most = max2(most, a->slot[i].start_s - (i ? a->slot[i - 1].end_s : 0));
		a->block[block] = (struct agenda_block){most, a->slot[i - 1].end_s};
	}
	find_wide(a, at / AGENDA_BLOCK, behind);
}

void agenda_insert(struct agenda *a, size_t at, struct agenda_slot slot)
{
	a->slot = mem_grow(a->slot, &a->cap, a->n + 1, sizeof(*a->slot));
	memmove(a->slot + at + 1, a->slot + at, (a->n - at) * sizeof(*a->slot));
	a->slot[at] = slot;
	a->n++;
	find_blocks(a, at, at + 1 == a->n);
}

void agenda_remove(struct agenda *a, size_t at)
{
	memmove(a->slot + at, a->slot + at + 1, (a->n - at - 1) * sizeof(*a->slot));
	a->n--;
	find_blocks(a, at, false);
}

void agenda_release(struct agenda *a)
{
	mem_free(a->slot);
	mem_free(a->block);
	mem_free(a->wide);
	*a = (struct agenda){0};
}

double agendas_earliest_s(const struct agenda *a, uint32_t k, const uint8_t *turns, uint32_t dev,
			  double ready, double cost, size_t *at)
{
	double start = agenda_earliest_s(&a[dev], ready, cost, at);
	bool later = turns != NULL;

	while (later) {
		double s = start;
		size_t other;

		for (uint32_t i = 0; i < k; i++)
			if (turns[(size_t)dev * k + i])
				s = agenda_earliest_s(&a[i], s, cost, &other);
		later = s > start;
		if (later)
			start = agenda_earliest_s(&a[dev], s, cost, at);
	}
	return start;
}
