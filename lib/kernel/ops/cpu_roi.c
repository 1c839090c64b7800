/* cpu_roi.c - pooling of regions of interest: ROIAlign (opset3, 9, 14), ROIAlignRotated,
 * ROIPooling, PSROIPooling, DeformablePSROIPooling, ExperimentalDetectronROIFeatureExtractor.
 *
 * Features are (b, c, h, w), regions rows of 4 numbers (x0, y0, x1, y1) or of 5 with the image in
 * front (rotated: x, y, w, h, angle).  Sources: the operators' specifications. */
#include "kernel/cpu_impl.h"
#include "kernel/cpu_vec.h"
#include "op/attr_get.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct plane {
	int64_t h, w;
};

/* Not a number becomes lo. */
static float clamp(float x, float lo, float hi)
{
	return !(x > lo) ? lo : x > hi ? hi : x;
}

/* Bilinear value at (y, x), both inside the plane. */
static float bilinear(const float *f, struct plane p, float y, float x)
{
	int64_t y0 = (int64_t)y, x0 = (int64_t)x;
	int64_t y1 = y0 + (y0 + 1 < p.h), x1 = x0 + (x0 + 1 < p.w);
	float dy = y - (float)y0, dx = x - (float)x0;
	float top = f[y0 * p.w + x0] + (f[y0 * p.w + x1] - f[y0 * p.w + x0]) * dx;
	float bottom = f[y1 * p.w + x0] + (f[y1 * p.w + x1] - f[y1 * p.w + x0]) * dx;
	return top + (bottom - top) * dy;
}

/* As above for a sample that may lie outside: zero beyond one pixel, the edge before. */
static float sample(const float *f, struct plane p, float y, float x)
{
	if (p.h == 0 || p.w == 0 || !(y >= -1 && y <= (float)p.h && x >= -1 && x <= (float)p.w))
		return 0;
	y = clamp(y, 0, (float)(p.h - 1));
	x = clamp(x, 0, (float)(p.w - 1));
	return bilinear(f, p, y, x);
}

/* ---- ROIAlign ---- */

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
	y = counts ? clamp(y, 0, (float)(p.h - 1)) : 0;
	x = counts ? clamp(x, 0, (float)(p.w - 1)) : 0;
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
	*ny = r->a->sampling ? r->a->sampling : (int64_t)clamp(need_y, 0, most);
	*nx = r->a->sampling ? r->a->sampling : (int64_t)clamp(need_x, 0, most);
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

static int outside(int64_t image, struct err *e)
{
	return err_set(e, ST_INPUT, "a region lies in image %lld, which is not there",
		       (long long)image);
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
			return outside(image, e);
		place_region(&r, (const float *)k->in[1].data + i * columns, r.a->scale);
		if (count_samples(&r, i, &total, e))
			return -1;
	}
	cpu_parallel(k->ctx, job.n_tasks, align_task, &job);
	return 0;
}

/* Each region is pooled from the level of the pyramid that suits its size. */
int run_roi_features(const struct kernel_call *k, struct err *e)
{
	const struct tensor *out = &k->out[0];
	const float *roi = k->in[0].data;
	float scale[OP_MAX_REALS], *y = out->data;
	int levels = k->op->n_in - 1;
	int64_t each = out->dim[1] * out->dim[2] * out->dim[3];
	double total = 0;
	op_reals(&k->op->a.roi.pyramid, scale);
	for (int64_t i = 0; i < out->dim[0]; i++, roi += 4, y += each) {
		float area = (roi[2] - roi[0]) * (roi[3] - roi[1]), level = 0;
		if (area > 0)
			level = floorf(2 + log2f(sqrtf(area) / 224 + 1e-6f));
		const struct tensor *f = &k->in[1 + (int)clamp(level, 0, (float)(levels - 1))];
		struct align_run r = {.a = &k->op->a.roi,
				      .channels = out->dim[1],
				      .out_h = out->dim[2],
				      .out_w = out->dim[3],
				      .plane = {f->dim[2], f->dim[3]}};
		if (!(area > 0)) {
			memset(y, 0, (size_t)each * sizeof *y);
			continue;
		}
		place_region(&r, roi, 1 / scale[f - k->in - 1]);
		r.w = r.w > 1 ? r.w : 1;
		r.h = r.h > 1 ? r.h : 1;
		if (count_samples(&r, i, &total, e))
			return -1;
		align_region(&r, f->data, y);
	}
	if (k->op->n_out > 1 && k->out[1].data)
		memcpy(k->out[1].data, k->in[0].data, (size_t)tensor_bytes(&k->out[1]));
	return 0;
}

