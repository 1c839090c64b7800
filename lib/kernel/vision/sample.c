/* sample.c - GridSample: images at given positions.  Source: the operator's specification,
 * opset9. */
#include "kernel/kernel_impl.h"
#include "kernel/transpose.h"
#include "kernel/vec.h"

#include <math.h>
#include <stdatomic.h>

enum { BLOCK = 64, MOST_TAPS = 16, MANY_CHANNELS = 8 };

#define LEVEL_FILE "kernel/vision/sample_loops.h"
#include "kernel/isa_dispatch.h"

struct sample_run {
	enum op_sample mode;
	enum op_sample_pad pad;
	bool align;
	int64_t channels, h, w, points; /* points: positions of an image */
	const float *x, *grid;
	float *y, *pixels; /* pixels: (h, w, channels), or NULL */
	int n_tasks, n_bands;
	struct cpu_ctx *ctx;
	atomic_bool failed;
};

/* Index inside 0 .. n - 1 for one that may lie outside; -1: a zero. */
static int64_t pad_index(const struct sample_run *r, int64_t i, int64_t n)
{
	if (i >= 0 && i < n)
		return i;
	if (r->pad == SAMPLE_ZEROS)
		return -1;
	if (r->pad == SAMPLE_BORDER)
		return i < 0 ? 0 : n - 1;
	int64_t period = r->align ? 2 * (n - 1) : 2 * n;
	if (period == 0)
		return 0;
	i = (i % period + period) % period;
	return i < n ? i : period - !r->align - i;
}

/* Position on an axis of n pixels for one in -1 .. 1. */
static float position(const struct sample_run *r, float v, int64_t n)
{
	float x = r->align ? (v + 1) / 2 * (float)(n - 1) : ((v + 1) * (float)n - 1) / 2;
	return x > -1e9f && x < 1e9f ? x : -1e9f;
}

/* Weights of four neighbours, Keys' kernel with a = -0.75. */
static void cubic(float d, float *w)
{
	const float a = -0.75f;
	w[0] = ((a * (d + 1) - 5 * a) * (d + 1) + 8 * a) * (d + 1) - 4 * a;
	w[1] = ((a + 2) * d - (a + 3)) * d * d + 1;
	w[2] = ((a + 2) * (1 - d) - (a + 3)) * (1 - d) * (1 - d) + 1;
	w[3] = ((a * (2 - d) - 5 * a) * (2 - d) + 8 * a) * (2 - d) - 4 * a;
}

/* Weights of up to 4 neighbours from the first on; how many. */
static int neighbours(const struct sample_run *r, float x, int64_t *first, float *w)
{
	float base = floorf(x);
	w[0] = 1;
	if (r->mode == SAMPLE_NEAREST) {
		*first = (int64_t)nearbyintf(x);
		return 1;
	}
	*first = (int64_t)base;
	if (r->mode == SAMPLE_BILINEAR) {
		w[1] = x - base;
		w[0] = 1 - w[1];
		return 2;
	}
	(*first)--;
	cubic(x - base, w);
	return 4;
}

/* Position p's neighbours as taps of one gather, `ld` apart; how many. */
static int taps_of(const struct sample_run *r, int64_t p, int32_t *at, float *weight, int64_t ld)
{
	float wx[4], wy[4];
	int64_t x, y;
	int nx = neighbours(r, position(r, r->grid[2 * p], r->w), &x, wx), n = 0;
	int ny = neighbours(r, position(r, r->grid[2 * p + 1], r->h), &y, wy);
	for (int i = 0; i < ny; i++) {
		int64_t row = pad_index(r, y + i, r->h);
		for (int j = 0; j < nx; j++, n++) {
			int64_t col = pad_index(r, x + j, r->w);
			at[n * ld] = row < 0 || col < 0 ? -1 : (int32_t)(row * r->w + col);
			weight[n * ld] = wy[i] * wx[j];
		}
	}
	return n;
}

