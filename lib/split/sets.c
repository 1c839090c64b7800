/* sets.c - what ir2dag was told is read off the sets that it made. */
#include "split/sets.h"

#include <string.h>

static enum const_mode mode_of(const struct graph *g, const bool *constant)
{
	enum const_mode mode = CONST_KEEP;
	for (uint32_t v = 0; v < g->n; v++) {
		if (g->set[v] != GRAPH_NONE || !constant[v])
			continue;
		if (g->kind[v] != OP_CONST)
			return CONST_FOLD;
		mode = CONST_DROP;
	}
	return mode;
}

/* Does a set have several nodes, none of which reads or assigns a variable? */
static bool has_chains(const struct graph *g, struct arena *a)
{
	uint32_t *size = ARENA_NEWN(a, uint32_t, g->n_sets);
	const bool *variable = graph_variable_sets(g, a);
	bool found = false;
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] != GRAPH_NONE && !(variable && variable[g->set[v]]))
			found |= ++size[g->set[v]] > 1;
	return found;
}

void split_sets(struct graph *g, const struct graph *from, const bool *constant)
{
	struct arena *a = arena_new();
	graph_colocate(g, mode_of(from, constant), has_chains(from, a));
	if (graph_variables_joined(from))
		graph_join_variables(g);
	arena_free(a);
}
