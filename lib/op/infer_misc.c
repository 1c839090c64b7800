/* infer_misc.c - shape inference: Einsum, sampling, decoding of sequences, embedding bags,
 * searches, random numbers, colours. */
#include "op/einsum.h"
#include "op/opimpl.h"
#include "op/slice.h"

#include <string.h>

static int misfit(const struct op *op, const struct tensor *t, struct err *e)
{
	return op_misfit(op_info(op->kind)->type, t, e);
}

int infer_einsum(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	struct einsum s;
	if (einsum_parse(&s, graph_attr(op->g, op->v, "equation"), in, op->n_in, e))
		return -1;
	*out = (struct tensor){.elem = in[0].elem, .rank = (uint32_t)s.n_out};
	for (int i = 0; i < s.n_out; i++)
		out->dim[i] = s.size[s.out[i]];
	return 0;
}

/* Images (n, c, h, w), positions (n, y, x, 2) -> (n, c, y, x). */
int infer_grid_sample(const struct op *op, const struct tensor *in, struct tensor *out,
		      struct err *e)
{
	if (in[0].rank != 4 || in[1].rank != 4 || in[1].dim[3] != 2 ||
	    in[0].dim[0] != in[1].dim[0] || in[0].dim[2] < 1 || in[0].dim[3] < 1)
		return misfit(op, &in[1], e);
	op_like(out, in);
	out->dim[2] = in[1].dim[1];
	out->dim[3] = in[1].dim[2];
	return 0;
}

/* Probabilities (t, n, c), mask (t, n) -> (n, t, 1, 1). */
int infer_ctc_greedy(const struct op *op, const struct tensor *in, struct tensor *out,
		     struct err *e)
{
	if (in[0].rank != 3 || in[1].rank != 2 || in[1].dim[0] != in[0].dim[0] ||
	    in[1].dim[1] != in[0].dim[1] || in[0].dim[2] < 1)
		return misfit(op, &in[0], e);
	*out = (struct tensor){
		.elem = in[0].elem, .rank = 4, .dim = {in[0].dim[1], in[0].dim[0], 1, 1}};
	return 0;
}

/* Probabilities (n, t, c), lengths (n) [, blank] -> classes (n, t), lengths (n). */
int infer_ctc_lengths(const struct op *op, const struct tensor *in, struct tensor *out,
		      struct err *e)
{
	if (in[0].rank != 3 || tensor_elements(&in[1]) != in[0].dim[0] || in[0].dim[2] < 1)
		return misfit(op, &in[0], e);
	out[0] = (struct tensor){
		.elem = op->a.ctc.classes, .rank = 2, .dim = {in[0].dim[0], in[0].dim[1]}};
	out[1] = (struct tensor){.elem = op->a.ctc.lengths, .rank = 1, .dim = {in[0].dim[0]}};
	return 0;
}

/* Logits (n, t, c), their lengths (n), labels (n, t), their lengths (n) [, blank] -> (n). */
int infer_ctc_loss(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	if (in[0].rank != 3 || in[2].rank != 2 || in[2].dim[0] != in[0].dim[0] ||
	    tensor_elements(&in[1]) != in[0].dim[0] || tensor_elements(&in[3]) != in[0].dim[0])
		return misfit(op, &in[0], e);
	*out = (struct tensor){.elem = in[0].elem, .rank = 1, .dim = {in[0].dim[0]}};
	return 0;
}

/* n rows like those of the table. */
static int rows_of_table(const struct op *op, const struct tensor *table, int64_t n,
			 struct tensor *out, struct err *e)
{
	if (table->rank < 1 || n < 0)
		return misfit(op, table, e);
	op_like(out, table);
	out->dim[0] = n;
	return 0;
}

static bool weights_fit(const struct op *op, const struct tensor *in, int i)
{
	return !op_has_input(op, in, i) || tensor_same_shape(&in[i], &in[1]);
}

/* Table (k, ..), indices (n), offsets (b) [, default] [, weights (n)] -> (b, ..). */
int infer_embedding_offsets(const struct op *op, const struct tensor *in, struct tensor *out,
			    struct err *e)
{
	if (in[1].rank != 1 || in[2].rank != 1 || !weights_fit(op, in, 4))
		return misfit(op, &in[1], e);
	return rows_of_table(op, &in[0], in[2].dim[0], out, e);
}

/* Table (k, ..), indices (b, n) [, weights (b, n)] -> (b, ..). */
int infer_embedding_packed(const struct op *op, const struct tensor *in, struct tensor *out,
			   struct err *e)
{
	if (in[1].rank != 2 || !weights_fit(op, in, 2))
		return misfit(op, &in[1], e);
	return rows_of_table(op, &in[0], in[1].dim[0], out, e);
}

/* Table (k, ..), indices (n), segments (n), their number [, default] [, weights (n)]. */
int infer_embedding_segments(const struct op *op, const struct tensor *in, struct tensor *out,
			     struct err *e)
{
	if (in[1].rank != 1 || !tensor_same_shape(&in[1], &in[2]) || !weights_fit(op, in, 5) ||
	    tensor_elements(&in[3]) != 1)
		return misfit(op, &in[1], e);
	return rows_of_table(op, &in[0], tensor_int(&in[3], 0), out, e);
}

