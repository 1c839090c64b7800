/* segment.h - from a device per node to segments: what one device runs at a time.
 *
 * Nodes of one device that are joined by edges want to be one segment, but a
 * segment can only start when all its inputs are there: where a path leaves a
 * device and comes back, the pieces before and behind it must be two segments,
 * or each would wait for the other.  The segments made here
 *   - hold nodes of one device only,
 *   - leave a quotient graph without cycles (so each of them is convex),
 *   - are maximal: no edge joins two segments of one device that could be one
 *     without closing a cycle (unless n_limited says that a search gave up).
 *
 * Method.  depth(v) is the largest number of changes of device on a path to v.
 * Edges never lead to a smaller depth, and between devices to a larger one, so
 * grouping by (device, depth) closes no cycle; its connected pieces are the first
 * segments.  Then the edges that are left inside a device are contracted one by
 * one where no second path joins their ends (contract.h).  The result is a
 * function of the graph and the devices. */
#ifndef HSDAG_GRAPH_SEGMENT_H
#define HSDAG_GRAPH_SEGMENT_H

#include "graph/graph.h"

/* For device[v]: in no segment (constants, whatever is repeated where it is
 * needed); its edges are ignored. */
#define SEGMENT_NOWHERE UINT16_MAX
/* A segment of its own, on no device: it is in the way of cycles, and never joined. */
#define SEGMENT_ALONE (UINT16_MAX - 1)

struct segments {
	uint32_t n;           /* numbered in a topological order */
	uint32_t *of;         /* (nodes) GRAPH_NONE: in none */
	uint16_t *device;     /* (n) SEGMENT_ALONE as given */
	uint32_t *ptr, *node; /* (n+1): nodes of segment s, ascending, are node[ptr[s]].. */
	/* Connected pieces of the devices: what the segments would be if cycles did not
	 * matter.  n - n_pieces is how often pieces had to be split. */
	uint32_t n_pieces;
	uint32_t *piece;    /* (n) */
	uint32_t n_limited; /* edges that may have been left because a search was too long */
};

/* Segments of d, whose edges lead from smaller to larger ids (checked by assert).
 * device[d->n].  join: segments of a device with the same depth are one even when no
 * edge joins them (fewer and larger segments, which then wait for all their inputs).
 * Memory from a.  Time O(n + m) but for the contractions, whose searches are
 * bounded by a constant number of visits per edge. */
void segments_of(const struct digraph *d, const uint16_t *device, bool join, struct arena *a,
		 struct segments *out);
/* The same, where nodes v with equal whole[v] (below d->n), which have one device, are in one segment; GRAPH_NONE:
 * with anything.  Contracting them closes no cycle.  whole NULL: as segments_of. */
void segments_of_wholes(const struct digraph *d, const uint16_t *device, const uint32_t *whole,
			bool join, struct arena *a, struct segments *out);
/* The same for the nodes of g; of its sets those that read or assign variables stay whole, where
 * they are on one device. */
void segments_of_graph(const struct graph *g, const uint16_t *device, bool join, struct arena *a,
		       struct segments *out);

/* Why segment s is not one with an earlier segment of its piece: an edge from -> to of its device
 * whose ends a second path joins, which leaves `from` for node `out` of other segments and
 * enters the segment of `to` from node `back`.  False when no edge joins it to an earlier
 * one or no such path is found. */
struct segment_split {
	uint32_t from, to, out, back;
};
bool segment_why(const struct digraph *d, const struct segments *x, uint32_t s, struct arena *a,
		 struct segment_split *why);
/* Variables of g that several segments of x use, which no runtime that keeps them within a segment
 * can carry out: out (the number that is returned), by id, with two nodes that use each, the first
 * of which is in an earlier row.  varsets.c */
struct segment_parted {
	const char *id;
	uint32_t first, second;
};
uint32_t segments_parted(const struct graph *g, const struct segments *x, struct arena *a,
			 struct segment_parted **out);

/* Variables that are assigned a shape that cannot be the one they are read with, as some dim is known in both and differs:
 * caches that grow, in a graph whose lengths are fixed, which is that of the first inference after a reset alone.
 * Their number; one of them: *reader, *writer, and the outputs that have these shapes, *from and *to. */
struct graph_outgrown {
	uint32_t reader, writer, from, to;
};
uint32_t graph_outgrown_variables(const struct graph *g, struct graph_outgrown *one);

/* What enters and leaves each segment of g: outputs of the graph (indices into out_*),
 * ascending.  in: read by the segment, made by another one or by a node that is in
 * none, unless constant[] (n) says that this node is repeated where it is read.  out: made
 * by the segment, read by another one or by a node that is in none. */
struct segment_ports {
	uint32_t *in_ptr, *in;   /* (n+1) */
	uint32_t *out_ptr, *out; /* (n+1) */
};
void segment_ports_of(const struct graph *g, const struct segments *x, const bool *constant,
		      struct arena *a, struct segment_ports *out);
/* Distinct pairs of groups 0 .. n_groups-1 that edges of d join; nodes in group GRAPH_NONE and
 * their edges are left out. */
void segment_quotient(const struct digraph *d, const uint32_t *group, uint32_t n_groups,
		      struct arena *a, struct digraph *q);
/* Distinct connected pairs of nodes of g, ids in topological order. */
void graph_digraph(const struct graph *g, struct arena *a, struct digraph *out);

#endif
