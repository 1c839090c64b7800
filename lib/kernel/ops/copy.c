/* copy.c - operators that are one strided copy: transposition, slices,
 * broadcasts, tiles, blocks of space and depth. */
#include "kernel/kernel_impl.h"
#include "op/slice.h"

#include <string.h>

/* Strides of a contiguous tensor, in bytes. */
void cpu_strides_of(const struct tensor *t, int64_t *stride)
{
	int64_t s = (int64_t)cpu_elem_size(t->elem);
	for (uint32_t i = t->rank; i-- > 0; s *= t->dim[i])
		stride[i] = s;
}

static int check_size(const struct tensor *t, struct err *e)
{
	return cpu_elem_size(t->elem)
		       ? 0
		       : err_set(e, ST_INPUT, "elements of type %s cannot be moved one by one",
				 elem_name(t->elem));
}

int run_copy(const struct kernel_call *k, struct err *e)
{
	(void)e;
	int64_t bytes = tensor_bytes(&k->out[0]);
	int64_t stride = 1;
	if (bytes > 0 && k->out[0].data != k->in[0].data)
		cpu_copy_strided(k->ctx, 1, 1, &bytes, &stride, k->in[0].data, k->out[0].data);
	return 0;
}

int run_transpose(const struct kernel_call *k, struct err *e)
{
	int64_t perm[TENSOR_DIMS], from[TENSOR_DIMS], stride[TENSOR_DIMS];
	const struct tensor *x = &k->in[0];
	if (check_size(x, e) || op_permutation(x, &k->in[1], perm, e))
		return -1;
	cpu_strides_of(x, from);
	for (uint32_t i = 0; i < x->rank; i++)
		stride[i] = from[perm[i]];
	cpu_copy_strided(k->ctx, cpu_elem_size(x->elem), x->rank, k->out[0].dim, stride, x->data,
			 k->out[0].data);
	return 0;
}

int run_slice(const struct kernel_call *k, struct err *e)
{
	struct op_range r[TENSOR_DIMS];
	struct tensor shape;
	int64_t stride[TENSOR_DIMS], dim[TENSOR_DIMS];
	const struct tensor *x = &k->in[0];
	const char *src = x->data;
	if (check_size(x, e) || op_slice_ranges(k->op, k->in, r, &shape, e))
		return -1;
	cpu_strides_of(x, stride);
	for (uint32_t i = 0; i < x->rank; i++) {
		src += r[i].start * stride[i];
		stride[i] *= r[i].step;
		dim[i] = r[i].count;
	}
	cpu_copy_strided(k->ctx, cpu_elem_size(x->elem), x->rank, dim, stride, src, k->out[0].data);
	return 0;
}

int run_broadcast(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	int64_t from[TENSOR_DIMS], stride[TENSOR_DIMS] = {0}, map[TENSOR_DIMS];
	if (check_size(x, e))
		return -1;
	cpu_strides_of(x, from);
	if (k->op->a.broadcast.bcast == BCAST_EXPLICIT) {
		if (k->op->n_in < 3 || op_ints(&k->in[2], map, TENSOR_DIMS, e) != (int)x->rank)
			return err_set(e, ST_INPUT, "axes_mapping does not fit the data");
	} else {
		int64_t first = (int64_t)out->rank - x->rank;
		if (k->op->a.broadcast.bcast == BCAST_PDPD && k->op->a.broadcast.axis >= 0)
			first = k->op->a.broadcast.axis;
		for (uint32_t i = 0; i < x->rank; i++)
			map[i] = first + i;
	}
	for (uint32_t i = 0; i < x->rank; i++) {
		int axis = op_axis(map[i], out->rank);
		if (axis < 0 || map[i] < 0 || (x->dim[i] != 1 && x->dim[i] != out->dim[axis]))
			return err_set(e, ST_INPUT,
				       "the data does not broadcast to the target shape");
		stride[axis] = x->dim[i] == 1 ? 0 : from[i];
	}
	cpu_copy_strided(k->ctx, cpu_elem_size(x->elem), out->rank, out->dim, stride, x->data,
			 out->data);
	return 0;
}

int run_tile(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	int64_t from[TENSOR_DIMS], dim[COPY_DIMS], stride[COPY_DIMS];
	if (check_size(x, e))
		return -1;
	cpu_strides_of(x, from);
	for (uint32_t i = 0; i < out->rank; i++) { /* each dim: repeats, then elements */
		int64_t d = (int64_t)i - (int64_t)(out->rank - x->rank);
		int64_t size = d < 0 ? 1 : x->dim[d];
		dim[2 * i] = size ? out->dim[i] / size : 0;
		stride[2 * i] = 0;
		dim[2 * i + 1] = size;
		stride[2 * i + 1] = d < 0 ? 0 : from[d];
	}
	cpu_copy_strided(k->ctx, cpu_elem_size(x->elem), 2 * out->rank, dim, stride, x->data,
			 out->data);
	return 0;
}

