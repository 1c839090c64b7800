/* What passes found out about graphs: once each, of each graph; one pass may ask for another. */
#include "kernel/graph_facts.h"
#include "graphgen.h"
#include "tap.h"

static int runs[2];

/* How many of v's inputs are connected. */
static uint32_t n_connected(const struct graph *g, uint32_t v)
{
	uint32_t n = 0;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1]; i++)
		n += g->in_node[i] != GRAPH_NONE;
	return n;
}

static const void *count_inputs(const struct graph *g, const struct step_env *env, struct arena *a)
{
	uint32_t *n = ARENA_NEWN(a, uint32_t, g->n + 1);
	(void)env;
	for (uint32_t v = 0; v < g->n; v++)
		n[v] = n_connected(g, v);
	runs[0]++;
	return n;
}

/* Asks for what another pass found. */
static const void *sum_inputs(const struct graph *g, const struct step_env *env, struct arena *a)
{
	const uint32_t *n = (const uint32_t *)graph_facts_of(env, g, count_inputs);
	uint32_t *sum = ARENA_NEWN(a, uint32_t, 1);
	for (uint32_t v = 0; v < g->n; v++)
		*sum += n[v];
	runs[1]++;
	return sum;
}

static bool counts_are_right(const struct step_env *env, const struct graph *g)
{
	const uint32_t *sum = (const uint32_t *)graph_facts_of(env, g, sum_inputs);
	const uint32_t *n = (const uint32_t *)graph_facts_of(env, g, count_inputs);
	bool right = *sum == graph_n_edges(g);
	for (uint32_t v = 0; v < g->n; v++)
		right = right && n[v] == n_connected(g, v);
	return right;
}

int main(void)
{
	struct step_env env = {.facts = graph_facts_new()};
	struct graph *g[2] = {gen_graph(1, 50, 8), gen_graph(2, 90, 8)};
	bool right = true;
	for (int i = 0; i < 6; i++)
		right = right && counts_are_right(&env, g[i % 2]);
	tap(right, "what a pass found is of the graph that was asked about");
	tap(runs[0] == 2 && runs[1] == 2, "a pass runs once for each graph, whoever asks");
	graph_facts_free(env.facts);
	graph_facts_free(NULL);
	graph_free(g[0]);
	graph_free(g[1]);
	return tap_end();
}
