/* profile.h - what each set costs on each device, what neighbouring sets save there when they run
 * as one, and what it costs to hand tensors over, measured: the costs that list schedulers and
 * simulators take. */
#ifndef HSDAG_MEASURE_PROFILE_H
#define HSDAG_MEASURE_PROFILE_H

#include "measure/links.h"
#include "measure/session.h"

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
		multi_slowdown; /* while several devices compute, are in use (place_latency_s) */
	bool overlap;           /* devices compute while they copy (sched_costs, planner.c) */
	uint32_t n_earlier;     /* profiles that are in it besides the one taken (profile_mean.h) */
};

/* Steps are timed inside inferences of the whole model on one device (sets that it cannot run
 * are on the first that can), so caches are as in real runs.  Two plans a device: in one, steps are
 * grouped within sets only, which gives set_s; in the other across sets as well, which gives
 * savings (savings.h).  On a device that queues its work every step is waited for, and the times
 * are then scaled down to the latency without waiting.  A device that compiles whole segments has
 * times of these, shared out, and no savings.
 *
 * These plans, and some on several devices (probes.h), are run in rounds for about four times
 * session.opt.max_s.  Who else uses the machine only ever adds time, now to one device, now to
 * another: a step's time is the median of its runs, all are then scaled to the fastest inferences,
 * and devices of one kind that are equally fast have the same times.  What the probes took then
 * corrects times, latencies and how devices slow each other (fit.h).  A device that fails has no
 * times and no links.  Memory from a.  -1: the output's reader has gone. */
int profile_take(struct session *s, struct arena *a, struct profile *out, struct err *e) MUST_CHECK;

#endif
