/* infer_move.c - shape inference: views and operators that move elements. */
#include "op/opimpl.h"
#include "op/slice.h"

#include <math.h>
#include <string.h>

static int misfit(const char *what, const struct tensor *t, struct err *e)
{
	char s[120];
	return err_set(e, ST_INPUT, "%s does not fit %s", what, tensor_text(t, s, sizeof s));
}

static void like(struct tensor *out, const struct tensor *in)
{
	*out = *in;
	out->data = NULL;
}

int infer_reshape(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t shape[TENSOR_DIMS], known = 1, total = tensor_elements(&in[0]);
	int n = op_ints(&in[1], shape, TENSOR_DIMS, e), unknown = -1;
	if (n < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		if (shape[i] == 0 && op->a.reshape.special_zero) {
			if ((uint32_t)i >= in[0].rank)
				return misfit("Reshape's pattern", &in[0], e);
			shape[i] = in[0].dim[i];
		}
		if (shape[i] == -1 && unknown < 0)
			unknown = i;
		else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known))
			return misfit("Reshape's pattern", &in[0], e);
	}
	if (unknown >= 0) {
		if (known ? total % known : total)
			return misfit("Reshape's pattern", &in[0], e);
		shape[unknown] = known ? total / known : 0;
	} else if (known != total) {
		return misfit("Reshape's pattern", &in[0], e);
	}
	*out = (struct tensor){.elem = in[0].elem, .rank = (uint32_t)n};
	memcpy(out->dim, shape, (size_t)n * sizeof shape[0]);
	return 0;
}

int infer_squeeze(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	uint32_t axes = 0;
	bool all = !op_has_input(op, in, 1) || tensor_elements(&in[1]) == 0;
	if (!all && op_axes(&in[1], in[0].rank, &axes, e))
		return -1;
	out->elem = in[0].elem;
	out->rank = 0;
	for (uint32_t i = 0; i < in[0].rank; i++) {
		bool drop = all ? in[0].dim[i] == 1 : axes >> i & 1;
		if (drop && in[0].dim[i] != 1)
			drop = false;            /* axes of other sizes stay, as in opset15 */
		if (!drop)
			out->dim[out->rank++] = in[0].dim[i];
	}
	return 0;
}

int infer_unsqueeze(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)op;
	int64_t n = tensor_elements(&in[1]);
	uint32_t axes;
	if (n + in[0].rank > TENSOR_DIMS)
		return err_set(e, ST_INPUT, "Unsqueeze to a rank above %d", TENSOR_DIMS);
	if (op_axes(&in[1], in[0].rank + (uint32_t)n, &axes, e))
		return -1;
	out->elem = in[0].elem;
	out->rank = in[0].rank + (uint32_t)__builtin_popcount(axes);
	for (uint32_t i = 0, from = 0; i < out->rank; i++)
		out->dim[i] = axes >> i & 1 || from >= in[0].rank ? 1 : in[0].dim[from++];
	return 0;
}

/* Data, block_shape, crops_begin, crops_end. */
int infer_batch_to_space(const struct op *op, const struct tensor *in, struct tensor *out,
			 struct err *e)
{
	(void)op;
	int64_t b[TENSOR_DIMS], lo[TENSOR_DIMS], hi[TENSOR_DIMS], blocks = 1;
	int n = op_ints(&in[1], b, TENSOR_DIMS, e);
	if (n != (int)in[0].rank || n < 1 || op_ints(&in[2], lo, TENSOR_DIMS, e) != n ||
	    op_ints(&in[3], hi, TENSOR_DIMS, e) != n)
		return misfit("BatchToSpace", &in[0], e);
	like(out, in);
	for (int i = 1; i < n; i++) {
		if (b[i] < 1 || __builtin_mul_overflow(blocks, b[i], &blocks))
			return misfit("BatchToSpace", &in[0], e);
		out->dim[i] = in[0].dim[i] * b[i] - lo[i] - hi[i];
	}
	if (in[0].dim[0] % blocks)
		return misfit("BatchToSpace", &in[0], e);
	out->dim[0] = in[0].dim[0] / blocks;
	return 0;
}

int infer_space_to_batch(const struct op *op, const struct tensor *in, struct tensor *out,
			 struct err *e)
{
	(void)op;
	int64_t b[TENSOR_DIMS], lo[TENSOR_DIMS], hi[TENSOR_DIMS], blocks = 1;
	int n = op_ints(&in[1], b, TENSOR_DIMS, e);
	if (n != (int)in[0].rank || n < 1 || op_ints(&in[2], lo, TENSOR_DIMS, e) != n ||
	    op_ints(&in[3], hi, TENSOR_DIMS, e) != n)
		return misfit("SpaceToBatch", &in[0], e);
	like(out, in);
	for (int i = 1; i < n; i++) {
		int64_t padded = in[0].dim[i] + lo[i] + hi[i];
		if (b[i] < 1 || __builtin_mul_overflow(blocks, b[i], &blocks) || padded % b[i])
			return misfit("SpaceToBatch", &in[0], e);
		out->dim[i] = padded / b[i];
	}
	out->dim[0] = in[0].dim[0] * blocks;
	return 0;
}

