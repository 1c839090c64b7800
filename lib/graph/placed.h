/* placed.h - what a placement of sets means for nodes and tensors: the device of
 * every node, segments, and the copies that it asks for. */
#ifndef HSDAG_GRAPH_PLACED_H
#define HSDAG_GRAPH_PLACED_H

#include "graph/graph.h"

/* Operations that follow their consumers: those in no set, and, unless placed sets of
 * constants are meant literally, those that depend on constants alone, since every
 * executor keeps weights beside what reads them.
 *
 * A segment is a largest group of sets on one device that hang together by edges other
 * than those of such constants. */
struct placed {
	uint32_t k;
	uint32_t *node_device;  /* (n) */
	uint32_t *set_device;   /* (n_sets) as placed, or where its consumer is */
	uint32_t *sets, *nodes; /* (k) how many are on each device */
	uint32_t *segments;     /* (k) */
	uint32_t *segment;      /* (n_sets) numbered by their first set */
	uint32_t n_segments;
	uint64_t copies,
		copy_bytes; /* distinct tensors x devices that need them from another; dynamic
	                              * ones as 0 bytes; what follows its consumers is not copied */
};

/* What has no step in a run, idle (n), and whose bytes outputs have, root (outputs):
 * op_idle_nodes. */
struct placed_idle {
	const bool *idle;
	const uint32_t *root;
};

/* device[n_sets], all < k; constant[n]: nodes that follow their first consumer although
 * they are placed, or NULL.  What has no consumer is where its set is, or where set 0
 * is.  Copies are those of a run, between nodes that have steps; idle NULL: every node has.
 * Memory from a. */
void placed_init(const struct graph *g, const uint16_t *device, uint32_t k, const bool *constant,
		 const struct placed_idle *idle, struct arena *a, struct placed *out);

#endif
