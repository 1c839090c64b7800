/* cpu_rms.c - normalisation of rows by the root of the mean of their squares (RMSNorm), spelled out in nodes, as one step:
 *
 *   Multiply (x, x) or Power (x, 2), ReduceMean over the last dim, Add of a small number,
 *   Sqrt, then Divide (x, root), or Divide (1, root) and Multiply; or Power (-0.5) and Multiply,
 *   perhaps Multiply by gains, one for each column
 *
 * x is read once, and nothing between is in memory. */
#include "device/cpu/step/cpu_kind.h"

#include "op/slice.h"
#include "op/value.h"

struct rms_step {
	struct cpu_ctx *ctx;
	struct op op; /* RMS, whose kernel runs it */
	struct tensor shape, gain;
	uint32_t x_in, gain_in;
	bool gain_is_input, gain_there;
};

/* What node v, behind all before it, adds to the pattern. */
enum stage {
	AT_SQUARE,
	AT_MEAN,
	AT_SUM,
	AT_ROOT,
	AT_INVERSE,
	AT_QUOTIENT,
	AT_GAIN,
	AT_NOTHING,
	MISFIT
};

static bool is_f32(const struct tensor *t)
{
	return t && !t->quant && t->elem == EL_F32 && tensor_is_static(t) && tensor_elements(t) > 0;
}

static bool is_number(const struct step_arg *a, double *value)
{
	if (a->from != FROM_CONST || !a->tensor->data || tensor_elements(a->tensor) != 1)
		return false;
	*value = tensor_real(a->tensor, 0);
	return true;
}

static bool is_this_number(const struct step_arg *a, double value)
{
	double v;
	return is_number(a, &v) && v == value;
}

static bool is_x(const struct rms_step *m, const struct step_arg *a)
{
	return a->from == FROM_INPUT && a->index == m->x_in &&
	       tensor_same_shape(a->tensor, &m->shape);
}

/* Does n read what node v - 1 makes, as argument i, in its own shape? */
static bool reads_last(const struct step_spec *s, uint32_t v, uint32_t i)
{
	const struct step_arg *a = &s->node[v].in[i];
	return a->from == FROM_NODE && a->index == v - 1 && a->port == 0 &&
	       tensor_same_shape(a->tensor, &s->node[v - 1].out[0]);
}

static bool squares(struct rms_step *m, const struct step_node *n)
{
	m->x_in = n->in[0].index;
	if (n->in[0].from != FROM_INPUT || n->in[0].tensor->rank < 1)
		return false;
	m->shape = *n->in[0].tensor;
	m->shape.data = NULL;
	return n->op->kind == OP_POWER ? is_this_number(&n->in[1], 2)
				       : n->op->kind == OP_MULTIPLY && is_x(m, &n->in[1]);
}

/* The last dim of `rank`, and no other? */
static bool over_last(const struct tensor *axes, uint32_t rank)
{
	struct err e = ERR_INIT;
	uint32_t set = 0;
	bool fits = op_axes(axes, rank, &set, &e) >= 0;
	err_clear(&e);
	return fits && rank > 0 && set == 1u << (rank - 1);
}

static bool means(const struct rms_step *m, const struct step_node *n)
{
	return n->op->kind == OP_REDUCE_MEAN && n->in[1].from == FROM_CONST &&
	       n->in[1].tensor->data && over_last(n->in[1].tensor, m->shape.rank) &&
	       n->out[0].rank == m->shape.rank;
}

/* Gains: one for each column. */
static bool gains(struct rms_step *m, const struct step_arg *a)
{
	const struct tensor *t = a->tensor;
	m->gain_is_input = a->from == FROM_INPUT;
	m->gain_in = a->index;
	if ((a->from != FROM_CONST && a->from != FROM_INPUT) || !is_f32(t) ||
	    (a->from == FROM_CONST && !t->data) || t->rank < 1 || t->rank > m->shape.rank ||
	    t->dim[t->rank - 1] != m->shape.dim[m->shape.rank - 1] ||
	    tensor_elements(t) != t->dim[t->rank - 1])
		return false;
	m->gain = *t;
	return m->gain_there = true;
}

/* The stage behind node v, which is at stage `at`; MISFIT: it is none of the pattern. */
static enum stage take(struct rms_step *m, const struct step_spec *s, uint32_t v, enum stage at)
{
	const struct step_node *n = &s->node[v];
	enum op_kind kind = n->op->kind;
	uint32_t last = v > 0 && !reads_last(s, v, 0);
	if (v > 0 && (last >= n->n_in || !reads_last(s, v, last)))
		return MISFIT;
	const struct step_arg *other = n->n_in == 2 ? &n->in[1 - last] : NULL;
	switch (at) {
	case AT_SQUARE: return other && squares(m, n) ? AT_MEAN : MISFIT;
	case AT_MEAN: return last == 0 && other && means(m, n) ? AT_SUM : MISFIT;
	case AT_SUM:
		return kind == OP_ADD && other && is_number(other, &m->op.a.norm.eps) ? AT_ROOT
										      : MISFIT;
	case AT_ROOT:
		if (kind == OP_SQRT)
			return AT_INVERSE;
		return kind == OP_POWER && last == 0 && is_this_number(other, -0.5) ? AT_QUOTIENT
										    : MISFIT;
	case AT_INVERSE: /* of the root, or x divided by it */
		if (kind != OP_DIVIDE || last != 1)
			return MISFIT;
		return is_x(m, other) ? AT_GAIN : is_this_number(other, 1) ? AT_QUOTIENT : MISFIT;
	case AT_QUOTIENT: return kind == OP_MULTIPLY && is_x(m, other) ? AT_GAIN : MISFIT;
	case AT_GAIN: return kind == OP_MULTIPLY && gains(m, other) ? AT_NOTHING : MISFIT;
	default: /* all nodes were there */ return MISFIT;
	}
}

