/* cpu_depthwise.c - depthwise convolution, direct: for each plane the sum over the taps,
 * in vectors along the whole plane (cpu_phase.h). */
#include "device/cpu_conv.h"
#include "device/cpu_epilogue.h"
#include "device/cpu_phase.h"
#include "device/cpu_vec.h"

enum { GRAIN = 1 << 16, MAX_TAPS = 256 };

struct depthwise {
	const struct window *g;
	struct phases p;
	const float *x, *w;
	float *y;
	int64_t offset[MAX_TAPS];
	const struct epilogue *post;
	int n_tasks;
	struct cpu_ctx *ctx;
	bool failed;
};

static void depthwise_task(void *arg, int task, int thread)
{
	struct depthwise *d = arg;
	const struct window *g = d->g;
	int64_t lo, hi, in_floats = d->p.plane + PHASE_SLACK;
	float *phases = cpu_thread_scratch(d->ctx, thread,
					   (size_t)(in_floats + d->p.span) * sizeof *phases);
	if (!phases) {
		d->failed = true;
		return;
	}
	float *sums = phases + in_floats;
	cpu_range(g->batch * g->groups, d->n_tasks, task, &lo, &hi);
	cpu_phases_clear(&d->p, 1, 0, phases);
	for (int64_t i = lo; i < hi; i++) {
		cpu_phases_split(&d->p, g, d->x + i * g->in_plane, phases);
		for (int64_t c = 0; c < g->cout; c++) {
			vec_taps(phases, d->offset, d->w + (i % g->groups * g->cout + c) * g->taps,
				 g->taps, sums, d->p.span);
			float *y = d->y + (i * g->cout + c) * g->out_plane;
			cpu_phases_compact(&d->p, g, sums, y);
			if (d->post)
				cpu_epilogue_row(d->post, y, i * g->cout + c, 0, g->out_plane);
		}
	}
}

bool cpu_is_depthwise(const struct window *g)
{
	return g->groups > 1 && g->cin == 1 && g->taps <= MAX_TAPS && cpu_phases_fit(g);
}

int cpu_depthwise(struct cpu_ctx *c, const struct window *g, const float *x, const float *weights,
		  float *y, const struct epilogue *post, struct err *e)
{
	struct depthwise d = {.g = g, .x = x, .w = weights, .y = y, .post = post, .ctx = c};
	cpu_phases_init(&d.p, g);
	for (int64_t t = 0; t < g->taps; t++)
		d.offset[t] = cpu_phase_offset(&d.p, g, t);
	int64_t n = g->batch * g->groups;
	d.n_tasks = cpu_tasks(n * g->cout * g->out_plane * g->taps, GRAIN);
	if (d.n_tasks > n)
		d.n_tasks = (int)n;
	cpu_parallel(c, d.n_tasks, depthwise_task, &d);
	return d.failed ? cpu_no_memory(e) : 0;
}