/* ---- ROIPooling ---- */

static int64_t clip_int(float x, int64_t hi)
{
	return !(x > 0) ? 0 : x >= (float)hi ? hi : (int64_t)x;
}

/* First and last + 1 row (or column) of each of n bins between two ends of a region. */
static void find_bins(float lo, float hi, float scale, int64_t n, int64_t size, int64_t *first,
		      int64_t *end)
{
	float start = roundf(lo * scale),
	      length = fmaxf(roundf(hi * scale) - start + 1, 1) / (float)n;
	for (int64_t i = 0; i < n; i++) {
		first[i] = clip_int(floorf((float)i * length) + start, size);
		end[i] = clip_int(ceilf((float)(i + 1) * length) + start, size);
	}
}

struct roi_pool {
	const struct kernel_call *k;
	int64_t regions; /* in front of the end */
	int n_tasks;
	bool failed;
};

/* All channels of a region: the greatest of each bin, by columns first. */
static void pool_maxima(const struct roi_pool *r, const float *f, const float *roi, int64_t *bin,
			float *y)
{
	const struct op_roi *a = &r->k->op->a.roi;
	const struct tensor *x = &r->k->in[0];
	struct plane p = {x->dim[2], x->dim[3]};
	int64_t *top = bin, *end = top + a->h, *left = end + a->h, *right = left + a->w;
	find_bins(roi[1], roi[3], a->scale, a->h, p.h, top, end);
	find_bins(roi[0], roi[2], a->scale, a->w, p.w, left, right);
	for (int64_t c = 0; c < x->dim[1]; c++, f += p.h * p.w)
		for (int64_t i = 0; i < a->h; i++)
			for (int64_t j = 0; j < a->w; j++) {
				bool empty = end[i] <= top[i] || right[j] <= left[j];
				float best = empty ? 0 : -FLT_MAX;
				for (int64_t v = top[i]; v < end[i]; v++)
					for (int64_t u = left[j]; u < right[j]; u++)
						best = f[v * p.w + u] > best ? f[v * p.w + u]
									     : best;
				*y++ = best;
			}
}

/* Position of bin i of n between two relative ends. */
static float between(float lo, float hi, int64_t i, int64_t n, int64_t size)
{
	float last = (float)(size - 1);
	if (n == 1)
		return 0.5f * (lo + hi) * last;
	return i == n - 1 ? hi * last : (float)i * ((hi - lo) * last / (float)(n - 1)) + lo * last;
}

static void pool_points(const struct roi_pool *r, const float *f, const float *roi, float *y)
{
	const struct op_roi *a = &r->k->op->a.roi;
	const struct tensor *x = &r->k->in[0];
	struct plane p = {x->dim[2], x->dim[3]};
	for (int64_t c = 0; c < x->dim[1]; c++, f += p.h * p.w)
		for (int64_t i = 0; i < a->h; i++)
			for (int64_t j = 0; j < a->w; j++) {
				float u = between(roi[1], roi[3], i, a->h, p.h);
				float v = between(roi[0], roi[2], j, a->w, p.w);
				bool in = u >= 0 && u <= (float)(p.h - 1) && v >= 0 &&
					  v <= (float)(p.w - 1);
				*y++ = in ? bilinear(f, p, u, v) : 0;
			}
}

