/* resize_taps.c - the rules of Interpolate: coordinates, neighbours, weights. */
#include "op/resize_taps.h"

#include <math.h>

#include "op/slice.h"
#include "op/value.h"

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
	case COORD_HALF_PIXEL: return (double)((x + 0.5f) / s - 0.5f);
	}
	MISSED(r->coord);
	return 0;
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
	case NEAREST_PREFER_FLOOR: return clip(ceil(x - 0.5), n);
	}
	MISSED(r->nearest);
	return 0;
}

static void cubic(struct resize_tap *t, double x, double a, int64_t n)
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

struct resize_tap resize_tap(const struct op_resize *r, int64_t o, double scale, int64_t n_in,
			     int64_t n_out)
{
	struct resize_tap t = {.n = 1, .at = {o}, .weight = {1}};
	double x = source_position(r, o, scale, n_in, n_out);
	if (n_in == n_out && scale == 1)
		return t; /* whatever the coordinates are */
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

bool resize_wide(const struct op_resize *r)
{
	return r->mode > INTERP_CUBIC;
}

/* Pillow's bicubic coefficient is its own: OpenVINO does not look at cube_coeff either. */
static double filter(const struct op_resize *r, double x)
{
	const double a = -0.5;
	x = fabs(x);
	if (r->mode != INTERP_BICUBIC_PILLOW)
		return x < 1 ? 1 - x : 0;
	if (x < 1)
		return ((a + 2) * x - (a + 3)) * x * x + 1;
	return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

int64_t resize_span(const struct op_resize *r, int64_t o, double scale, int64_t n_in,
		    int64_t *first, float *weight)
{
	double wide = scale < 1 ? 1 / scale : 1, sum = 0, x;
	double reach = (r->mode == INTERP_BICUBIC_PILLOW ? 2 : 1) * wide;
	x = ((double)o + 0.5) / scale - 0.5;
	int64_t lo = clip(floor(x - reach + 1), n_in), hi = clip(ceil(x + reach - 1), n_in);
	for (int64_t i = lo; i <= hi; i++)
		sum += filter(r, ((double)i - x) / wide);
	for (int64_t i = lo; i <= hi; i++)
		weight[i - lo] = sum != 0 ? (float)(filter(r, ((double)i - x) / wide) / sum) : 0;
	*first = lo;
	return hi - lo + 1;
}

int resize_scales(const struct op *op, const struct tensor *in, const struct tensor *out,
		  double *scale, struct err *e)
{
	const struct op_resize *r = &op->a.resize;
	bool v4 = op->version < 11;
	const struct tensor *by = &in[v4 && !r->by_sizes ? 2 : 1];
	int axes_in = v4 ? 3 : 2, n = (int)in[0].rank;
	int64_t axes[TENSOR_DIMS];
	for (int i = 0; i < n; i++) {
		axes[i] = i;
		int64_t padded = in[0].dim[i] + r->pad_begin[i] + r->pad_end[i];
		scale[i] = padded ? (double)out[0].dim[i] / (double)padded : 1;
	}
	/* Pillow's filters know no scales but those of the sizes, as in OpenVINO. */
	if (r->by_sizes || resize_wide(r))
		return 0;
	if (op->n_in > axes_in && (n = op_ints(&in[axes_in], axes, TENSOR_DIMS, e)) < 0)
		return -1;
	for (int i = 0; i < n; i++) {
		int axis = op_axis(axes[i], in[0].rank);
		if (axis >= 0)
			scale[axis] = tensor_real(by, i);
	}
	return 0;
}
