/* grouping.h - groupings of a weighted graph of tasks: which of them to treat as one.
 *
 * What goes in is a directed graph whose nodes cost time and hold memory and whose edges carry
 * bytes; its nodes are in a topological order.  What comes out is a partition of the nodes.
 * Partitioners (METIS, Scotch) see it without directions; `acyclic` repairs what they did. */
#ifndef HSDAG_PARTITION_GROUPING_H
#define HSDAG_PARTITION_GROUPING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct group_graph {
	uint32_t n, m;
	uint32_t *src, *dst; /* (m) distinct pairs, sorted by (src, dst), no loops */
	double *weight;      /* (n) >= 0, seconds as a rule */
	double *memory;      /* (n) >= 0, bytes; NULL: not to be balanced */
	double *traffic;     /* (m) >= 0, bytes or seconds */
	bool ordered;        /* all edges go from lower to higher numbers */
};

struct group_options {
	/* How many groups: 0 stands for as many as max_size needs, and when that is 0, too, for
	 * sqrt(n) rounded up.  Fewer come out when there are not so many nodes. */
	uint32_t n_groups;
	uint32_t max_size;        /* nodes (of the graph given) in a group; 0: any number */
	const uint32_t *together; /* (n) nodes of equal value share a group; NULL: any may part */
	/* (n,k) 1: node v can run on device d; NULL: all.  (n) bytes that a node holds and (k)
	 * bytes that devices have; NULL: any.  Each group as a whole can run on some device that
	 * has room for it. */
	const uint8_t *mask;
	const double *held, *room;
	uint32_t k;
	const uint32_t *fixed; /* (n) groups to begin with, whatever the method; NULL: its own */
	bool acyclic;          /* no circle among groups, see group_acyclic */
	uint64_t seed;
};

/* What happened on the way, for people. */
struct group_told {
	uint32_t n_groups;
	/* nodes that share a group only because circles of `together` must */
	uint32_t joined;
	uint32_t moved;  /* nodes that changed their group so that no circle is left */
	uint32_t capped; /* groups more from cutting those too large or no device's */
	uint32_t filled; /* groups more from halving, because there were too few */
	/* groups over max_size, and those that no device has room for: their nodes must stay
	 * together */
	uint32_t over, no_room;
};

/* A method sees nodes that may all part, 1 < n_groups <= n, and fills group (n) with numbers below
 * n_groups; some may stay unused. */
struct group_task {
	const struct group_graph *g;
	const uint32_t *size; /* (n) how many nodes of the graph given each stands for */
	uint32_t n_groups, max_size;
	/* (n_groups) > 0, sum 1, of the weight and of memory; NULL: equal shares, and those of the
	 * weight */
	const double *share, *memory_share;
	uint64_t seed;
	uint32_t *group;
};

struct group_method {
	const char *name, *about, *source;                     /* one line; whose idea it is */
	int (*run)(const struct group_task *t, struct err *e); /* NULL: every node by itself */
};
extern const struct group_method group_methods[]; /* NULL name ends */

/* ST_USAGE when there is no such method. */
const struct group_method *group_method_find(const char *name, struct err *e) MUST_CHECK;

/* Group g's nodes: group (g->n), numbered from 0 by their first nodes.  -1: ST_RUNTIME when a
 * library refuses. */
int group_make(const struct group_method *method, const struct group_graph *g,
	       const struct group_options *o, uint32_t *group, struct group_told *told,
	       struct err *e) MUST_CHECK;

/* The methods. */
int group_metis(const struct group_task *t, struct err *e) MUST_CHECK;
int group_metis_recursive(const struct group_task *t, struct err *e) MUST_CHECK;
int group_scotch(const struct group_task *t, struct err *e) MUST_CHECK;
int group_random(const struct group_task *t, struct err *e) MUST_CHECK;
int group_chunks(const struct group_task *t, struct err *e) MUST_CHECK;
int group_heavy_edge(const struct group_task *t, struct err *e) MUST_CHECK;

/* ---- parts ---- */

/* g with nodes of one class as one: class (g->n) below n_classes.  Memory from a. */
void group_contract(const struct group_graph *g, const uint32_t *class, uint32_t n_classes,
		    struct arena *a, struct group_graph *out);

/* Neighbours of every node in both directions, parallel and opposite edges summed: those of v are
 * adj[ptr[v]] .., ascending, with traffic[ptr[v]] ...  Memory from a. */
struct group_adjacency {
	uint32_t *ptr, *adj;
	double *traffic;
};
void group_adjacency_init(struct group_adjacency *x, const struct group_graph *g, struct arena *a);

/* Weights (n) >= 0 as integers whose sum is about `most`, for libraries that count in 32 bits:
 * what is too small to count becomes `least`; all zero: all 1. */
#define GROUP_SCALE_MOST (1 << 29)
void group_scale(const double *weight, uint32_t n, int32_t least, int32_t most, int32_t *out);

/* Move nodes between groups until the groups do not wait for each other in a circle.  g is
 * ordered; group (n) below n_groups.  Groups on no circle stay as they are.  Those of a circle are
 * lined up by the mean place of their nodes, and every node takes the place in this line, not
 * before any of its inputs, such that the sum of moved nodes x steps is least: isotonic
 * regression, by minimum cuts over halves of the line (Stout, "Isotonic regression via
 * partitioning", Algorithmica 66, 2013).  Some groups may become empty.  Returns how many nodes
 * moved. */
uint32_t group_acyclic(const struct group_graph *g, uint32_t n_groups, uint32_t *group);

#endif
