/* infer_move.c - shape inference: operators that move elements. */
#include "op/opimpl.h"
#include "op/slice.h"

#include <math.h>
#include <string.h>

int infer_concat(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int axis = op_axis(op->a.axis.axis, in[0].rank);
	if (axis < 0)
		return op_misfit("Concat's axis", &in[0], e);
	op_like(out, in);
	for (int i = 1; i < op->n_in; i++) {
		if (in[i].elem != in[0].elem)
			return op_misfit("the type of an input of Concat", &in[i], e);
		for (uint32_t d = 0; d < in[0].rank; d++)
			if (in[i].rank != in[0].rank ||
			    ((int)d != axis && in[i].dim[d] != in[0].dim[d]))
				return op_misfit("an input of Concat", &in[i], e);
		if (__builtin_add_overflow(out->dim[axis], in[i].dim[axis], &out->dim[axis]))
			return op_misfit("Concat", &in[i], e);
	}
	return 0;
}

int op_gather_axes(const struct op *op, const struct tensor *in, int *axis, int *batch_dims)
{
	*axis = op_axis(tensor_int(&in[2], 0), in[0].rank);
	*batch_dims = (int)op->a.axis.batch_dims;
	if (*batch_dims < 0)
		*batch_dims += (int)in[1].rank;
	return *axis < 0 || *batch_dims < 0 || *batch_dims > *axis || *batch_dims > (int)in[1].rank
		       ? -1
		       : 0;
}

/* May two dims be the same?  Those that are not known may. */
static bool may_agree(int64_t a, int64_t b)
{
	return a < 0 || b < 0 || a == b;
}

/* Do the first n dims of the data and of the indices agree? */
static bool batches_agree(const struct tensor *in, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (!may_agree(in[0].dim[i], in[1].dim[i]))
			return false;
	return true;
}

int infer_gather(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int axis, batch;
	if (op_gather_axes(op, in, &axis, &batch) || !batches_agree(in, batch))
		return op_misfit("Gather's axis or batch_dims", &in[0], e);
	uint32_t rank = in[0].rank - 1 + in[1].rank - (uint32_t)batch;
	if (rank > TENSOR_DIMS)
		return op_misfit("Gather", &in[0], e);
	*out = (struct tensor){.elem = in[0].elem};
	for (int i = 0; i < axis; i++)
		out->dim[out->rank++] = in[0].dim[i];
	for (uint32_t i = (uint32_t)batch; i < in[1].rank; i++)
		out->dim[out->rank++] = in[1].dim[i];
	for (uint32_t i = (uint32_t)axis + 1; i < in[0].rank; i++)
		out->dim[out->rank++] = in[0].dim[i];
	return 0;
}

/* Do indices (input 1) fit the data in all dims but the axis? */
static bool indices_fit(const struct tensor *in, int axis)
{
	for (uint32_t d = 0; d < in[0].rank && in[1].rank == in[0].rank; d++)
		if ((int)d != axis && in[0].dim[d] >= 0 && in[1].dim[d] > in[0].dim[d])
			return false;
	return in[1].rank == in[0].rank;
}

int infer_gather_elements(const struct op *op, const struct tensor *in, struct tensor *out,
			  struct err *e)
{
	int axis = op_axis(op->a.axis.axis, in[0].rank);
	if (axis < 0 || !indices_fit(in, axis))
		return op_misfit("GatherElements", &in[0], e);
	op_like(out, &in[1]);
	out->elem = in[0].elem;
	return 0;
}

