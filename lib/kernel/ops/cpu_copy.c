/* cpu_copy.c - operators that are one strided copy: transposition, slices,
 * broadcasts, tiles, blocks of space and depth. */
#include "kernel/cpu_impl.h"
#include "op/slice.h"

#include <string.h>

enum { GRAIN = 32768, TILE = 32 };

struct copy_run {
	size_t size;                                                      /* of an element, bytes */
	uint32_t rank;                                                    /* after merging, >= 1 */
	int64_t dim[COPY_DIMS], stride[COPY_DIMS], dst_stride[COPY_DIMS]; /* bytes */
	int64_t n_rows; /* product of all dims but the last */
	int cross;      /* dim whose elements lie together in src, or -1 */
	const char *src;
	char *dst;
	int n_tasks;
};

/* n elements of `size` bytes, from src with a stride to contiguous dst. */
#define STRIDED(T) \
	do { \
		for (int64_t i = 0; i < n; i++) \
			*(T *)(void *)(dst + i * dst_stride) = \
				*(const T *)(const void *)(src + i * stride); \
		return; \
	} while (0)

static void copy_line(size_t size, char *dst, int64_t dst_stride, const char *src, int64_t stride,
		      int64_t n)
{
	if (dst_stride == (int64_t)size && stride == (int64_t)size) {
		memcpy(dst, src, (size_t)n * size);
		return;
	}
	switch (size) {
	case 1: STRIDED(uint8_t);
	case 2: STRIDED(uint16_t);
	case 4: STRIDED(uint32_t);
	default: STRIDED(uint64_t);
	}
}

/* Rows lo .. hi - 1, one after another. */
static void copy_rows(const struct copy_run *r, int64_t lo, int64_t hi)
{
	uint32_t last = r->rank - 1;
	int64_t at[COPY_DIMS] = {0}, from = 0, rest = lo, n = r->dim[last];
	for (uint32_t d = last; d-- > 0; rest /= r->dim[d]) {
		at[d] = rest % r->dim[d];
		from += at[d] * r->stride[d];
	}
	char *dst = r->dst + lo * n * (int64_t)r->size;
	for (int64_t row = lo; row < hi; row++, dst += n * (int64_t)r->size) {
		copy_line(r->size, dst, (int64_t)r->size, r->src + from, r->stride[last], n);
		for (uint32_t d = last; d-- > 0;) {
			from += r->stride[d];
			if (++at[d] < r->dim[d])
				break;
			from -= r->stride[d] * r->dim[d];
			at[d] = 0;
		}
	}
}

/* A plane of dims (cross, last) in tiles: src is contiguous along cross, dst along last. */
static void copy_plane(const struct copy_run *r, int64_t plane)
{
	uint32_t last = r->rank - 1, cross = (uint32_t)r->cross;
	int64_t m = r->dim[cross], n = r->dim[last], from = 0, to = 0;
	for (uint32_t d = last; d-- > 0;) {
		if (d == cross)
			continue;
		from += plane % r->dim[d] * r->stride[d];
		to += plane % r->dim[d] * r->dst_stride[d];
		plane /= r->dim[d];
	}
	for (int64_t i0 = 0; i0 < n; i0 += TILE)
		for (int64_t j0 = 0; j0 < m; j0 += TILE) {
			int64_t ni = n - i0 < TILE ? n - i0 : TILE,
				nj = m - j0 < TILE ? m - j0 : TILE;
			for (int64_t j = j0; j < j0 + nj; j++)
				copy_line(r->size,
					  r->dst + to + j * r->dst_stride[cross] +
						  i0 * (int64_t)r->size,
					  (int64_t)r->size,
					  r->src + from + j * r->stride[cross] +
						  i0 * r->stride[last],
					  r->stride[last], ni);
		}
}

static void copy_task(void *arg, int task, int thread)
{
	const struct copy_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range(r->cross < 0 ? r->n_rows : r->n_rows / r->dim[r->cross], r->n_tasks, task, &lo,
		  &hi);
	if (r->cross < 0)
		copy_rows(r, lo, hi);
	else
		for (int64_t p = lo; p < hi; p++)
			copy_plane(r, p);
}

