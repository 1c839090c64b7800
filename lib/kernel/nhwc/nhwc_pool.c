/* nhwc_pool.c - pooling of tensors in NHWC: maxima of codes are codes, means are f32 or codes. */
#include "kernel/nhwc/nhwc_kernels.h"
#include "kernel/vec.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

struct pool_run {
	const struct nhwc_pool *p;
	struct cpu_ctx *ctx;
	const struct nhwc_tensor *x;
	char *y;
	struct mem_form form; /* of y */
	int64_t blocks, each; /* of channels, where there is one pixel an image */
	atomic_bool failed;
};

/* The planes, rows or columns of a window that lie inside: first and end, relative to the input. */
static void inside(const struct window *g, int d, int64_t o, int64_t *first, int64_t *end)
{
	int64_t from = o * g->stride[d] - g->pad[d], to = from + g->kernel[d];
	*first = from > 0 ? from : 0;
	*end = to < g->in[d] ? to : g->in[d];
}

/* Pixels of a row with the padding that its windows reach. */
static int64_t padded_row(const struct window *g)
{
	int64_t reached = (g->out[2] - 1) * g->stride[2] + g->kernel[2];
	return reached > g->pad[2] + g->in[2] ? reached : g->pad[2] + g->in[2];
}

/* n elements below all others, or as small as any. */
static void fill_lowest(enum elem elem, int64_t n, void *y)
{
	if (elem == EL_U8 || elem == EL_I8)
		memset(y, elem == EL_U8 ? 0 : -128, (size_t)n);
	for (int64_t i = 0; i < n && elem == EL_BF16; i++)
		((uint16_t *)y)[i] = 0xff80;
	for (int64_t i = 0; i < n && elem == EL_F32; i++)
		((float *)y)[i] = -INFINITY;
}

/* The largest codes or floats of the windows of an output row, at columns 0 .. : of all columns of the input, padded, at a
 * stride of 1, which makes few long loops of it.  tall and most: (padded_row,c). */
static void pool_max(const struct pool_run *r, const char *x, int64_t oz, int64_t oy, char *tall,
		     char *most)
{
	const struct window *g = &r->p->g;
	enum elem elem = r->x->form.elem;
	int64_t c = r->p->shape.channels, size = form_size(elem), z0, z1, y0, y1;
	int64_t row = g->in[2] * c, before = g->pad[2] * c, all = padded_row(g) * c;
	bool first = true;
	inside(g, 0, oz, &z0, &z1);
	inside(g, 1, oy, &y0, &y1);
	fill_lowest(elem, before, tall);
	fill_lowest(elem, all - before - row, tall + (before + row) * size);
	for (int64_t iz = z0; iz < z1; iz++)
		for (int64_t iy = y0; iy < y1; iy++, first = false) {
			const char *from = x + (iz * g->in[1] + iy) * row * size;
			if (first)
				memcpy(tall + before * size, from, (size_t)(row * size));
			else
				form_max(elem, from, row, tall + before * size);
		}
	int64_t n = ((g->out[2] - 1) * g->stride[2] + 1) * c;
	memcpy(most, tall, (size_t)(n * size));
	for (int64_t ix = 1; ix < g->kernel[2]; ix++)
		form_max(elem, tall + ix * c * size, n, most);
}

/* n channels of one output from x (its first channel at the first pixel) on: their mean. */
static void pool_mean(const struct pool_run *r, const char *x, const int64_t o[3], int64_t n,
		      float *mean)
{
	const struct window *g = &r->p->g;
	int64_t c = r->p->shape.channels, size = form_size(r->x->form.elem);
	int64_t z0, z1, y0, y1, x0, x1;
	inside(g, 0, o[0], &z0, &z1);
	inside(g, 1, o[1], &y0, &y1);
	inside(g, 2, o[2], &x0, &x1);
	int64_t seen = (z1 - z0) * (y1 - y0) * (x1 - x0),
		count = r->p->padded_counts ? g->taps : seen;
	float by = (r->x->form.elem == EL_F32 ? 1 : r->x->form.scale) / (float)count;
	memset(mean, 0, (size_t)n * sizeof *mean);
	for (int64_t iz = z0; iz < z1; iz++)
		for (int64_t iy = y0; iy < y1; iy++)
			form_sum(r->x->form.elem,
				 x + ((iz * g->in[1] + iy) * g->in[2] + x0) * c * size, x1 - x0, c,
				 n, mean);
	for (int64_t i = 0; i < n; i++)
		mean[i] = (mean[i] - r->x->form.zero * (float)seen) * by;
}

/* Values of the window of column o that count. */
static float columns_of(const struct pool_run *r, int64_t rows, int64_t o)
{
	int64_t x0, x1;
	inside(&r->p->g, 2, o, &x0, &x1);
	return (float)(r->p->padded_counts ? r->p->g.taps : rows * (x1 - x0));
}

/* The means of the windows of an output row: first its rows of the input are added up in tall, then columns of that.  tall:
 * (padded_row,c); mean: (padded_row,c). */
