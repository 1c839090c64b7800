/* group_policy.h - the policy that chooses a device for each group of a part: which there are, where the
 * groups are at home. */
#ifndef HSDAG_LEARN_ACT_GROUP_POLICY_H
#define HSDAG_LEARN_ACT_GROUP_POLICY_H

#include "learn/act/act.h"
#include "learn/net/net.h"
#include "record/partrec.h"

/* The policy of a part. */
struct group_policy {
	const struct part_rec *part;
	uint8_t *mask;   /* (n_groups,k) or NULL */
	uint16_t *start; /* (n_groups) devices before the first choice; home, where there is one */
	uint16_t *home;  /* around the incumbent; NULL: there is none */
	double stay;
	float *bias;
};

/* Memory from a->arena.  seed: of the policy's block, for its noise.  ST_INPUT: a group that no device
 * can run. */
int group_policy_init(struct group_policy *q, const struct act *a, struct net_work *w,
		      const struct net_model *m, uint64_t seed, const struct part_rec *p,
		      struct err *e) MUST_CHECK;

/* What the network is asked about. */
struct to_place group_policy_asked(const struct group_policy *q);

/* device (n_sets) of the groups' devices */
void group_policy_spread(const struct act *a, const struct group_policy *q, const uint16_t *action,
			 uint16_t *device);

#endif
