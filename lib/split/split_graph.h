/* split_graph.h - operations in parts: a graph of which some operations are cut, with the same results.
 *
 * A plan says of each node along which axis it is cut (rules.h), and how large the parts are.  Where
 * neighbours are cut alike, part reads part; elsewhere parts are joined (Concat; Add where they are
 * sums) or sliced.  What a window reads beyond its part comes from the neighbour's part, or is
 * computed twice.  Constants are cut with what reads them, as ranges of bytes of the .bin where they lie
 * in a row there; what else is cut of them is a constant as well, computed before the model
 * runs.
 *
 * The plan and the rewriting know nothing of each other's reasons: decide.h makes a plan by estimated costs. */
#ifndef HSDAG_SPLIT_SPLIT_GRAPH_H
#define HSDAG_SPLIT_SPLIT_GRAPH_H

#include "split/facts.h"
#include "split/rules.h"

enum { SPLIT_MAX_WAYS = GRAPH_CUT_WAYS, SPLIT_NO_HOME = 255 };

struct split_plan {
	uint32_t ways; /* parts */
	uint32_t rows;
	const uint32_t *share;   /* (rows, ways) their sizes, relative to each other, > 0 */
	const uint8_t *share_of; /* (n) the row of each node; NULL: all have the first */
	int8_t *axis; /* (n) of the node's outputs; SPLIT_SUM, SPLIT_OUTPUTS; SPLIT_WHOLE: not cut */
	bool again;   /* what lies under two windows is computed twice, not exchanged */
	bool apart; /* parts have memories of their own: each has its own joins, and of sums the range that it reads */
	/* (n) the part where a node is that is not cut; SPLIT_NO_HOME: where what is whole is; NULL: all are there */
	uint8_t *home;
	const uint8_t *
		group; /* (ways) with apart: parts of a group, < 32, are near each other, and what comes from another group
				* comes once; NULL: one group */
};

/* The sizes of node v's parts, relative to each other. */
static inline const uint32_t *split_shares(const struct split_plan *plan, uint32_t v)
{
	return plan->share + (plan->share_of ? (size_t)plan->share_of[v] * plan->ways : 0);
}

/* Where part p of `size` elements of node v begins, as its shares say, in units of `unit`; p = ways: the end. */
int64_t split_border(const struct split_plan *plan, uint32_t v, int64_t size, int64_t unit,
		     uint32_t p);
/* The range of part p.  Of fewer units than parts, but two at least, each part has those that its share touches: neighbours
 * have the same ones, twice computed (keys and values of attention with more parts than they have heads). */
struct split_range {
	int64_t lo, hi;
};
struct split_range split_share(const struct split_plan *plan, uint32_t v, int64_t size,
			       int64_t unit, uint32_t p);

struct split_counts {
	uint32_t cut;    /* nodes of which there are parts */
	uint32_t joins;  /* Concat and Add that were added */
	uint32_t slices; /* Slice of what is not constant */
};

/* A new graph, borrowing names and bodies from f->g, without sets, with part_of but not whole.  plan->axis: what could not be cut as it says becomes
 * SPLIT_WHOLE there. */
struct graph *split_graph(struct split_facts *f, struct split_plan *plan,
			  struct split_counts *counts);

/* The same with operations whole whose parts a placement has on one device: device (cut->n_sets) of the graph `cut`, which has a
 * plan (struct graph_cut) and was made of f->g.  *placed: the devices of the new graph's sets, memory from its arena, which borrows from `cut`.
 * NULL, ST_INPUT: the plan is none of this graph. */
struct graph *split_rejoin(struct split_facts *f, const struct graph *cut, const uint16_t *device,
			   uint16_t **placed, struct split_counts *counts, struct err *e);

#endif
