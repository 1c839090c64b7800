/* roi_align.c - means of samples: ROIAlign (opset3, 9, 14), ROIAlignRotated,
 * ExperimentalDetectronROIFeatureExtractor.
 *
 * Features are (b, c, h, w), regions rows of 4 numbers (x0, y0, x1, y1) or of 5 with the image in
 * front (rotated: x, y, w, h, angle).  Sources: the operators' specifications. */
#include "kernel/vec.h"
#include "kernel/vision/roi.h"
#include "op/attr_get.h"

#include <math.h>
#include <string.h>

/* Bilinear value of a sample that may lie outside: zero beyond one pixel, the edge before. */
static float sample(const float *f, struct plane p, float y, float x)
{
	if (p.h == 0 || p.w == 0 || !(y >= -1 && y <= (float)p.h && x >= -1 && x <= (float)p.w))
		return 0;
	y = roi_clamp(y, 0, (float)(p.h - 1));
	x = roi_clamp(x, 0, (float)(p.w - 1));
	return roi_bilinear(f, p, y, x);
}

struct align_run {
	const struct op_roi *a;
	int64_t channels, out_h, out_w;
	struct plane plane;
	float x, y, w, h;                       /* of the region, in the features' pixels */
	float centre_x, centre_y, cosine, sine; /* rotated regions lie around (0, 0) */
	bool rotated;
};

/* Where sample (s, t) of bin (i, j) lies, of ny x nx; false: it does not count. */
static bool sample_place(const struct align_run *r, int64_t i, int64_t j, int64_t s, int64_t ny,
			 int64_t t, int64_t nx, float *y, float *x)
{
	float bin_h = r->h / (float)r->out_h, bin_w = r->w / (float)r->out_w;
	*y = r->y + (float)i * bin_h + bin_h / (float)ny * ((float)s + 0.5f);
	*x = r->x + (float)j * bin_w + bin_w / (float)nx * ((float)t + 0.5f);
	if (!r->rotated) /* zeros, and the maximum is never below 0 */
		return *y >= -1 && *y <= (float)r->plane.h;
	float u = *x, v = *y;
	*x = v * r->sine + u * r->cosine + r->centre_x;
	*y = v * r->cosine - u * r->sine + r->centre_y;
	return true;
}

static float bin_value(const struct align_run *r, const float *f, int64_t i, int64_t j, int64_t ny,
		       int64_t nx)
{
	float value = 0;
	for (int64_t s = 0; s < ny; s++)
		for (int64_t t = 0; t < nx; t++) {
			float y, x;
			if (!sample_place(r, i, j, s, ny, t, nx, &y, &x))
				continue;
			float v = sample(f, r->plane, y, x);
			/* OpenVINO's maximum is never below 0. */
			value = r->a->max ? fmaxf(v, value) : value + v;
		}
	return r->a->max || ny * nx == 0 ? value : value / (float)(ny * nx);
}

/* The four taps of a sample, `ld` apart; as sample(). */
static void sample_taps(struct plane p, bool counts, float y, float x, float scale, int32_t *at,
			float *weight, int64_t ld)
{
	counts = counts && y >= -1 && y <= (float)p.h && x >= -1 && x <= (float)p.w;
	y = counts ? roi_clamp(y, 0, (float)(p.h - 1)) : 0;
	x = counts ? roi_clamp(x, 0, (float)(p.w - 1)) : 0;
	int64_t y0 = (int64_t)y, x0 = (int64_t)x;
	for (int i = 0; i < 4; i++) {
		int64_t v = y0 + (i / 2 && y0 + 1 < p.h), u = x0 + (i % 2 && x0 + 1 < p.w);
		float dy = y - (float)y0, dx = x - (float)x0;
		at[i * ld] = counts ? (int32_t)(v * p.w + u) : -1;
		weight[i * ld] = scale * (i / 2 ? dy : 1 - dy) * (i % 2 ? dx : 1 - dx);
	}
}

enum { TAPS = 4096 }; /* of all bins of a region, for means that are gathered channel by channel */

