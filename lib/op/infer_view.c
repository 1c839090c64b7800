/* infer_view.c - shape inference: views, blocks of space, depth and batch, broadcasts. */
#include "op/opimpl.h"
#include "op/slice.h"

#include <math.h>
#include <string.h>

/* Copied dims (0 of the pattern with special_zero) stay out of the division, so that also a tensor
 * without elements has its rest: (0, 4, 7) by [0, -1] is (0, 28). */
int infer_reshape(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t shape[TENSOR_DIMS], rest = 1, known = 1;
	int n = op_ints(&in[1], shape, TENSOR_DIMS, e), unknown = -1;
	uint32_t copied = 0;
	bool fits = true;
	if (n < 0)
		return -1;
	for (int i = 0; i < n && fits; i++) {
		if (shape[i] == 0 && op->a.reshape.special_zero) {
			fits = (uint32_t)i < in[0].rank;
			shape[i] = fits ? in[0].dim[i] : 0;
			copied |= 1u << i;
		} else if (shape[i] == -1 && unknown < 0) {
			unknown = i;
		} else {
			fits = shape[i] >= 0 && !__builtin_mul_overflow(known, shape[i], &known);
		}
	}
	for (uint32_t i = 0; i < in[0].rank && fits; i++)
		if (!(copied >> i & 1))
			fits = !__builtin_mul_overflow(rest, in[0].dim[i], &rest);
	if (fits && unknown >= 0) {
		fits = known ? rest % known == 0 : rest == 0;
		shape[unknown] = known ? rest / known : 0;
	}
	*out = (struct tensor){.elem = in[0].elem, .rank = (uint32_t)n};
	memcpy(out->dim, shape, (size_t)n * sizeof shape[0]);
	int64_t total = tensor_elements(&in[0]);
	if (!fits || total < 0 || tensor_elements(out) != total)
		return op_misfit("Reshape's pattern", &in[0], e);
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
			drop = false; /* axes of other sizes stay, as in opset15 */
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
/* Blocks b of each dim but the first, and what lies around (lo, hi): rank, or -1. */
static int block_lists(const struct op *op, const struct tensor *in, int64_t *b, int64_t *lo,
		       int64_t *hi, int64_t *blocks, struct err *e)
{
	int n = op_ints(&in[1], b, TENSOR_DIMS, e);
	bool fits = n == (int)in[0].rank && n >= 1 && op_ints(&in[2], lo, TENSOR_DIMS, e) == n &&
		    op_ints(&in[3], hi, TENSOR_DIMS, e) == n;
	*blocks = 1;
	for (int i = 1; i < n && fits; i++)
		fits = b[i] >= 1 && !__builtin_mul_overflow(*blocks, b[i], blocks);
	return fits ? n : op_misfit(op_info(op->kind)->type, &in[0], e);
}

int infer_batch_to_space(const struct op *op, const struct tensor *in, struct tensor *out,
			 struct err *e)
{
	int64_t b[TENSOR_DIMS], lo[TENSOR_DIMS], hi[TENSOR_DIMS], blocks;
	int n = block_lists(op, in, b, lo, hi, &blocks, e);
	if (n < 0)
		return -1;
	op_like(out, in);
	for (int i = 1; i < n; i++)
		out->dim[i] = op_mul(in[0].dim[i], b[i]) - lo[i] - hi[i];
	out->dim[0] = in[0].dim[0] / blocks;
	return in[0].dim[0] % blocks ? op_misfit("BatchToSpace", &in[0], e) : 0;
}

int infer_space_to_batch(const struct op *op, const struct tensor *in, struct tensor *out,
			 struct err *e)
{
	int64_t b[TENSOR_DIMS], lo[TENSOR_DIMS], hi[TENSOR_DIMS], blocks;
	int n = block_lists(op, in, b, lo, hi, &blocks, e);
	if (n < 0)
		return -1;
	op_like(out, in);
	for (int i = 1; i < n; i++) {
		int64_t padded = in[0].dim[i] + lo[i] + hi[i];
		if (padded % b[i])
			return op_misfit("SpaceToBatch", &in[0], e);
		out->dim[i] = padded / b[i];
	}
	out->dim[0] = op_mul(in[0].dim[0], blocks);
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
			       : op_misfit("Broadcast's target shape", &in[0], e);
	}
	*out = target;
	return 0;
}

int infer_depth_to_space(const struct op *op, const struct tensor *in, struct tensor *out,
			 struct err *e)
{
	int64_t b = op->a.block.block, blocks = 1;
	if (in[0].rank < 3)
		return op_misfit("DepthToSpace", &in[0], e);
	op_like(out, in);
	for (uint32_t i = 2; i < in[0].rank; i++) {
		if (__builtin_mul_overflow(blocks, b, &blocks))
			return op_misfit("DepthToSpace", &in[0], e);
		out->dim[i] *= b;
	}
	if (in[0].dim[1] % blocks)
		return op_misfit("DepthToSpace", &in[0], e);
	out->dim[1] /= blocks;
	return 0;
}

int infer_space_to_depth(const struct op *op, const struct tensor *in, struct tensor *out,
			 struct err *e)
{
	int64_t b = op->a.block.block;
	if (in[0].rank < 3)
		return op_misfit("SpaceToDepth", &in[0], e);
	op_like(out, in);
	for (uint32_t i = 2; i < in[0].rank; i++) {
		if (in[0].dim[i] % b || __builtin_mul_overflow(out->dim[1], b, &out->dim[1]))
			return op_misfit("SpaceToDepth", &in[0], e);
		out->dim[i] /= b;
	}
	return 0;
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
	for (uint32_t i = 0; i < rank; i++) { /* from the innermost dim */
		int64_t size = i < in[0].rank ? in[0].dim[in[0].rank - 1 - i] : 1;
		int64_t times = i < (uint32_t)n ? repeats[n - 1 - (int)i] : 1;
		if (times < 0 || __builtin_mul_overflow(size, times, &out->dim[rank - 1 - i]))
			return op_misfit("Tile", &in[0], e);
	}
	return 0;
}
