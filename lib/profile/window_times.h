/* window_times.h - what sets take on a device that does not hold all of them at once: as many as it
 * holds are there, one stretch of the model after another, and the others on a device that holds them. */
#ifndef HSDAG_PROFILE_WINDOW_TIMES_H
#define HSDAG_PROFILE_WINDOW_TIMES_H

#include "profile/held_profile.h"
#include "measure/session.h"

struct window_times {
	struct session *s;
	uint32_t d, rest;         /* the device; where the other sets are */
	const uint32_t *step_set; /* (n_steps) */
	double seconds;           /* for all of it, beyond two runs of each stretch */
	/* What is filled in, column d of each: */
	struct interval *
		set_s; /* (n_sets, k) medians over runs; left as it is where a set alone is too large */
	struct held_pieces *pieces;
	struct held_profile *held; /* its inner */
};

/* On a device that runs steps one by one (device_class.fuses).  out: how many sets have times.  Steps
 * are waited for one by one where the device queues them, so that their times are rather too long.
 * A set that cannot run there is no error; `why` (borrowed) then has the last one's reason.  -1: the
 * program is to end. */
int window_times_take(const struct window_times *x, uint32_t *n_timed, struct err *why,
		      struct err *e) MUST_CHECK;

#endif