/* Data (n, ..), segments (n) [, their number] -> (segments, ..). */
int infer_segment_max(const struct op *op, const struct tensor *in, struct tensor *out,
		      struct err *e)
{
	int64_t n = 0;
	if (in[0].rank < 1 || in[1].rank != 1 || in[1].dim[0] != in[0].dim[0])
		return misfit(op, &in[1], e);
	if (op_has_input(op, in, 2))
		n = tensor_int(&in[2], 0);
	else if (in[1].dim[0] &&
		 __builtin_add_overflow(tensor_int(&in[1], in[1].dim[0] - 1), 1, &n))
		return misfit(op, &in[1], e);
	return rows_of_table(op, &in[0], n, out, e);
}

/* Bucketize: values, boundaries (n).  SearchSorted: sorted (.., n), values (.., m). */
int infer_search(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct tensor *values = &in[op->kind == OP_BUCKETIZE ? 0 : 1];
	const struct tensor *sorted = &in[op->kind == OP_BUCKETIZE ? 1 : 0];
	if (op->kind == OP_BUCKETIZE
		    ? sorted->rank != 1
		    : sorted->rank < 1 || (sorted->rank > 1 && sorted->rank != values->rank))
		return misfit(op, sorted, e);
	for (uint32_t i = 0; i + 1 < sorted->rank; i++)
		if (sorted->dim[i] != values->dim[i])
			return misfit(op, values, e);
	op_like(out, values);
	out->elem = op->a.search.index;
	return 0;
}

/* Bounds: every element, or every slice of the axis, is unique. */
int infer_unique(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t n = tensor_elements(&in[0]);
	op_like(&out[0], &in[0]);
	if (op_has_input(op, in, 1)) {
		int axis = op_axis(tensor_int(&in[1], 0), in[0].rank);
		if (axis < 0)
			return misfit(op, &in[0], e);
		n = in[0].dim[axis];
	} else {
		out[0].rank = 1;
		out[0].dim[0] = n;
	}
	for (int i = 1; i < op->n_out; i++)
		out[i] = (struct tensor){.rank = 1,
					 .dim = {n},
					 .elem = i == 3 ? op->a.search.count : op->a.search.index};
	return 0;
}

int infer_random(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int n = op_ints(&in[0], out->dim, TENSOR_DIMS, e);
	if (n < 0)
		return -1;
	out->elem = op->a.random.elem;
	out->rank = (uint32_t)n;
	return 0;
}

/* Probabilities (b, c) or (c), how many -> (b, n) or (n). */
int infer_multinomial(const struct op *op, const struct tensor *in, struct tensor *out,
		      struct err *e)
{
	int64_t n = tensor_int(&in[1], 0);
	if (in[0].rank < 1 || in[0].rank > 2 || n < 0)
		return misfit(op, &in[0], e);
	op_like(out, in);
	out->elem = op->a.random.elem;
	out->dim[out->rank - 1] = n;
	return 0;
}

/* Values (n), dense shape (2), indices (n, 2), default -> indices and values of at most n + rows
 * entries, which rows were empty. */
int infer_sparse_fill(const struct op *op, const struct tensor *in, struct tensor *out,
		      struct err *e)
{
	if (in[0].rank != 1 || in[2].rank != 2 || in[2].dim[0] != in[0].dim[0] ||
	    in[2].dim[1] != 2 || tensor_elements(&in[1]) != 2)
		return misfit(op, &in[2], e);
	int64_t rows = tensor_int(&in[1], 0), n;
	if (rows < 0 || __builtin_add_overflow(rows, in[0].dim[0], &n))
		return misfit(op, &in[2], e);
	out[0] = (struct tensor){.elem = in[2].elem, .rank = 2, .dim = {n, 2}};
	out[1] = (struct tensor){.elem = in[0].elem, .rank = 1, .dim = {n}};
	out[2] = (struct tensor){.elem = EL_BOOLEAN, .rank = 1, .dim = {rows}};
	return 0;
}

/* One plane (n, h 3 / 2, w, 1), or luma (n, h, w, 1) and chroma -> (n, h, w, 3). */
int infer_color(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	bool nv12 = op->kind == OP_NV12_TO_RGB || op->kind == OP_NV12_TO_BGR;
	if (in[0].rank != 4 || in[0].dim[3] != 1 || (op->n_in == 1 && in[0].dim[1] % 3))
		return misfit(op, &in[0], e);
	op_like(out, in);
	out->dim[3] = 3;
	if (op->n_in == 1)
		out->dim[1] = in[0].dim[1] / 3 * 2;
	if (out->dim[1] % 2 || out->dim[2] % 2 || (nv12 && op->n_in > 2) ||
	    (!nv12 && op->n_in == 2))
		return misfit(op, &in[0], e);
	for (int i = 1; i < op->n_in; i++)
		if (in[i].rank != 4 || in[i].dim[0] != out->dim[0] ||
		    in[i].dim[1] != out->dim[1] / 2 || in[i].dim[2] != out->dim[2] / 2 ||
		    in[i].dim[3] != (nv12 ? 2 : 1))
			return misfit(op, &in[i], e);
	return 0;
}
