/* depthwise.c - depthwise convolution, direct: plane after plane, sums over the taps
 * (taps.h); small planes, or volumes of them, side by side, one in each lane of a vector; other volumes in
 * their padding (volume.h). */
#include "kernel/vec.h"
#include "kernel/conv/conv.h"
#include "kernel/conv/taps.h"
#include "kernel/conv/volume.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { GRAIN = 1 << 15, MAX_TAPS = 256 };

/* A convolution of pixels: its window (planes, k, k) with stride s within planes, its result, what becomes of it, and
 * floats of the input from row to row, from plane to plane, and from one plane's first window to the next one's. */
struct pixels {
	int planes, k, s;
	int64_t width, height, depth, pitch, plane_pitch, deeper;
	struct gemm_post post; /* its limits, hswish */
};

#include "kernel/isa_level.h"
#define LEVEL_FILE "kernel/conv/depthwise_planes_loops.h"
#include "kernel/isa_dispatch.h"

static int64_t vector_lanes(void)
{
	return cpu_level >= 4 ? 16 : cpu_level == 3 ? 8 : 4;
}

struct depthwise {
	const struct window *g;
	struct taps taps;
	const float *x, *w;
	float *y;
	const struct cpu_post *post;
	int n_tasks;
	struct cpu_ctx *ctx;
	atomic_bool failed;
};

static void depthwise_task(void *arg, int task, int thread)
{
	struct depthwise *d = arg;
	const struct window *g = d->g;
	int64_t lo, hi;
	float *scratch = cpu_thread_scratch(d->ctx, thread, cpu_taps_scratch(&d->taps));
	if (!scratch) {
		d->failed = true;
		return;
	}
	cpu_range(g->batch * g->groups, d->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		const float *x = cpu_taps_source(&d->taps, d->x, lo, i, hi, scratch);
		for (int64_t c = 0; c < g->cout; c++) {
			int64_t row = i * g->cout + c;
			float *y = d->y + row * g->out_plane;
			struct cpu_post_rows rows;
			cpu_taps_run(&d->taps, x, d->w + row % (g->groups * g->cout) * g->taps, y,
				     cpu_post_rows(d->post, row, 1, 0, &rows));
			cpu_post_tile(d->post, y, g->out_plane, row, 1, 0, g->out_plane);
		}
	}
}

/* ---- small planes, side by side ---- */

/* SMALL_VOLUME: pixels with their padding, whose vectors the second cache holds. */
enum { MOST_LANES = 16, SMALL_PLANE = 256, SMALL_VOLUME = 4096, SMALL_WIDTH = 8 };

struct small {
	const struct window *g;
	struct pixels d;
	const float *x, *w;
	float *y;
	const struct cpu_post *post;
	struct cpu_ctx *ctx;
	int32_t *place; /* (in_plane) of each pixel within the padding, in floats */
	int64_t padded; /* floats of the padded pixels */
	int64_t lanes, n_bundles;
	int n_tasks;
	atomic_bool failed;
};

/* Pixels along dim d that windows see, and of the input. */
static int64_t padded_size(const struct window *g, int d)
{
	int64_t seen = (g->out[d] - 1) * g->stride[d] + g->kernel[d], has = g->in[d] + g->pad[d];
	return seen < has ? has : seen;
}

/* Worth bringing pixels together: rows would leave much of a vector empty, and bringing them costs less
 * than that. */
static bool leaves_empty(const struct window *g)
{
	int64_t lanes = vector_lanes(), across = (g->out[2] + lanes - 1) / lanes * lanes;
	int64_t padded = 1;
	for (int d = 0; d < 3 && padded <= SMALL_VOLUME; d++)
		padded *= padded_size(g, d);
	return g->in[1] * g->in[2] <= SMALL_PLANE && padded <= SMALL_VOLUME &&
	       (g->out[2] <= SMALL_WIDTH || (g->kernel[2] > 3 && across * 3 >= g->out[2] * 4));
}

static bool is_small(const struct window *g, const struct cpu_post *post)
{
	int64_t k = g->kernel[2], s = g->stride[2];
	return g->cout == 1 && leaves_empty(g) && g->groups >= vector_lanes() &&
	       (k == 3 || k == 5 || k == 7) && g->kernel[1] == k && (s == 1 || s == 2) &&
	       g->stride[1] == s && g->dilation[0] == 1 && g->dilation[1] == 1 &&
	       g->dilation[2] == 1 && g->pad[0] >= 0 && g->pad[1] >= 0 && g->pad[2] >= 0 &&
	       !post->residual;
}