/* Those of n positions from p on, BLOCK apart. */
static int block_taps(const struct sample_run *r, int64_t p, int64_t n, int32_t *at, float *weight)
{
	int taps = 1;
	if (r->mode == SAMPLE_BILINEAR && r->pad == SAMPLE_ZEROS) {
		LEVEL_CALL(bilinear, r->grid + 2 * p, n, (int32_t)r->w, (int32_t)r->h, r->align, at,
			   weight);
		return 4;
	}
	if (r->mode == SAMPLE_NEAREST && r->pad != SAMPLE_REFLECTION) {
		LEVEL_CALL(nearest, r->grid + 2 * p, n, (int32_t)r->w, (int32_t)r->h, r->align,
			   r->pad == SAMPLE_BORDER, at, weight);
		return 1;
	}
	for (int64_t i = 0; i < n; i++)
		taps = taps_of(r, p + i, at + i, weight + i, BLOCK);
	return taps;
}

static void pixels_task(void *arg, int task, int thread)
{
	const struct sample_run *r = arg;
	int64_t lo, hi, area = r->h * r->w;
	(void)thread;
	cpu_range(area, r->n_bands, task, &lo, &hi);
	cpu_turn(r->x + lo, area, r->channels, hi - lo, r->pixels + lo * r->channels, r->channels);
}

static void sample_task(void *arg, int task, int thread)
{
	struct sample_run *r = arg;
	int64_t lo, hi, area = r->h * r->w;
	int32_t at[MOST_TAPS * BLOCK];
	float weight[MOST_TAPS * BLOCK], *sums = NULL; /* sums: (block, channels) */
	if (r->pixels) {
		sums = cpu_thread_scratch(r->ctx, thread,
					  (size_t)(BLOCK * r->channels) * sizeof *sums);
		if (!sums) {
			r->failed = true;
			return;
		}
	}
	cpu_range(r->points, r->n_tasks, task, &lo, &hi);
	for (int64_t p = lo; p < hi; p += BLOCK) {
		int64_t n = hi - p < BLOCK ? hi - p : BLOCK;
		int taps = block_taps(r, p, n, at, weight);
		for (int64_t i = 0; i < n && sums; i++)
			vec_pixel_sum(r->pixels, at + i, weight + i, taps, BLOCK, r->channels,
				      sums + i * r->channels, r->channels);
		if (sums) {
			cpu_turn(sums, r->channels, n, r->channels, r->y + p, r->points);
			continue;
		}
		for (int64_t c = 0; c < r->channels; c++)
			vec_gather_sum(r->x + c * area, at, weight, taps, BLOCK,
				       r->y + c * r->points + p, n);
	}
}

int run_grid_sample(const struct kernel_call *k, struct err *e)
{
	const struct tensor *in = &k->in[0], *grid = &k->in[1];
	struct sample_run r = {.mode = k->op->a.sample.mode,
			       .pad = k->op->a.sample.pad,
			       .align = k->op->a.sample.align_corners,
			       .channels = in->dim[1],
			       .h = in->dim[2],
			       .w = in->dim[3],
			       .points = grid->dim[1] * grid->dim[2],
			       .ctx = k->ctx};
	int taps = r.mode == SAMPLE_NEAREST ? 1 : r.mode == SAMPLE_BILINEAR ? 4 : MOST_TAPS;
	if (r.h * r.w > INT32_MAX)
		return err_set(e, ST_INPUT, "an image of more than 2^31 pixels");
	r.n_tasks = cpu_tasks(r.points * r.channels, 4096);
	if (r.n_tasks > r.points)
		r.n_tasks = (int)r.points;
	/* Channel by channel every tap is a gather; a copy that has the channels together pays for itself
	 * where most pixels are read. */
	if (r.channels >= MANY_CHANNELS && taps > 1 && r.points * taps >= r.h * r.w) {
		r.n_bands = cpu_tasks(r.h * r.w * r.channels, 1 << 14);
		if (r.n_bands > r.h * r.w)
			r.n_bands = (int)(r.h * r.w);
		r.pixels = cpu_slot_scratch(k->ctx, SLOT_WHOLE,
					    (size_t)(r.h * r.w * r.channels) * sizeof *r.pixels);
		if (!r.pixels)
			return cpu_no_memory(e);
	}
	for (int64_t n = 0; n < in->dim[0]; n++) {
		r.x = (const float *)in->data + n * r.channels * r.h * r.w;
		r.grid = (const float *)grid->data + n * r.points * 2;
		r.y = (float *)k->out[0].data + n * r.channels * r.points;
		if (r.pixels)
			cpu_parallel(k->ctx, r.n_bands, pixels_task, &r);
		cpu_parallel(k->ctx, r.n_tasks, sample_task, &r);
	}
	return r.failed ? cpu_no_memory(e) : 0;
}
