/* cpu_resize.c - Interpolate-1, -4 and -11: axis after axis, each output position a weighted
 * sum of input positions. */
#include "kernel/cpu_impl.h"
#include "kernel/cpu_vec.h"
#include "op/resize_taps.h"

#include <string.h>

/* The same where positions have many taps; weight: n floats of scratch. */
static void resize_axis_wide(const struct op_resize *r, const float *x, float *y, int64_t outer,
			     int64_t n, int64_t m, int64_t inner, double scale, float *weight)
{
	for (int64_t o = 0; o < m; o++) {
		int64_t first, taps = resize_span(r, o, scale, n, &first, weight);
		for (int64_t i = 0; i < outer; i++) {
			float *to = y + (i * m + o) * inner;
			memset(to, 0, (size_t)inner * sizeof *to);
			for (int64_t j = 0; j < taps; j++)
				vec_axpy(weight[j], x + (i * n + first + j) * inner, to, inner);
		}
	}
}

/* y (dim) = x within zeros. */
static void pad_zero(const struct op_resize *r, const struct tensor *in, const int64_t *dim,
		     float *y)
{
	const float *x = in->data;
	int64_t n = tensor_elements(in), at[TENSOR_DIMS] = {0}, all = 1;
	for (uint32_t d = 0; d < in->rank; d++)
		all *= dim[d];
	memset(y, 0, (size_t)all * sizeof *y);
	for (int64_t i = 0; i < n; i++) {
		int64_t to = 0;
		for (uint32_t d = 0; d < in->rank; d++)
			to = to * dim[d] + at[d] + r->pad_begin[d];
		y[to] = x[i];
		for (uint32_t d = in->rank; d-- > 0 && ++at[d] == in->dim[d];)
			at[d] = 0;
	}
}

/* (outer, n, inner) -> (outer, m, inner) */
static void resize_axis(const struct op_resize *r, const float *x, float *y, int64_t outer,
			int64_t n, int64_t m, int64_t inner, double scale)
{
	for (int64_t o = 0; o < m; o++) {
		struct resize_tap t = resize_tap(r, o, scale, n, m);
		for (int64_t i = 0; i < outer; i++) {
			float *to = y + (i * m + o) * inner;
			if (t.n == 1) {
				memcpy(to, x + (i * n + t.at[0]) * inner,
				       (size_t)inner * sizeof *to);
				continue;
			}
			memset(to, 0, (size_t)inner * sizeof *to);
			for (int j = 0; j < t.n; j++)
				vec_axpy(t.weight[j], x + (i * n + t.at[j]) * inner, to, inner);
		}
	}
}

int run_resize(const struct kernel_call *k, struct err *e)
{
	const struct op_resize *r = &k->op->a.resize;
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	double scale[TENSOR_DIMS];
	int64_t dim[TENSOR_DIMS], most = 1, longest = 1, passes = 0;
	double bound = 1;
	bool padded = false;
	if (resize_scales(k->op, k->in, k->out, scale, e))
		return -1;
	for (uint32_t d = 0; d < in->rank; d++) {
		dim[d] = in->dim[d] + r->pad_begin[d] + r->pad_end[d];
		padded |= dim[d] != in->dim[d];
		passes += dim[d] != out->dim[d] || scale[d] != 1;
		int64_t longer = dim[d] > out->dim[d] ? dim[d] : out->dim[d];
		bound *= (double)longer;
		most = bound < 0x1p40 ? most * longer : most;
		longest = dim[d] > longest ? dim[d] : longest;
	}
	if (passes == 0 && !padded)
		return run_copy(k, e);
	if (bound >= 0x1p40)
		return cpu_no_memory(e);
	float *buffer =
		cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(2 * most + longest) * sizeof *buffer);
	const float *x = in->data;
	uint32_t turn = 0;
	if (!buffer)
		return cpu_no_memory(e);
	if (padded) {
		float *y = passes == 0 ? out->data : buffer + (turn++ & 1) * most;
		pad_zero(r, in, dim, y);
		x = y;
	}
	for (uint32_t d = 0; d < in->rank; d++) {
		int64_t outer = 1, inner = 1;
		if (dim[d] == out->dim[d] && scale[d] == 1)
			continue;
		for (uint32_t i = 0; i < in->rank; i++)
			*(i < d ? &outer : &inner) *= i == d ? 1 : dim[i];
		float *y = --passes == 0 ? out->data : buffer + (turn++ & 1) * most;
		if (resize_wide(r))
			resize_axis_wide(r, x, y, outer, dim[d], out->dim[d], inner, scale[d],
					 buffer + 2 * most);
		else
			resize_axis(r, x, y, outer, dim[d], out->dim[d], inner, scale[d]);
		dim[d] = out->dim[d];
		x = y;
	}
	return 0;
}
