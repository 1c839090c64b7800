/* module_tree.h - modules within modules, from the paths of units, and the bytes of weights in each. */
#ifndef HSDAG_PLACE_RUNTIMES_MODULE_TREE_H
#define HSDAG_PLACE_RUNTIMES_MODULE_TREE_H

#include "graph/strtab.h"
#include "place/runtimes/rule.h"

struct module {
	uint32_t up; /* that it is in; GRAPH_NONE: it is the model, number 0 */
	uint32_t child, last,
		next;      /* first and last child, the next of the same; GRAPH_NONE: none */
	double bytes, own; /* of weights within it, and of its own alone */
	bool block;        /* a layer of a list, which is not divided */
};

struct module_tree {
	struct module *x; /* in the order in which units come to them */
	uint32_t n;
	uint32_t *of_unit; /* (units) */
};

void module_tree_init(struct module_tree *t, const struct runtime_rule *x);
void module_tree_release(struct module_tree *t);

/* Is i `in`, or within it? */
bool module_within(const struct module_tree *t, uint32_t i, uint32_t in);

#endif
