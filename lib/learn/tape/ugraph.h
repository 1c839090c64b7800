/* ugraph.h - the undirected graph on which messages pass and parsing works:
 * edge directions are ignored, as in the published code of HSDAG. */
#ifndef HSDAG_LEARN_TAPE_UGRAPH_H
#define HSDAG_LEARN_TAPE_UGRAPH_H

#include <stdint.h>

#include "base/mem.h"
#include "graph/graph.h"

struct ugraph {
	uint32_t n, m;
	uint32_t *u, *v; /* (m) distinct edges u < v, sorted by (u, v) */
	double *traffic; /* (m) bytes that cross, both ways; NULL: unknown */
	/* Rows of Dhat^-1/2 (A + I) Dhat^-1/2, the GCN's operator (Kipf and Welling
	 * 2017, section 2.2); it is symmetric. */
	uint32_t *ptr; /* (n+1) */
	uint32_t *adj; /* (2m + n) neighbours and the node itself, ascending */
	float *weight; /* (2m + n) */
};

/* Undirected simple graph of d, with traffic where d has bytes; memory from a. */
void ugraph_from_digraph(struct ugraph *g, const struct digraph *d, struct arena *a);

/* g with edges that connect the nodes of each class[g->n] < n_classes in a row; new ones carry
 * nothing. */
void ugraph_tie(struct ugraph *out, const struct ugraph *g, const uint32_t *class,
		uint32_t n_classes, struct arena *a);

/* Quotient of g by group[g->n] in 0 .. n_groups-1: distinct edges between groups, with what all
 * edges of g between these carry. */
void ugraph_quotient(struct ugraph *out, const struct ugraph *g, const uint32_t *group,
		     uint32_t n_groups, struct arena *a);

#endif
