/* idle_sets.c - nodes that run nothing and are no tasks, and the devices that a placement names for
 * them. */
#include "op/op.h"
#include "place/problem/placemodel.h"

/* (n) nodes of sets that a cost record gives time although none of their nodes runs; NULL: there
 * are none. */
static bool *costly_nodes(const struct graph *g, const bool *idle, const double *set_s, uint32_t k)
{
	bool *costs = MEM_NEWN(bool, g->n_sets), *node = NULL;

	for (size_t i = 0; i < (size_t)g->n_sets * k; i++)
		costs[i / k] |= set_s[i] > 0;
	for (uint32_t v = 0; v < g->n; v++)
		if (!idle[v])
			costs[g->set[v]] = false;
	for (uint32_t v = 0; v < g->n; v++)
		if (g->set[v] != GRAPH_NONE && costs[g->set[v]]) {
			node = node ? node : MEM_NEWN(bool, g->n);
			node[v] = true;
		}
	mem_free(costs);
	return node;
}

/* Results in parts stay where these are, as whole ones do. */
static void find_idle(const struct graph *g, const bool *runs, bool *idle, uint32_t *root)
{
	op_idle_nodes(g, runs, idle, root);
	for (uint32_t v = 0; v < g->n; v++)
		idle[v] |=
			g->set[v] == GRAPH_NONE || (!(runs && runs[v]) && graph_joins_result(g, v));
}

void place_idle_nodes(const struct graph *g, const double *set_s, uint32_t k, bool *idle,
		      uint32_t *root)
{
	find_idle(g, NULL, idle, root);
	bool *runs = costly_nodes(g, idle, set_s, k);
	if (runs)
		find_idle(g, runs, idle, root);
	mem_free(runs);
}

/* ---- devices of sets that run nothing ---- */

/* (n_sets) sets whose device matters: they have a task, or share the device of others. */
static bool *fixed_sets(const struct place_model *m)
{
	bool *fixed = MEM_NEWN(bool, m->n_sets);

	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		fixed[m->tasks.task_set[t]] = true;
	for (uint32_t s = 0; m->together && s < m->n_sets; s++)
		if (m->together[s] != s)
			fixed[s] = fixed[m->together[s]] = true;
	return fixed;
}

/* The set of node v gets the device of node w's set, if it has none yet, w's set has one, and it
 * may run there. */
static void follow_neighbour(const struct place_model *m, uint32_t v, uint32_t w, bool *fixed,
			     uint16_t *device)
{
	uint32_t s = m->g->set[v], to = m->g->set[w];

	if (s == GRAPH_NONE || to == GRAPH_NONE || fixed[s] || !fixed[to] ||
	    !place_allowed(m, s, device[to]))
		return;
	device[s] = device[to];
	fixed[s] = true;
}

/* What runs nothing, and does not stay with what does, is where it may be: else on the first device that it may have. */
static void leave_forbidden(const struct place_model *m, uint16_t *device)
{
	bool *runs = MEM_NEWN(bool, m->n_sets);

	for (uint32_t t = 0; t < m->tasks.dag.n; t++)
		runs[m->together ? m->together[m->tasks.task_set[t]] : m->tasks.task_set[t]] = true;
	for (uint32_t s = 0; s < m->n_sets; s++) {
		uint32_t first = m->together ? m->together[s] : s;

		if (runs[first])
			continue;
		device[s] = device[first];
		for (uint32_t d = 0; d < m->k && !place_allowed(m, s, device[s]); d++)
			device[s] = (uint16_t)d;
	}
	mem_free(runs);
}

void place_idle_sets(const struct place_model *m, uint16_t *device)
{
	const struct graph *g = m->g;
	bool *fixed = fixed_sets(m);

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE)
				follow_neighbour(m, v, g->in_node[i], fixed, device);
	for (uint32_t v = g->n; v-- > 0;)
		for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
			if (g->in_node[i] != GRAPH_NONE)
				follow_neighbour(m, g->in_node[i], v, fixed, device);
	mem_free(fixed);
	leave_forbidden(m, device);
}
