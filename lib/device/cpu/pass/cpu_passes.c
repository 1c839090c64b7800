/* cpu_passes.c - see cpu_passes.h. */
#include "device/cpu/pass/cpu_passes.h"

#include "device/cpu/pass/cpu_layout.h"
#include "kernel/graph_facts.h"

#include <string.h>

/* ---- over a graph ---- */

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

/* ---- over a group ---- */

static const struct rewrite_pass *const passes[REWRITE_PASSES] = {
	&merged_pass,
	&padded_pass,
};

void group_rewrite(struct rewritten *r, const struct step_how *how, const struct step_spec *s)
{
	r->spec = s;
	for (int i = 0; i < REWRITE_PASSES; i++) {
		r->pass[i] = passes[i]->match(&r->by[i], how, r->spec) ? passes[i] : NULL;
		if (r->pass[i])
			r->spec = &r->by[i].spec;
	}
}

int group_constants(struct rewritten *r, const struct step_spec *s, float **data, uint64_t *bytes,
		    struct err *e)
{
	*data = NULL;
	*bytes = 0;
	for (int i = 0; i < REWRITE_PASSES; i++)
		for (int c = 0; r->pass[i] && c < 2; c++)
			if (r->by[i].constant[c].rank > 0)
				*bytes += (uint64_t)tensor_bytes(&r->by[i].constant[c]);
	if (*bytes == 0)
		return 0;
	float *to = *data = mem_try(*bytes);
	if (!to)
		return cpu_no_memory(e);
	memset(to, 0, *bytes);
	for (int i = 0; i < REWRITE_PASSES; i++) {
		if (!r->pass[i])
			continue;
		if (r->pass[i]->fill)
			r->pass[i]->fill(&r->by[i], s, to);
		for (int c = 0; c < 2; c++) {
			struct tensor *t = &r->by[i].constant[c];
			if (t->rank == 0)
				continue;
			t->data = to;
			to += tensor_elements(t);
		}
		s = &r->by[i].spec;
	}
	return 0;
}
