/* infer_compute.c - shape inference: products, convolutions, pooling, recurrent
 * cells. */
#include "op/attr_get.h"
#include "op/opimpl.h"

#include <string.h>

static int misfit(const char *what, const struct tensor *a, const struct tensor *b, struct err *e)
{
	char s[120], t[120];
	return err_set(e, ST_INPUT, "%s: %s and %s do not fit", what, tensor_text(a, s, sizeof s),
		       tensor_text(b, t, sizeof t));
}

int infer_matmul(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct tensor *a = &in[0], *b = &in[1];
	if (a->rank == 0 || b->rank == 0)
		return misfit("MatMul", a, b, e);
	/* A vector is a row on the left and a column on the right; transposition does not apply. */
	bool ta = op->a.matmul.transpose_a && a->rank > 1,
	     tb = op->a.matmul.transpose_b && b->rank > 1;
	int64_t m = a->rank == 1 ? 1 : a->dim[a->rank - (ta ? 1 : 2)];
	int64_t ka = a->rank == 1 ? a->dim[0] : a->dim[a->rank - (ta ? 2 : 1)];
	int64_t kb = b->rank == 1 ? b->dim[0] : b->dim[b->rank - (tb ? 1 : 2)];
	int64_t n = b->rank == 1 ? 1 : b->dim[b->rank - (tb ? 2 : 1)];
	struct tensor ba = *a, bb = *b;
	ba.rank = a->rank > 2 ? a->rank - 2 : 0;
	bb.rank = b->rank > 2 ? b->rank - 2 : 0;
	out->elem = a->elem;
	if (ka != kb || !op_broadcast(&ba, &bb, out))
		return misfit("MatMul", a, b, e);
	if (a->rank > 1)
		out->dim[out->rank++] = m;
	if (b->rank > 1)
		out->dim[out->rank++] = n;
	return 0;
}

/* Rows (rows, k) in groups, whose ends are (g), or (g, rows, k); matrices (g, n, k) -> (rows, n), (g, rows, n). */
int infer_grouped_matmul(const struct op *op, const struct tensor *in, struct tensor *out,
			 struct err *e)
{
	const struct tensor *a = &in[0], *b = &in[1], *ends = &in[2];
	bool rows = a->rank == 2, given = op_has_input(op, in, 2);
	if ((!rows && a->rank != 3) || b->rank != 3 || a->dim[a->rank - 1] != b->dim[2] ||
	    (!rows && a->dim[0] != b->dim[0]))
		return misfit("GroupedMatMul", a, b, e);
	if (rows && !given)
		return err_set(e, ST_INPUT, "GroupedMatMul of rows has no offsets");
	if (rows && (ends->rank != 1 || ends->dim[0] != b->dim[0]))
		return misfit("GroupedMatMul", ends, b, e);
	op_like(out, a);
	out->dim[a->rank - 1] = b->dim[1];
	return 0;
}

/* Q (.., l, d), K (.., s, d), V (.., s, dv) -> (.., l, dv). */
int infer_attention(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)op;
	const struct tensor *q = &in[0], *k = &in[1], *v = &in[2];
	if (q->rank < 2 || k->rank < 2 || v->rank < 2 ||
	    q->dim[q->rank - 1] != k->dim[k->rank - 1] ||
	    k->dim[k->rank - 2] != v->dim[v->rank - 2])
		return misfit("ScaledDotProductAttention", q, k, e);
	struct tensor bq = *q, bk = *k, bv = *v, qk = {.elem = q->elem};
	bq.rank -= 2;
	bk.rank -= 2;
	bv.rank -= 2;
	out->elem = q->elem;
	if (!op_broadcast(&bq, &bk, &qk) || !op_broadcast(&qk, &bv, out))
		return misfit("ScaledDotProductAttention", q, v, e);
	out->dim[out->rank++] = q->dim[q->rank - 2];
	out->dim[out->rank++] = v->dim[v->rank - 1];
	return 0;
}

/* Sizes along one dim of a window. */
static int64_t window_span(int64_t kernel, int64_t dilation)
{
	return (kernel - 1) * dilation + 1;
}

void op_window_pads(const struct op_window *w, int n_spatial, const int64_t *in,
		    const int64_t *kernel, int64_t *begin, int64_t *end)
{
	for (int i = 0; i < n_spatial; i++) {
		begin[i] = w->pad_begin[i];
		end[i] = w->pad_end[i];
		if (w->auto_pad == PAD_EXPLICIT)
			continue;
		begin[i] = end[i] = 0;
		if (w->auto_pad == PAD_VALID)
			continue;
		int64_t out = (in[i] + w->stride[i] - 1) / w->stride[i];
		int64_t total =
			(out - 1) * w->stride[i] + window_span(kernel[i], w->dilation[i]) - in[i];
		if (total < 0)
			total = 0;
		begin[i] = w->auto_pad == PAD_SAME_UPPER ? total / 2 : total - total / 2;
		end[i] = total - begin[i];
	}
}