/* The channels of bundle b: weights (taps, lanes) and bias (lanes); *swish of their epilogue. */
static void small_weights(const struct small *d, int64_t first, int64_t n, float *w, float *bias,
			  struct cpu_post_rows *rows)
{
	const struct window *g = d->g;
	memset(bias, 0, (size_t)d->lanes * sizeof *bias);
	for (int64_t l = 0; l < d->lanes; l++) {
		int64_t row = first + (l < n ? l : n - 1);
		const float *from = d->w + row % g->groups * g->taps;
		for (int64_t t = 0; t < g->taps; t++)
			w[t * d->lanes + l] = from[t];
	}
	for (int64_t l = 0; l < n; l += GEMM_M) {
		int m = n - l < GEMM_M ? (int)(n - l) : GEMM_M;
		if (cpu_post_rows(d->post, first + l, m, 0, rows))
			memcpy(bias + l, rows->bias, (size_t)m * sizeof *bias);
	}
}

static void small_task(void *arg, int task, int thread)
{
	struct small *d = arg;
	const struct window *g = d->g;
	int64_t lo, hi, planes = g->batch * g->groups, n_out = g->out_plane;
	float bias[MOST_LANES] __attribute__((aligned(64)));
	float *x = cpu_thread_scratch(
		d->ctx, thread, (size_t)(d->padded + (g->taps + n_out) * d->lanes) * sizeof *x);
	if (!x) {
		d->failed = true;
		return;
	}
	float *w = x + d->padded, *pixels = w + g->taps * d->lanes;
	memset(x, 0, (size_t)d->padded * sizeof *x);
	cpu_range(d->n_bundles, d->n_tasks, task, &lo, &hi);
	for (int64_t b = lo; b < hi; b++) {
		int64_t first = b * d->lanes, left = planes - first;
		int n = (int)(left < d->lanes ? left : d->lanes);
		float *y = d->y + first * n_out;
		struct cpu_post_rows rows = {.post.swish = 0};
		small_weights(d, first, n, w, bias, &rows);
		LEVEL_CALL(planes_to_pixels, d->x + first * g->in_plane, n, g->in_plane, d->place,
			   x);
		LEVEL_CALL(convolve_pixels, &d->d, x, w, bias, pixels);
		LEVEL_CALL(pixels_to_planes, pixels, n, n_out, y);
		if (d->post->swish != 0 && d->post->simple)
			LEVEL_CALL(sigmoid_rows, d->post->swish, true, y, y, n * n_out, 1,
				   n * n_out);
		cpu_post_tile(d->post, y, n_out, first, n, 0, n_out);
	}
}

static int depthwise_small(struct small *d, struct err *e)
{
	const struct window *g = d->g;
	int64_t k = g->kernel[2], s = g->stride[2];
	d->lanes = vector_lanes();
	d->d = (struct pixels){.planes = (int)g->kernel[0],
			       .k = (int)k,
			       .s = (int)s,
			       .width = g->out[2],
			       .height = g->out[1],
			       .depth = g->out[0],
			       .post = {.lo = d->post->simple ? d->post->lo : -INFINITY,
					.hi = d->post->simple ? d->post->hi : INFINITY,
					.hswish = d->post->simple && d->post->hswish}};
	d->d.pitch = padded_size(g, 2) * d->lanes;
	d->d.plane_pitch = padded_size(g, 1) * d->d.pitch;
	d->d.deeper = g->stride[0] * d->d.plane_pitch;
	d->padded = padded_size(g, 0) * d->d.plane_pitch;
	d->place = cpu_slot_scratch(d->ctx, SLOT_WHOLE, (size_t)g->in_plane * sizeof *d->place);
	if (!d->place || d->padded > INT32_MAX)
		return cpu_no_memory(e);
	for (int64_t i = 0; i < g->in_plane; i++) {
		int64_t row = i / g->in[2];
		d->place[i] = (int32_t)((row / g->in[1] + g->pad[0]) * d->d.plane_pitch +
					(row % g->in[1] + g->pad[1]) * d->d.pitch +
					(i % g->in[2] + g->pad[2]) * d->lanes);
	}
	d->n_bundles = (g->batch * g->groups + d->lanes - 1) / d->lanes;
	d->n_tasks = cpu_tasks(g->batch * g->groups * g->out_plane * g->taps, GRAIN);
	if (d->n_tasks > d->n_bundles)
		d->n_tasks = (int)d->n_bundles;
	cpu_parallel(d->ctx, d->n_tasks, small_task, d);
	return d->failed ? cpu_no_memory(e) : 0;
}

/* ---- three spatial dims ---- */

