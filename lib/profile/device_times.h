/* device_times.h - inferences on one device, timed step by step: what sets and steps take there. */
#ifndef HSDAG_PROFILE_DEVICE_TIMES_H
#define HSDAG_PROFILE_DEVICE_TIMES_H

#include "profile/timed.h"

struct device_times {
	struct session *s;
	uint32_t d;
	const uint32_t *step_set;   /* (n_steps) */
	struct timed apart, joined; /* steps grouped within sets only, and across */
	bool alone;                 /* the device runs everything */
};

/* How much is run when a device is opened. */
struct device_effort {
	double long_s; /* a first run that takes longer counts: there is no warm-up */
	bool joined;   /* only the plan whose steps are grouped across sets */
};

/* The plans of device d, run twice: a warm-up, and a run that counts.  step_set is borrowed.  -1: the
 * device failed; device_times_close in any case. */
int device_times_open(struct device_times *x, struct session *s, uint32_t d,
		      const uint32_t *step_set, const struct device_effort *effort,
		      struct err *e) MUST_CHECK;
void device_times_close(struct device_times *x);

/* What each set takes that can run on x->d, into column d of set_s (n_sets, k): medians over runs.
 * only (n_sets): of these sets; NULL: of all. */
void device_times_sum(const struct device_times *x, const bool *only, struct interval *set_s);
/* What steps take there as the planner's costs, for plans to come. */
void device_times_to_planner(const struct device_times *x);

#endif
