/* placed.h - what a placement of sets means for nodes and tensors: the device of
 * every node, segments, and the copies that it asks for. */
#ifndef HSDAG_GRAPH_PLACED_H
#define HSDAG_GRAPH_PLACED_H

#include "graph/graph.h"

/* A segment is a largest set of sets on one device that hang together by edges. */
struct placed {
	uint32_t k;
	uint32_t *node_device;       /* (n) */
	uint32_t *sets, *nodes;      /* (k) how many are on each device */
	uint32_t *segments;          /* (k) */
	uint32_t *segment;           /* (n_sets) numbered by their first set */
	uint32_t n_segments;
	uint64_t copies, copy_bytes; /* distinct tensors x devices that need them from another; dynamic
	                              * ones as 0 bytes; constants in no set are not copied */
};

/* device[n_sets], all < k.  A node in no set is where its first consumer is; without
 * consumers, where set 0 is.  Memory from a. */
void placed_init(const struct graph *g, const uint16_t *device, uint32_t k, struct arena *a,
		 struct placed *out);

#endif
