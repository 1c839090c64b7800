/* rewrite_impl.h - the state of a rewriting, for rewrite.c and joins.c. */
#ifndef HSDAG_SPLIT_REWRITE_IMPL_H
#define HSDAG_SPLIT_REWRITE_IMPL_H

#include "split/draft.h"
#include "split/ranges.h"
#include "split/split_graph.h"

struct rewrite {
	struct split_facts *f;
	const struct graph *g;
	const struct split_plan *plan;
	struct split_range *own; /* (n * ways) */
	int64_t *unit;           /* (n) */
	struct draft d;
	uint32_t *row;             /* (n) of whole nodes in the draft; GRAPH_NONE: not there yet */
	uint32_t *part;            /* (n * ways) of parts */
	struct draft_value *whole; /* (outputs) joined; node GRAPH_NONE: not yet */
	struct draft_value
		*each;         /* (outputs * ways) joined for one part; node GRAPH_NONE: not yet */
	struct pairmap slices; /* draft output and axis, range -> node of the Slice */
	struct pairmap sums;   /* draft output and axis, range and group -> node of a sum */
	struct pairmap relays; /* draft output, group -> node that hands it on there */
	struct pairmap
		ints; /* draft output and place, size and part -> node of integers with another one there */
	struct pairmap consts; /* output and axis, range -> node of that part of a constant */
	uint32_t *addend; /* (n) output that is added to the sum of the node's parts; GRAPH_NONE */
	struct strtab zeros; /* zeros that are there, by type, shape and part */
	uint32_t *zeros_node;
	size_t cap_zeros;
	const char **axis_name; /* (n) how the axis of a cut node is called */
	struct split_counts counts;
	struct arena *a;
};

static inline uint64_t range_key(int64_t lo, int64_t hi)
{
	return (uint64_t)lo << 32 | (uint64_t)hi;
}

static inline uint64_t output_key(uint64_t o, int axis)
{
	return o * 16 + (uint64_t)axis;
}

/* joins.c.  Constants are not theirs: output o here is of a node that computes. */

/* lo .. hi - 1 of `axis` of a value. */
struct draft_value join_slice(struct rewrite *x, struct draft_value from, int axis, int64_t lo,
			      int64_t hi, bool counts);
/* Output o as it was, for all. */
struct draft_value join_whole(struct rewrite *x, uint32_t o);
/* The same for part p, which has a join of its own where the plan says so. */
struct draft_value join_whole_for(struct rewrite *x, uint32_t o, uint32_t p);
/* What part p reads of output o, which is no constant. */
struct draft_value join_read(struct rewrite *x, uint32_t o, const struct split_need *need,
			     uint32_t p, const char *name);

#endif
