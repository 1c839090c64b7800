/* profile.h - what each set costs on each device, what neighbouring sets save there when they run
 * as one, and what it costs to hand tensors over, measured: the costs that list schedulers and
 * simulators take.  profiler.h takes it, profile_mean.h makes means, proberec.h writes it. */
#ifndef HSDAG_PROFILE_PROFILE_H
#define HSDAG_PROFILE_PROFILE_H

#include "profile/held_profile.h"
#include "profile/links.h"

/* Two sets, one of which reads what the other makes. */
struct set_pair {
	uint32_t src, dst;
};

/* Intervals: the estimate, and 95 % (interval_median). */
struct profile {
	struct interval *set_s; /* (n_sets, k) seconds; mid negative: cannot run there */
	uint32_t n_pairs;
	struct set_pair *pair;    /* (n_pairs) ascending */
	struct interval *saved_s; /* (n_pairs, k) seconds less when both are there; 0: nothing */
	const char **failed;      /* (k) why a device has no times at all; NULL: it has */
	bool *has_link;           /* (k, k) */
	struct link_cost *link;   /* (k, k) from row to column */
	double slowdown,
		multi_slowdown;    /* while several devices compute, are in use (place_latency_s) */
	bool overlap;              /* devices compute while they copy (sched_costs, planner.c) */
	const uint8_t *copy_holds; /* (k, k) else: which of them does not; NULL: neither */
	struct held_profile held;
	uint32_t n_earlier; /* profiles that are in it besides the one taken (profile_mean.h) */
};

#endif
