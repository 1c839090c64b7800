/* hearing.h - a directed graph as lists of who hears whom: along it messages pass one way. */
#ifndef HSDAG_LEARN_TAPE_HEARING_H
#define HSDAG_LEARN_TAPE_HEARING_H

#include <stdint.h>

#include "base/mem.h"
#include "learn/tape/ugraph.h"

struct hearing {
	uint32_t n;
	const uint32_t *ptr[2];  /* (n+1) of [0] those that a node hears, [1] those that hear it */
	const uint32_t *node[2]; /* in rising order, each once */
};

/* Of the groups group[g->n] < n_groups: one hears another where an edge u < v of g leads from that to
 * it.  Where the nodes of g are in a topological order, these are its parents.  Memory from a. */
void hearing_of_groups(struct hearing *out, const struct ugraph *g, const uint32_t *group,
		       uint32_t n_groups, struct arena *a);

/* Nodes that `node` hears directly or through others (way 0), or that hear it (way 1): reached (n)
 * becomes 1 there, and stays elsewhere.  node itself only where there is a circle.  list (n) is scratch. */
void hearing_reach(const struct hearing *h, int way, uint32_t node, uint8_t *reached,
		   uint32_t *list);

#endif
