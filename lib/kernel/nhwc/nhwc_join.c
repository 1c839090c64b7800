/* nhwc_join.c - Concat along channels, and slices of channels, of tensors that lie in NHWC, or not.
 *
 *	(pixels, c0), (pixels, c1), ..  -->  (pixels, c0 + c1 + ..), or planes where the output is plain */
#include "kernel/nhwc/nhwc_kernels.h"
#include "kernel/transpose.h"

#include <stdatomic.h>
#include <string.h>

struct join_run {
	const struct nhwc_join *p;
	struct cpu_ctx *ctx;
	const struct nhwc_tensor *x; /* (n) */
	char *y;
	struct mem_form form; /* of y */
	int n_tasks;
	atomic_bool failed;
};

/* Pixels first .. first + n - 1 of an image of input i, whose channels are those from `channel` on.
 * tile: NHWC_FLOATS twice, or as many as a pixel has. */
static void join(const struct join_run *r, uint32_t i, int64_t channel, int64_t image,
		 int64_t first, int64_t n, float *tile)
{
	const struct nhwc_join_part *part = &r->p->part[i];
	const struct form_shape *s = &part->whole, *all = &r->p->shape;
	const struct nhwc_tensor *x = &r->x[i];
	int64_t size = form_size(r->form.elem), step = nhwc_tile(s), row = s->channels;
	int64_t bytes = part->n * size, out = all->channels * size;
	char *y = r->y + ((image * all->pixels + first) * all->channels + channel) * size;
	if (r->form.nhwc && form_same(&x->form, &r->form)) {
		const char *from = (const char *)x->data +
				   ((image * s->pixels + first) * row + part->first) * size;
		form_copy_rows(from, row * size, n, bytes, y, out);
		return;
	}
	for (int64_t at = 0; at < n; at += step) {
		int64_t some = n - at < step ? n - at : step;
		float *codes = tile + step * row;
		form_read(&x->form, s, x->data, image, first + at, some, tile);
		if (!r->form.nhwc) {
			cpu_turn(tile + part->first, row, some, part->n,
				 (float *)(void *)r->y +
					 (image * all->channels + channel) * all->pixels + first +
					 at,
				 all->pixels);
			continue;
		}
		if (r->form.elem == EL_F32)
			codes = tile;
		else
			form_codes(&r->form, tile, some * row, codes);
		form_copy_rows((const char *)codes + part->first * size, row * size, some, bytes,
			       y + at * out, out);
	}
}

static void join_task(void *arg, int task, int thread)
{
	struct join_run *r = arg;
	const struct form_shape *s = &r->p->shape;
	int64_t lo, hi, floats = NHWC_FLOATS;
	for (uint32_t i = 0; i < r->p->n; i++)
		if (r->p->part[i].whole.channels > floats)
			floats = r->p->part[i].whole.channels;
	float *tile = cpu_thread_scratch(r->ctx, thread, (size_t)(2 * floats) * sizeof *tile);
	if (!tile) {
		atomic_store(&r->failed, true);
		return;
	}
	cpu_range(s->images * s->pixels, r->n_tasks, task, &lo, &hi);
	/* As many pixels at a time as stay in the first cache until all parts of them are there. */
	int64_t most = nhwc_tile(s);
	while (lo < hi) {
		int64_t image = lo / s->pixels, first = lo % s->pixels, n = hi - lo, channel = 0;
		n = n > most ? most : n;
		n = first + n > s->pixels ? s->pixels - first : n;
		for (uint32_t i = 0; i < r->p->n; channel += r->p->part[i++].n)
			join(r, i, channel, image, first, n, tile);
		lo += n;
	}
}

int nhwc_join(const struct nhwc_join *p, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
	      const struct nhwc_tensor *y, struct err *e)
{
	struct join_run r = {.p = p, .ctx = ctx, .x = x, .y = y->data, .form = y->form};
	int64_t n = p->shape.images * p->shape.pixels;
	r.n_tasks = cpu_tasks(n * p->shape.channels, 4 * NHWC_FLOATS);
	r.n_tasks = r.n_tasks > 4 * ctx->n_threads ? 4 * ctx->n_threads : r.n_tasks;
	r.n_tasks = r.n_tasks > n ? (int)n : r.n_tasks;
	cpu_parallel(ctx, r.n_tasks, join_task, &r);
	return atomic_load(&r.failed) ? cpu_no_memory(e) : 0;
}
