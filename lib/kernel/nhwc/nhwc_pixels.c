/* nhwc_pixels.c - Pad, slices and Concat of spatial dims, of tensors in NHWC: rows of pixels are copied. */
#include "kernel/nhwc/nhwc_kernels.h"

#include <stdatomic.h>
#include <string.h>

static void spatial(const struct tensor *t, int64_t dim[3])
{
	for (int d = 0; d < 3; d++) {
		int at = (int)t->rank - 3 + d;
		dim[d] = at >= 2 ? t->dim[at] : 1;
	}
}

void nhwc_pixels_shapes(struct nhwc_pixels *p, const struct tensor *x, const struct tensor *y)
{
	p->in_shape = form_shape_of(x);
	p->shape = form_shape_of(y);
	spatial(x, p->in);
	spatial(y, p->out);
}

void nhwc_pixels_release(struct nhwc_pixels *p)
{
	for (int d = 0; d < 3; d++)
		mem_free(p->from[d]);
}

struct pixels_run {
	const struct nhwc_pixels *p;
	struct cpu_ctx *ctx;
	const struct nhwc_tensor *x;
	char *y;
	struct mem_form form; /* of y */
	int n_tasks;
	atomic_bool failed;
};

/* How many pixels from output position o on are neighbours in the source, too, or all fill. */
static int64_t run_length(const int64_t *from, int64_t o, int64_t n)
{
	int64_t run = 1;
	while (o + run < n && (from[o] < 0 ? from[o + run] < 0 : from[o + run] == from[o] + run))
		run++;
	return run;
}

/* n pixels of y from `at` on, counted from its first: those of x from `src` on, which lies in the same form. */
static void copy_pixels(const struct pixels_run *r, int64_t src, int64_t at, int64_t n)
{
	size_t bytes = (size_t)(r->p->shape.channels * form_size(r->form.elem));
	char *y = r->y + (size_t)at * bytes;
	if (src < 0)
		memset(y, (int)r->form.zero, (size_t)n * bytes); /* of codes, else 0 */
	else
		memcpy(y, (const char *)r->x->data + (size_t)src * bytes, (size_t)n * bytes);
}

/* The same of one image by way of floats, in tile (n,channels). */
static void turn_pixels(const struct pixels_run *r, int64_t image, int64_t src, int64_t at,
			int64_t n, float *tile)
{
	const struct nhwc_pixels *p = r->p;
	if (src >= 0)
		form_read(&r->x->form, &p->in_shape, r->x->data, image, src, n, tile);
	for (int64_t i = 0; src < 0 && i < n * p->shape.channels; i++)
		tile[i] = p->fill;
	form_write(&r->form, &p->shape, r->y, image, at, n, tile);
}

static void rows_task(void *arg, int task, int thread)
{
	struct pixels_run *r = arg;
	const struct nhwc_pixels *p = r->p;
	int64_t lo, hi, step = nhwc_tile(&p->shape), rows = p->n[0] * p->n[1];
	bool alike = r->form.nhwc && form_same(&r->x->form, &r->form) && p->fill == 0;
	float *tile = NULL;
	if (!alike &&
	    !(tile = cpu_thread_scratch(r->ctx, thread,
					(size_t)(step * p->shape.channels) * sizeof *tile))) {
		atomic_store(&r->failed, true);
		return;
	}
	cpu_range(p->shape.images * rows, r->n_tasks, task, &lo, &hi);
	for (int64_t row = lo; row < hi; row++) {
		int64_t image = row / rows, iz = row % rows / p->n[1], iy = row % p->n[1];
		int64_t z = p->from[0][iz], y = p->from[1][iy];
		int64_t at = ((p->first[0] + iz) * p->out[1] + p->first[1] + iy) * p->out[2] +
			     p->first[2];
		int64_t source = z < 0 || y < 0 ? -1 : (z * p->in[1] + y) * p->in[2];
		for (int64_t o = 0, n; o < p->n[2]; o += n) {
			int64_t x = source < 0 || p->from[2][o] < 0 ? -1 : source + p->from[2][o];
			n = source < 0 ? p->n[2] - o : run_length(p->from[2], o, p->n[2]);
			if (alike) {
				copy_pixels(r, x < 0 ? -1 : image * p->in_shape.pixels + x,
					    image * p->shape.pixels + at + o, n);
				continue;
			}
			n = n > step ? step : n;
			turn_pixels(r, image, x, at + o, n, tile);
		}
	}
}

int nhwc_pixels(const struct nhwc_pixels *p, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
		const struct nhwc_tensor *y, struct err *e)
{
	enum { GRAIN = 1 << 14 }; /* elements of a task */
	int64_t rows = p->shape.images * p->n[0] * p->n[1];
	struct pixels_run r = {.p = p, .ctx = ctx, .x = x, .y = y->data, .form = y->form};
	r.n_tasks = cpu_tasks(rows * p->n[2] * p->shape.channels, GRAIN);
	r.n_tasks = r.n_tasks > rows ? (int)rows : r.n_tasks;
	cpu_parallel(ctx, r.n_tasks, rows_task, &r);
	return atomic_load(&r.failed) ? cpu_no_memory(e) : 0;
}
