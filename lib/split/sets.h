/* sets.h - co-location sets of a cut graph, made as those of the graph that was cut. */
#ifndef HSDAG_SPLIT_SETS_H
#define HSDAG_SPLIT_SETS_H

#include "graph/graph.h"

/* Sets of g as ir2dag made those of `from`: with or without constants, chains as one set or not, variables together or
 * apart. constant[from->n]: nodes that depend on constants alone. */
void split_sets(struct graph *g, const struct graph *from, const bool *constant);

#endif
