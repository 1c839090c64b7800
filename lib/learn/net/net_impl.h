/* net_impl.h - for the files that define a network: `const struct net net_NAME`, registered by a
 * line of nets.h. */
#ifndef HSDAG_LEARN_NET_NET_IMPL_H
#define HSDAG_LEARN_NET_NET_IMPL_H

#include "learn/net/net.h"
#include "learn/tape/tape.h"

/* How the partition of a step comes about. */
struct net_plan {
	const struct partition *recorded; /* take it as it is; or NULL: */
	const struct grouping *given;     /* take this grouping; or NULL: */
	const uint8_t *mask;              /* make one; (n,k) devices of a node, or NULL */
	uint32_t k;
	const struct rng_addr *rng; /* NULL: no dropout */
};

/* First random stream of each block's initial values. */
enum { EMBED_STREAMS = 0, POLICY_STREAMS = 1 << 16 };

#endif
