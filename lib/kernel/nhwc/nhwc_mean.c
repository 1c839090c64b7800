/* nhwc_mean.c - means over the channels of each pixel, as norms of channels and maps of attention have them. */
#include "kernel/nhwc/nhwc_kernels.h"
#include "kernel/vec.h"

#include <stdatomic.h>

enum { GRAIN = 1 << 14 }; /* elements of a task */

struct mean_run {
	const struct form_shape *s;
	struct cpu_ctx *ctx;
	const struct nhwc_tensor *x;
	float *y;
	int n_tasks;
	atomic_bool failed;
};

static void pixels_task(void *arg, int task, int thread)
{
	struct mean_run *r = arg;
	const struct form_shape *s = r->s;
	int64_t lo, hi, c = s->channels, step = nhwc_tile(s);
	float *tile = cpu_thread_scratch(r->ctx, thread, (size_t)(step * c) * sizeof *tile);
	if (!tile) {
		atomic_store(&r->failed, true);
		return;
	}
	cpu_range(s->images * s->pixels, r->n_tasks, task, &lo, &hi);
	for (int64_t n; lo < hi; lo += n) {
		int64_t first = lo % s->pixels;
		n = hi - lo < step ? hi - lo : step;
		n = first + n > s->pixels ? s->pixels - first : n;
		form_read(&r->x->form, s, r->x->data, lo / s->pixels, first, n, tile);
		for (int64_t i = 0; i < n; i++)
			r->y[lo + i] = vec_sum(tile + i * c, c) / (float)c;
	}
}

int nhwc_mean(const struct form_shape *s, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
	      float *y, struct err *e)
{
	struct mean_run r = {.s = s, .ctx = ctx, .x = x, .y = y};
	int64_t n = s->images * s->pixels;
	r.n_tasks = cpu_tasks(n * s->channels, GRAIN);
	r.n_tasks = r.n_tasks > n ? (int)n : r.n_tasks;
	cpu_parallel(ctx, r.n_tasks, pixels_task, &r);
	return atomic_load(&r.failed) ? cpu_no_memory(e) : 0;
}
