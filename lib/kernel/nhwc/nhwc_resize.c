/* nhwc_resize.c - Interpolate of two spatial dims, of tensors in NHWC: an output row is a weighted sum of input rows, and each
 * of its pixels one of that row's pixels. */
#include "kernel/nhwc/nhwc_kernels.h"
#include "kernel/vec.h"

#include <stdatomic.h>
#include <string.h>

struct resize_run {
	const struct nhwc_resize *p;
	struct cpu_ctx *ctx;
	const struct nhwc_tensor *x;
	void *y;
	struct mem_form form; /* of y */
	atomic_bool failed;
};

/* The sum of rows or pixels of n floats, `step` floats apart. */
static void mix(const struct resize_tap *tap, const float *x, int64_t step, int64_t n, float *y)
{
	const float *from[4];
	for (int t = 0; t < tap->n; t++)
		from[t] = x + tap->at[t] * step;
	if (tap->n == 1 && tap->weight[0] == 1)
		memcpy(y, from[0], (size_t)n * sizeof *y);
	else if (tap->n == 0)
		memset(y, 0, (size_t)n * sizeof *y);
	else
		vec_mix(from, tap->weight, tap->n, y, n);
}

/* One output row. */
static void row_task(void *arg, int task, int thread)
{
	struct resize_run *r = arg;
	const struct nhwc_resize *p = r->p;
	int64_t c = p->shape.channels, image = task / p->out[0], oy = task % p->out[0];
	int64_t row = p->in[1] * c, step = nhwc_tile(&p->shape);
	float *rows =
		cpu_thread_scratch(r->ctx, thread, (size_t)(5 * row + step * c) * sizeof *rows);
	if (!rows) {
		atomic_store(&r->failed, true);
		return;
	}
	float *line = rows + 4 * row, *tile = line + row;
	struct resize_tap tall = p->tap[0][oy];
	for (int t = 0; t < tall.n; t++) {
		form_read(&r->x->form, &p->in_shape, r->x->data, image, tall.at[t] * p->in[1],
			  p->in[1], rows + t * row);
		tall.at[t] = t;
	}
	if (tall.n == 1 && tall.weight[0] == 1)
		line = rows;
	else
		mix(&tall, rows, row, row, line);
	for (int64_t ox = 0; ox < p->out[1]; ox += step) {
		int64_t n = p->out[1] - ox < step ? p->out[1] - ox : step;
		for (int64_t i = 0; i < n; i++)
			mix(&p->tap[1][ox + i], line, c, c, tile + i * c);
		form_write(&r->form, &p->shape, r->y, image, oy * p->out[1] + ox, n, tile);
	}
}

int nhwc_resize(const struct nhwc_resize *p, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
		const struct nhwc_tensor *y, struct err *e)
{
	struct resize_run r = {.p = p, .ctx = ctx, .x = x, .y = y->data, .form = y->form};
	cpu_parallel(ctx, (int)(p->shape.images * p->out[0]), row_task, &r);
	return atomic_load(&r.failed) ? cpu_no_memory(e) : 0;
}
