/* cpu_passes.c - see cpu_passes.h. */
#include "device/cpu/pass/cpu_passes.h"

#include "device/cpu/pass/cpu_layout.h"
#include "device/cpu/pass/cpu_price.h"
#include "kernel/graph_facts.h"

static struct cpu_graph *passes_of(const struct graph *g, const struct step_env *env,
				   struct arena *a)
{
	struct cpu_graph *x = ARENA_NEWN(a, struct cpu_graph, 1);
	*x = (struct cpu_graph){.g = g, .env = env};
	planes_find(x, a);
	grids_find(x, a);
	layout_find(x, a);
	return x;
}

static const void *any_passes(const struct graph *g, const struct step_env *env, struct arena *a)
{
	return passes_of(g, env, a);
}

/* In fewer bits NHWC always is faster. */
static const void *f32_passes(const struct graph *g, const struct step_env *env, struct arena *a)
{
	struct cpu_graph *x = passes_of(g, env, a);
	if (x->nhwc_pays && !layout_is_told())
		prices_compare(x, a);
	return x;
}

const struct cpu_graph *cpu_graph_of(const struct graph *g, const struct step_env *env,
				     enum elem elem)
{
	return graph_facts_of(env, g, elem == EL_F32 ? f32_passes : any_passes);
}
