/* held_profile.h - the bytes that sets hold on each device all the time: constants as kernels keep
 * them, packed or computed; and what devices need besides while they run. */
#ifndef HSDAG_PROFILE_HELD_PROFILE_H
#define HSDAG_PROFILE_HELD_PROFILE_H

#include <stdint.h>

#include "base/mem.h"
#include "exec/plan.h"
#include "stats/interval.h"

/* As the cost record has it. */
struct held_profile {
	uint64_t *set;   /* (n_sets,k) bytes that a set needs and no other */
	uint64_t *inner; /* (n_sets,k) bytes of tensors inside a set, while it runs */
	/* Pieces that several sets need, once on each device that has one of them. */
	uint32_t n_shared;
	uint64_t *shared;                  /* (n_shared,k) */
	uint32_t *shared_ptr, *shared_set; /* (n_shared+1); sets, ascending in each row */
	uint64_t *work;                    /* (k) scratch of kernels */
};

/* Pieces that have been seen so far. */
struct held_pieces {
	struct held_piece *v;
	size_t n, cap;
	uint32_t times_freed;
};

/* The pieces of a plan on device d, whose groups are parts of sets; step_set (n_steps). */
void held_pieces_add(struct held_pieces *x, struct planner *p, const struct plan *plan, uint32_t d,
		     const uint32_t *step_set);
/* What a plan held is freed: the same key stands for another piece from now on. */
void held_pieces_freed(struct held_pieces *x);
/* What they add up to, of n_sets on k devices, into out's set and shared.  Memory from a; x is empty
 * then. */
void held_pieces_sum(struct held_pieces *x, uint32_t n_sets, uint32_t k, struct arena *a,
		     struct held_profile *out);

/* Column d of out->inner from the same plan: the most that tensors take at a time which only their
 * own set reads, its groups running one after another; what is written over an input takes no more. */
void held_inner(struct planner *p, const struct plan *plan, uint32_t d, const uint32_t *step_set,
		struct held_profile *out);

/* Can what sets hold lie within the devices' memory, whatever the placement?  set_s (n_sets,k):
 * negative where a set cannot run.  -1 (ST_RUNTIME): surely not, and the message says by how much. */
int held_check(const struct held_profile *h, const struct interval *set_s, const struct graph *g,
	       const struct device_list *l, struct err *e) MUST_CHECK;

#endif
