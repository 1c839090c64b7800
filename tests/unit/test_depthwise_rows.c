/* test_depthwise_rows.c - depthwise convolutions with channels last, slice by slice, at every level of vector instructions, against
 * sums in double precision; and columns that are convolved as rows. */
#include "base/pool.h"
#include "kernel/conv/depthwise_nhwc.h"
#include "kernel/isa_level.h"
#include "pixel_conv.h"
#include "tap.h"

static const struct shape {
	const char *name;
	int64_t channels, h, w, k, stride, top, left, bottom, right;
} shapes[] = {
	{"3x3", 64, 14, 17, 3, 1, 1, 1, 1, 1},
	{"3x3, stride 2, uneven padding", 72, 15, 16, 3, 2, 0, 1, 1, 0},
	{"5x5, odd channels", 33, 9, 23, 5, 1, 2, 2, 2, 2},
	{"5x5, stride 2", 24, 20, 11, 5, 2, 2, 2, 1, 2},
	{"7x7, more channels than are computed at once", 201, 8, 70, 7, 1, 3, 3, 3, 3},
	{"7x7 on fewer pixels than the window has", 16, 3, 2, 7, 1, 3, 3, 3, 3},
	{"no padding", 40, 7, 9, 3, 1, 0, 0, 0, 0},
	{"one row", 48, 1, 150, 5, 1, 2, 2, 2, 2},
	{"one pixel", 17, 1, 1, 3, 1, 1, 1, 1, 1},
};

static struct window window_of(const struct shape *s)
{
	int64_t h = (s->h + s->top + s->bottom - s->k) / s->stride + 1;
	int64_t w = (s->w + s->left + s->right - s->k) / s->stride + 1;
	return (struct window){.batch = 1,
			       .groups = s->channels,
			       .cin = 1,
			       .cout = 1,
			       .in = {1, s->h, s->w},
			       .out = {1, h, w},
			       .kernel = {1, s->k, s->k},
			       .stride = {1, s->stride, s->stride},
			       .dilation = {1, 1, 1},
			       .pad = {0, s->top, s->left},
			       .pad_end = {0, s->bottom, s->right},
			       .in_plane = s->h * s->w,
			       .out_plane = h * w,
			       .taps = s->k * s->k};
}

/* Each slice has nothing but its own pixels, and writes all of them once. */
static bool run_slices(const struct depthwise_rows *m, const struct window *g, const float *x,
		       float *y)
{
	int64_t next = 0;
	bool whole = true;
	for (int i = 0; i < depthwise_rows_slices(m); i++) {
		struct window_slice s = depthwise_rows_slice(m, i);
		struct slice_room r = slice_room(g, &s, x);
		depthwise_rows_run(m, i, r.in, y + s.at * g->groups, r.scratch);
		whole = whole && s.at == next;
		next = s.at + s.n;
		slice_room_release(&r);
	}
	return whole && next == g->out_plane;
}

static void check(const struct shape *s, bool limits, int threads)
{
	struct window g = window_of(s);
	float *x = drawn(1, g.groups * g.in_plane), *w = drawn(2, g.groups * g.taps),
	      *bias = limits ? NULL : drawn(3, g.groups), *none = MEM_NEWN(float, (size_t)g.groups),
	      *y = MEM_NEWN(float, (size_t)(g.out_plane * g.groups));
	float lo = limits ? -0.25f : -INFINITY, hi = limits ? 0.5f : INFINITY;
	double *sum = sums_of(&g, x, w, bias ? bias : none);
	struct pool *pool = pool_new(threads, NULL);
	struct cpu_packs *packs = cpu_packs_new();
	struct cpu_ctx *ctx = cpu_ctx_new(pool, packs);
	const struct tensor weights = {
		.elem = EL_F32, .rank = 3, .dim = {g.groups, 1, g.taps}, .data = w};
	const struct depthwise_rows_spec spec = {
		.g = g, .weights = &weights, .bias = bias, .lo = lo, .hi = hi};
	struct depthwise_rows *m = depthwise_rows_does(&g) ? depthwise_rows_new(&spec, ctx) : NULL;
	bool whole = m && run_slices(m, &g, x, y);
	tap(whole && worst_of(&g, sum, y, lo, hi) < 1e-6, "level %d, %d threads: %s%s", cpu_level,
	    threads, s->name, limits ? ", limited" : "");
	depthwise_rows_free(m);
	cpu_ctx_free(ctx);
	cpu_packs_free(packs);
	pool_free(pool);
	mem_free(x);
	mem_free(w);
	mem_free(bias);
	mem_free(none);
	mem_free(y);
	mem_free(sum);
}

/* A convolution of (1,2,9,1) by a window of 3x1 is that of (1,2,1,9) by 1x3. */
static void columns(void)
{
	struct op op = {.kind = OP_CONVOLUTION,
			.a.window = {.n_spatial = 2,
				     .stride = {2, 1},
				     .dilation = {1, 1},
				     .pad_begin = {1, 0},
				     .pad_end = {1, 0}}};
	const struct tensor x = {.elem = EL_F32, .rank = 4, .dim = {1, 2, 9, 1}},
			    w = {.elem = EL_F32, .rank = 4, .dim = {4, 2, 3, 1}},
			    y = {.elem = EL_F32, .rank = 4, .dim = {1, 4, 5, 1}};
	struct window g;
	cpu_window_init(&g, &op, &x, &w, &y);
	tap(g.in[1] == 1 && g.in[2] == 9 && g.out[2] == 5 && g.kernel[1] == 1 && g.kernel[2] == 3 &&
		    g.stride[2] == 2 && g.pad[1] == 0 && g.pad[2] == 1 && g.pad_end[2] == 1 &&
		    g.taps == 3 && g.in_plane == 9,
	    "a column is a row");
	const struct tensor wide = {.elem = EL_F32, .rank = 4, .dim = {1, 2, 9, 1}},
			    out = {.elem = EL_F32, .rank = 4, .dim = {1, 4, 5, 3}};
	op.a.window.pad_begin[1] = op.a.window.pad_end[1] = 1;
	cpu_window_init(&g, &op, &wide, &w, &out);
	tap(g.in[1] == 9 && g.in[2] == 1 && g.out[2] == 3 && g.pad[2] == 1,
	    "a column with padding beside it is none");
}

int main(void)
{
	int most = cpu_level;
	for (cpu_level = most; cpu_level >= 1; cpu_level -= cpu_level == 3 ? 2 : 1)
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
			for (int limits = 0; limits < 2; limits++)
				check(&shapes[i], limits, cpu_level == most ? 3 : 1);
	columns();
	return tap_end();
}
