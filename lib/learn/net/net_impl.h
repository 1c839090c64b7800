/* net_impl.h - for the files that define a network, `const struct net net_NAME`, registered by a
 * line of nets.h. */
#ifndef HSDAG_LEARN_NET_NET_IMPL_H
#define HSDAG_LEARN_NET_NET_IMPL_H

#include "learn/net/choices.h"
#include "learn/net/net.h"
#include "learn/tape/tape.h"

/* How the partition of a step comes about. */
struct net_plan {
	const struct partition *recorded; /* take it as it is; or NULL: */
	const struct grouping *given;     /* take this grouping; or NULL: */
	const uint8_t *mask;              /* make one; (n,k) devices of a node, or NULL */
	uint32_t k;
	const struct rng_addr *rng; /* NULL: no dropout */
	/* What steps of the same features on one tape have in common: the network's, NULL before the
	 * first of them. */
	void **common;
};

/* What `embed` makes. */
struct embedding {
	struct mat *z;    /* (n_groups,d) */
	struct mat *logp; /* (1,1) log-probability of groups that were drawn; NULL: nothing was */
};

/* For a network that makes no groups of its own: the groups of a step are the recorded ones, else
 * the given ones, else the sets that must share a device, else every set is one.  Fills *out, but
 * z, in memory of the tape.  ST_INPUT: a recorded partition with rounds of parsing. */
int net_take_partition(struct tape *t, const struct net_model *m, const struct net_plan *plan,
		       struct partition *out, struct err *e) MUST_CHECK;

/* First random stream of each block's initial values. */
enum { EMBED_STREAMS = 0, POLICY_STREAMS = 1 << 16 };

#endif
