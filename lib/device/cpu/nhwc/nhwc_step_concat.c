/* nhwc_step_concat.c - Concat along channels, slices of channels and Splits of them, of images in NHWC. */
#include "device/cpu/nhwc/nhwc_step.h"
#include "kernel/nhwc/nhwc_kernels.h"
#include "op/slice.h"

#include <stdlib.h>

/* ---- Concat, and slices: as if they joined one part ---- */

struct join_step {
	struct cpu_ctx *ctx;
	struct nhwc_join join;
	uint32_t *in;          /* (join.n) inputs of the step */
	struct nhwc_tensor *x; /* (join.n) of a run */
};

static bool joins_channels(const struct graph *g, uint32_t v)
{
	const char *axis = graph_attr(g, v, "axis");
	int rank = g->out_rank[g->out_ptr[v]], d = axis ? atoi(axis) : 0;
	return (rank == 4 || rank == 5) && (d == 1 || d == 1 - rank);
}

static enum wish concat_reads(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	(void)i;
	return joins_channels(graph->g, v) ? WISH_NHWC : WISH_ANY;
}

static enum wish slice_reads(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	const struct graph *g = graph->g;
	return i == g->in_ptr[v] && cpu_graph_keeps_planes(graph, v) && graph->nhwc[g->out_ptr[v]]
		       ? WISH_NHWC
		       : WISH_ANY;
}

static enum group_answer concat_group(const struct step_how *how, const struct step_spec *s)
{
	return nhwc_group(how, s, joins_channels(s->node[0].graph, s->node[0].v));
}

/* Does n take a range of channels, in order, and all else?  Then the first of them. */
static bool slice_of_channels(const struct step_node *n, int64_t *first)
{
	enum { INPUTS = 5 };
	struct tensor in[INPUTS], out;
	struct op_range range[TENSOR_DIMS];
	struct err e = ERR_INIT;
	const struct tensor *x = n->in[0].tensor;
	if (!tensor_is_static(x) || x->rank != n->out[0].rank || !nhwc_constants(n, in, INPUTS) ||
	    op_slice_ranges(n->op, in, range, &out, &e) < 0 || out.rank != x->rank)
		return false;
	for (uint32_t d = 0; d < x->rank; d++)
		if (range[d].step != 1 || out.dim[d] != range[d].count ||
		    (d != 1 && range[d].count != x->dim[d]))
			return false;
	*first = range[1].start;
	return true;
}

static int join_init(void *x, const struct step_how *how, const struct step_spec *s,
		     struct mem_form *want, struct err *e)
{
	struct join_step *m = x;
	const struct step_node *n = &s->node[0];
	bool joins = n->op->kind == OP_CONCAT;
	int64_t first = 0;
	(void)e;
	if (s->n_nodes != 1 || !fits_nhwc(&n->out[0]) ||
	    (joins ? !joins_channels(n->graph, n->v) : !slice_of_channels(n, &first)))
		return 0;
	want[0] = nhwc_form_of(how, n, 0);
	m->ctx = how->ctx;
	m->join.n = joins ? n->n_in : 1;
	m->in = MEM_NEWN(uint32_t, m->join.n);
	m->x = MEM_NEWN(struct nhwc_tensor, m->join.n);
	m->join.part = MEM_NEWN(struct nhwc_join_part, m->join.n);
	m->join.shape = form_shape_of(&n->out[0]);
	for (uint32_t i = 0; i < m->join.n; i++) {
		const struct tensor *t = n->in[i].tensor;
		if (n->in[i].from != FROM_INPUT || t->elem != EL_F32 || !tensor_is_static(t) ||
		    tensor_elements(t) == 0)
			return 0;
		struct form_shape whole = form_shape_of(t);
		m->in[i] = n->in[i].index;
		m->join.part[i] = (struct nhwc_join_part){
			whole, first, joins ? whole.channels : m->join.shape.channels};
	}
	return 1;
}

static void join_release(void *x)
{
	struct join_step *m = x;
	mem_free(m->in);
	mem_free(m->x);
	mem_free(m->join.part);
}

static bool join_wants(const void *x, struct devmem *const *in, struct devmem *const *out,
		       const struct mem_form *want)
{
	const struct join_step *m = x;
	bool any = false;
	(void)out, (void)want;
	for (uint32_t i = 0; i < m->join.n && !any; i++)
		any = !form_is_plain(&in[m->in[i]]->form);
	return any;
}