void op_backprop_pads(const struct op_window *w, int n_spatial, const int64_t *in,
		      const int64_t *kernel, const int64_t *out, int64_t *begin, int64_t *end)
{
	for (int i = 0; i < n_spatial; i++) {
		begin[i] = w->pad_begin[i];
		end[i] = w->pad_end[i];
		if (w->auto_pad == PAD_EXPLICIT)
			continue;
		begin[i] = end[i] = 0;
		if (w->auto_pad == PAD_VALID || !out)
			continue;
		int64_t total = w->stride[i] * (in[i] - 1) +
				window_span(kernel[i], w->dilation[i]) - out[i] +
				w->output_padding[i];
		if (total < 0)
			total = 0;
		begin[i] = w->auto_pad == PAD_SAME_UPPER ? total - total / 2 : total / 2;
		end[i] = total - begin[i];
	}
}

/* Data (n, c, spatial), weights ([g,] o, i, spatial): the spatial rank, or -1. */
static int conv_spatial(const struct op *op, const struct tensor *in, struct err *e)
{
	const struct op_window *w = &op->a.window;
	int s = (int)in[0].rank - 2;
	if (s < 1 || s > OP_MAX_SPATIAL || in[1].rank != in[0].rank + w->grouped ||
	    (w->n_spatial && w->n_spatial != s))
		return misfit(op_info(op->kind)->type, &in[0], &in[1], e);
	return s;
}

int infer_conv(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct op_window *w = &op->a.window;
	int s = conv_spatial(op, in, e);
	if (s < 0)
		return -1;
	const int64_t *wd = in[1].dim + w->grouped;
	int64_t groups = w->grouped ? in[1].dim[0] : 1, begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	if (groups < 1 || in[0].dim[1] % groups || in[0].dim[1] / groups != wd[1])
		return misfit(op_info(op->kind)->type, &in[0], &in[1], e);
	*out = in[0];
	out->data = NULL;
	out->dim[1] = groups * wd[0];
	op_window_pads(w, s, in[0].dim + 2, wd + 2, begin, end);
	for (int i = 0; i < s; i++) {
		int64_t room = in[0].dim[2 + i] + begin[i] + end[i] -
			       window_span(wd[2 + i], w->dilation[i]);
		if (room < 0 || wd[2 + i] < 1)
			return misfit(op_info(op->kind)->type, &in[0], &in[1], e);
		out->dim[2 + i] = room / w->stride[i] + 1;
	}
	return 0;
}

/* Data (n, c, y, x), offsets (n, 2 g kh kw, ..), weights (o, c / groups, kh, kw) [, mask]. */
int infer_deformable_conv(const struct op *op, const struct tensor *in, struct tensor *out,
			  struct err *e)
{
	const struct op_window *w = &op->a.window;
	struct tensor dense[2] = {in[0], in[2]};
	if (in[0].rank != 4 || in[1].rank != 4 || in[2].rank != 4 || in[0].dim[1] % w->groups ||
	    in[2].dim[0] % w->groups || in[0].dim[1] % w->offset_groups)
		return misfit(op_info(op->kind)->type, &in[0], &in[2], e);
	dense[0].dim[1] /= w->groups;
	if (infer_conv(op, dense, out, e))
		return -1;
	int64_t taps = op_mul(w->offset_groups, op_mul(in[2].dim[2], in[2].dim[3]));
	for (int i = 1; i < op->n_in; i += 2) /* offsets, mask */
		if (in[i].rank != 4 || in[i].dim[0] != in[0].dim[0] ||
		    in[i].dim[1] != op_mul(taps, i == 1 ? 2 : 1) || in[i].dim[2] != out->dim[2] ||
		    in[i].dim[3] != out->dim[3])
			return misfit(op_info(op->kind)->type, &in[0], &in[i], e);
	return 0;
}

int infer_conv_backprop(const struct op *op, const struct tensor *in, struct tensor *out,
			struct err *e)
{
	const struct op_window *w = &op->a.window;
	int s = conv_spatial(op, in, e), n = -1;
	if (s < 0)
		return -1;
	const int64_t *wd = in[1].dim + w->grouped;
	int64_t groups = w->grouped ? in[1].dim[0] : 1, shape[OP_MAX_SPATIAL];
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	if (groups < 1 || in[0].dim[1] != groups * wd[0])
		return misfit(op_info(op->kind)->type, &in[0], &in[1], e);
	if (op_has_input(op, in, 2) &&
	    ((n = op_ints(&in[2], shape, OP_MAX_SPATIAL, e)) < 0 || n != s))
		return err_set(e, ST_INPUT, "output_shape of %s has the wrong length",
			       op_info(op->kind)->type);
	*out = in[0];
	out->data = NULL;
	out->dim[1] = groups * wd[1];
	op_backprop_pads(w, s, in[0].dim + 2, wd + 2, n < 0 ? NULL : shape, begin, end);
	for (int i = 0; i < s; i++)
		out->dim[2 + i] = n >= 0 ? shape[i]
					 : w->stride[i] * (in[0].dim[2 + i] - 1) +
						   window_span(wd[2 + i], w->dilation[i]) -
						   begin[i] - end[i] + w->output_padding[i];
	return 0;
}

