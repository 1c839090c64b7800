/* nhwc_step.c - see nhwc_step.h. */
#include "device/cpu/nhwc/nhwc_step.h"

#include "device/cpu/fuse/cpu_fuse.h"

static bool has_split(const struct step_spec *s)
{
	bool any = false;
	for (uint32_t v = 0; v < s->n_nodes; v++)
		any = any || op_is_split(s->node[v].op->kind);
	return any;
}

enum group_answer nhwc_group(const struct step_how *how, const struct step_spec *s, bool apart)
{
	const struct step_node *n = &s->node[0];
	if (s->n_nodes == 1 ||
	    (n->op->kind != OP_TRANSPOSE && (!fits_nhwc(&n->out[0]) || !how->graph->planes[n->v])))
		return GROUP_OTHER;
	for (uint32_t v = 0; v < s->n_nodes; v++)
		apart = apart || cpu_graph_splits_nhwc(how->graph, s->node[v].v);
	if (!apart || cpu_fuse_is_tokens(s) ||
	    (has_split(s) && cpu_graph_reads_rows(how->graph, n->v)))
		return GROUP_OTHER;
	return GROUP_NEVER;
}

enum wish nhwc_as_output(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	const struct graph *g = graph->g;
	return i == g->in_ptr[v] && graph->nhwc[g->out_ptr[v]] ? WISH_NHWC : WISH_PLAIN;
}

enum group_answer nhwc_group_as_output(const struct step_how *how, const struct step_spec *s)
{
	const struct cpu_graph *graph = how->graph;
	return nhwc_group(how, s, graph->nhwc[graph->g->out_ptr[s->node[0].v]]);
}

bool nhwc_where_private(const void *x, struct devmem *const *in, struct devmem *const *out,
			const struct mem_form *want)
{
	(void)x, (void)in, (void)want;
	return out[0]->private;
}

bool nhwc_constants(const struct step_node *n, struct tensor *in, uint32_t cap)
{
	if (n->n_in > cap)
		return false;
	for (uint32_t i = 0; i < n->n_in; i++) {
		const struct step_arg *a = &n->in[i];
		in[i] = a->tensor ? *a->tensor : (struct tensor){0};
		if (i > 0 && a->from != FROM_NONE && (a->from != FROM_CONST || !a->tensor->data))
			return false;
	}
	return true;
}