static int join_run(void *x, const struct step_io *io, struct err *e)
{
	struct join_step *m = x;
	const struct nhwc_tensor to = nhwc_out(io, 0);
	for (uint32_t i = 0; i < m->join.n; i++)
		m->x[i] = nhwc_in(io, m->in[i]);
	return nhwc_join(&m->join, m->ctx, m->x, &to, e);
}

static const enum op_kind concats[] = {OP_CONCAT, OP_COUNT};
const struct step_kind nhwc_concat_kind = {
	.name = "Concat of channels in NHWC",
	.nhwc = true,
	.size = sizeof(struct join_step),
	.begins = concats,
	.reads = concat_reads,
	.group = concat_group,
	.init = join_init,
	.release = join_release,
	.wants = join_wants,
	.run = join_run,
};

static const enum op_kind slices[] = {OP_SLICE, OP_STRIDED_SLICE, OP_COUNT};
const struct step_kind nhwc_slice_kind = {
	.name = "slice of channels in NHWC",
	.nhwc = true,
	.size = sizeof(struct join_step),
	.begins = slices,
	.reads = slice_reads,
	.init = join_init,
	.release = join_release,
	.wants = join_wants,
	.run = join_run,
};

/* ---- Split, VariadicSplit: a slice for each output ---- */

struct split_step {
	struct cpu_ctx *ctx;
	uint32_t x_in, n;
	struct nhwc_join *part;       /* (n) */
	struct nhwc_join_part *whole; /* (n) what each takes */
};

static enum wish split_reads(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	return i == graph->g->in_ptr[v] && cpu_graph_keeps_planes(graph, v) &&
			       cpu_graph_splits_nhwc(graph, v)
		       ? WISH_NHWC
		       : WISH_ANY;
}

static int split_init(void *x, const struct step_how *how, const struct step_spec *s,
		      struct mem_form *want, struct err *e)
{
	struct split_step *m = x;
	const struct step_node *n = &s->node[0];
	int64_t first = 0;
	(void)e;
	if (!nhwc_reads_image(s) || !cpu_graph_keeps_planes(how->graph, n->v) ||
	    !cpu_graph_splits_nhwc(how->graph, n->v) || s->n_out != n->n_out)
		return 0;
	const struct form_shape whole = form_shape_of(n->in[0].tensor);
	m->ctx = how->ctx;
	m->x_in = n->in[0].index;
	m->n = n->n_out;
	m->part = MEM_NEWN(struct nhwc_join, m->n);
	m->whole = MEM_NEWN(struct nhwc_join_part, m->n);
	for (uint32_t i = 0; i < m->n; i++) {
		if (!fits_nhwc(&n->out[i]) || n->out[i].rank != n->in[0].tensor->rank)
			return 0;
		const struct form_shape shape = form_shape_of(&n->out[i]);
		m->whole[i] = (struct nhwc_join_part){whole, first, shape.channels};
		m->part[i] = (struct nhwc_join){.n = 1, .part = &m->whole[i], .shape = shape};
		want[i] = nhwc_form_of(how, n, i);
		first += shape.channels;
	}
	return first == whole.channels;
}

static void split_release(void *x)
{
	struct split_step *m = x;
	mem_free(m->part);
	mem_free(m->whole);
}

static bool split_wants(const void *x, struct devmem *const *in, struct devmem *const *out,
			const struct mem_form *want)
{
	const struct split_step *m = x;
	(void)out, (void)want;
	return !form_is_plain(&in[m->x_in]->form);
}

static int split_run(void *x, const struct step_io *io, struct err *e)
{
	const struct split_step *m = x;
	const struct nhwc_tensor from = nhwc_in(io, m->x_in);
	int rc = 0;
	for (uint32_t i = 0; i < m->n && rc == 0; i++) {
		const struct nhwc_tensor to = nhwc_out(io, i);
		rc = nhwc_join(&m->part[i], m->ctx, &from, &to, e);
	}
	return rc;
}

static const enum op_kind splits[] = {OP_SPLIT, OP_VARIADIC_SPLIT, OP_COUNT};
const struct step_kind nhwc_split_kind = {
	.name = "Split of channels in NHWC",
	.nhwc = true,
	.size = sizeof(struct split_step),
	.begins = splits,
	.reads = split_reads,
	.init = split_init,
	.release = split_release,
	.wants = split_wants,
	.run = split_run,
};
