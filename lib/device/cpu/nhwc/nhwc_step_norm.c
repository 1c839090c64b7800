/* nhwc_step_norm.c - MVN over planes, or over channels and planes, and GroupNormalization, of images in NHWC. */
#include "device/cpu/nhwc/nhwc_step.h"
#include "kernel/nhwc/nhwc_kernels.h"
#include "op/slice.h"

#include <string.h>

struct norm_step {
	struct cpu_ctx *ctx;
	uint32_t x_in;
	struct nhwc_norm norm; /* its constants stay where they are */
};

/* The set of dims over which MVN v goes; false: they are not known. */
static bool mvn_axes(const struct cpu_graph *graph, uint32_t v, uint32_t *set)
{
	const struct graph *g = graph->g;
	struct tensor axes;
	struct err e = ERR_INIT;
	uint32_t rank = g->out_rank[g->out_ptr[v]];
	const char *across = graph_attr(g, v, "across_channels");
	if (g->in_ptr[v + 1] - g->in_ptr[v] > 1)
		return cpu_graph_ints(graph, graph_source(g, v, 1), &axes) &&
		       op_axes(&axes, rank, set, &e) >= 0;
	bool all = !across || strcmp(across, "true") == 0 || strcmp(across, "1") == 0;
	*set = ((1u << rank) - 1) & ~(all ? 1u : 3u);
	return across != NULL;
}

/* Is v such a norm?  *joins: MVN has one mean for all channels. */
static bool is_norm_of_planes(const struct cpu_graph *graph, uint32_t v, bool *joins)
{
	const struct graph *g = graph->g;
	uint32_t set;
	*joins = false;
	if (!graph->planes[v])
		return false;
	if (graph->g->kind[v] == OP_GROUP_NORM)
		return true;
	uint32_t planes = ((1u << g->out_rank[g->out_ptr[v]]) - 1) & ~3u;
	if (!mvn_axes(graph, v, &set))
		return false;
	*joins = set & 2;
	return (set | 2) == (planes | 2) && !(set & 1);
}

static enum wish norm_reads(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	bool joins;
	(void)i;
	return is_norm_of_planes(graph, v, &joins) ? WISH_NHWC : WISH_PLAIN;
}

static enum group_answer norm_group(const struct step_how *how, const struct step_spec *s)
{
	bool joins;
	return nhwc_group(how, s, is_norm_of_planes(how->graph, s->node[0].v, &joins));
}

static int norm_init(void *x, const struct step_how *how, const struct step_spec *s,
		     struct mem_form *want, struct err *e)
{
	struct norm_step *m = x;
	struct nhwc_norm *p = &m->norm;
	const struct step_node *n = &s->node[0];
	bool joins;
	(void)e;
	if (!nhwc_reads_image(s) || !is_norm_of_planes(how->graph, n->v, &joins))
		return 0;
	m->ctx = how->ctx;
	m->x_in = n->in[0].index;
	p->shape = form_shape_of(n->in[0].tensor);
	p->groups = joins ? 1 : p->shape.channels;
	p->eps = (float)n->op->a.norm.eps;
	p->eps_inside = n->op->a.norm.eps_inside_sqrt;
	p->scales = n->op->a.norm.normalize_variance;
	if (n->op->kind == OP_GROUP_NORM) {
		p->groups = n->op->a.norm.groups;
		p->eps_inside = p->scales = true;
		for (int i = 1; i < 3; i++)
			if (n->in[i].from != FROM_CONST || !n->in[i].tensor->data ||
			    tensor_elements(n->in[i].tensor) != p->shape.channels)
				return 0;
		p->gain = *n->in[1].tensor;
		p->shift = *n->in[2].tensor;
	}
	if (p->groups < 1 || p->shape.channels % p->groups)
		return 0;
	want[0] = nhwc_form_of(how, n, 0);
	return 1;
}

static int norm_run(void *x, const struct step_io *io, struct err *e)
{
	const struct norm_step *m = x;
	const struct nhwc_tensor from = nhwc_in(io, m->x_in), to = nhwc_out(io, 0);
	return nhwc_norm(&m->norm, m->ctx, &from, &to, e);
}

static const enum op_kind norms[] = {OP_MVN, OP_GROUP_NORM, OP_COUNT};
const struct step_kind nhwc_norm_kind = {
	.name = "norm of planes in NHWC",
	.nhwc = true,
	.size = sizeof(struct norm_step),
	.begins = norms,
	.reads = norm_reads,
	.group = norm_group,
	.init = norm_init,
	.run = norm_run,
};
