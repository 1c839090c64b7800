/* cpu_resize.c - Interpolate-4 and -11: axis after axis, each output position a weighted
 * sum of at most four input positions. */
#include "device/cpu_impl.h"
#include "device/cpu_vec.h"
#include "op/slice.h"

#include <math.h>
#include <string.h>

struct tap { int64_t at[4]; float weight[4]; int n; };

/* In single precision, as OpenVINO: ties between neighbours fall the same way. */
static double source_position(const struct op_resize *r, int64_t o, double scale, int64_t n_in,
			      int64_t n_out)
{
	float x = (float)o, s = (float)scale;
	switch (r->coord) {
	case COORD_PYTORCH: return n_out > 1 ? (double)((x + 0.5f) / s - 0.5f) : 0;
	case COORD_ASYMMETRIC: return (double)(x / s);
	case COORD_TF_HALF_PIXEL: return (double)((x + 0.5f) / s);
	case COORD_ALIGN_CORNERS:
		return n_out == 1 ? 0 : (double)(x * (float)(n_in - 1) / (float)(n_out - 1));
	default: return (double)((x + 0.5f) / s - 0.5f);
	}
}

static int64_t clip(double x, int64_t n)
{
	return x < 0 ? 0 : x > (double)(n - 1) ? n - 1 : (int64_t)x;
}

static int64_t nearest(const struct op_resize *r, double x, double scale, int64_t n)
{
	switch (r->nearest) {
	case NEAREST_PREFER_CEIL: return clip(floor(x + 0.5), n);
	case NEAREST_FLOOR: return clip(floor(x), n);
	case NEAREST_CEIL: return clip(ceil(x), n);
	case NEAREST_SIMPLE: return clip(scale < 1 ? ceil(x) : trunc(x), n);
	default: return clip(ceil(x - 0.5), n);
	}
}

static void cubic(struct tap *t, double x, double a, int64_t n)
{
	double base = floor(x), d = x - base;
	double w[4] = {((a * (d + 1) - 5 * a) * (d + 1) + 8 * a) * (d + 1) - 4 * a,
		       ((a + 2) * d - (a + 3)) * d * d + 1,
		       ((a + 2) * (1 - d) - (a + 3)) * (1 - d) * (1 - d) + 1, 0};
	w[3] = 1 - w[0] - w[1] - w[2];
	t->n = 4;
	for (int i = 0; i < 4; i++) {
		t->at[i] = clip(base + i - 1, n);
		t->weight[i] = (float)w[i];
	}
}

static struct tap tap_of(const struct op_resize *r, int64_t o, double scale, int64_t n_in,
			 int64_t n_out)
{
	struct tap t = {.n = 1, .weight = {1}};
	double x = source_position(r, o, scale, n_in, n_out);
	if (r->mode == INTERP_NEAREST) {
		t.at[0] = nearest(r, x, scale, n_in);
	} else if (r->mode == INTERP_CUBIC) {
		cubic(&t, x, r->cube_coeff, n_in);
	} else {
		x = x < 0 ? 0 : x > (double)(n_in - 1) ? (double)(n_in - 1) : x;
		t.n = 2;
		t.at[0] = (int64_t)x;
		t.at[1] = t.at[0] + 1 < n_in ? t.at[0] + 1 : t.at[0];
		t.weight[1] = (float)(x - floor(x));
		t.weight[0] = 1 - t.weight[1];
	}
	return t;
}

/* (outer, n, inner) -> (outer, m, inner) */
static void resize_axis(const struct op_resize *r, const float *x, float *y, int64_t outer,
			int64_t n, int64_t m, int64_t inner, double scale)
{
	for (int64_t o = 0; o < m; o++) {
		struct tap t = tap_of(r, o, scale, n, m);
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

/* Scales of the axes: given, or the ratio of the sizes. */
static int axis_scales(const struct kernel_call *k, double *scale, struct err *e)
{
	const struct op *op = k->op;
	bool v4 = op->version < 11;
	const struct tensor *by = &k->in[v4 && !op->a.resize.by_sizes ? 2 : 1];
	int axes_in = v4 ? 3 : 2, n = (int)k->in[0].rank;
	int64_t axes[TENSOR_DIMS];
	for (int i = 0; i < n; i++) {
		axes[i] = i;
		scale[i] = k->in[0].dim[i] ? (double)k->out[0].dim[i] / (double)k->in[0].dim[i] : 1;
	}
	if (op->a.resize.by_sizes)
		return 0;
	if (op->n_in > axes_in && (n = op_ints(&k->in[axes_in], axes, TENSOR_DIMS, e)) < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		int axis = op_axis(axes[i], k->in[0].rank);
		if (axis >= 0)
			scale[axis] = tensor_real(by, i);
	}
	return 0;
}

int run_resize(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *out = &k->out[0];
	double scale[TENSOR_DIMS];
	int64_t dim[TENSOR_DIMS], most = tensor_elements(in), passes = 0;
	for (uint32_t d = 0; d < in->rank; d++)
		if (k->op->a.resize.pad_begin[d] || k->op->a.resize.pad_end[d])
			return err_set(e, ST_INPUT, "Interpolate with padding is not supported");
	if (axis_scales(k, scale, e))
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