static enum group_answer read_nodes(struct rms_step *m, const struct step_spec *s)
{
	enum stage at = AT_SQUARE;
	if (s->n_out != 1 || s->out[0].node != s->n_nodes - 1)
		return GROUP_OTHER;
	for (uint32_t v = 0; v < s->n_nodes; v++) {
		const struct step_node *n = &s->node[v];
		for (uint32_t i = 0; i < n->n_in; i++)
			if (n->in[i].from == FROM_NONE || (i == 0 && n->in[i].tensor->quant))
				return GROUP_OTHER;
		if (n->n_out != 1 || !is_f32(&n->out[0]) || n->n_in < 1 ||
		    (n->n_in == 2 && n->op->kind != OP_REDUCE_MEAN &&
		     n->op->a.broadcast.bcast == BCAST_PDPD))
			return GROUP_OTHER;
		at = take(m, s, v, at);
		if (at == MISFIT)
			return GROUP_OTHER;
	}
	if (at < AT_GAIN)
		return GROUP_WITH_MORE;
	return tensor_same_shape(&s->node[s->n_nodes - 1].out[0], &m->shape) ? GROUP_YES
									     : GROUP_OTHER;
}

/* The one node that reads output 0 of v, of this kind; GRAPH_NONE: there are others. */
static uint32_t only_reader(const struct graph *g, uint32_t v, enum op_kind kind)
{
	uint32_t k = v == GRAPH_NONE ? 0 : g->consumers.ptr[v];
	return v != GRAPH_NONE && g->consumers.ptr[v + 1] == k + 1 &&
			       g->kind[g->consumers.dst[k]] == kind
		       ? g->consumers.dst[k]
		       : GRAPH_NONE;
}

/* Is v, as far as the graph tells, where such a pattern begins?  That of layer normalisation, of differences from a mean, is left
 * to fused steps: the shift behind it is theirs, too. */
static bool begins_pattern(const struct cpu_graph *graph, uint32_t v)
{
	const struct graph *g = graph->g;
	uint32_t x = graph_source(g, v, 0), squares = g->consumers.ptr[v + 1] - g->consumers.ptr[v];
	struct tensor axes;
	if ((g->kind[v] != OP_POWER && g->kind[v] != OP_MULTIPLY) || squares != 1 ||
	    (g->kind[v] == OP_MULTIPLY && x != graph_source(g, v, 1)) || x == GRAPH_NONE ||
	    g->kind[x] == OP_SUBTRACT)
		return false;
	uint32_t mean = only_reader(g, v, OP_REDUCE_MEAN);
	uint32_t sum = only_reader(g, mean, OP_ADD);
	return mean != GRAPH_NONE && sum != GRAPH_NONE &&
	       (only_reader(g, sum, OP_SQRT) != GRAPH_NONE ||
		only_reader(g, sum, OP_POWER) != GRAPH_NONE) &&
	       cpu_graph_ints(graph, graph_source(g, mean, 1), &axes) &&
	       over_last(&axes, g->out_rank[g->out_ptr[v]]);
}

/* What computes x must not square it, too: the pattern would have lost its first node. */
static enum group_answer rms_group(const struct step_how *how, const struct step_spec *s)
{
	struct rms_step m = {0};
	if (begins_pattern(how->graph, s->node[0].v))
		return read_nodes(&m, s);
	for (uint32_t v = 1; v < s->n_nodes; v++)
		if (begins_pattern(how->graph, s->node[v].v))
			return GROUP_NEVER;
	return GROUP_OTHER;
}

static int rms_init(void *x, const struct step_how *how, const struct step_spec *s,
		    struct mem_form *want, struct err *e)
{
	struct rms_step *m = x;
	(void)want, (void)e;
	if (!begins_pattern(how->graph, s->node[0].v) || read_nodes(m, s) != GROUP_YES)
		return 0;
	m->op.kind = OP_RMS;
	m->op.n_in = 2;
	m->op.n_out = 1;
	m->ctx = how->ctx;
	return 1;
}

static int rms_run(void *x, const struct step_io *io, struct err *e)
{
	const struct rms_step *m = x;
	float one = 1;
	struct tensor in[2] = {m->shape, m->gain}, out = m->shape;
	in[0].data = io->plain_in[m->x_in];
	out.data = io->plain_out[0];
	if (!m->gain_there)
		in[1] = (struct tensor){.elem = EL_F32, .data = &one};
	else if (m->gain_is_input)
		in[1].data = io->plain_in[m->gain_in];
	const struct kernel_call call = {.op = &m->op, .in = in, .out = &out, .ctx = m->ctx};
	return run_rms(&call, e);
}

const struct step_kind rms_kind = {
	.name = "RMS normalisation",
	.size = sizeof(struct rms_step),
	.plain = true,
	.group = rms_group,
	.init = rms_init,
	.run = rms_run,
};