/* Samples of a bin along an axis. */
static void bin_samples(const struct align_run *r, int64_t *ny, int64_t *nx)
{
	const float most = 1 << 14;
	float need_y = ceilf(r->h / (float)r->out_h), need_x = ceilf(r->w / (float)r->out_w);
	*ny = r->a->sampling ? r->a->sampling : (int64_t)roi_clamp(need_y, 0, most);
	*nx = r->a->sampling ? r->a->sampling : (int64_t)roi_clamp(need_x, 0, most);
}

/* All channels of one region into y (c, h, w). */
static void align_region(const struct align_run *r, const float *f, float *y)
{
	int64_t ny, nx, bins = r->out_h * r->out_w, area = r->plane.h * r->plane.w;
	bin_samples(r, &ny, &nx);
	if (r->a->max || area == 0 || area > INT32_MAX || ny * nx == 0 ||
	    ny * nx * 4 * bins > TAPS) {
		for (int64_t c = 0; c < r->channels; c++, f += area)
			for (int64_t i = 0; i < r->out_h; i++)
				for (int64_t j = 0; j < r->out_w; j++)
					*y++ = bin_value(r, f, i, j, ny, nx);
		return;
	}
	int32_t at[TAPS];
	float weight[TAPS], scale = 1 / (float)(ny * nx);
	for (int64_t b = 0; b < bins; b++)
		for (int64_t s = 0; s < ny * nx; s++) {
			float v, u;
			bool counts = sample_place(r, b / r->out_w, b % r->out_w, s / nx, ny,
						   s % nx, nx, &v, &u);
			sample_taps(r->plane, counts, v, u, scale, at + 4 * s * bins + b,
				    weight + 4 * s * bins + b, bins);
		}
	for (int64_t c = 0; c < r->channels; c++, f += area, y += bins)
		vec_gather_sum(f, at, weight, (int)(4 * ny * nx), bins, y, bins);
}

static void place_region(struct align_run *r, const float *roi, float scale)
{
	bool aligned = r->a->align != ALIGN_ASYMMETRIC;
	float in = r->a->align == ALIGN_HALF_PIXEL ? 0.5f : 0, out = aligned ? -0.5f : 0;
	if (r->rotated) {
		float angle = r->a->clockwise ? -roi[4] : roi[4];
		r->centre_x = roi[0] * scale - 0.5f;
		r->centre_y = roi[1] * scale - 0.5f;
		r->w = roi[2] * scale;
		r->h = roi[3] * scale;
		r->x = -r->w / 2;
		r->y = -r->h / 2;
		r->cosine = cosf(angle);
		r->sine = sinf(angle);
		return;
	}
	r->x = (roi[0] + in) * scale + out;
	r->y = (roi[1] + in) * scale + out;
	r->w = (roi[2] + in) * scale + out - r->x;
	r->h = (roi[3] + in) * scale + out - r->y;
	if (!aligned) {
		r->w = r->w > 1 ? r->w : 1;
		r->h = r->h > 1 ? r->h : 1;
	}
}

struct align_job {
	const struct kernel_call *k;
	int n_tasks;
};

static struct align_run align_init(const struct kernel_call *k)
{
	const struct tensor *f = &k->in[0], *out = &k->out[0];
	return (struct align_run){.a = &k->op->a.roi,
				  .channels = f->dim[1],
				  .out_h = out->dim[2],
				  .out_w = out->dim[3],
				  .plane = {f->dim[2], f->dim[3]},
				  .rotated = k->op->kind == OP_ROI_ALIGN_ROTATED};
}

static void align_task(void *arg, int task, int thread)
{
	const struct align_job *job = arg;
	const struct kernel_call *k = job->k;
	const struct tensor *f = &k->in[0], *out = &k->out[0];
	struct align_run r = align_init(k);
	int64_t each = r.channels * r.out_h * r.out_w, image = r.channels * r.plane.h * r.plane.w;
	int64_t lo, hi, columns = k->in[1].dim[1];
	(void)thread;
	cpu_range(out->dim[0], job->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		place_region(&r, (const float *)k->in[1].data + i * columns, r.a->scale);
		align_region(&r, (const float *)f->data + tensor_int(&k->in[2], i) * image,
			     (float *)out->data + i * each);
	}
}