static void pool_mean_row(const struct pool_run *r, const char *x, int64_t oz, int64_t oy,
			  float *tall, float *mean)
{
	const struct window *g = &r->p->g;
	int64_t c = r->p->shape.channels, size = form_size(r->x->form.elem), z0, z1, y0, y1;
	float unit = r->x->form.elem == EL_F32 ? 1 : r->x->form.scale;
	inside(g, 0, oz, &z0, &z1);
	inside(g, 1, oy, &y0, &y1);
	memset(tall, 0, (size_t)(padded_row(g) * c) * sizeof *tall);
	for (int64_t iz = z0; iz < z1; iz++)
		for (int64_t iy = y0; iy < y1; iy++)
			form_sum(r->x->form.elem, x + (iz * g->in[1] + iy) * g->in[2] * c * size, 1,
				 0, g->in[2] * c, tall + g->pad[2] * c);
	float zero = r->x->form.zero * (float)((z1 - z0) * (y1 - y0));
	for (int64_t i = 0; zero != 0 && i < g->in[2] * c; i++)
		tall[g->pad[2] * c + i] -= zero;
	/* Windows that follow each other are added up together where they overlap entirely but for a column. */
	int64_t together = g->stride[2] == 1 ? g->out[2] : 1;
	for (int64_t o = 0; o < g->out[2]; o += together) {
		const float *from = tall + o * g->stride[2] * c;
		memcpy(mean + o * c, from, (size_t)(together * c) * sizeof *mean);
		for (int64_t ix = 1; ix < g->kernel[2]; ix++)
			form_sum(EL_F32, from + ix * c, 1, 0, together * c, mean + o * c);
	}
	for (int64_t o = 0, n; o < g->out[2]; o += n) {
		float count = columns_of(r, (z1 - z0) * (y1 - y0), o);
		for (n = 1;
		     o + n < g->out[2] && columns_of(r, (z1 - z0) * (y1 - y0), o + n) == count;)
			n++;
		vec_scale_shift(mean + o * c, unit / count, 0, mean + o * c, n * c);
	}
}

static void row_task(void *arg, int task, int thread)
{
	struct pool_run *r = arg;
	const struct nhwc_pool *p = r->p;
	const struct window *g = &p->g;
	int64_t c = p->shape.channels, rows = g->out[0] * g->out[1], image = task / rows;
	int64_t o[3] = {task % rows / g->out[1], task % g->out[1], 0};
	int64_t size = form_size(r->x->form.elem), line = (padded_row(g) * c * 4 + 63) / 64 * 64;
	const struct form_shape one = {1, c, 1};
	const int64_t first = task % rows * g->out[2];
	const char *x = (const char *)r->x->data + image * p->in_shape.pixels * c * size;
	char *most = cpu_thread_scratch(r->ctx, thread, (size_t)(2 * line + c * 4));
	if (!most) {
		atomic_store(&r->failed, true);
		return;
	}
	float *real = (float *)(void *)(most + 2 * line);
	if (p->mean) {
		float *mean = (float *)(void *)most;
		pool_mean_row(r, x, o[0], o[1], real - line / 4, mean);
		form_write(&r->form, &p->shape, r->y, image, first, g->out[2], mean);
		return;
	}
	bool as_is = form_same(&r->x->form, &r->form);
	char *y = r->y + (image * p->shape.pixels + first) * c * size;
	if (as_is && g->stride[2] == 1)
		most = y;
	pool_max(r, x, o[0], o[1], (char *)real - line, most);
	for (; o[2] < g->out[2] && most != y; o[2]++) {
		const char *from = most + o[2] * g->stride[2] * c * size;
		if (as_is) {
			memcpy(y + o[2] * c * size, from, (size_t)(c * size));
			continue;
		}
		form_read(&r->x->form, &one, from, 0, 0, 1, real);
		form_write(&r->form, &p->shape, r->y, image, first + o[2], 1, real);
	}
}

/* A block of channels of a mean of whole planes. */
static void block_task(void *arg, int task, int thread)
{
	struct pool_run *r = arg;
	const struct nhwc_pool *p = r->p;
	int64_t c = p->shape.channels, image = task / r->blocks, first = task % r->blocks * r->each;
	int64_t n = c - first < r->each ? c - first : r->each, size = form_size(r->x->form.elem);
	const struct form_shape part = {1, n, 1};
	float *mean = cpu_thread_scratch(r->ctx, thread, (size_t)n * sizeof *mean);
	if (!mean) {
		atomic_store(&r->failed, true);
		return;
	}
	pool_mean(r, (const char *)r->x->data + (image * p->in_shape.pixels * c + first) * size,
		  (const int64_t[3]){0}, n, mean);
	form_write(&r->form, &part, r->y + (image * c + first) * form_size(r->form.elem), 0, 0, 1,
		   mean);
}

int nhwc_pool(const struct nhwc_pool *p, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
	      const struct nhwc_tensor *y, struct err *e)
{
	enum { BLOCK = 64 }; /* channels; whole lines of codes */
	struct pool_run r = {.p = p, .ctx = ctx, .x = x, .y = y->data, .form = y->form};
	if (p->mean && p->g.out_plane == 1) {
		int64_t blocks = (p->shape.channels + BLOCK - 1) / BLOCK;
		int64_t tasks = cpu_tasks(p->shape.channels * p->in_shape.pixels, 1 << 15);
		tasks = tasks < blocks ? tasks : blocks;
		r.each = (blocks + tasks - 1) / tasks * BLOCK;
		r.blocks = (p->shape.channels + r.each - 1) / r.each;
		cpu_parallel(ctx, (int)(p->g.batch * r.blocks), block_task, &r);
	} else {
		cpu_parallel(ctx, (int)(p->g.batch * p->g.out[0] * p->g.out[1]), row_task, &r);
	}
	return atomic_load(&r.failed) ? cpu_no_memory(e) : 0;
}
