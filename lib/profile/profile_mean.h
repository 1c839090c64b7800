/* profile_mean.h - the mean of a profile and those before it.
 *
 * A profile errs by what its process met: where its threads and memory happened to be, how busy the
 * host was while placements on several devices were timed, by which everything is then corrected.
 * Processes err independently, so that the mean of several profiles is closer than any of them. */
#ifndef HSDAG_PROFILE_PROFILE_MEAN_H
#define HSDAG_PROFILE_PROFILE_MEAN_H

#include "profile/profile.h"
#include "measure/session.h"
#include "record/devrec.h"

/* Make p the mean of it and of the earlier ones that `cost`, with the links of devs, is the mean of
 * (its `profiles`): geometric means of times, latencies and rates, arithmetic ones of savings (a
 * pair that one of them lacks saves nothing there), slowdown and multi_slowdown; ends of intervals
 * likewise.  A device or link that one of them has no times of has none.  Memory from a.  -1
 * (ST_INPUT): the record is malformed, or about another graph or other devices than s. */
int profile_mean(struct profile *p, const struct session *s, const struct rec *cost,
		 const struct devs *devs, struct arena *a, struct err *e) MUST_CHECK;

#endif
