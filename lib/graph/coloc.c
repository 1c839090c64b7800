/* coloc.c - co-location: which nodes are placed, and which are placed together
 * (Paper, appendix G).  Chains become one set; sets are what devices are
 * chosen for. */
#include "graph/graph.h"

#include <string.h>

/* Has state or randomness, or is an end of the model: never a constant. */
static bool is_impure(const struct graph *g, uint32_t v)
{
	switch (g->kind[v]) {
	case OP_PARAMETER:
	case OP_RESULT:
	case OP_READ_VALUE:
	case OP_ASSIGN:
	case OP_RANDOM_UNIFORM:
	case OP_MULTINOMIAL:
	case OP_TENSOR_ITERATOR:
	case OP_LOOP:
	case OP_IF: return true;
	default: return false;
	}
}

static bool all_inputs_unplaced(const struct graph *g, const bool *placed, uint32_t v)
{
	uint32_t n = 0;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
		uint32_t u = g->in_node[i];
		if (u == GRAPH_NONE)
			continue;
		if (placed[u])
			return false;
		n++;
	}
	return n > 0;
}

static bool *find_placed(const struct graph *g, enum const_mode mode, struct arena *a)
{
	bool *placed = arena_raw(a, g->n, sizeof *placed);
	memset(placed, true, g->n);
	if (mode == CONST_KEEP)
		return placed;
	for (uint32_t k = 0; k < g->n_const; k++)
		placed[g->const_node[k]] = false;
	if (mode == CONST_FOLD)
		for (uint32_t v = 0; v < g->n; v++)
			if (placed[v] && !is_impure(g, v) && all_inputs_unplaced(g, placed, v))
				placed[v] = false;
	return placed;
}

/* The only distinct neighbour of each node, or one of these. */
enum { NO_ONE = UINT32_MAX, SEVERAL = UINT32_MAX - 1 };

static uint32_t join(uint32_t only, uint32_t v)
{
	return only == NO_ONE || only == v ? v : SEVERAL;
}

void graph_colocate(struct graph *g, enum const_mode mode, bool colocate)
{
	struct arena *a = arena_new();
	bool *placed = find_placed(g, mode, a);
	uint32_t *parent = arena_raw(a, g->n, sizeof *parent);
	uint32_t *child = arena_raw(a, g->n, sizeof *child);
	for (uint32_t v = 0; v < g->n; v++)
		parent[v] = child[v] = NO_ONE;
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++) {
			uint32_t u = g->in_node[i];
			if (u == GRAPH_NONE || !placed[u] || !placed[v])
				continue;
			parent[v] = join(parent[v], u);
			child[u] = join(child[u], v);
		}
	g->set = arena_raw(g->arena, g->n, sizeof *g->set);
	g->n_sets = 0;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t u = parent[v];
		if (!placed[v])
			g->set[v] = GRAPH_NONE;
		else if (colocate && u < SEVERAL && child[u] == v)
			g->set[v] = g->set[u];
		else
			g->set[v] = g->n_sets++;
	}
	arena_free(a);
}

int graph_join_sets(struct graph *g, const uint32_t *group, uint32_t n_groups, struct err *e)
{
	struct arena *a = arena_new();
	uint32_t *order = ARENA_NEWN(a, uint32_t, n_groups);
	uint32_t *number = ARENA_NEWN(a, uint32_t, n_groups);
	struct digraph sets, q;
	graph_set_quotient(g, a, &sets);
	digraph_quotient(&sets, group, n_groups, a, &q);
	bool acyclic = digraph_toposort(&q, a, order);
	for (uint32_t i = 0; acyclic && i < n_groups; i++)
		number[order[i]] = i;
	for (uint32_t v = 0; acyclic && v < g->n; v++)
		if (g->set[v] != GRAPH_NONE)
			g->set[v] = number[group[g->set[v]]];
	if (acyclic)
		g->n_sets = n_groups;
	arena_free(a);
	return acyclic ? 0 : err_set(e, ST_INPUT, "groups of sets wait for each other in a circle");
}
