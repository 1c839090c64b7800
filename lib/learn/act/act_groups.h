/* act_groups.h - placements of the policy that draws a device for each group. */
#ifndef HSDAG_LEARN_ACT_ACT_GROUPS_H
#define HSDAG_LEARN_ACT_ACT_GROUPS_H

#include "learn/act/act.h"
#include "learn/net/net.h"
#include "record/partrec.h"

/* The parts (n) of an episode that are placed together, as they came, and what is to go before the
 * samples of each (NULL: nothing).  More than one: of a network that is side_by_side. */
struct act_parts {
	const struct part_rec *part;
	uint32_t n;
	int (*before)(void *arg, uint32_t i, struct err *e);
	void *arg;
};

/* Writes the samples of the parts.  seed: of the policy's block, for its noise. */
int act_groups(const struct act *a, struct net_work *w, const struct net_model *m, uint64_t seed,
	       const struct act_parts *parts, struct err *e) MUST_CHECK;

#endif