static void merge_dims(struct copy_run *r, uint32_t rank, const int64_t *dim, const int64_t *stride)
{
	r->rank = 0;
	for (uint32_t i = 0; i < rank; i++) {
		if (dim[i] == 1)
			continue;
		if (r->rank && r->stride[r->rank - 1] == dim[i] * stride[i]) {
			r->dim[r->rank - 1] *= dim[i];
			r->stride[r->rank - 1] = stride[i];
		} else {
			r->dim[r->rank] = dim[i];
			r->stride[r->rank++] = stride[i];
		}
	}
	if (r->rank == 0) {
		r->dim[0] = 1;
		r->stride[r->rank++] = (int64_t)r->size;
	}
}

void cpu_copy_strided(struct cpu_ctx *c, size_t elem_size, uint32_t rank, const int64_t *dim,
		      const int64_t *stride, const char *src, char *dst)
{
	struct copy_run r = {.size = elem_size, .n_rows = 1, .cross = -1, .src = src, .dst = dst};
	int64_t step = (int64_t)elem_size;
	for (uint32_t i = 0; i < rank; i++)
		if (dim[i] == 0)
			return;
	merge_dims(&r, rank, dim, stride);
	for (uint32_t d = r.rank; d-- > 0; step *= r.dim[d]) {
		r.dst_stride[d] = step;
		if (d + 1 < r.rank)
			r.n_rows *= r.dim[d];
		if (d + 1 < r.rank && r.stride[d] == (int64_t)elem_size && r.dim[d] >= 4 &&
		    r.stride[r.rank - 1] != (int64_t)elem_size && r.dim[r.rank - 1] >= 4)
			r.cross = (int)d;
	}
	int64_t most = r.cross < 0 ? r.n_rows : r.n_rows / r.dim[r.cross];
	r.n_tasks = cpu_tasks(step, GRAIN * (int64_t)elem_size);
	if (r.n_tasks > most)
		r.n_tasks = (int)most;
	cpu_parallel(c, r.n_tasks, copy_task, &r);
}

/* Strides of a contiguous tensor, in bytes. */
static void strides_of(const struct tensor *t, int64_t *stride)
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
	if (bytes > 0 && k->out[0].data != k->in[0].data)
		memcpy(k->out[0].data, k->in[0].data, (size_t)bytes);
	return 0;
}

int run_transpose(const struct kernel_call *k, struct err *e)
{
	int64_t perm[TENSOR_DIMS], from[TENSOR_DIMS], stride[TENSOR_DIMS];
	const struct tensor *x = &k->in[0];
	if (check_size(x, e) || op_permutation(x, &k->in[1], perm, e))
		return -1;
	strides_of(x, from);
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
	strides_of(x, stride);
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
	strides_of(x, from);
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
	strides_of(x, from);
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
	strides_of(x, from);
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
	strides_of(x, from);
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

/* SpaceToBatch and BatchToSpace, element by element: cell (block offsets, position) of the padded
 * or cropped tensor. */
static int run_batch(const struct kernel_call *k, struct err *e)
{
	bool to_batch = k->op->kind == OP_SPACE_TO_BATCH;
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	const struct tensor *batch = to_batch ? out : x, *space = to_batch ? x : out;
	int64_t b[TENSOR_DIMS], lo[TENSOR_DIMS], n = tensor_elements(batch);
	size_t size = cpu_elem_size(x->elem);
	if (op_ints(&k->in[1], b, TENSOR_DIMS, e) < 0 || op_ints(&k->in[2], lo, TENSOR_DIMS, e) < 0)
		return -1;
	if (to_batch)
		memset(out->data, 0, (size_t)n * size);
	for (int64_t i = 0; i < n; i++) { /* every cell of the batch side */
		int64_t at[TENSOR_DIMS] = {0}, rest = i, to = 0;
		bool inside = true;
		for (uint32_t d = batch->rank; d-- > 0; rest /= batch->dim[d])
			at[d] = rest % batch->dim[d];
		int64_t block = at[0] / space->dim[0];
		at[0] %= space->dim[0];
		for (uint32_t d = batch->rank; d-- > 1; block /= b[d]) {
			at[d] = at[d] * b[d] + block % b[d] - lo[d];
			inside = inside && at[d] >= 0 && at[d] < space->dim[d];
		}
		for (uint32_t d = 0; d < space->rank; d++)
			to = to * space->dim[d] + at[d];
		if (inside && to_batch)
			memcpy((char *)out->data + (size_t)i * size,
			       (const char *)x->data + (size_t)to * size, size);
		else if (inside)
			memcpy((char *)out->data + (size_t)to * size,
			       (const char *)x->data + (size_t)i * size, size);
	}
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
