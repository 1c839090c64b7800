/* profile.h - what each set costs on each device, and each copy between them, measured:
 * the costs that list schedulers and simulators take. */
#ifndef HSDAG_DEVICE_PROFILE_H
#define HSDAG_DEVICE_PROFILE_H

#include "device/links.h"
#include "device/session.h"

struct profile {
	double *set_s;               /* (n_sets, k) seconds; negative: cannot run there */
	const char **failed;         /* (k) why a device has no times at all; NULL: it has */
	struct link_cost *link;      /* (k, k) latency_s 0: none */
};

/* Steps are timed inside inferences of the whole model on one device (sets that it cannot
 * run are on the first that can), so caches are as in real runs; the median of
 * several inferences, summed over the steps of a set.  On a device that queues its
 * work every step is waited for, and the times are then scaled down to the latency
 * without waiting.  A device that fails has no times and no links.  Memory from a.
 * -1: the output's reader has gone. */
int profile_take(struct session *s, struct arena *a, struct profile *out,
		 struct err *e) MUST_CHECK;

#endif
