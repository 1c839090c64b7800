/* infer_resize.c - shape inference of Interpolate. */
#include "op/opimpl.h"
#include "op/slice.h"

#include <math.h>
#include <string.h>

/* Interpolate-1: image, sizes; -4: image, sizes, scales [, axes]; -11: image, sizes or scales
 * [, axes]. */
int infer_interpolate(const struct op *op, const struct tensor *in, struct tensor *out,
		      struct err *e)
{
	const struct op_resize *r = &op->a.resize;
	bool v4 = op->version < 11, first = op->version < 4;
	const struct tensor *by = &in[v4 && !r->by_sizes ? 2 : 1];
	int axes_in = v4 ? 3 : 2;
	int64_t axes[TENSOR_DIMS];
	int n = (int)in[0].rank;
	for (int i = 0; i < n; i++)
		axes[i] = i;
	if (first) {
		n = r->n_axes > 0 ? r->n_axes : 0;
		memcpy(axes, r->axes, (size_t)n * sizeof *axes);
	} else if (op_has_input(op, in, axes_in) &&
		   (n = op_ints(&in[axes_in], axes, TENSOR_DIMS, e)) < 0) {
		return -1;
	}
	if (tensor_elements(by) != n)
		return op_misfit("Interpolate's sizes", &in[0], e);
	op_like(out, in);
	for (uint32_t i = 0; i < in[0].rank; i++)
		out->dim[i] += r->pad_begin[i] + r->pad_end[i];
	for (int i = 0; i < n; i++) {
		int axis = op_axis(axes[i], in[0].rank);
		if (axis < 0)
			return op_misfit("Interpolate's axes", &in[0], e);
		double size = r->by_sizes
				      ? (double)tensor_int(by, i)
				      : floor((double)out->dim[axis] * tensor_real(by, i) + 1e-5);
		if (!(size >= 0 && size < 0x1p40) || (size > 0 && out->dim[axis] == 0))
			return op_misfit("Interpolate's sizes", &in[0], e);
		out->dim[axis] = (int64_t)size;
	}
	return 0;
}
