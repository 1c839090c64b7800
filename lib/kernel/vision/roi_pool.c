/* roi_pool.c - bins of regions: ROIPooling, PSROIPooling, DeformablePSROIPooling.
 *
 * Features are (b, c, h, w), regions rows of 5 numbers (image, x0, y0, x1, y1).  Sources: the
 * operators' specifications. */
#include "kernel/vision/roi.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

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

enum { BIN_LANES = 16, BIN_COLUMNS = 32 };

/* Bins of a small region. */
struct bins {
	int64_t n, rows, columns;               /* bins across and down, columns of the region */
	int64_t channels, plane, pitch;         /* of the features */
	const int64_t *top, *end;               /* rows of pixels of each row of bins */
	uint32_t full;                          /* which of n have columns */
	int widest;                             /* columns of a bin */
	int32_t column[BIN_COLUMNS][BIN_LANES]; /* column t of each bin, or its last one */
};

#define LEVEL_FILE "kernel/vision/roi_loops.h"
#include "kernel/isa_dispatch.h"

struct roi_pool {
	const struct kernel_call *k;
	int64_t regions; /* in front of the end */
	int n_tasks;
	atomic_bool failed;
};

/* The greatest of each bin of one row of them, of which `column` has the greatest of each column. */
static void pool_row(const float *column, const int64_t *left, const int64_t *right, int64_t n,
		     float *y)
{
	for (int64_t j = 0; j < n; j++) {
		float best = right[j] <= left[j] ? 0 : -FLT_MAX;
		for (int64_t u = left[j]; u < right[j]; u++)
			best = column[u] > best ? column[u] : best;
		y[j] = best;
	}
}

/* False: the region is not small. */
static bool find_lanes(struct bins *b, const int64_t *left, const int64_t *right)
{
	b->full = 0;
	b->widest = 0;
	if (b->n > BIN_LANES || b->columns > BIN_COLUMNS)
		return false;
	for (int64_t j = 0; j < b->n; j++) {
		int width = (int)(right[j] - left[j]);
		b->full |= (uint32_t)(width > 0) << j;
		b->widest = width > b->widest ? width : b->widest;
	}
	for (int t = 0; t < b->widest; t++)
		for (int64_t j = 0; j < BIN_LANES; j++) {
			int64_t n = j < b->n ? right[j] - left[j] : 0;
			b->column[t][j] =
				n > 0 ? (int32_t)(left[j] - left[0] + (t < n ? t : n - 1)) : 0;
		}
	return true;
}

/* All channels of a region: the greatest of each bin, by columns first.  column: (w). */
static void pool_maxima(const struct roi_pool *r, const float *f, const float *roi, int64_t *bin,
			float *column, float *y)
{
	const struct op_roi *a = &r->k->op->a.roi;
	const struct tensor *x = &r->k->in[0];
	struct plane p = {x->dim[2], x->dim[3]};
	int64_t *top = bin, *end = top + a->h, *left = end + a->h, *right = left + a->w;
	find_bins(roi[1], roi[3], a->scale, a->h, p.h, top, end);
	find_bins(roi[0], roi[2], a->scale, a->w, p.w, left, right);
	int64_t first = left[0], width = right[a->w - 1] - first;
	struct bins b = {a->w, a->h, width, x->dim[1], p.h * p.w, p.w, top, end, 0, 0, {{0}}};
	if (find_lanes(&b, left, right) && LEVEL_CALL(pool_bins, &b, f + first, y))
		return;
	for (int64_t c = 0; c < x->dim[1]; c++, f += p.h * p.w)
		for (int64_t i = 0; i < a->h; i++, y += a->w) {
			if (end[i] <= top[i]) {
				memset(y, 0, (size_t)a->w * sizeof *y);
				continue;
			}
			for (int64_t u = 0; u < width; u++)
				column[first + u] = -FLT_MAX;
			for (int64_t v = top[i]; v < end[i]; v++)
				for (int64_t u = first; u < first + width; u++)
					column[u] = f[v * p.w + u] > column[u] ? f[v * p.w + u]
									       : column[u];
			pool_row(column, left, right, a->w, y);
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
				*y++ = in ? roi_bilinear(f, p, u, v) : 0;
			}
}

static void roi_pool_task(void *arg, int task, int thread)
{
	struct roi_pool *r = arg;
	const struct tensor *x = &r->k->in[0], *out = &r->k->out[0];
	const struct op_roi *a = &r->k->op->a.roi;
	int64_t each = out->dim[1] * a->h * a->w, lo, hi;
	size_t bins = (size_t)(2 * (a->h + a->w) + 1);
	int64_t *bin = cpu_thread_scratch(r->k->ctx, thread,
					  bins * sizeof *bin + (size_t)x->dim[3] * sizeof(float));
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
			pool_maxima(r, f, roi + 1, bin, (float *)(void *)(bin + bins),
				    (float *)out->data + n * each);
	}
}

