/* agenda.c - slots of a device, by time. */
#include "base/ascending.h"
#include "base/extremes.h"
#include "sched/agenda.h"
#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

/* The first slot that ends after `ready`: its block, then where in it. */
static size_t first_after(const struct agenda *a, double ready)
{
	size_t lo = 0, hi = (a->n + AGENDA_BLOCK - 1) / AGENDA_BLOCK;

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
static bool is_full(const struct agenda *a, size_t block, double cost)
{
	double end = a->block[block].end_s;

	return a->block[block].gap_s < cost / 2 && end + cost > end;
}

double agenda_earliest_s(const struct agenda *a, double ready, double cost, size_t *at)
{
	size_t i = first_after(a, ready);
	double start = ready;

	while (i < a->n && start + cost > a->slot[i].start_s) {
		start = max2(start, a->slot[i].end_s);
		i++;
		if (i % AGENDA_BLOCK != 0 || i >= a->n || !is_full(a, i / AGENDA_BLOCK, cost))
			continue;
		while (i < a->n && is_full(a, i / AGENDA_BLOCK, cost))
			i += AGENDA_BLOCK;
		i = i < a->n ? i : a->n;
		start = a->slot[i - 1].end_s;
	}
	*at = i;
	return start;
}

/* Find the gaps and ends of blocks again: slots from `at` on have changed. */
static void find_blocks(struct agenda *a, size_t at)
{
	size_t blocks = (a->n + AGENDA_BLOCK - 1) / AGENDA_BLOCK;

	a->block = mem_grow(a->block, &a->block_cap, blocks, sizeof(*a->block));
	for (size_t i = at; i < a->n;) {
		size_t block = i / AGENDA_BLOCK, end = (block + 1) * AGENDA_BLOCK;
		double most = i % AGENDA_BLOCK ? a->block[block].gap_s : 0;

		for (end = end < a->n ? end : a->n; i < end; i++)
			most = max2(most, a->slot[i].start_s - (i ? a->slot[i - 1].end_s : 0));
		a->block[block] = (struct agenda_block){most, a->slot[i - 1].end_s};
	}
}

void agenda_insert(struct agenda *a, size_t at, struct agenda_slot slot)
{
	a->slot = mem_grow(a->slot, &a->cap, a->n + 1, sizeof(*a->slot));
	memmove(a->slot + at + 1, a->slot + at, (a->n - at) * sizeof(*a->slot));
	a->slot[at] = slot;
	a->n++;
	/* What is behind the last slot changes nothing in front of it. */
	find_blocks(a, at + 1 == a->n ? at : at / AGENDA_BLOCK * AGENDA_BLOCK);
}

void agenda_remove(struct agenda *a, size_t at)
{
	memmove(a->slot + at, a->slot + at + 1, (a->n - at - 1) * sizeof(*a->slot));
	a->n--;
	find_blocks(a, at / AGENDA_BLOCK * AGENDA_BLOCK);
}

void agenda_release(struct agenda *a)
{
	mem_free(a->slot);
	mem_free(a->block);
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
