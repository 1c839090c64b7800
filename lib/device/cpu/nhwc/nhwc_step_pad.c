/* nhwc_step_pad.c - Pad of the spatial dims of images in NHWC. */
#include "device/cpu/nhwc/nhwc_step.h"
#include "kernel/nhwc/nhwc_kernels.h"
#include "op/slice.h"

struct pad_step {
	struct cpu_ctx *ctx;
	uint32_t x_in;
	struct nhwc_pixels pad;
};

/* Is v a Pad of the spatial dims alone, as far as shapes tell, that is wanted in NHWC? */
static enum wish pad_reads(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	const struct graph *g = graph->g;
	if (nhwc_as_output(graph, v, i) != WISH_NHWC)
		return WISH_PLAIN;
	uint32_t from = graph_slot_output(g, i), o = g->out_ptr[v];
	const int64_t *a = g->dim + g->dim_ptr[from], *b = g->dim + g->dim_ptr[o];
	bool spatial = g->out_rank[from] == g->out_rank[o] && g->out_rank[o] >= 3 &&
		       g->out_rank[o] <= 5 && a[0] == b[0] && a[1] == b[1];
	return spatial ? WISH_NHWC : WISH_PLAIN;
}

/* Input i of Pad as integers, one a dim; false: it is not known. */
static bool amounts(const struct step_node *n, uint32_t i, int64_t rank, int64_t *out)
{
	struct err e = ERR_INIT;
	const struct step_arg *a = &n->in[i];
	return a->from == FROM_CONST && a->tensor->data &&
	       op_ints(a->tensor, out, TENSOR_DIMS, &e) == rank;
}

static int pad_init(void *x, const struct step_how *how, const struct step_spec *s,
		    struct mem_form *want, struct err *e)
{
	struct pad_step *m = x;
	struct nhwc_pixels *p = &m->pad;
	const struct step_node *n = &s->node[0];
	const struct tensor *t = n->in[0].tensor, *y = &n->out[0];
	int64_t lo[TENSOR_DIMS], hi[TENSOR_DIMS];
	(void)e;
	if (!nhwc_reads_image(s) || !fits_nhwc(y) || t->rank != y->rank ||
	    !how->graph->planes[n->v] || !amounts(n, 1, t->rank, lo) ||
	    !amounts(n, 2, t->rank, hi) || lo[0] || lo[1] || hi[0] || hi[1])
		return 0;
	if (n->n_in > 3 && n->in[3].from != FROM_NONE) {
		if (n->in[3].from != FROM_CONST || !n->in[3].tensor->data)
			return 0;
		p->fill = (float)tensor_real(n->in[3].tensor, 0);
	}
	want[0] = nhwc_form_of(how, n, 0);
	m->ctx = how->ctx;
	m->x_in = n->in[0].index;
	nhwc_pixels_shapes(p, t, y);
	for (int d = 0; d < 3; d++) {
		int dim = (int)t->rank - 3 + d;
		p->n[d] = p->out[d];
		p->from[d] = MEM_NEWN(int64_t, (size_t)p->n[d]);
		for (int64_t o = 0; dim >= 2 && o < p->n[d]; o++)
			p->from[d][o] = op_pad_source(n->op->a.pad.mode, o - lo[dim], p->in[d]);
	}
	return want[0].nhwc;
}

static void pad_release(void *x)
{
	struct pad_step *m = x;
	nhwc_pixels_release(&m->pad);
}

static int pad_run(void *x, const struct step_io *io, struct err *e)
{
	const struct pad_step *m = x;
	const struct nhwc_tensor from = nhwc_in(io, m->x_in), to = nhwc_out(io, 0);
	return nhwc_pixels(&m->pad, m->ctx, &from, &to, e);
}

static const enum op_kind pads[] = {OP_PAD, OP_COUNT};
const struct step_kind nhwc_pad_kind = {
	.name = "Pad in NHWC",
	.nhwc = true,
	.size = sizeof(struct pad_step),
	.begins = pads,
	.reads = pad_reads,
	.init = pad_init,
	.release = pad_release,
	.wants = nhwc_where_private,
	.run = pad_run,
};
