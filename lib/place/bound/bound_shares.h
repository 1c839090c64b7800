/* bound_shares.h - what devices that compute at once can share out: shares W of devices such that no schedule is shorter than
 * the sum over devices of W_d times what d computes.
 *
 * Of devices each of which takes turns with all the others (a clique of the turns; without turns every device is one) nothing
 * is at once: for w >= 0 with sum 1 over cliques, W_d = sum of w over the cliques with d are such shares.
 *
 * Where devices slow each other (place_latency_s) a second of the schedule and a second of computing both count: with
 * s = slowdown the cost of an item on d is ((1 - s) W_d + s) times its seconds (bound_slowed.c), and a price on top of that. */
#ifndef HSDAG_PLACE_BOUND_BOUND_SHARES_H
#define HSDAG_PLACE_BOUND_BOUND_SHARES_H

#include "place/bound/bound_parts.h"
#include "sched/turns.h"

enum { SHARES_MOST_CLIQUES = 256 };

struct shares {
	uint32_t k, n, clique[SHARES_MOST_CLIQUES];
	double deadline_s; /* of the view */
};

/* false: there are more devices than sets of bits hold, TURNS_MOST. */
bool shares_init(struct shares *x, const struct bound_view *v);

/* The shares W (k) for which the least cost of n items is largest, by ascent from equal weights, and this cost: a lower bound
 * of (1 - s) times the schedule's length and s times all that is computed, for items whose seconds (n,k; INFINITY: not there)
 * are the least that they can be; plus price (k; NULL: none) times what each device computes.  in (n): which items count; NULL:
 * all. */
double shares_ascend(const struct shares *x, const double *item_s, uint32_t n, const bool *in,
		     double s, const double *price, double *share);

/* The same cost at given shares W. */
double shares_value(const struct shares *x, const double *item_s, uint32_t n, const bool *in,
		    double s, const double *price, const double *share);

#endif
