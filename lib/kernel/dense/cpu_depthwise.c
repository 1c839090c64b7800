/* cpu_depthwise.c - depthwise convolution, direct: plane after plane, sums over the taps
 * (cpu_taps.h). */
#include "kernel/dense/cpu_conv.h"
#include "kernel/dense/cpu_taps.h"

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

bool cpu_is_depthwise(const struct window *g)
{
	return g->groups > 1 && g->cin == 1 && g->taps <= MAX_TAPS && cpu_phases_fit(g);
}

int cpu_depthwise(struct cpu_ctx *c, const struct window *g, const float *x, const float *weights,
		  float *y, const struct cpu_post *post, struct err *e)
{
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
