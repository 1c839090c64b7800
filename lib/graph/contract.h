/* contract.h - make a directed graph smaller by contracting edges, without ever
 * closing a cycle. */
#ifndef HSDAG_GRAPH_CONTRACT_H
#define HSDAG_GRAPH_CONTRACT_H

#include "graph/graph.h"

/* d is acyclic.  Edge i may be contracted when may[i]; it is unless a second path
 * joins its ends, and contraction goes on until no edge can be.  group[d->n] gets
 * the numbers 0 .. *n_groups-1, in a topological order of what is left; they are a
 * function of the arguments.  Returns how many edges were left because a search for a
 * second path was too long (each, and all together, look at a bounded number of edges).
 *
 * The order is kept up to date as by Pearce and Kelly, "A dynamic topological sort
 * algorithm for directed acyclic graphs", JEA 11 (2006). */
uint32_t digraph_contract(const struct digraph *d, const bool *may, uint32_t *group,
			  uint32_t *n_groups);

#endif