int infer_broadcast(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	struct tensor target = {.elem = in[0].elem};
	int n = op_ints(&in[1], target.dim, TENSOR_DIMS, e);
	if (n < 0)
		return -1;
	target.rank = (uint32_t)n;
	if (op->a.broadcast.bcast == BCAST_BIDIRECTIONAL) {
		out->elem = in[0].elem;
		return op_broadcast(&in[0], &target, out)
			       ? 0
			       : misfit("Broadcast's target shape", &in[0], e);
	}
	*out = target;
	return 0;
}

int infer_concat(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int axis = op_axis(op->a.axis.axis, in[0].rank);
	if (axis < 0)
		return misfit("Concat's axis", &in[0], e);
	like(out, in);
	for (int i = 1; i < op->n_in; i++) {
		if (in[i].elem != in[0].elem)
			return misfit("the type of an input of Concat", &in[i], e);
		for (uint32_t d = 0; d < in[0].rank; d++)
			if (in[i].rank != in[0].rank ||
			    ((int)d != axis && in[i].dim[d] != in[0].dim[d]))
				return misfit("an input of Concat", &in[i], e);
		if (__builtin_add_overflow(out->dim[axis], in[i].dim[axis], &out->dim[axis]))
			return misfit("Concat", &in[i], e);
	}
	return 0;
}

int infer_depth_to_space(const struct op *op, const struct tensor *in, struct tensor *out,
			 struct err *e)
{
	int64_t b = op->a.block.block, blocks = 1;
	if (in[0].rank < 3)
		return misfit("DepthToSpace", &in[0], e);
	like(out, in);
	for (uint32_t i = 2; i < in[0].rank; i++) {
		if (__builtin_mul_overflow(blocks, b, &blocks))
			return misfit("DepthToSpace", &in[0], e);
		out->dim[i] *= b;
	}
	if (in[0].dim[1] % blocks)
		return misfit("DepthToSpace", &in[0], e);
	out->dim[1] /= blocks;
	return 0;
}