struct deep {
	const struct window *g;
	struct volume v;
	int64_t *offset; /* (taps) */
	const float *x, *w;
	float *y;
	const struct cpu_post *post;
	struct cpu_ctx *ctx;
	int n_tasks;
	atomic_bool failed;
};

/* One channel: rows one by one, or without strides a whole plane in the volume's pitch, of which the
 * rows are parts. */
static void deep_channel(const struct deep *d, const float *volume, const float *w, float *y,
			 float *flat)
{
	const struct window *g = d->g;
	bool whole = g->stride[1] == 1 && g->stride[2] == 1;
	int64_t pitch = d->v.dim[2], n = (g->out[1] - 1) * pitch + g->out[2];
	int64_t row = 0;
	for (int64_t z = 0; z < g->out[0]; z++)
		for (int64_t at = 0; at < g->out[1]; at++, row++, y += g->out[2]) {
			if (!whole || at == 0)
				vec_tap_sums(volume + cpu_volume_row(&d->v, g, row), d->offset, w,
					     (int)g->taps, 1, flat, whole ? n : g->out[2]);
			cpu_volume_copy(y, flat + (whole ? at * pitch : 0), g->out[2]);
		}
}

static void deep_task(void *arg, int task, int thread)
{
	struct deep *d = arg;
	const struct window *g = d->g;
	int64_t lo, hi, flat = (g->out[1] * d->v.dim[2] + 2 * VOLUME_SLACK) / 16 * 16;
	float *scratch = cpu_thread_scratch(
		d->ctx, thread, (size_t)(flat + d->v.plane + VOLUME_SLACK) * sizeof *scratch);
	if (!scratch) {
		d->failed = true;
		return;
	}
	float *volume = scratch + flat;
	memset(volume, 0, (size_t)(d->v.plane + VOLUME_SLACK) * sizeof *volume);
	cpu_range(g->batch * g->groups, d->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		cpu_volume_refill(&d->v, g, d->x + i * g->in_plane, volume);
		for (int64_t c = 0; c < g->cout; c++) {
			int64_t row = i * g->cout + c;
			float *y = d->y + row * g->out_plane;
			deep_channel(d, volume, d->w + row % (g->groups * g->cout) * g->taps, y,
				     scratch);
			if (d->post->whole)
				cpu_epilogue_tile(d->post->whole, y, g->out_plane, row, 1, 0,
						  g->out_plane);
		}
	}
}

static int depthwise_deep(struct cpu_ctx *c, const struct window *g, const float *x,
			  const float *weights, float *y, const struct cpu_post *post,
			  struct err *e)
{
	struct deep d = {.g = g, .x = x, .w = weights, .y = y, .post = post, .ctx = c};
	int64_t n = g->batch * g->groups;
	d.offset = cpu_slot_scratch(c, SLOT_WHOLE, (size_t)g->taps * sizeof *d.offset);
	if (!d.offset)
		return cpu_no_memory(e);
	cpu_volume_init(&d.v, g);
	for (int64_t t = 0; t < g->taps; t++)
		d.offset[t] = cpu_volume_offset(&d.v, g, t);
	d.n_tasks = cpu_tasks(n * g->cout * g->out_plane * g->taps, GRAIN);
	if (d.n_tasks > n)
		d.n_tasks = (int)n;
	cpu_parallel(c, d.n_tasks, deep_task, &d);
	return d.failed ? cpu_no_memory(e) : 0;
}

bool cpu_is_depthwise(const struct window *g)
{
	return g->groups > 1 && g->cin == 1 && g->taps <= MAX_TAPS &&
	       (cpu_phases_fit(g) || g->in[0] > 1);
}

int cpu_depthwise(struct cpu_ctx *c, const struct window *g, const float *x, const float *weights,
		  float *y, const struct cpu_post *post, struct err *e)
{
	if (is_small(g, post)) {
		struct small s = {.g = g, .x = x, .w = weights, .y = y, .post = post, .ctx = c};
		return depthwise_small(&s, e);
	}
	if (!cpu_phases_fit(g))
		return depthwise_deep(c, g, x, weights, y, post, e);
	struct depthwise d = {.g = g, .x = x, .w = weights, .y = y, .post = post, .ctx = c};
	if (cpu_taps_init(&d.taps, g, false, c, e) < 0)
		return -1;
	int64_t n = g->batch * g->groups;
	d.n_tasks = cpu_tasks(n * g->cout * g->out_plane * g->taps, GRAIN);
	if (d.n_tasks > n)
		d.n_tasks = (int)n;
	cpu_parallel(c, d.n_tasks, depthwise_task, &d);
	return d.failed ? cpu_no_memory(e) : 0;
}