int infer_gather_nd(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t batch = op->a.axis.batch_dims;
	uint32_t r = in[1].rank;
	if (r < 1 || batch < 0 || batch >= r || batch > in[0].rank || !batches_agree(in, batch))
		return op_misfit("GatherND", &in[0], e);
	int64_t k = in[1].dim[r - 1];
	if (k < 0 || batch + k > in[0].rank)
		return op_misfit("GatherND", &in[0], e);
	*out = (struct tensor){.elem = in[0].elem};
	uint32_t rank = r - 1 + in[0].rank - (uint32_t)(batch + k);
	if (rank > TENSOR_DIMS)
		return op_misfit("GatherND", &in[0], e);
	if (batch && op->version == 5) { /* opset5 merges the batch dims */
		out->dim[out->rank++] = 1;
		for (int64_t i = 0; i < batch; i++)
			out->dim[0] *= in[1].dim[i];
	}
	for (uint32_t i = out->rank ? (uint32_t)batch : 0; i + 1 < r; i++)
		out->dim[out->rank++] = in[1].dim[i];
	for (uint32_t i = (uint32_t)(batch + k); i < in[0].rank; i++)
		out->dim[out->rank++] = in[0].dim[i];
	return 0;
}

int infer_one_hot(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int axis = op_axis(op->a.onehot.axis, in[0].rank + 1);
	if (axis < 0 || in[0].rank >= TENSOR_DIMS || in[3].elem != in[2].elem)
		return op_misfit("OneHot", &in[0], e);
	*out = (struct tensor){.elem = in[2].elem, .rank = in[0].rank + 1};
	for (int i = 0; i < (int)out->rank; i++)
		out->dim[i] = i == axis ? tensor_int(&in[1], 0) : in[0].dim[i - (i > axis)];
	return 0;
}

int infer_pad(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t lo[TENSOR_DIMS], hi[TENSOR_DIMS];
	int n = op_ints(&in[1], lo, TENSOR_DIMS, e);
	if (n != (int)in[0].rank || op_ints(&in[2], hi, TENSOR_DIMS, e) != n)
		return op_misfit("Pad", &in[0], e);
	op_like(out, in);
	for (int i = 0; i < n; i++) {
		int64_t size = in[0].dim[i], most = size - (op->a.pad.mode == PADM_REFLECT);
		if ((op->a.pad.mode == PADM_REFLECT || op->a.pad.mode == PADM_SYMMETRIC) &&
		    (lo[i] > most || hi[i] > most))
			return op_misfit("Pad wider than its source", &in[0], e);
		if (op->a.pad.mode == PADM_EDGE && size == 0 && (lo[i] > 0 || hi[i] > 0))
			return op_misfit("Pad with the edge of nothing", &in[0], e);
		out->dim[i] += lo[i] + hi[i];
	}
	return 0;
}

int infer_slice(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	struct op_range r[TENSOR_DIMS];
	return op_slice_ranges(op, in, r, out, e);
}

int infer_strided_slice(const struct op *op, const struct tensor *in, struct tensor *out,
			struct err *e)
{
	struct op_range r[TENSOR_DIMS];
	return op_slice_ranges(op, in, r, out, e);
}

int infer_split(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int axis = op_axis(tensor_int(&in[1], 0), in[0].rank);
	if (axis < 0 || op->n_out < 1 || in[0].dim[axis] % op->n_out)
		return op_misfit("Split", &in[0], e);
	for (int i = 0; i < op->n_out; i++) {
		op_like(&out[i], in);
		out[i].dim[axis] /= op->n_out;
	}
	return 0;
}

int infer_variadic_split(const struct op *op, const struct tensor *in, struct tensor *out,
			 struct err *e)
{
	int axis = op_axis(tensor_int(&in[1], 0), in[0].rank);
	int64_t sum = 0;
	if (axis < 0 || tensor_elements(&in[2]) != op->n_out)
		return op_misfit("VariadicSplit", &in[0], e);
	for (int i = 0; i < op->n_out; i++) {
		int64_t n = tensor_int(&in[2], i);
		op_like(&out[i], in);
		out[i].dim[axis] = n;
		if (n > 0 && __builtin_add_overflow(sum, n, &sum))
			return op_misfit("VariadicSplit", &in[0], e);
	}
	for (int i = 0; i < op->n_out; i++)
		if (out[i].dim[axis] == -1)
			sum += out[i].dim[axis] = in[0].dim[axis] - sum;
	return sum == in[0].dim[axis] ? 0 : op_misfit("VariadicSplit's lengths", &in[0], e);
}

