/* gather_tree.c - elements found by walking: GatherTree (opset1), Reverse (opset1), SliceScatter
 * (opset15). */
#include "kernel/kernel_impl.h"
#include "op/slice.h"

#include <string.h>
#include <strings.h>

/* Beam i's way back from step `last`; 0, or -1: a parent is not one of the beams. */
#define TRACE(T) \
	do { \
		const T *from = ids->data, stop = (T)end; \
		T *y = k->out[0].data; \
		for (int64_t t = last; t >= 0; t--) { \
			if (beam < 0 || beam >= beams) \
				return -1; \
			int64_t at = t * row + b * beams + beam; \
			y[t * row + i] = from[at]; \
			beam = tensor_int(&k->in[1], at); \
		} \
		bool ended = false; \
		for (int64_t t = 0; t < ids->dim[0]; t++) { \
			y[t * row + i] = ended || t > last ? stop : y[t * row + i]; \
			ended = ended || y[t * row + i] == stop; \
		} \
		return 0; \
	} while (0)

static int trace_beam(const struct kernel_call *k, int64_t i, double end)
{
	const struct tensor *ids = &k->in[0];
	int64_t beams = ids->dim[2], row = ids->dim[1] * beams, b = i / beams, beam = i % beams,
		last = tensor_int(&k->in[2], b);
	last = (last < ids->dim[0] ? last : ids->dim[0]) - 1;
	switch (ids->elem) {
	case EL_F32: TRACE(float);
	case EL_F64: TRACE(double);
	case EL_I32: TRACE(int32_t);
	/* clang-format off */
	case EL_I64: case EL_U64: TRACE(int64_t);
	/* clang-format on */
	default: MISSED(ids->elem); return 0;
	}
}

/* Step ids and parents (time, batch, beam), lengths (batch), end token -> beams traced back from
 * their last step; after the first end token only end tokens. */
int run_gather_tree(const struct kernel_call *k, struct err *e)
{
	const struct tensor *ids = &k->in[0];
	if (ids->rank != 3 || !tensor_same_shape(ids, &k->in[1]) ||
	    tensor_elements(&k->in[2]) != ids->dim[1] || tensor_elements(&k->in[3]) != 1)
		return err_set(e, ST_INPUT, "parents, lengths and steps of GatherTree do not fit");
	double end = tensor_real(&k->in[3], 0);
	for (int64_t i = 0; i < ids->dim[1] * ids->dim[2]; i++)
		if (trace_beam(k, i, end))
			return err_set(e, ST_INPUT, "a parent is not one of the beams");
	return 0;
}

/* Axes of Reverse: a list of them, or with mode "mask" a boolean for each dim. */
static int reversed_axes(const struct kernel_call *k, uint32_t *set, struct err *e)
{
	const char *mode = graph_attr(k->op->g, k->op->v, "mode");
	if (!mode || strcasecmp(mode, "mask") != 0)
		return op_axes(&k->in[1], k->in[0].rank, set, e);
	*set = 0;
	for (uint32_t d = 0; d < k->in[0].rank; d++)
		*set |= (uint32_t)(tensor_int(&k->in[1], d) != 0) << d;
	return 0;
}

int run_reverse(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0];
	int64_t stride[TENSOR_DIMS], step = (int64_t)cpu_elem_size(x->elem);
	const char *src = x->data;
	uint32_t set;
	if (step == 0)
		return err_set(e, ST_INPUT, "elements of type %s cannot be moved one by one",
			       elem_name(x->elem));
	if (reversed_axes(k, &set, e) < 0)
		return -1;
	for (uint32_t d = x->rank; d-- > 0; step *= x->dim[d]) {
		stride[d] = set >> d & 1 ? -step : step;
		if (set >> d & 1)
			src += (x->dim[d] - 1) * step;
	}
	if (tensor_elements(x) > 0)
		cpu_copy_strided(k->ctx, cpu_elem_size(x->elem), x->rank, x->dim, stride, src,
				 k->out[0].data);
	return 0;
}

/* Data, updates, start, stop, step, axes: data with the slice replaced by the updates. */
int run_slice_scatter(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *u = &k->in[1];
	struct tensor slice_in[5] = {*x, k->in[2], k->in[3], k->in[4]}, shape;
	struct op_range r[TENSOR_DIMS];
	struct op slice = *k->op;
	size_t size = cpu_elem_size(x->elem);
	slice.kind = OP_SLICE;
	slice.n_in = k->op->n_in - 1;
	if (slice.n_in > 4)
		slice_in[4] = k->in[5];
	if (size == 0)
		return err_set(e, ST_INPUT, "elements of type %s cannot be moved one by one",
			       elem_name(x->elem));
	if (op_slice_ranges(&slice, slice_in, r, &shape, e))
		return -1;
	if (!tensor_same_shape(&shape, u))
		return err_set(e, ST_INPUT, "the updates have not the shape of the slice");
	if (run_copy(k, e))
		return -1;
	int64_t from[TENSOR_DIMS], to[TENSOR_DIMS];
	char *dst = k->out[0].data;
	cpu_strides_of(u, from);
	cpu_strides_of(x, to);
	for (uint32_t d = 0; d < x->rank; d++) {
		dst += r[d].start * to[d];
		to[d] *= r[d].step;
	}
	cpu_move_strided(k->ctx, size, u->rank, u->dim, from, u->data, to, dst);
	return 0;
}
