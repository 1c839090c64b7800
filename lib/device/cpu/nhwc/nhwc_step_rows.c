/* nhwc_step_rows.c - Concat, slices and Splits along spatial dims of images in NHWC: pieces, of one tensor to one other each. */
#include "device/cpu/nhwc/nhwc_step.h"
#include "kernel/nhwc/nhwc_kernels.h"
#include "op/slice.h"

#include <stdlib.h>

struct rows_step {
	struct cpu_ctx *ctx;
	uint32_t n;
	struct rows_piece {
		uint32_t in, out; /* of the step */
		struct nhwc_pixels pixels;
	} * piece; /* (n) */
};

/* Like pads: as an output is wanted.  Constants lie in planes. */
static bool is_wanted(const struct cpu_graph *graph, uint32_t v)
{
	const struct graph *g = graph->g;
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && g->kind[v] == OP_CONCAT; i++)
		if (g->in_node[i] == GRAPH_NONE || graph_const(g, g->in_node[i]) >= 0)
			return false;
	return cpu_graph_any_nhwc(graph, v) && cpu_graph_keeps_channels(graph, v);
}

static enum wish rows_reads(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	const struct graph *g = graph->g;
	return (i == g->in_ptr[v] || g->kind[v] == OP_CONCAT) && is_wanted(graph, v) ? WISH_NHWC
										     : WISH_PLAIN;
}

static enum group_answer rows_group(const struct step_how *how, const struct step_spec *s)
{
	return nhwc_group(how, s, is_wanted(how->graph, s->node[0].v));
}

/* What node n copies from its input `in` to its output `out`, n->in[in].index and one of s->out. */
static struct nhwc_pixels *add_piece(struct rows_step *m, const struct step_node *n, uint32_t in,
				     uint32_t out)
{
	struct rows_piece *p = &m->piece[m->n++];
	p->in = n->in[in].index;
	p->out = out;
	nhwc_pixels_shapes(&p->pixels, n->in[in].tensor, &n->out[out]);
	return &p->pixels;
}

/* n positions along spatial dim d (of 3): from `source` on, `step` apart, to those from `first` on. */
static void take(struct nhwc_pixels *p, int d, int64_t source, int64_t step, int64_t first,
		 int64_t n)
{
	p->first[d] = first;
	p->n[d] = n;
	p->from[d] = MEM_NEWN(int64_t, (size_t)n);
	for (int64_t i = 0; i < n; i++)
		p->from[d][i] = source + i * step;
}

/* The pieces of a Concat or a Split along spatial dim `axis` (of 3). */
static void cut(struct rows_step *m, const struct step_node *n, int axis)
{
	bool joins = n->op->kind == OP_CONCAT;
	int64_t at = 0;
	for (uint32_t i = 0; i < (joins ? n->n_in : n->n_out); i++) {
		struct nhwc_pixels *p = joins ? add_piece(m, n, i, 0) : add_piece(m, n, 0, i);
		for (int d = 0; d < 3; d++) {
			int64_t some = joins ? p->in[d] : p->out[d];
			if (d != axis)
				take(p, d, 0, 1, 0, some);
			else
				take(p, d, joins ? 0 : at, 1, joins ? at : 0, some);
		}
		at += joins ? p->in[axis] : p->out[axis];
	}
}

/* The piece of a Slice that takes all images and channels; false: it is none. */
static bool slice(struct rows_step *m, const struct step_node *n)
{
	enum { INPUTS = 5 };
	struct tensor in[INPUTS], out;
	struct op_range range[TENSOR_DIMS];
	struct err e = ERR_INIT;
	const struct tensor *x = n->in[0].tensor;
	bool fits = nhwc_constants(n, in, INPUTS) &&
		    op_slice_ranges(n->op, in, range, &out, &e) == 0 && out.rank == x->rank;
	err_clear(&e);
	for (uint32_t d = 0; fits && d < x->rank; d++)
		fits = out.dim[d] == range[d].count && n->out[0].dim[d] == range[d].count &&
		       (d > 1 || (range[d].step == 1 && range[d].count == x->dim[d]));
	if (!fits)
		return false;
	struct nhwc_pixels *p = add_piece(m, n, 0, 0);
	for (int d = 0; d < 3; d++) {
		int dim = (int)x->rank - 3 + d;
		if (dim >= 2)
			take(p, d, range[dim].start, range[dim].step, 0, range[dim].count);
		else
			take(p, d, 0, 1, 0, 1);
	}
	return true;
}

