/* deform.c - DeformableConvolution-1 and -8: windows whose taps move.  What the taps read at 32
 * positions makes one packed panel, which meets the weights in a product. */
#include "kernel/gemm/product.h"
#include "kernel/transpose.h"
#include "kernel/vec.h"
#include "op/slice.h"

#include <math.h>
#include <stdatomic.h>

struct deform {
	const struct kernel_call *k;
	const struct op_window *w;
	int64_t begin[2], kh, kw, channels, outs; /* channels, outs: of a group */
	int64_t plane, n_blocks;                  /* output positions, panels of them */
	const float *x, *offset, *mask, *weights; /* weights: packed, group after group */
	float *pixels;                            /* x as (n, h, w, c), or NULL */
	int n_bands;                              /* of an image, for that */
	atomic_bool failed;
};

/* The four neighbours of (y, x) as taps of a gather, zero outside; beyond_edge: neighbours outside
 * count as zeros. */
static void neighbours_of(int64_t h, int64_t w, float y, float x, float scale, bool beyond_edge,
			  int32_t *at, float *weight)
{
	bool outside = beyond_edge ? !(y > -1 && y < (float)h && x > -1 && x < (float)w)
				   : !(y >= 0 && y < (float)h && x >= 0 && x < (float)w);
	float y0 = outside ? 0 : floorf(y), x0 = outside ? 0 : floorf(x);
	for (int i = 0; i < 4; i++) {
		int64_t v = (int64_t)y0 + i / 2, u = (int64_t)x0 + i % 2;
		weight[i * GEMM_N] = outside ? 0
					     : scale * (i / 2 ? y - y0 : 1 - (y - y0)) *
						       (i % 2 ? x - x0 : 1 - (x - x0));
		if (!beyond_edge) {
			v = v < h ? v : h - 1;
			u = u < w ? u : w - 1;
		}
		at[i * GEMM_N] =
			outside || v < 0 || v >= h || u < 0 || u >= w ? -1 : (int32_t)(v * w + u);
	}
}

/* Tap t of offset group og of image b, at n positions from `first` on. */
static void find_tap(const struct deform *d, int64_t b, int64_t og, int64_t t, int64_t first,
		     int64_t n, int32_t *at, float *weight)
{
	const struct tensor *x = &d->k->in[0], *out = &d->k->out[0];
	int64_t number = (b * d->w->offset_groups + og) * d->kh * d->kw + t;
	for (int64_t i = 0; i < n; i++) {
		int64_t p = first + i, oy = p / out->dim[3], ox = p % out->dim[3];
		const float *shift = d->offset + number * 2 * d->plane + p;
		float y = (float)(oy * d->w->stride[0] - d->begin[0] +
				  t / d->kw * d->w->dilation[0]) +
			  shift[0];
		float z = (float)(ox * d->w->stride[1] - d->begin[1] +
				  t % d->kw * d->w->dilation[1]) +
			  shift[d->plane];
		neighbours_of(x->dim[2], x->dim[3], y, z,
			      d->mask ? d->mask[number * d->plane + p] : 1, d->w->bilinear_pad,
			      at + i, weight + i);
	}
}

enum { MANY_CHANNELS = 16 };

static void pixels_task(void *arg, int task, int thread)
{
	const struct deform *d = arg;
	const struct tensor *x = &d->k->in[0];
	int64_t lo, hi, b = task / d->n_bands, c = x->dim[1], area = x->dim[2] * x->dim[3];
	(void)thread;
	cpu_range(area, d->n_bands, task % d->n_bands, &lo, &hi);
	cpu_turn(d->x + b * c * area + lo, area, c, hi - lo, d->pixels + (b * area + lo) * c, c);
}

/* Rows (channel, tap) of tap t and channels `first` .. first + n - 1, from whole pixels; sums: room of
 * GEMM_N n floats. */
static void fill_tap(const struct deform *d, int64_t b, int64_t first, int64_t n, const int32_t *at,
		     const float *weight, float *sums, float *rows)
{
	const struct tensor *x = &d->k->in[0];
	const float *from = d->pixels + b * x->dim[1] * x->dim[2] * x->dim[3] + first;
	for (int64_t i = 0; i < GEMM_N; i++)
		vec_pixel_sum(from, at + i, weight + i, 4, GEMM_N, x->dim[1], sums + i * n, n);
	cpu_turn(sums, n, GEMM_N, n, rows, d->kh * d->kw * GEMM_N);
}

