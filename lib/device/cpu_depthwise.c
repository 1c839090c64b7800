/* cpu_depthwise.c - depthwise convolution, direct.
 *
 * An input plane is copied, with its padding, into stride x stride phase planes: pixel (y, x) goes to
 * phase (y mod s, x mod s).  Every tap then reads one phase at a constant offset, whatever the
 * stride, and the sum over the taps runs along whole planes in vectors. */
#include "device/cpu_conv.h"
#include "device/cpu_vec.h"

#include <string.h>

enum { GRAIN = 1 << 16, MAX_TAPS = 256, SLACK = 64 };

struct depthwise {
	const struct window *g;
	const float *x, *w;
	float *y;
	int64_t pitch, rows;         /* of a phase plane */
	int64_t span;                /* output positions in pitch: (out rows - 1) * pitch + out columns */
	int64_t offset[MAX_TAPS];    /* of each tap, in floats from the start of the phases */
	int n_tasks;
	struct cpu_ctx *ctx;
	bool failed;
};

/* phases: stride1 * stride2 planes of rows x pitch, zeroed. */
static void split_phases(const struct depthwise *d, const float *x, float *phases)
{
	const struct window *g = d->g;
	int64_t sy = g->stride[1], sx = g->stride[2];
	for (int64_t iy = 0; iy < g->in[1]; iy++) {
		int64_t py = iy + g->pad[1];
		if (py < 0 || py / sy >= d->rows)
			continue;
		for (int64_t phase = 0; phase < sx; phase++) {
			float *row = phases + ((py % sy * sx + phase) * d->rows + py / sy) * d->pitch;
			int64_t first = (phase - g->pad[2]) % sx;       /* first input column of this phase */
			if (first < 0)
				first += sx;
			while (first + g->pad[2] < 0)
				first += sx;
			int64_t at = (first + g->pad[2]) / sx, n = g->in[2] > first ? (g->in[2] - first + sx - 1) / sx : 0;
			if (n > d->pitch - at)
				n = d->pitch - at;
			const float *src = x + iy * g->in[2] + first;
			if (sx == 1)
				memcpy(row + at, src, (size_t)n * sizeof *row);
			else
				for (int64_t i = 0; i < n; i++)
					row[at + i] = src[i * sx];
		}
	}
}

static void depthwise_task(void *arg, int task, int thread)
{
	struct depthwise *d = arg;
	const struct window *g = d->g;
	int64_t lo, hi, planes = g->stride[1] * g->stride[2];
	size_t in_floats = (size_t)(planes * d->rows * d->pitch + SLACK);
	float *phases = cpu_thread_scratch(d->ctx, thread, (in_floats + (size_t)d->span + SLACK) * sizeof *phases);
	if (!phases) {
		d->failed = true;
		return;
	}
	float *sums = phases + in_floats;
	cpu_range(g->batch * g->groups, d->n_tasks, task, &lo, &hi);
	memset(phases, 0, in_floats * sizeof *phases);
	for (int64_t i = lo; i < hi; i++) {
		split_phases(d, d->x + i * g->in_plane, phases);
		for (int64_t c = 0; c < g->cout; c++) {
			float *y = d->y + (i * g->cout + c) * g->out_plane;
			vec_taps(phases, d->offset, d->w + (i % g->groups * g->cout + c) * g->taps, g->taps,
				 d->pitch == g->out[2] ? y : sums, d->span);
			for (int64_t r = 0; r < g->out[1] && d->pitch != g->out[2]; r++)
				memcpy(y + r * g->out[2], sums + r * d->pitch, (size_t)g->out[2] * sizeof *y);
		}
	}
}

int cpu_depthwise(struct cpu_ctx *c, const struct window *g, const float *x, const float *weights, float *y,
		  struct err *e)
{
	struct depthwise d = {.g = g, .x = x, .w = weights, .y = y, .ctx = c};
	if (g->taps > MAX_TAPS)
		return err_set(e, ST_INPUT, "a depthwise window of more than %d elements", MAX_TAPS);
	int64_t reach_y = (g->kernel[1] - 1) * g->dilation[1], reach_x = (g->kernel[2] - 1) * g->dilation[2];
	d.rows = g->out[1] + reach_y / g->stride[1] + 1;
	d.pitch = g->out[2] + (reach_x + g->stride[2] - 1) / g->stride[2];
	d.span = (g->out[1] - 1) * d.pitch + g->out[2];
	for (int64_t t = 0; t < g->taps; t++) {
		int64_t ty = t / g->kernel[2] * g->dilation[1], tx = t % g->kernel[2] * g->dilation[2];
		int64_t phase = ty % g->stride[1] * g->stride[2] + tx % g->stride[2];
		d.offset[t] = (phase * d.rows + ty / g->stride[1]) * d.pitch + tx / g->stride[2];
	}
	int64_t n = g->batch * g->groups;
	d.n_tasks = cpu_tasks(n * g->cout * g->out_plane * g->taps, GRAIN);
	if (d.n_tasks > n)
		d.n_tasks = (int)n;
	cpu_parallel(c, d.n_tasks, depthwise_task, &d);
	return d.failed ? cpu_no_memory(e) : 0;
}
