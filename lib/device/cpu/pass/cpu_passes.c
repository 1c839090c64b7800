/* cpu_passes.c - see cpu_passes.h. */
#include "device/cpu/pass/cpu_passes.h"

#include "device/cpu/pass/cpu_layout.h"
#include "kernel/graph_facts.h"

static const void *all_passes(const struct graph *g, const struct step_env *env, struct arena *a)
{
	struct cpu_graph *x = ARENA_NEWN(a, struct cpu_graph, 1);
	*x = (struct cpu_graph){.g = g, .env = env};
	planes_find(x, a);
	grids_find(x, a);
	layout_find(x, a);
	return x;
}

const struct cpu_graph *cpu_graph_of(const struct graph *g, const struct step_env *env)
{
	return graph_facts_of(env, g, all_passes);
}
