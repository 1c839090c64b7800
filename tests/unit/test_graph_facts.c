/* What passes found out about graphs: once each, of each graph; one pass may ask for another. */
#include "kernel/graph_facts.h"
#include "graphgen.h"
#include "tap.h"

static int runs;

static const void *count_readers(const struct graph *g, const struct step_env *env, struct arena *a)
{
	const struct consumers *readers = graph_readers(env, g);
	uint32_t *n = ARENA_NEWN(a, uint32_t, g->n + 1);
	for (uint32_t v = 0; v < g->n; v++)
		n[v] = readers->ptr[v + 1] - readers->ptr[v];
	runs++;
	return n;
}

static uint32_t slots_that_read(const struct graph *g, uint32_t v)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->in_ptr[g->n]; i++)
		n += g->in_node[i] == v;
	return n;
}

static bool counts_are_right(const struct step_env *env, const struct graph *g)
{
	const uint32_t *n = (const uint32_t *)graph_facts_of(env, g, count_readers);
	bool right = true;
	for (uint32_t v = 0; v < g->n; v++)
		right = right && n[v] == slots_that_read(g, v);
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
	tap(runs == 2, "a pass runs once for each graph");
	graph_facts_free(env.facts);
	graph_facts_free(NULL);
	graph_free(g[0]);
	graph_free(g[1]);
	return tap_end();
}
