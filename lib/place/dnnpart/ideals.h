/* ideals.h - the best split of an ordered set of units into contiguous pieces, one piece a device:
 * dynamic programming over ideals (downward closed sets).
 *
 * Source: Tarnawski, Phanishayee, Devanur, Mahajan, Paravecino, "Efficient algorithms for device
 * placement of DNN graph operators", NeurIPS 2020, section 5.1.1:
 *   dp[I][used] = min over ideals I' in I and classes c of
 *                 max(dp[I'][used less one of c], load_c(I without I'))
 * where `used` counts the devices of each class.  Not all ideals are tabulated: only values below a
 * threshold are of interest, so an ideal is kept when some `used` reaches it below the threshold
 * and what is left fits the devices that are left, as fast as they can be.  Close to the optimum
 * few are.  With a chain for the order this is the paper's linearisation (DPL). */
#ifndef HSDAG_PLACE_DNNPART_IDEALS_H
#define HSDAG_PLACE_DNNPART_IDEALS_H

#include "base/pool.h"
#include "place/dnnpart/splits.h"

enum ideals_status {
	IDEALS_FOUND, /* the best split, below the threshold */
	IDEALS_NONE,  /* no contiguous split is below the threshold */
	IDEALS_LIMIT  /* too many steps, too much memory, too late: not known */
};

struct ideals_task {
	const struct splits *p;
	double below_s;     /* the threshold; INFINITY: any */
	uint64_t max_steps; /* pieces looked at; reduced by those that were */
	double deadline_s;  /* of clock_s; 0: none */
	struct pool *pool;
	/* out: */
	uint16_t *device;  /* (p->n) FOUND: where each item goes */
	double value_s;    /* FOUND: the largest load of a piece */
	uint64_t n_ideals; /* that were kept */
};

/* The count of ways to have used devices of each class, that a table has a column for. */
enum { IDEALS_MAX_USED = 4096 };
uint64_t ideals_n_used(const struct splits *p);

/* ideals_n_used(p) <= IDEALS_MAX_USED.  Results do not depend on the pool's threads. */
enum ideals_status ideals_solve(struct ideals_task *t);

#endif
