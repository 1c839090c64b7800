/* nhwc_step_pool.c - pooling of images in NHWC, or ReduceMean of whole planes, perhaps with a FakeQuantize behind it. */
#include "device/cpu/nhwc/nhwc_step.h"
#include "kernel/nhwc/nhwc_kernels.h"
#include "op/slice.h"

struct pool_step {
	struct cpu_ctx *ctx;
	bool quantizes;
	uint32_t x_in; /* the input with the data */
	struct nhwc_pool pool;
};

/* Does every window have something inside the input?  And, where padding counts, nothing beyond it? */
static bool windows_fit(const struct window *g, bool padded_counts)
{
	for (int d = 0; d < 3; d++) {
		int64_t last = (g->out[d] - 1) * g->stride[d] - g->pad[d];
		if (g->dilation[d] != 1 || g->pad[d] < 0 || g->pad[d] >= g->kernel[d] ||
		    last >= g->in[d])
			return false;
		if (padded_counts && last + g->kernel[d] > g->in[d] + g->pad_end[d])
			return false;
	}
	return true;
}

/* Are these axes (a constant) the planes of (n,c,h,w), or whole volumes? */
static bool is_mean_of_planes(const struct tensor *axes, uint32_t rank)
{
	struct err e = ERR_INIT;
	uint32_t set;
	return (rank == 4 || rank == 5) && op_axes(axes, rank, &set, &e) >= 0 &&
	       set == (rank == 4 ? 0xc : 0x1c);
}

/* The window of a mean of whole planes or volumes. */
static struct window whole_planes(const struct tensor *x)
{
	struct window g = {.batch = x->dim[0],
			   .groups = 1,
			   .cin = x->dim[1],
			   .cout = x->dim[1],
			   .out = {1, 1, 1},
			   .stride = {1, 1, 1},
			   .dilation = {1, 1, 1},
			   .out_plane = 1,
			   .taps = 1};
	for (uint32_t d = 0; d < 3; d++) {
		g.in[d] = g.kernel[d] = d + x->rank < 5 ? 1 : x->dim[d + x->rank - 3];
		g.taps *= g.in[d];
	}
	g.in_plane = g.taps;
	return g;
}

static bool is_quantized(const struct step_spec *s)
{
	return s->n_nodes == 2 && s->node[1].op->kind == OP_FAKE_QUANTIZE;
}

static enum wish pool_reads(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	struct tensor axes;
	if (graph->g->kind[v] != OP_REDUCE_MEAN)
		return WISH_NHWC;
	return cpu_graph_ints(graph, graph_source(graph->g, v, 1), &axes) &&
			       is_mean_of_planes(&axes,
						 graph->g->out_rank[graph_slot_output(graph->g, i)])
		       ? WISH_NHWC
		       : WISH_ANY;
}

static enum group_answer pool_group(const struct step_how *how, const struct step_spec *s)
{
	return nhwc_group(how, s, !is_quantized(s));
}

static int pool_init(void *x, const struct step_how *how, const struct step_spec *s,
		     struct mem_form *want, struct err *e)
{
	struct pool_step *m = x;
	struct nhwc_pool *p = &m->pool;
	const struct step_node *n = &s->node[0];
	const struct tensor *t = n->in[0].tensor;
	(void)e;
	m->quantizes = is_quantized(s);
	if ((s->n_nodes != 1 && !m->quantizes) || n->in[0].from != FROM_INPUT || !fits_nhwc(t) ||
	    n->out[0].elem != EL_F32 || (n->n_out > 1 && n->used[1]) ||
	    (m->quantizes && (s->n_out != 1 || s->out[0].node != 1)))
		return 0;
	m->ctx = how->ctx;
	m->x_in = n->in[0].index;
	p->mean = n->op->kind != OP_MAX_POOL;
	p->in_shape = p->shape = form_shape_of(t);
	if (n->op->kind == OP_REDUCE_MEAN) {
		if (n->in[1].from != FROM_CONST || !n->in[1].tensor->data ||
		    !is_mean_of_planes(n->in[1].tensor, t->rank))
			return 0;
		p->g = whole_planes(t);
	} else {
		cpu_window_init(&p->g, n->op, t, NULL, &n->out[0]);
		p->padded_counts =
			p->mean && window_has_padding(&p->g) && !n->op->a.window.exclude_pad;
	}
	p->shape.pixels = p->g.out_plane;
	if (fits_nhwc(&n->out[0]))
		want[0] = nhwc_form_of(how, &s->node[s->n_nodes - 1], 0);
	/* Values that a FakeQuantize changes are those of its grid only as codes. */
	return windows_fit(&p->g, p->padded_counts) && (!m->quantizes || want[0].elem != EL_F32) &&
	       (p->mean || want[0].nhwc);
}

static bool pool_wants(const void *x, struct devmem *const *in, struct devmem *const *out,
		       const struct mem_form *want)
{
	const struct pool_step *m = x;
	(void)want;
	return in[m->x_in]->form.nhwc && (out[0]->private || (m->pool.mean && !m->quantizes));
}

static int pooling_run(void *x, const struct step_io *io, struct err *e)
{
	const struct pool_step *m = x;
	const struct nhwc_tensor from = nhwc_in(io, m->x_in), to = nhwc_out(io, 0);
	return nhwc_pool(&m->pool, m->ctx, &from, &to, e);
}

static const enum op_kind pools[] = {OP_MAX_POOL, OP_AVG_POOL, OP_REDUCE_MEAN, OP_COUNT};
const struct step_kind nhwc_pool_kind = {
	.name = "pooling in NHWC",
	.nhwc = true,
	.size = sizeof(struct pool_step),
	.begins = pools,
	.reads = pool_reads,
	.group = pool_group,
	.init = pool_init,
	.wants = pool_wants,
	.run = pooling_run,
};