int infer_topk(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int axis = op_axis(op->a.topk.axis, in[0].rank);
	int64_t k = tensor_int(&in[1], 0);
	if (axis < 0 || k < 0)
		return op_misfit("TopK", &in[0], e);
	op_like(&out[0], in);
	if (k < out[0].dim[axis])
		out[0].dim[axis] = k;
	out[1] = out[0];
	out[1].elem = op->a.topk.index;
	return 0;
}

int op_permutation(const struct tensor *in, const struct tensor *order, int64_t *perm,
		   struct err *e)
{
	uint32_t rank = in->rank, seen = 0;
	if (tensor_elements(order) == 0) { /* reverses the dims */
		for (uint32_t i = 0; i < rank; i++)
			perm[i] = rank - 1 - i;
		return 0;
	}
	int n = op_ints(order, perm, TENSOR_DIMS, e);
	if (n != (int)rank)
		return op_misfit("Transpose's order", in, e);
	for (uint32_t i = 0; i < rank; i++) {
		perm[i] = op_axis(perm[i], rank);
		if (perm[i] < 0)
			return op_misfit("Transpose's order", in, e);
		seen |= 1u << perm[i];
	}
	return seen + 1 == 1u << rank ? 0 : op_misfit("Transpose's order", in, e);
}

bool op_moves_dim(const struct tensor *order, uint32_t rank, uint32_t from, uint32_t to)
{
	if (tensor_elements(order) != (int64_t)rank)
		return false;
	for (uint32_t i = 0, d = 0; i < rank; i++) {
		d += d == from;
		if (tensor_int(order, i) != (i == to ? from : d++))
			return false;
	}
	return true;
}

int infer_transpose(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)op;
	int64_t perm[TENSOR_DIMS];
	if (op_permutation(&in[0], &in[1], perm, e))
		return -1;
	op_like(out, in);
	for (uint32_t i = 0; i < in[0].rank; i++)
		out->dim[i] = in[0].dim[perm[i]];
	return 0;
}

/* Are the updates (input 2) as many as the indices, n_index dims of them, times the dims of the data but from .. to - 1?  Those of one
 * element may have another rank. */
static bool updates_fit(const struct tensor *in, uint32_t n_index, uint32_t from, uint32_t to)
{
	struct tensor want = {.elem = in[2].elem};
	for (uint32_t d = 0; d < n_index && want.rank < TENSOR_DIMS; d++)
		want.dim[want.rank++] = in[1].dim[d];
	for (uint32_t d = 0; d < in[0].rank && want.rank < TENSOR_DIMS; d++)
		if (d < from || d >= to)
			want.dim[want.rank++] = in[0].dim[d];
	return !tensor_is_static(&want) || !tensor_is_static(&in[2]) ||
	       tensor_elements(&want) == tensor_elements(&in[2]);
}

int infer_scatter(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct tensor *data = &in[0], *index = &in[1];
	bool nd = op->kind == OP_SCATTER_ND_UPDATE, known = !nd && in[3].data, fits;
	int axis = known ? op_axis(tensor_int(&in[3], 0), data->rank) : 0;
	op_like(out, data);
	if (known && axis < 0)
		return op_misfit("the axis of a scatter", data, e);
	if (nd) {
		int64_t length = index->rank ? index->dim[index->rank - 1] : -1;
		fits = index->rank > 0 && length <= (int64_t)data->rank &&
		       (length < 0 || updates_fit(in, index->rank - 1, 0, (uint32_t)length));
	} else if (op->kind == OP_SCATTER_ELEMENTS_UPDATE) {
		fits = index->rank == data->rank && updates_fit(in, index->rank, 0, data->rank) &&
		       (!known || indices_fit(in, axis));
	} else {
		fits = !known || updates_fit(in, index->rank, (uint32_t)axis, (uint32_t)axis + 1);
	}
	return fits ? 0 : op_misfit("what a scatter writes", data, e);
}