/* The panel of image b, group g: rows (channel, tap), GEMM_N positions. */
static void fill_panel(const struct deform *d, int64_t b, int64_t g, int64_t first, int64_t n,
		       float *panel, float *sums)
{
	const struct tensor *x = &d->k->in[0];
	int64_t taps = d->kh * d->kw, per = x->dim[1] / d->w->offset_groups,
		area = x->dim[2] * x->dim[3];
	int32_t at[4 * GEMM_N];
	float weight[4 * GEMM_N];
	for (int i = 0; i < 4 * GEMM_N; i++) {
		at[i] = -1;
		weight[i] = 0;
	}
	for (int64_t c = 0; c < d->channels;) {
		int64_t whole = g * d->channels + c, og = whole / per,
			last = (og + 1) * per - whole;
		last = c + last < d->channels ? c + last : d->channels;
		for (int64_t t = 0; t < taps; t++) {
			find_tap(d, b, og, t, first, n, at, weight);
			if (d->pixels)
				fill_tap(d, b, g * d->channels + c, last - c, at, weight, sums,
					 panel + (c * taps + t) * GEMM_N);
			for (int64_t i = c; i < last && !d->pixels; i++)
				vec_gather_sum(d->x + (b * x->dim[1] + g * d->channels + i) * area,
					       at, weight, 4, GEMM_N,
					       panel + (i * taps + t) * GEMM_N, GEMM_N);
		}
		c = last;
	}
}

/* One panel of positions: task (image, group, block). */
static void deform_task(void *arg, int task, int thread)
{
	struct deform *d = arg;
	int64_t block = task % d->n_blocks, g = task / d->n_blocks % d->w->groups,
		b = task / d->n_blocks / d->w->groups, rows = d->channels * d->kh * d->kw;
	int64_t first = block * GEMM_N, n = d->plane - first < GEMM_N ? d->plane - first : GEMM_N;
	float *panel = cpu_thread_scratch(
		d->k->ctx, thread,
		(size_t)((rows + d->outs + d->channels) * GEMM_N + PRODUCT_SCRATCH) *
			sizeof *panel);
	if (!panel) {
		d->failed = true;
		return;
	}
	float *c = panel + rows * GEMM_N;
	fill_panel(d, b, g, first, n, panel, c + d->outs * GEMM_N + PRODUCT_SCRATCH);
	struct product p = {.m = d->outs,
			    .n = n,
			    .k = rows,
			    .a = d->weights + g * product_a_floats(d->outs, rows),
			    .b = panel,
			    .c = c,
			    .ldc = GEMM_N};
	product_panels(&p, 0, 1, c + d->outs * GEMM_N);
	float *y = (float *)d->k->out[0].data + (b * d->k->out[0].dim[1] + g * d->outs) * d->plane +
		   first;
	for (int64_t o = 0; o < d->outs; o++)
		for (int64_t i = 0; i < n; i++)
			y[o * d->plane + i] = c[o * GEMM_N + i];
}

/* X (n, c, h, w), offsets (n, 2 og kh kw, oh, ow), weights (o, c / g, kh, kw), mask
 * (n, og kh kw, oh, ow) -> (n, o, oh, ow). */
int run_deformable_conv(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *weight = &k->in[2], *out = &k->out[0];
	const struct op_window *w = &k->op->a.window;
	struct deform d = {.k = k,
			   .w = w,
			   .kh = weight->dim[2],
			   .kw = weight->dim[3],
			   .channels = x->dim[1] / w->groups,
			   .outs = out->dim[1] / w->groups,
			   .plane = out->dim[2] * out->dim[3],
			   .x = x->data,
			   .offset = k->in[1].data,
			   .mask = op_has_input(k->op, k->in, 3) ? k->in[3].data : NULL};
	int64_t end[2], rows = d.channels * d.kh * d.kw, packed = product_a_floats(d.outs, rows);
	float *weights = cpu_slot_scratch(k->ctx, SLOT_EXTRA,
					  (size_t)(w->groups * packed) * sizeof *weights);
	if (!weights)
		return cpu_no_memory(e);
	if (x->dim[2] * x->dim[3] > INT32_MAX)
		return err_set(e, ST_INPUT, "an image of more than 2^31 pixels");
	for (int64_t g = 0; g < w->groups; g++)
		product_pack_a(weights + g * packed,
			       (const float *)weight->data + g * d.outs * rows, d.outs, rows, rows,
			       1);
	d.weights = weights;
	d.n_blocks = product_n_panels(d.plane);
	op_window_pads(w, 2, x->dim + 2, weight->dim + 2, d.begin, end);
	int64_t per = x->dim[1] / w->offset_groups;
	if (d.channels >= MANY_CHANNELS && per >= MANY_CHANNELS) {
		int64_t area = x->dim[2] * x->dim[3];
		d.n_bands = cpu_tasks(area * x->dim[1], 1 << 14);
		if (d.n_bands > area)
			d.n_bands = (int)area;
		d.pixels = cpu_slot_scratch(k->ctx, SLOT_WHOLE,
					    (size_t)tensor_elements(x) * sizeof *d.pixels);
		if (!d.pixels)
			return cpu_no_memory(e);
		cpu_parallel(k->ctx, (int)x->dim[0] * d.n_bands, pixels_task, &d);
	}
	cpu_parallel(k->ctx, (int)(out->dim[0] * w->groups * d.n_blocks), deform_task, &d);
	return d.failed ? cpu_no_memory(e) : 0;
}
