/* cpu_deconv.c - ConvolutionBackpropData and GroupConvolutionBackpropData.  With several input
 * channels a product makes what each of them adds at each tap, and the taps of a result's channel
 * are added where they belong; with few, each result's channel gathers from them. */
#include "kernel/cpu_window.h"
#include "kernel/dense/cpu_product.h"

#include <string.h>

struct backprop_run {
	struct window g; /* of the forward convolution: in and out exchanged */
	const float *x, *w;
	float *y;
	/* As a product: */
	const float *packed_w, *packed_x; /* by (group, block of channels), (image, group) */
	int64_t block, n_blocks;          /* channels of the result that a task makes */
	struct cpu_ctx *ctx;
	bool failed;
};

/* Add w times n values of a tap, from position `first` of the data's plane on, to plane y. */
static void add_tap(const struct window *g, int64_t t, const float *from, float w, int64_t first,
		    int64_t n, float *y)
{
	int64_t lo[3], hi[3],
		tap[3] = {t / g->kernel[2] / g->kernel[1], t / g->kernel[2] % g->kernel[1],
			  t % g->kernel[2]};
	for (int d = 0; d < 3; d++)
		cpu_window_range(g, d, tap[d], &lo[d], &hi[d]);
	int64_t row = first / g->out[2], last = (first + n - 1) / g->out[2];
	for (; row <= last; row++) {
		int64_t z = row / g->out[1], yy = row % g->out[1], at = row * g->out[2];
		if (z < lo[0] || z >= hi[0] || yy < lo[1] || yy >= hi[1])
			continue;
		int64_t x0 = first > at + lo[2] ? first - at : lo[2],
			x1 = first + n < at + hi[2] ? first + n - at : hi[2], s = g->stride[2];
		int64_t iz = z * g->stride[0] + tap[0] * g->dilation[0] - g->pad[0];
		int64_t iy = yy * g->stride[1] + tap[1] * g->dilation[1] - g->pad[1];
		float *to =
			y + (iz * g->in[1] + iy) * g->in[2] + tap[2] * g->dilation[2] - g->pad[2];
		const float *value = from + at - first;
		if (s == 1)
			for (int64_t xx = x0; xx < x1; xx++)
				to[xx] += w * value[xx];
		else
			for (int64_t xx = x0; xx < x1; xx++)
				to[xx * s] += w * value[xx];
	}
}

static void backprop_channel(void *arg, int task, int thread)
{
	const struct backprop_run *r = arg;
	const struct window *g = &r->g; /* in: the result's plane; out: the data's plane */
	int64_t c = task % g->cin, plane = task / g->cin, group = plane % g->groups;
	float *y = r->y + (int64_t)task * g->in_plane;
	(void)thread;
	memset(y, 0, (size_t)g->in_plane * sizeof *y);
	for (int64_t o = 0; o < g->cout; o++) {
		const float *x = r->x + (plane * g->cout + o) * g->out_plane;
		const float *w = r->w + ((group * g->cout + o) * g->cin + c) * g->taps;
		for (int64_t t = 0; t < g->taps; t++)
			add_tap(g, t, x, w[t], 0, g->out_plane, y);
	}
}

/* ---- as a product: (channels and taps, cout) times (cout, positions) ---- */

enum { PANELS = 8, ROWS = 8 * GEMM_M }; /* of a piece of the product, which stays in caches */

static int64_t packed_w_floats(const struct backprop_run *r)
{
	return product_a_floats(r->block * r->g.taps, r->g.cout);
}

