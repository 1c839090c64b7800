/* net_op.h - what a network of the table in net.h has to define. */
#ifndef HSDAG_LEARN_NET_NET_OP_H
#define HSDAG_LEARN_NET_NET_OP_H

#include "learn/net/net.h"
#include "learn/tape/tape.h"

/* How the partition of a step comes about. */
struct net_plan {
	const struct partition *recorded; /* take these rounds as they are; or NULL: */
	const struct grouping *given;     /* take this grouping; or NULL: */
	const uint8_t *mask;              /* parse; (n,k) devices of a node, or NULL */
	uint32_t k;
	const struct rng_addr *rng; /* NULL: no dropout */
};

struct net_ops {
	/* Forward on the tape from x (n,d) and the matrices p of the embed block, in order of
	 * their table: *z (n_groups,d) and the partition (without z), in memory of the tape. */
	int (*embed)(struct tape *t, const struct net_model *m, struct mat *const *p, struct mat *x,
		     const struct net_plan *plan, struct partition *out, struct mat **z,
		     struct err *e);
	/* logits (n_groups,k) from z and the matrices p of the policy block */
	struct mat *(*policy)(struct tape *t, const struct net_model *m, struct mat *const *p,
			      struct mat *z);
};

/* First random stream of each block's initial values. */
enum { EMBED_STREAMS = 0, POLICY_STREAMS = 1 << 16 };

extern const struct net_ops gpn_ops;
struct params *gpn_embed_init(const struct hyper *h, uint32_t d, uint64_t seed);
struct params *gpn_policy_init(const struct hyper *h, uint32_t d, uint32_t k, uint64_t seed);

#endif
