/* act_visits.h - placements on the way to a sample, for their runs (learn/train/visits.h): every group
 * is on the device that was chosen for it, or where it was at the start. */
#ifndef HSDAG_LEARN_ACT_ACT_VISITS_H
#define HSDAG_LEARN_ACT_ACT_VISITS_H

#include "learn/act/group_policy.h"

/* The start of a part. */
int act_start(const struct act *a, const struct group_policy *q, struct err *e) MUST_CHECK;

/* What there is behind every so many groups (a->visits) of a sample's action (n_groups), and is not what
 * was written before it. */
int act_way(const struct act *a, const struct group_policy *q, uint32_t sample,
	    const uint16_t *action, struct err *e) MUST_CHECK;

#endif