int infer_space_to_depth(const struct op *op, const struct tensor *in, struct tensor *out,
			 struct err *e)
{
	int64_t b = op->a.block.block;
	if (in[0].rank < 3)
		return misfit("SpaceToDepth", &in[0], e);
	like(out, in);
	for (uint32_t i = 2; i < in[0].rank; i++) {
		if (in[0].dim[i] % b || __builtin_mul_overflow(out->dim[1], b, &out->dim[1]))
			return misfit("SpaceToDepth", &in[0], e);
		out->dim[i] /= b;
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

int infer_gather(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int axis, batch;
	if (op_gather_axes(op, in, &axis, &batch))
		return misfit("Gather's axis or batch_dims", &in[0], e);
	uint32_t rank = in[0].rank - 1 + in[1].rank - (uint32_t)batch;
	if (rank > TENSOR_DIMS)
		return misfit("Gather", &in[0], e);
	*out = (struct tensor){.elem = in[0].elem};
	for (int i = 0; i < axis; i++)
		out->dim[out->rank++] = in[0].dim[i];
	for (uint32_t i = (uint32_t)batch; i < in[1].rank; i++)
		out->dim[out->rank++] = in[1].dim[i];
	for (uint32_t i = (uint32_t)axis + 1; i < in[0].rank; i++)
		out->dim[out->rank++] = in[0].dim[i];
	return 0;
}

int infer_gather_elements(const struct op *op, const struct tensor *in, struct tensor *out,
			  struct err *e)
{
	int axis = op_axis(op->a.axis.axis, in[0].rank);
	if (axis < 0 || in[1].rank != in[0].rank)
		return misfit("GatherElements", &in[0], e);
	like(out, &in[1]);
	out->elem = in[0].elem;
	return 0;
}

int infer_gather_nd(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t batch = op->a.axis.batch_dims;
	uint32_t r = in[1].rank;
	if (r < 1 || batch < 0 || batch >= r || batch > in[0].rank)
		return misfit("GatherND", &in[0], e);
	int64_t k = in[1].dim[r - 1];
	if (k < 0 || batch + k > in[0].rank)
		return misfit("GatherND", &in[0], e);
	*out = (struct tensor){.elem = in[0].elem};
	uint32_t rank = r - 1 + in[0].rank - (uint32_t)(batch + k);
	if (rank > TENSOR_DIMS)
		return misfit("GatherND", &in[0], e);
	if (batch && op->version == 5) {         /* opset5 merges the batch dims */
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
		return misfit("OneHot", &in[0], e);
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
		return misfit("Pad", &in[0], e);
	like(out, in);
	for (int i = 0; i < n; i++) {
		int64_t size = in[0].dim[i], most = size - (op->a.pad.mode == PADM_REFLECT);
		if ((op->a.pad.mode == PADM_REFLECT || op->a.pad.mode == PADM_SYMMETRIC) &&
		    (lo[i] > most || hi[i] > most))
			return misfit("Pad wider than its source", &in[0], e);
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
		return misfit("Split", &in[0], e);
	for (int i = 0; i < op->n_out; i++) {
		like(&out[i], in);
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
		return misfit("VariadicSplit", &in[0], e);
	for (int i = 0; i < op->n_out; i++) {
		int64_t n = tensor_int(&in[2], i);
		like(&out[i], in);
		out[i].dim[axis] = n;
		if (n > 0 && __builtin_add_overflow(sum, n, &sum))
			return misfit("VariadicSplit", &in[0], e);
	}
	for (int i = 0; i < op->n_out; i++)
		if (out[i].dim[axis] == -1)
			sum += out[i].dim[axis] = in[0].dim[axis] - sum;
	return sum == in[0].dim[axis] ? 0 : misfit("VariadicSplit's lengths", &in[0], e);
}

int infer_tile(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)op;
	int64_t repeats[TENSOR_DIMS];
	int n = op_ints(&in[1], repeats, TENSOR_DIMS, e);
	if (n < 0)
		return -1;
	uint32_t rank = in[0].rank > (uint32_t)n ? in[0].rank : (uint32_t)n;
	out->elem = in[0].elem;
	out->rank = rank;
	for (uint32_t i = 0; i < rank; i++) {     /* from the innermost dim */
		int64_t size = i < in[0].rank ? in[0].dim[in[0].rank - 1 - i] : 1;
		int64_t times = i < (uint32_t)n ? repeats[n - 1 - (int)i] : 1;
		if (times < 0 || __builtin_mul_overflow(size, times, &out->dim[rank - 1 - i]))
			return misfit("Tile", &in[0], e);
	}
	return 0;
}

int infer_topk(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int axis = op_axis(op->a.topk.axis, in[0].rank);
	int64_t k = tensor_int(&in[1], 0);
	if (axis < 0 || k < 0)
		return misfit("TopK", &in[0], e);
	like(&out[0], in);
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
	if (tensor_elements(order) == 0) {       /* reverses the dims */
		for (uint32_t i = 0; i < rank; i++)
			perm[i] = rank - 1 - i;
		return 0;
	}
	int n = op_ints(order, perm, TENSOR_DIMS, e);
	if (n != (int)rank)
		return misfit("Transpose's order", in, e);
	for (uint32_t i = 0; i < rank; i++) {
		perm[i] = op_axis(perm[i], rank);
		if (perm[i] < 0)
			return misfit("Transpose's order", in, e);
		seen |= 1u << perm[i];
	}
	return seen + 1 == 1u << rank ? 0 : misfit("Transpose's order", in, e);
}

int infer_transpose(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	(void)op;
	int64_t perm[TENSOR_DIMS];
	if (op_permutation(&in[0], &in[1], perm, e))
		return -1;
	like(out, in);
	for (uint32_t i = 0; i < in[0].rank; i++)
		out->dim[i] = in[0].dim[perm[i]];
	return 0;
}

/* Interpolate-4: image, sizes, scales [, axes]; Interpolate-11: image, sizes or scales [, axes]. */
int infer_interpolate(const struct op *op, const struct tensor *in, struct tensor *out,
		      struct err *e)
{
	const struct op_resize *r = &op->a.resize;
	bool v4 = op->version < 11;
	const struct tensor *by = &in[v4 && !r->by_sizes ? 2 : 1];
	int axes_in = v4 ? 3 : 2;
	int64_t axes[TENSOR_DIMS];
	int n = (int)in[0].rank;
	if (op->version < 4)
		return err_set(e, ST_INPUT, "Interpolate of opset1 is not supported");
	for (int i = 0; i < n; i++)
		axes[i] = i;
	if (op_has_input(op, in, axes_in) && (n = op_ints(&in[axes_in], axes, TENSOR_DIMS, e)) < 0)
		return -1;
	if (tensor_elements(by) != n)
		return misfit("Interpolate's sizes", &in[0], e);
	like(out, in);
	for (uint32_t i = 0; i < in[0].rank; i++)
		out->dim[i] += r->pad_begin[i] + r->pad_end[i];
	for (int i = 0; i < n; i++) {
		int axis = op_axis(axes[i], in[0].rank);
		if (axis < 0)
			return misfit("Interpolate's axes", &in[0], e);
		double size = r->by_sizes
				      ? (double)tensor_int(by, i)
				      : floor((double)out->dim[axis] * tensor_real(by, i) + 1e-5);
		if (!(size >= 0 && size < 0x1p40))
			return misfit("Interpolate's sizes", &in[0], e);
		out->dim[axis] = (int64_t)size;
	}
	return 0;
}