int infer_pool(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct op_window *w = &op->a.window;
	int s = (int)in[0].rank - 2;
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	if (s < 1 || s > OP_MAX_SPATIAL || w->n_spatial != s)
		return err_set(e, ST_INPUT, "%s with a window of rank %d on a tensor of rank %u",
			       op_info(op->kind)->type, w->n_spatial, in[0].rank);
	out[0] = in[0];
	out[0].data = NULL;
	op_window_pads(w, s, in[0].dim + 2, w->kernel, begin, end);
	for (int i = 0; i < s; i++) {
		int64_t size = in[0].dim[2 + i], stride = w->stride[i];
		int64_t room = size + begin[i] + end[i] - window_span(w->kernel[i], w->dilation[i]);
		if (room < 0)
			return err_set(e, ST_INPUT,
				       "%s: the window is larger than its padded input",
				       op_info(op->kind)->type);
		bool ceil = w->rounding != ROUND_FLOOR;
		int64_t n = (room + (ceil ? stride - 1 : 0)) / stride + 1;
		if (w->rounding == ROUND_CEIL_TORCH && (n - 1) * stride >= size + begin[i])
			n--; /* the last window must not start in the padding */
		out[0].dim[2 + i] = n;
	}
	if (op->n_out > 1) {
		const char *t = graph_attr(op->g, op->v, "index_element_type");
		int elem = t ? elem_parse(t) : EL_I64;
		out[1] = out[0];
		out[1].elem = elem < 0 ? EL_I64 : (enum elem)elem;
	}
	return 0;
}

int infer_adaptive_pool(const struct op *op, const struct tensor *in, struct tensor *out,
			struct err *e)
{
	int64_t size[OP_MAX_SPATIAL];
	int n = op_ints(&in[1], size, OP_MAX_SPATIAL, e);
	if (n < 0)
		return -1;
	if ((uint32_t)n + 2 != in[0].rank)
		return misfit(op_info(op->kind)->type, &in[0], &in[1], e);
	out[0] = in[0];
	out[0].data = NULL;
	memcpy(out[0].dim + 2, size, (size_t)n * sizeof size[0]);
	if (op->kind == OP_ADAPTIVE_MAX_POOL && tensor_elements(&in[0]) == 0 &&
	    tensor_elements(&out[0]) != 0)
		return err_set(e, ST_INPUT, "AdaptiveMaxPool: there is no greatest of nothing");
	if (op->n_out > 1) {
		out[1] = out[0];
		out[1].elem = EL_I64;
		return op_get_elem(op, "index_element_type", &out[1].elem, e);
	}
	return 0;
}

/* X (b, i), H (b, h) [, C (b, h)] -> H [, C]. */
int infer_cell(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	if (in[0].rank != 2 || in[1].rank != 2 || in[1].dim[0] != in[0].dim[0] ||
	    in[1].dim[1] != op->a.cell.hidden)
		return misfit(op_info(op->kind)->type, &in[0], &in[1], e);
	if (op->kind == OP_LSTM_CELL && !tensor_same_shape(&in[1], &in[2]))
		return misfit("LSTMCell's state", &in[1], &in[2], e);
	for (int i = 0; i < op->n_out; i++) {
		out[i] = in[1];
		out[i].data = NULL;
	}
	return 0;
}

/* X (b, t, i), H (b, d, h) [, C] -> Y (b, d, t, h), H [, C]. */
int infer_sequence(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t d = op->a.cell.bidirectional ? 2 : 1;
	if (in[0].rank != 3 || in[1].rank != 3 || in[1].dim[0] != in[0].dim[0] ||
	    in[1].dim[1] != d || in[1].dim[2] != op->a.cell.hidden)
		return misfit(op_info(op->kind)->type, &in[0], &in[1], e);
	bool lstm = op->kind == OP_LSTM_SEQUENCE;
	if ((lstm && !tensor_same_shape(&in[1], &in[2])) ||
	    tensor_elements(&in[lstm ? 3 : 2]) != in[0].dim[0])
		return misfit("the states or sequence_lengths", &in[1], &in[2], e);
	out[0] = (struct tensor){.elem = in[0].elem,
				 .rank = 4,
				 .dim = {in[0].dim[0], d, in[0].dim[1], op->a.cell.hidden}};
	for (int i = 1; i < op->n_out; i++) {
		out[i] = in[1];
		out[i].data = NULL;
	}
	return 0;
}
