/* ready.h - the ready tasks of each device, best first.
 *
 * By rank: priorities are fixed before a run, so the set is a bitmap over
 * positions in priority order, with a bitmap over its words above it and so on;
 * adding and taking the best are a few bit operations, whatever n.
 * First come, first served: a binary heap by (instant, position). */
#ifndef HSDAG_SCHED_READY_H
#define HSDAG_SCHED_READY_H

#include <string.h>

#include "sched/sched.h"

enum { READY_LEVELS = 6 }; /* 64^6 > 2^32 */

struct ready {
	enum sched_policy policy;
	uint32_t k, n;
	uint32_t *pos;            /* (n) position of a task in priority order */
	uint32_t *task_at;        /* (n) its inverse */
	uint32_t n_levels, words; /* of one device's bitmap */
	uint32_t level_at[READY_LEVELS];
	uint64_t *bits;             /* (k, words) SCHED_RANK */
	uint64_t *heap;             /* (n) SCHED_FIFO: instant << 32 | position */
	uint32_t *heap_at, *heap_n; /* (k) where a device's heap begins, and its size */
};

void ready_init(struct ready *r, uint32_t n, uint32_t k, const double *rank,
		enum sched_policy policy);
void ready_release(struct ready *r);
/* Other ranks, while nothing is ready. */
void ready_rank(struct ready *r, const double *rank);
/* Empty all sets; device (n) says how many tasks each can ever hold. */
void ready_begin(struct ready *r, const uint16_t *device);
void ready_push_fifo(struct ready *r, uint32_t dev, uint32_t pos, uint32_t instant);
uint32_t ready_pop_fifo(struct ready *r, uint32_t dev);

/* The task at position pos is ready. */
static inline void ready_add_at(struct ready *r, uint32_t dev, uint32_t pos, uint32_t instant)
{
	uint64_t *bits = r->bits + (size_t)dev * r->words;

	if (r->policy == SCHED_FIFO) {
		ready_push_fifo(r, dev, pos, instant);
		return;
	}
	for (uint32_t l = 0; l < r->n_levels; l++, pos /= 64) {
		uint64_t *w = bits + r->level_at[l] + pos / 64;
		uint64_t before = *w;

		*w |= UINT64_C(1) << pos % 64;
		if (before)
			return;
	}
}

static inline void ready_add(struct ready *r, uint32_t dev, uint32_t task, uint32_t instant)
{
	ready_add_at(r, dev, r->pos[task], instant);
}

static inline bool ready_any(const struct ready *r, uint32_t dev)
{
	if (r->policy == SCHED_FIFO)
		return r->heap_n[dev] > 0;
	return r->bits[(size_t)dev * r->words + r->level_at[r->n_levels - 1]] != 0;
}

/* The best task's place in the order of all: its position, behind the instant where tasks go first
 * come, first served; there is one. */
static inline uint64_t ready_first_at(const struct ready *r, uint32_t dev)
{
	const uint64_t *bits = r->bits + (size_t)dev * r->words;
	uint32_t bit = 0;

	if (r->policy == SCHED_FIFO)
		return r->heap[r->heap_at[dev]];
	for (uint32_t l = r->n_levels; l-- > 0;)
		bit = bit * 64 + (uint32_t)__builtin_ctzll(bits[r->level_at[l] + bit]);
	return bit;
}

/* The position of the best task, which is taken out; there is one. */
static inline uint32_t ready_take_at(struct ready *r, uint32_t dev)
{
	uint64_t *bits = r->bits + (size_t)dev * r->words;
	uint32_t bit = 0, found;

	if (r->policy == SCHED_FIFO)
		return ready_pop_fifo(r, dev);
	for (uint32_t l = r->n_levels; l-- > 0;)
		bit = bit * 64 + (uint32_t)__builtin_ctzll(bits[r->level_at[l] + bit]);
	found = bit;
	for (uint32_t l = 0; l < r->n_levels; l++, bit /= 64) {
		uint64_t *w = bits + r->level_at[l] + bit / 64;

		*w &= ~(UINT64_C(1) << bit % 64);
		if (*w)
			break;
	}
	return found;
}

/* The best task, taken out; SCHED_NONE when there is none. */
static inline uint32_t ready_take(struct ready *r, uint32_t dev)
{
	return ready_any(r, dev) ? r->task_at[ready_take_at(r, dev)] : SCHED_NONE;
}

#endif
