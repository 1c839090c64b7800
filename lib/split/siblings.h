/* siblings.h - whole nodes that are alike and do not wait for each other, one beside another on several devices. */
#ifndef HSDAG_SPLIT_SIBLINGS_H
#define HSDAG_SPLIT_SIBLINGS_H

#include "split/split_graph.h"

struct split_siblings {
	uint8_t *
		home; /* (n) the part that has the node; SPLIT_NO_HOME: it has no siblings, or few */
	uint32_t *like;  /* (n) the first of its siblings, by which they are known */
	uint32_t *count; /* (n * ways) of a first one: how many siblings each part has */
	uint8_t *
		at; /* (outputs) the part that has it, where the node has siblings, or is a Split in parts of its outputs */
};

/* Nodes of equal operators, types and shapes that are as far from the inputs, by the longest path in nodes, are
 * siblings where there are as many as parts, or more.  Each is where what it reads first is, so that a chain of them
 * stays together; else they are divided in their order, as the shares say.  Memory from a. */
struct split_siblings split_find_siblings(struct split_facts *f, const struct split_plan *plan,
					  struct arena *a);

#endif