/* Adds the samples of a region: data decide how many there are, so work is bounded before it is
 * done. */
static int count_samples(const struct align_run *r, int64_t region, double *total, struct err *e)
{
	const double most = 0x1p34;
	int64_t ny, nx;
	bin_samples(r, &ny, &nx);
	*total +=
		(double)ny * (double)nx * (double)r->out_h * (double)r->out_w * (double)r->channels;
	if (*total > most)
		return err_set(e, ST_INPUT,
			       "region %lld takes %lld by %lld samples of each bin; "
			       "all regions together may take %.2g",
			       (long long)region, (long long)ny, (long long)nx, most);
	return 0;
}

int run_roi_align(const struct kernel_call *k, struct err *e)
{
	struct align_job job = {k, (int)(k->out[0].dim[0] < 256 ? k->out[0].dim[0] : 256)};
	struct align_run r = align_init(k);
	int64_t columns = k->in[1].dim[1];
	double total = 0;
	for (int64_t i = 0; i < k->out[0].dim[0]; i++) {
		int64_t image = tensor_int(&k->in[2], i);
		if (image < 0 || image >= k->in[0].dim[0])
			return roi_outside(image, e);
		place_region(&r, (const float *)k->in[1].data + i * columns, r.a->scale);
		if (count_samples(&r, i, &total, e))
			return -1;
	}
	cpu_parallel(k->ctx, job.n_tasks, align_task, &job);
	return 0;
}

/* ---- a pyramid: each region is pooled from the level that suits its size ---- */

struct features_job {
	const struct kernel_call *k;
	float scale[OP_MAX_REALS]; /* of the levels */
	int n_tasks;
};

/* Region i and what it is pooled from, placed in r; NULL: it is empty. */
static const struct tensor *place_feature(const struct features_job *job, int64_t i,
					  struct align_run *r)
{
	const struct kernel_call *k = job->k;
	const struct tensor *out = &k->out[0];
	const float *roi = (const float *)k->in[0].data + 4 * i;
	float area = (roi[2] - roi[0]) * (roi[3] - roi[1]);
	if (!(area > 0))
		return NULL;
	float level = floorf(2 + log2f(sqrtf(area) / 224 + 1e-6f));
	int at = (int)roi_clamp(level, 0, (float)(k->op->n_in - 2));
	const struct tensor *f = &k->in[1 + at];
	*r = (struct align_run){.a = &k->op->a.roi,
				.channels = out->dim[1],
				.out_h = out->dim[2],
				.out_w = out->dim[3],
				.plane = {f->dim[2], f->dim[3]}};
	place_region(r, roi, 1 / job->scale[at]);
	r->w = r->w > 1 ? r->w : 1;
	r->h = r->h > 1 ? r->h : 1;
	return f;
}

static void features_task(void *arg, int task, int thread)
{
	const struct features_job *job = arg;
	const struct tensor *out = &job->k->out[0];
	int64_t lo, hi, each = out->dim[1] * out->dim[2] * out->dim[3];
	(void)thread;
	cpu_range(out->dim[0], job->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		struct align_run r;
		float *y = (float *)out->data + i * each;
		const struct tensor *f = place_feature(job, i, &r);
		if (f)
			align_region(&r, f->data, y);
		else
			memset(y, 0, (size_t)each * sizeof *y);
	}
}

int run_roi_features(const struct kernel_call *k, struct err *e)
{
	int64_t n = k->out[0].dim[0];
	struct features_job job = {.k = k, .n_tasks = (int)(n < 256 ? n : 256)};
	double total = 0;
	op_reals(&k->op->a.roi.pyramid, job.scale);
	for (int64_t i = 0; i < n; i++) {
		struct align_run r;
		if (place_feature(&job, i, &r) && count_samples(&r, i, &total, e))
			return -1;
	}
	cpu_parallel(k->ctx, job.n_tasks, features_task, &job);
	if (k->op->n_out > 1 && k->out[1].data)
		memcpy(k->out[1].data, k->in[0].data, (size_t)tensor_bytes(&k->out[1]));
	return 0;
}