int run_roi_pooling(const struct kernel_call *k, struct err *e)
{
	const struct tensor *f = &k->in[0], *out = &k->out[0];
	struct roi_pool r = {.k = k};
	int64_t each = out->dim[1] * k->op->a.roi.h * k->op->a.roi.w;
	for (; r.regions < out->dim[0]; r.regions++) {
		int64_t image =
			(int64_t)roi_clamp(((const float *)k->in[1].data)[5 * r.regions], -1, 1e6f);
		if (image == -1) /* the end of the regions */
			break;
		if (image < 0 || image >= f->dim[0])
			return roi_outside(image, e);
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
	const struct kernel_call *k;
	const struct op_roi *a;
	struct plane p;
	const float *image; /* (channels, h, w) */
	float x, y, w, h;   /* region in pixels (average), or relative (bilinear) */
	/* Rows and columns of pixels of each row and column of bins (average), group of each. */
	int64_t *top, *end, *left, *right;
};

static void ps_bins(const struct ps_run *r)
{
	float g = (float)r->a->group;
	for (int64_t i = 0; i < r->a->group; i++) {
		r->top[i] = clip_int(floorf(r->y + (float)i * r->h / g), r->p.h);
		r->end[i] = clip_int(ceilf(r->y + (float)(i + 1) * r->h / g), r->p.h);
		r->left[i] = clip_int(floorf(r->x + (float)i * r->w / g), r->p.w);
		r->right[i] = clip_int(ceilf(r->x + (float)(i + 1) * r->w / g), r->p.w);
	}
}

/* Four rows side by side: an addition waits for the one before it. */
static float ps_average(const struct ps_run *r, int64_t c, int64_t i, int64_t j)
{
	const float *f = r->image + ((c * r->a->group + i) * r->a->group + j) * r->p.h * r->p.w;
	int64_t top = r->top[i], end = r->end[i], left = r->left[j], right = r->right[j], y = top;
	float sum[4] = {0};
	for (; y + 4 <= end; y += 4)
		for (int64_t x = left; x < right; x++)
			for (int k = 0; k < 4; k++)
				sum[k] += f[(y + k) * r->p.w + x];
	for (; y < end; y++)
		for (int64_t x = left; x < right; x++)
			sum[y & 3] += f[y * r->p.w + x];
	return end > top && right > left ? (sum[0] + sum[1] + (sum[2] + sum[3])) /
						   (float)((end - top) * (right - left))
					 : 0;
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
			sum += roi_bilinear(r->image + (s * r->a->dim + c) * r->p.h * r->p.w, r->p,
					    roi_clamp(y, 0, (float)(r->p.h - 1)),
					    roi_clamp(x, 0, (float)(r->p.w - 1)));
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
		sum += roi_bilinear(f, r->p, roi_clamp(y, 0, (float)(r->p.h - 1)),
				    roi_clamp(x, 0, (float)(r->p.w - 1)));
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

struct ps_job {
	struct ps_run r;
	const struct tensor *offsets; /* or NULL */
	bool deformable;
	int n_tasks;
	atomic_bool failed;
};

static void ps_task(void *arg, int task, int thread)
{
	struct ps_job *job = arg;
	struct ps_run r = job->r;
	const struct tensor *f = &r.k->in[0];
	int64_t group = r.a->group, each = r.a->dim * group * group, lo, hi;
	r.top = cpu_thread_scratch(r.k->ctx, thread, (size_t)(4 * group) * sizeof *r.top);
	if (!r.top) {
		job->failed = true;
		return;
	}
	r.end = r.top + group;
	r.left = r.end + group;
	r.right = r.left + group;
	cpu_range(r.k->in[1].dim[0], job->n_tasks, task, &lo, &hi);
	for (int64_t n = lo; n < hi; n++) {
		const float *roi = (const float *)r.k->in[1].data + 5 * n;
		float *y = (float *)r.k->out[0].data + n * each;
		int64_t image = (int64_t)roi_clamp(roi[0], -1, 1e6f);
		if (image < 0) {
			memset(y, 0, (size_t)each * sizeof *y);
			continue;
		}
		r.image = (const float *)f->data + image * f->dim[1] * r.p.h * r.p.w;
		ps_region(&r, roi, job->deformable);
		ps_bins(&r);
		for (int64_t c = 0; c < r.a->dim; c++)
			for (int64_t i = 0; i < group; i++)
				for (int64_t j = 0; j < group; j++)
					*y++ = job->deformable
						       ? ps_deformed(&r, job->offsets, n, c, i, j)
					       : r.a->bilinear ? ps_bilinear(&r, c, i, j)
							       : ps_average(&r, c, i, j);
	}
}

int run_psroi_pooling(const struct kernel_call *k, struct err *e)
{
	const struct tensor *f = &k->in[0], *offsets = k->op->n_in > 2 ? &k->in[2] : NULL;
	const struct op_roi *a = &k->op->a.roi;
	struct ps_job job = {.r = {.k = k, .a = a, .p = {f->dim[2], f->dim[3]}},
			     .offsets = offsets,
			     .deformable = k->op->kind == OP_DEFORMABLE_PSROI_POOLING};
	int64_t regions = k->in[1].dim[0];
	if (job.r.p.h == 0 || job.r.p.w == 0)
		return err_set(e, ST_INPUT, "regions of images without pixels");
	if (offsets && (offsets->rank != 4 || offsets->dim[1] < 2 || offsets->dim[1] % 2 ||
			a->dim % (offsets->dim[1] / 2) || offsets->dim[0] != regions ||
			offsets->dim[2] != a->part || offsets->dim[3] != a->part))
		return err_set(e, ST_INPUT, "offsets do not fit the regions");
	for (int64_t n = 0; n < regions; n++) {
		const float *roi = (const float *)k->in[1].data + 5 * n;
		int64_t image = (int64_t)roi_clamp(roi[0], -1, 1e6f);
		if (image >= f->dim[0] || (image < 0 && !job.deformable))
			return roi_outside(image, e);
	}
	job.n_tasks = cpu_tasks(tensor_elements(&k->out[0]), 1024);
	if (job.n_tasks > regions)
		job.n_tasks = (int)regions;
	cpu_parallel(k->ctx, job.n_tasks, ps_task, &job);
	return job.failed ? cpu_no_memory(e) : 0;
}
