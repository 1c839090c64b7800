/* fusion.c - what enters and leaves a fusion group, and its description for a device. */
#include "exec/fusion.h"

#include <string.h>

/* ---- ports ---- */

/* The root that input slot i reads, or GRAPH_NONE: a constant, or not connected. */
static uint32_t slot_root(const struct model *m, uint32_t i)
{
	const struct graph *g = m->g;
	uint32_t u = g->in_node[i];
	return u == GRAPH_NONE || m->constant[u] ? GRAPH_NONE
						 : m->root[g->out_ptr[u] + g->in_port[i]];
}

/* A single step: one input per port, every output. */
static void single_ports(const struct model *m, struct fusion_group *g, struct arena *a)
{
	const struct graph *gr = m->g;
	uint32_t v = m->step_node[g->step[0]], *in, *out;
	g->in = in = ARENA_NEWN(a, uint32_t, gr->in_ptr[v + 1] - gr->in_ptr[v]);
	g->out = out = ARENA_NEWN(a, uint32_t, gr->out_ptr[v + 1] - gr->out_ptr[v]);
	for (uint32_t i = gr->in_ptr[v]; i < gr->in_ptr[v + 1]; i++)
		if (slot_root(m, i) != GRAPH_NONE)
			in[g->n_in++] = slot_root(m, i);
	for (uint32_t o = gr->out_ptr[v]; o < gr->out_ptr[v + 1]; o++)
		out[g->n_out++] = o;
}

/* Is tensor t read outside of the steps that are in local? */
static bool read_outside(const struct sched_dag *dag, const bool *is_result, const uint32_t *local,
			 uint32_t t)
{
	if (is_result[t])
		return true;
	for (uint32_t u = dag->use_ptr[t]; u < dag->use_ptr[t + 1]; u++)
		if (local[dag->use_task[u]] == GRAPH_NONE)
			return true;
	return false;
}

void fusion_group_ports(const struct model *m, const struct sched_dag *dag, const bool *is_result,
			const uint32_t *local, uint8_t *mark, struct fusion_group *g,
			struct arena *a)
{
	const struct graph *gr = m->g;
	uint32_t most_in = 0, most_out = 0, *in, *out;
	g->n_in = g->n_out = 0;
	if (g->n == 1) {
		single_ports(m, g, a);
		return;
	}
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t v = m->step_node[g->step[i]];
		most_in += gr->in_ptr[v + 1] - gr->in_ptr[v];
		most_out += gr->out_ptr[v + 1] - gr->out_ptr[v];
	}
	g->in = in = ARENA_NEWN(a, uint32_t, most_in);
	g->out = out = ARENA_NEWN(a, uint32_t, most_out);
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t s = g->step[i], v = m->step_node[s];
		for (uint32_t x = gr->in_ptr[v]; x < gr->in_ptr[v + 1]; x++) {
			uint32_t r = slot_root(m, x), src;
			if (r == GRAPH_NONE || mark[r])
				continue;
			src = m->node_step[m->node_out[r]];
			if (src != GRAPH_NONE && local[src] != GRAPH_NONE)
				continue;
			mark[r] = 1;
			in[g->n_in++] = r;
		}
		for (uint32_t t = dag->out_ptr[s], o = gr->out_ptr[v]; o < gr->out_ptr[v + 1];
		     t++, o++)
			if (read_outside(dag, is_result, local, t))
				out[g->n_out++] = o;
	}
	for (uint32_t i = 0; i < g->n_in; i++)
		mark[in[i]] = 0;
}

/* ---- the description ---- */

struct describer {
	struct model *m;
	const struct fusion_group *g;
	const uint32_t *local;
	struct device *d;
	enum model_data data;
	struct arena *a;
};

/* Port i of node v, as the single step has it, to where the group has it. */
static void redirect_input(const struct describer *x, uint32_t v, uint32_t i, struct step_arg *arg)
{
	const struct model *m = x->m;
	uint32_t r = slot_root(m, m->g->in_ptr[v] + i);
	if (arg->from != FROM_INPUT || r == GRAPH_NONE)
		return;
	uint32_t src = m->node_out[r], s = m->node_step[src];
	if (s != GRAPH_NONE && x->local[s] != GRAPH_NONE) {
		arg->from = FROM_NODE;
		arg->index = x->local[s];
		arg->port = r - m->g->out_ptr[src];
		return;
	}
	arg->index = 0;
	while (arg->index < x->g->n_in && x->g->in[arg->index] != r)
		arg->index++;
}

static int describe_node(const struct describer *x, uint32_t s, struct step_node *out,
			 const struct tensor **ins, struct err *e)
{
	struct step_spec one;
	if (model_spec(x->m, s, x->d, x->data, x->a, &one, e) < 0)
		return -1;
	*out = one.node[0];
	struct step_arg *in = ARENA_NEWN(x->a, struct step_arg, out->n_in);
	for (uint32_t i = 0; i < out->n_in; i++) {
		in[i] = out->in[i];
		redirect_input(x, out->v, i, &in[i]);
		if (in[i].from == FROM_INPUT && !ins[in[i].index])
			ins[in[i].index] = in[i].tensor;
	}
	out->in = in;
	return 0;
}

int fusion_group_spec(struct model *m, const struct fusion_group *g, const uint32_t *local,
		      struct device *d, enum model_data data, struct arena *a,
		      struct step_spec *out, struct err *e)
{
	const struct describer x = {m, g, local, d, data, a};
	struct step_node *node = ARENA_NEWN(a, struct step_node, g->n);
	const struct tensor **ins = ARENA_NEWN(a, const struct tensor *, g->n_in);
	struct step_out *outs = ARENA_NEWN(a, struct step_out, g->n_out);
	for (uint32_t i = 0; i < g->n; i++)
		if (describe_node(&x, g->step[i], &node[i], ins, e) < 0)
			return -1;
	for (uint32_t i = 0; i < g->n_out; i++) {
		uint32_t v = m->node_out[g->out[i]];
		outs[i] = (struct step_out){local[m->node_step[v]], g->out[i] - m->g->out_ptr[v]};
	}
	*out = (struct step_spec){g->n, node, g->n_in, g->n_out, ins, outs};
	return 0;
}