static void roi_pool_task(void *arg, int task, int thread)
{
	struct roi_pool *r = arg;
	const struct tensor *x = &r->k->in[0], *out = &r->k->out[0];
	const struct op_roi *a = &r->k->op->a.roi;
	int64_t each = out->dim[1] * a->h * a->w, lo, hi;
	int64_t *bin = cpu_thread_scratch(r->k->ctx, thread,
					  (size_t)(2 * (a->h + a->w) + 1) * sizeof *bin);
	if (!bin) {
		r->failed = true;
		return;
	}
	cpu_range(r->regions, r->n_tasks, task, &lo, &hi);
	for (int64_t n = lo; n < hi; n++) {
		const float *roi = (const float *)r->k->in[1].data + 5 * n,
			    *f = (const float *)x->data +
				 (int64_t)roi[0] * x->dim[1] * x->dim[2] * x->dim[3];
		if (a->bilinear)
			pool_points(r, f, roi + 1, (float *)out->data + n * each);
		else
			pool_maxima(r, f, roi + 1, bin, (float *)out->data + n * each);
	}
}

int run_roi_pooling(const struct kernel_call *k, struct err *e)
{
	const struct tensor *f = &k->in[0], *out = &k->out[0];
	struct roi_pool r = {.k = k};
	int64_t each = out->dim[1] * k->op->a.roi.h * k->op->a.roi.w;
	for (; r.regions < out->dim[0]; r.regions++) {
		int64_t image =
			(int64_t)clamp(((const float *)k->in[1].data)[5 * r.regions], -1, 1e6f);
		if (image == -1) /* the end of the regions */
			break;
		if (image < 0 || image >= f->dim[0])
			return outside(image, e);
	}
	memset((float *)out->data + r.regions * each, 0,
	       (size_t)((out->dim[0] - r.regions) * each) * sizeof(float));
	r.n_tasks = cpu_tasks(r.regions * each, 4096);
	if (r.n_tasks > r.regions)
		r.n_tasks = (int)r.regions;
	cpu_parallel(k->ctx, r.n_tasks, roi_pool_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}

/* ---- position-sensitive pooling ---- */

struct ps_run {
	const struct op_roi *a;
	struct plane p;
	const float *image; /* (channels, h, w) */
	float x, y, w, h;   /* region in pixels (average), or relative (bilinear) */
};

static float ps_average(const struct ps_run *r, int64_t c, int64_t i, int64_t j)
{
	float g = (float)r->a->group, sum = 0;
	const float *f = r->image + ((c * r->a->group + i) * r->a->group + j) * r->p.h * r->p.w;
	int64_t top = clip_int(floorf(r->y + (float)i * r->h / g), r->p.h),
		left = clip_int(floorf(r->x + (float)j * r->w / g), r->p.w);
	int64_t end = clip_int(ceilf(r->y + (float)(i + 1) * r->h / g), r->p.h),
		right = clip_int(ceilf(r->x + (float)(j + 1) * r->w / g), r->p.w);
	for (int64_t y = top; y < end; y++)
		for (int64_t x = left; x < right; x++)
			sum += f[y * r->p.w + x];
	return end > top && right > left ? sum / (float)((end - top) * (right - left)) : 0;
}

static float ps_point(float start, float bin, int64_t i, int64_t group, int64_t size)
{
	float last = (float)(size - 1);
	return group > 1 ? (float)i * (bin * last / (float)(group - 1)) + start * last
			 : (start + start + bin) * last / 2;
}

static float ps_bilinear(const struct ps_run *r, int64_t c, int64_t i, int64_t j)
{
	int64_t bx = r->a->bins_x, by = r->a->bins_y;
	float w = r->w / (float)bx, h = r->h / (float)by, sum = 0;
	for (int64_t s = 0; s < by * bx; s++) {
		float y = ps_point(r->y + (float)(s / bx) * h, h, i, r->a->group, r->p.h);
		float x = ps_point(r->x + (float)(s % bx) * w, w, j, r->a->group, r->p.w);
		if (y >= 0 && y < (float)r->p.h && x >= 0 && x < (float)r->p.w)
			sum += bilinear(r->image + (s * r->a->dim + c) * r->p.h * r->p.w, r->p,
					clamp(y, 0, (float)(r->p.h - 1)),
					clamp(x, 0, (float)(r->p.w - 1)));
	}
	return sum / (float)(bx * by);
}

/* Offsets (r, 2 classes, part, part) of region n move its bins. */
static float ps_deformed(const struct ps_run *r, const struct tensor *offsets, int64_t n, int64_t c,
			 int64_t i, int64_t j)
{
	const struct op_roi *a = r->a;
	int64_t group = a->group, bx = a->bins_x, by = a->bins_y, count = 0;
	float bin_w = r->w / (float)group, bin_h = r->h / (float)group, sum = 0;
	float x0 = r->x + (float)j * bin_w, y0 = r->y + (float)i * bin_h;
	const float *f = r->image + ((c * group + i) * group + j) * r->p.h * r->p.w;
	if (offsets) {
		int64_t sets = offsets->dim[1] / 2, each = a->dim / sets;
		int64_t at =
			((n * sets + c / (each ? each : 1)) * 2 * a->part + i * a->part / group) *
				a->part +
			j * a->part / group;
		const float *o = offsets->data;
		x0 += o[at] * a->trans_std * r->w;
		y0 += o[at + a->part * a->part] * a->trans_std * r->h;
	}
	for (int64_t s = 0; s < bx * by; s++) {
		float y = y0 + (float)(s / bx) * (bin_h / (float)by);
		float x = x0 + (float)(s % bx) * (bin_w / (float)bx);
		if (!(y >= -0.5f && y <= (float)r->p.h - 0.5f && x >= -0.5f &&
		      x <= (float)r->p.w - 0.5f))
			continue;
		sum += bilinear(f, r->p, clamp(y, 0, (float)(r->p.h - 1)),
				clamp(x, 0, (float)(r->p.w - 1)));
		count++;
	}
	return count ? sum / (float)count : 0;
}

static void ps_region(struct ps_run *r, const float *roi, bool deformable)
{
	float scale = r->a->scale;
	bool whole = deformable || !r->a->bilinear; /* regions in whole pixels */
	float shift = deformable ? 0.5f : 0, more = whole ? 1 : 0;
	float end[4];
	for (int i = 0; i < 4; i++) {
		float v = whole ? roundf(roi[1 + i]) : roi[1 + i];
		end[i] = (v + (i < 2 ? 0 : more)) * scale - shift;
	}
	r->x = end[0];
	r->y = end[1];
	r->w = end[2] - end[0];
	r->h = end[3] - end[1];
	if (deformable) {
		r->w = r->w > 0.1f ? r->w : 0.1f;
		r->h = r->h > 0.1f ? r->h : 0.1f;
	}
}

int run_psroi_pooling(const struct kernel_call *k, struct err *e)
{
	const struct tensor *f = &k->in[0], *offsets = k->op->n_in > 2 ? &k->in[2] : NULL;
	const struct op_roi *a = &k->op->a.roi;
	bool deformable = k->op->kind == OP_DEFORMABLE_PSROI_POOLING;
	struct ps_run r = {.a = a, .p = {f->dim[2], f->dim[3]}};
	float *y = k->out[0].data;
	if (r.p.h == 0 || r.p.w == 0)
		return err_set(e, ST_INPUT, "regions of images without pixels");
	if (offsets && (offsets->rank != 4 || offsets->dim[1] < 2 || offsets->dim[1] % 2 ||
			a->dim % (offsets->dim[1] / 2) || offsets->dim[0] != k->in[1].dim[0] ||
			offsets->dim[2] != a->part || offsets->dim[3] != a->part))
		return err_set(e, ST_INPUT, "offsets do not fit the regions");
	for (int64_t n = 0; n < k->in[1].dim[0]; n++) {
		const float *roi = (const float *)k->in[1].data + 5 * n;
		int64_t image = (int64_t)clamp(roi[0], -1, 1e6f);
		if (image >= f->dim[0] || (image < 0 && !deformable))
			return outside(image, e);
		r.image = (const float *)f->data + image * f->dim[1] * r.p.h * r.p.w;
		ps_region(&r, roi, deformable);
		for (int64_t c = 0; c < a->dim; c++)
			for (int64_t i = 0; i < a->group; i++)
				for (int64_t j = 0; j < a->group; j++)
					*y++ = image < 0     ? 0
					       : deformable  ? ps_deformed(&r, offsets, n, c, i, j)
					       : a->bilinear ? ps_bilinear(&r, c, i, j)
							     : ps_average(&r, c, i, j);
	}
	return 0;
}