int run_shuffle(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0];
	int axis = op_axis(k->op->a.block.axis, x->rank);
	int64_t groups = k->op->a.block.groups, from[TENSOR_DIMS], dim[COPY_DIMS],
		stride[COPY_DIMS];
	uint32_t n = 0;
	if (check_size(x, e))
		return -1;
	if (axis < 0 || x->dim[axis] % groups)
		return err_set(e, ST_INPUT, "channels do not divide into groups");
	cpu_strides_of(x, from);
	for (uint32_t i = 0; i < x->rank; i++) {
		dim[n] = x->dim[i];
		stride[n] = from[i];
		if ((int)i == axis) { /* (g, c/g) -> (c/g, g) */
			dim[n] = x->dim[i] / groups;
			dim[n + 1] = groups;
			stride[n + 1] = from[i] * dim[n];
			n++;
		}
		n++;
	}
	cpu_copy_strided(k->ctx, cpu_elem_size(x->elem), n, dim, stride, x->data, k->out[0].data);
	return 0;
}

/* DepthToSpace and SpaceToDepth on (n, c, spatial): one permuted copy. */
static int run_depth(const struct kernel_call *k)
{
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	bool to_space = k->op->kind == OP_DEPTH_TO_SPACE, depth_first = k->op->a.block.depth_first;
	int64_t b = k->op->a.block.block, from[TENSOR_DIMS], dim[COPY_DIMS], stride[COPY_DIMS],
		blocks = 1;
	uint32_t s = x->rank - 2, n = 0;
	cpu_strides_of(x, from);
	for (uint32_t i = 0; i < s; i++)
		blocks *= b;
	dim[n] = x->dim[0];
	stride[n++] = from[0];
	if (to_space) {
		int64_t c = out->dim[1], block = depth_first ? from[1] : from[1] * c;
		dim[n] = c;
		stride[n++] = depth_first ? from[1] * blocks : from[1];
		for (uint32_t i = 0; i < s; i++) {
			int64_t inner = 1;
			for (uint32_t j = i + 1; j < s; j++)
				inner *= b;
			dim[n] = x->dim[2 + i];
			stride[n++] = from[2 + i];
			dim[n] = b;
			stride[n++] = block * inner;
		}
	} else {
		if (depth_first) {
			dim[n] = x->dim[1];
			stride[n++] = from[1];
		}
		for (uint32_t i = 0; i < s; i++) {
			dim[n] = b;
			stride[n++] = from[2 + i];
		}
		if (!depth_first) {
			dim[n] = x->dim[1];
			stride[n++] = from[1];
		}
		for (uint32_t i = 0; i < s; i++) {
			dim[n] = out->dim[2 + i];
			stride[n++] = from[2 + i] * b;
		}
	}
	cpu_copy_strided(k->ctx, cpu_elem_size(x->elem), n, dim, stride, x->data, out->data);
	return 0;
}

/* SpaceToBatch and BatchToSpace: the cells of one offset within the blocks are a strided block of the
 * space, and one of consecutive batches. */
static void move_cells(const struct kernel_call *k, const int64_t *b, const int64_t *lo,
		       int64_t block)
{
	bool to_batch = k->op->kind == OP_SPACE_TO_BATCH;
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	const struct tensor *batch = to_batch ? out : x, *space = to_batch ? x : out;
	int64_t cell[TENSOR_DIMS], step[TENSOR_DIMS], dim[TENSOR_DIMS], rest = block;
	cpu_strides_of(batch, cell);
	cpu_strides_of(space, step);
	char *at_batch = (char *)batch->data + block * space->dim[0] * cell[0],
	     *at_space = space->data;
	dim[0] = space->dim[0];
	for (uint32_t d = batch->rank; d-- > 1; rest /= b[d]) {
		int64_t shift = rest % b[d] - lo[d]; /* cell i is at i * b + shift */
		int64_t first = shift < 0 ? (-shift + b[d] - 1) / b[d] : 0,
			end = (space->dim[d] - shift + b[d] - 1) / b[d];
		end = end > batch->dim[d] ? batch->dim[d] : end;
		dim[d] = end > first ? end - first : 0;
		at_batch += first * cell[d];
		at_space += (first * b[d] + shift) * step[d];
		step[d] *= b[d];
	}
	cpu_move_strided(k->ctx, cpu_elem_size(x->elem), batch->rank, dim, to_batch ? step : cell,
			 to_batch ? at_space : at_batch, to_batch ? cell : step,
			 to_batch ? at_batch : at_space);
}

static int run_batch(const struct kernel_call *k, struct err *e)
{
	bool to_batch = k->op->kind == OP_SPACE_TO_BATCH;
	const struct tensor *out = &k->out[0];
	int64_t b[TENSOR_DIMS], lo[TENSOR_DIMS], blocks = 1;
	if (op_ints(&k->in[1], b, TENSOR_DIMS, e) < 0 || op_ints(&k->in[2], lo, TENSOR_DIMS, e) < 0)
		return -1;
	if (to_batch)
		memset(out->data, 0, (size_t)tensor_bytes(out));
	for (uint32_t d = 1; d < out->rank; d++)
		blocks *= b[d];
	for (int64_t block = 0; block < blocks; block++)
		move_cells(k, b, lo, block);
	return 0;
}

int run_space(const struct kernel_call *k, struct err *e)
{
	if (check_size(&k->in[0], e))
		return -1;
	return k->op->kind == OP_DEPTH_TO_SPACE || k->op->kind == OP_SPACE_TO_DEPTH
		       ? run_depth(k)
		       : run_batch(k, e);
}