static int rows_init(void *x, const struct step_how *how, const struct step_spec *s,
		     struct mem_form *want, struct err *e)
{
	struct rows_step *m = x;
	const struct step_node *n = &s->node[0];
	bool joins = n->op->kind == OP_CONCAT, slices = !joins && !op_is_split(n->op->kind);
	int axis = -1;
	(void)e;
	if (s->n_nodes != 1 || s->n_out != n->n_out || !is_wanted(how->graph, n->v))
		return 0;
	for (uint32_t i = 0; i < (joins ? n->n_in : 1); i++)
		if (n->in[i].from != FROM_INPUT || !fits_nhwc(n->in[i].tensor) ||
		    n->in[i].tensor->rank != n->out[0].rank)
			return 0;
	for (uint32_t o = 0; o < n->n_out; o++) {
		const struct tensor *t = n->in[0].tensor, *y = &n->out[o];
		if (!fits_nhwc(y) || y->rank != t->rank || y->rank < 4 || t->dim[0] != y->dim[0] ||
		    t->dim[1] != y->dim[1])
			return 0;
		for (uint32_t d = 2; d < y->rank; d++)
			axis = y->dim[d] != t->dim[d] ? (int)(d + 3 - y->rank) : axis;
	}
	m->ctx = how->ctx;
	m->piece = MEM_NEWN(struct rows_piece, (size_t)n->n_in + n->n_out);
	if (slices ? !slice(m, n) : axis < 0)
		return 0;
	if (!slices)
		cut(m, n, axis);
	for (uint32_t o = 0; o < n->n_out; o++)
		want[o] = nhwc_form_of(how, n, o);
	return 1;
}

static void rows_release(void *x)
{
	struct rows_step *m = x;
	for (uint32_t i = 0; i < m->n; i++)
		nhwc_pixels_release(&m->piece[i].pixels);
	mem_free(m->piece);
}

static bool rows_wants(const void *x, struct devmem *const *in, struct devmem *const *out,
		       const struct mem_form *want)
{
	const struct rows_step *m = x;
	bool any = false;
	(void)out, (void)want;
	for (uint32_t i = 0; i < m->n && !any; i++)
		any = !form_is_plain(&in[m->piece[i].in]->form);
	return any;
}

static int rows_run(void *x, const struct step_io *io, struct err *e)
{
	const struct rows_step *m = x;
	int rc = 0;
	for (uint32_t i = 0; i < m->n && rc == 0; i++) {
		const struct rows_piece *p = &m->piece[i];
		const struct nhwc_tensor from = nhwc_in(io, p->in), to = nhwc_out(io, p->out);
		rc = nhwc_pixels(&p->pixels, m->ctx, &from, &to, e);
	}
	return rc;
}

static const enum op_kind rows[] = {OP_CONCAT, OP_SLICE,          OP_STRIDED_SLICE,
				    OP_SPLIT,  OP_VARIADIC_SPLIT, OP_COUNT};
const struct step_kind nhwc_rows_kind = {
	.name = "rows of pixels in NHWC",
	.nhwc = true,
	.size = sizeof(struct rows_step),
	.begins = rows,
	.reads = rows_reads,
	.group = rows_group,
	.init = rows_init,
	.release = rows_release,
	.wants = rows_wants,
	.run = rows_run,
};