/* Task (image, group, block of channels): pieces of PANELS panels of positions, added as they come. */
static void backprop_block(void *arg, int task, int thread)
{
	struct backprop_run *r = arg;
	const struct window *g = &r->g;
	int64_t b = task % r->n_blocks, plane = task / r->n_blocks, group = plane % g->groups;
	int64_t c0 = b * r->block, n_c = g->cin - c0 < r->block ? g->cin - c0 : r->block;
	int64_t m = n_c * g->taps, panels = product_n_panels(g->out_plane), ld = PANELS * GEMM_N;
	float *sums = cpu_thread_scratch(r->ctx, thread,
					 (size_t)(m * ld + PRODUCT_SCRATCH) * sizeof *sums);
	float *y = r->y + (plane * g->cin + c0) * g->in_plane;
	if (!sums) {
		r->failed = true;
		return;
	}
	memset(y, 0, (size_t)(n_c * g->in_plane) * sizeof *y);
	for (int64_t p0 = 0; p0 < panels; p0 += PANELS) {
		int64_t p1 = panels - p0 < PANELS ? panels : p0 + PANELS, first = p0 * GEMM_N,
			n = p1 * GEMM_N < g->out_plane ? p1 * GEMM_N : g->out_plane;
		struct product p = {
			.m = m,
			.n = n - first,
			.k = g->cout,
			.a = r->packed_w + (group * r->n_blocks + b) * packed_w_floats(r),
			.b = r->packed_x + plane * gemm_b_elements(g->cout, g->out_plane) +
			     first * g->cout,
			.c = sums,
			.ldc = ld};
		product_panels(&p, 0, p1 - p0, sums + m * ld);
		for (int64_t i = 0; i < m; i++)
			add_tap(g, i % g->taps, sums + i * ld, 1, first, n - first,
				y + i / g->taps * g->in_plane);
	}
}

static void pack_weights(void *arg, int task, int thread)
{
	struct backprop_run *r = arg;
	const struct window *g = &r->g;
	int64_t group = task / r->n_blocks, b = task % r->n_blocks, c0 = b * r->block,
		n_c = g->cin - c0 < r->block ? g->cin - c0 : r->block;
	const float *w = r->w + (group * g->cout * g->cin + c0) * g->taps;
	(void)thread;
	product_pack_a((float *)(uintptr_t)r->packed_w + task * packed_w_floats(r), w,
		       n_c * g->taps, g->cout, 1, g->cin * g->taps);
}

static void pack_data(void *arg, int task, int thread)
{
	struct backprop_run *r = arg;
	const struct window *g = &r->g;
	(void)thread;
	product_pack_b(
		(float *)(uintptr_t)r->packed_x + task * gemm_b_elements(g->cout, g->out_plane),
		r->x + task * g->cout * g->out_plane, g->cout, g->out_plane, g->out_plane, 1);
}

static int run_as_product(struct backprop_run *r, struct err *e)
{
	const struct window *g = &r->g;
	r->block = (ROWS + g->taps - 1) / g->taps;
	if (r->block * r->ctx->n_threads > g->cin)
		r->block = (g->cin + r->ctx->n_threads - 1) / r->ctx->n_threads;
	r->n_blocks = (g->cin + r->block - 1) / r->block;
	int64_t n_w = (g->groups * r->n_blocks * packed_w_floats(r) + 15) / 16 * 16,
		n_x = g->batch * g->groups * gemm_b_elements(g->cout, g->out_plane);
	float *p = cpu_slot_scratch(r->ctx, SLOT_WHOLE, (size_t)(n_w + n_x) * sizeof *p);
	if (!p)
		return cpu_no_memory(e);
	r->packed_w = p;
	r->packed_x = p + n_w;
	cpu_parallel(r->ctx, (int)(g->groups * r->n_blocks), pack_weights, r);
	cpu_parallel(r->ctx, (int)(g->batch * g->groups), pack_data, r);
	cpu_parallel(r->ctx, (int)(g->batch * g->groups * r->n_blocks), backprop_block, r);
	return r->failed ? cpu_no_memory(e) : 0;
}

int run_conv_backprop(const struct kernel_call *k, struct err *e)
{
	const struct op_window *a = &k->op->a.window;
	struct backprop_run r = {
		.x = k->in[0].data, .w = k->in[1].data, .y = k->out[0].data, .ctx = k->ctx};
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	int n = (int)k->in[0].rank - 2;
	bool sized = k->op->n_in > 2;
	op_backprop_pads(a, n, k->in[0].dim + 2, k->in[1].dim + 2 + a->grouped,
			 sized ? k->out[0].dim + 2 : NULL, begin, end);
	cpu_window_init(&r.g, k->op, &k->out[0], &k->in[1], &k->in[0]);
	for (int i = 0; i < n; i++)
		r.g.pad[3 - n + i] = begin[i];
	if (r.g.cout >= 4 && r.g.cin * r.g.taps >= 4)
		return run_as_product(&r, e);
	cpu_parallel(k->ctx, (int)(r.g.batch * r.g.groups * r.g.cin), backprop_channel, &r);
	return 0;
}
