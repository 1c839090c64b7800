/* cpu_resize.c - Interpolate-4 and -11: axis after axis, each output position a weighted
 * sum of at most four input positions. */
#include "device/cpu_impl.h"
#include "device/cpu_vec.h"
#include "device/resize_taps.h"

#include <string.h>

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
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	double scale[TENSOR_DIMS];
	int64_t dim[TENSOR_DIMS], most = tensor_elements(in), passes = 0;
	for (uint32_t d = 0; d < in->rank; d++)
		if (k->op->a.resize.pad_begin[d] || k->op->a.resize.pad_end[d])
			return err_set(e, ST_INPUT, "Interpolate with padding is not supported");
	if (resize_scales(k->op, k->in, k->out, scale, e))
		return -1;
	memcpy(dim, in->dim, sizeof dim);
	for (uint32_t d = 0; d < in->rank; d++) {
		if (dim[d] != out->dim[d] || scale[d] != 1)
			passes++;
		most = most / (dim[d] ? dim[d] : 1) * (dim[d] > out->dim[d] ? dim[d] : out->dim[d]);
	}
	float *buffer = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)(2 * most) * sizeof *buffer);
	const float *x = in->data;
	if (!buffer)
		return cpu_no_memory(e);
	if (passes == 0)
		return run_copy(k, e);
	for (uint32_t d = 0, turn = 0; d < in->rank; d++) {
		int64_t outer = 1, inner = 1;
		if (dim[d] == out->dim[d] && scale[d] == 1)
			continue;
		for (uint32_t i = 0; i < in->rank; i++)
			*(i < d ? &outer : &inner) *= i == d ? 1 : dim[i];
		float *y = --passes == 0 ? out->data : buffer + (turn++ & 1) * most;
		resize_axis(&k->op->a.resize, x, y, outer, dim[d], out->dim[d], inner, scale[d]);
		dim[d] = out->dim[d];
		x = y;
	}
	return 0;
}
