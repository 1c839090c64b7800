/* reach.h - the graph as the bounds of dnnpart-latency see it: who is before whom, as rows of bits,
 * and what a task costs on a CPU and on the fastest accelerator.
 *
 * The largest of leasts.  These bounds argue thus about a task v on an accelerator.  Take one task
 * q that v reads.  Either q is outside of v's piece, and v waits for it and for its move; or q is
 * inside, and the piece begins at q or before it, at some task e.  The least time over q outside
 * and every e is a lower bound of v's end, whatever the placement is.  That is so for every q that
 * v reads, so the largest of these leasts is a lower bound, too. */
#ifndef HSDAG_PLACE_BOUND_REACH_H
#define HSDAG_PLACE_BOUND_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"

struct bound_view;

/* Rows of bits take memory by the square of the number of tasks. */
enum { REACH_MAX_TASKS = 8192 };

struct reach {
	uint32_t n, words;                           /* tasks; 64-bit words of a row */
	uint32_t *pred_ptr, *pred, *succ_ptr, *succ; /* distinct, ascending */
	uint64_t *before, *behind;                   /* (n,words) with the task itself */
	uint64_t *reads, *read_by;                   /* (n,words) */
	double *cpu_s, *acc_s, *move_s;              /* (n) fastest; INFINITY: cannot run there */
	const uint64_t *mem;                         /* (n) bytes where they are least */
	uint64_t limit;                              /* of the largest accelerator */
	/* Of all accelerators, bytes; INFINITY: one has no limit */
	double room;
};

/* Borrows from v, whose rules are not the schedule's and which has at most REACH_MAX_TASKS tasks;
 * memory from a. */
void reach_init(struct reach *x, const struct bound_view *v, struct arena *a);

static inline bool reach_has(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static inline void reach_set(uint64_t *bits, uint32_t i)
{
	bits[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline uint64_t *reach_row(const struct reach *x, uint64_t *bits, uint32_t t)
{
	return bits + (size_t)t * x->words;
}

#endif
