/* cpu_depthwise.c - depthwise convolution, direct: plane after plane, sums over the taps
 * (cpu_taps.h); with three spatial dims in the padded volume (cpu_volume.h). */
#include "kernel/cpu_vec.h"
#include "kernel/dense/cpu_conv.h"
#include "kernel/dense/cpu_taps.h"
#include "kernel/dense/cpu_volume.h"

#include <string.h>

enum { GRAIN = 1 << 16, MAX_TAPS = 256 };

struct depthwise {
	const struct window *g;
	struct taps taps;
	const float *x, *w;
	float *y;
	const struct cpu_post *post;
	int n_tasks;
	struct cpu_ctx *ctx;
	bool failed;
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
	bool failed;
};

/* One channel: rows one by one, or without strides a whole plane in the volume's pitch, of which the
 * rows are parts. */
static void deep_channel(const struct deep *d, const float *volume, const float *w, float *y,
			 float *flat)
{
	const struct window *g = d->g;
	bool whole = g->stride[1] == 1 && g->stride[2] == 1;
	int64_t pitch = d->v.dim[2], n = (g->out[1] - 1) * pitch + g->out[2];
	for (int64_t row = 0; row < g->out[0] * g->out[1]; row++) {
		const float *from = volume + cpu_volume_row(&d->v, g, row);
		int64_t at = row % g->out[1];
		if (!whole)
			vec_tap_sums(from, d->offset, w, (int)g->taps, 1, flat, g->out[2]);
		else if (at == 0)
			vec_tap_sums(from, d->offset, w, (int)g->taps, 1, flat, n);
		memcpy(y + row * g->out[2], flat + (whole ? at * pitch : 0),
		       (size_t)g->out[2] * sizeof *y);
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
	memset(volume + d->v.plane, 0, VOLUME_SLACK * sizeof *volume);
	cpu_range(g->batch * g->groups, d->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		cpu_volume_fill(&d->v, g, d->x + i * g->in_plane, volume);
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
