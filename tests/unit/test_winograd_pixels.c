/* test_winograd_pixels.c - 3x3 convolutions with channels behind pixels by minimal filtering, slice by slice, at every level
 * of vector instructions, against sums in double precision. */
#include "base/pool.h"
#include "kernel/isa_level.h"
#include "kernel/conv/winograd_nhwc.h"
#include "pixel_conv.h"
#include "tap.h"

struct shape {
	const char *name;
	int64_t groups, cin, d, h, w, cout, top, left, bottom, right; /* cin, cout: of a group */
	int64_t depth, front, back; /* planes of the window, and padding */
};

static const struct shape shapes[] = {
	{"whole tiles and vectors", 1, 32, 1, 16, 16, 64, 1, 1, 1, 1, 1, 0, 0},
	{"odd sizes", 1, 33, 1, 13, 14, 37, 1, 1, 1, 1, 1, 0, 0},
	{"no padding", 1, 24, 1, 11, 9, 25, 0, 0, 0, 0, 1, 0, 0},
	{"uneven padding", 1, 17, 1, 10, 15, 32, 0, 1, 2, 0, 1, 0, 0},
	{"wide padding", 1, 20, 1, 7, 6, 33, 4, 3, 2, 5, 1, 0, 0},
	{"fewer channels than a vector", 1, 3, 1, 9, 12, 5, 1, 1, 1, 1, 1, 0, 0},
	{"one tile", 1, 40, 1, 2, 3, 70, 1, 1, 1, 1, 1, 0, 0},
	{"one pixel", 1, 48, 1, 1, 1, 16, 1, 1, 1, 1, 1, 0, 0},
	{"groups", 3, 18, 1, 9, 11, 32, 1, 1, 1, 1, 1, 0, 0},
	{"three planes", 1, 20, 3, 9, 30, 40, 1, 1, 1, 1, 1, 0, 0},
	{"many channels, several slices", 1, 260, 1, 30, 33, 300, 1, 1, 1, 1, 1, 0, 0},
	{"cubes", 1, 20, 5, 9, 14, 40, 1, 1, 1, 1, 3, 1, 1},
	{"cubes without padding", 1, 9, 4, 8, 10, 18, 1, 0, 1, 1, 3, 0, 0},
	{"planes that see padding alone", 1, 16, 2, 6, 7, 32, 1, 1, 1, 1, 2, 3, 2},
	{"groups of cubes", 2, 17, 4, 7, 9, 32, 1, 1, 1, 1, 3, 1, 1},
};

static struct window window_of(const struct shape *s)
{
	int64_t h = s->h + s->top + s->bottom - 2, w = s->w + s->left + s->right - 2;
	int64_t planes = s->depth, d = s->d + s->front + s->back - planes + 1;
	return (struct window){.batch = 1,
			       .groups = s->groups,
			       .cin = s->cin,
			       .cout = s->cout,
			       .in = {s->d, s->h, s->w},
			       .out = {d, h, w},
			       .kernel = {planes, 3, 3},
			       .stride = {1, 1, 1},
			       .dilation = {1, 1, 1},
			       .pad = {s->front, s->top, s->left},
			       .pad_end = {s->back, s->bottom, s->right},
			       .in_plane = s->d * s->h * s->w,
			       .out_plane = d * h * w,
			       .taps = 9 * planes};
}

/* Each slice has nothing but its own pixels, and writes all of them once, in parts of the channels. */
static bool run_slices(const struct winograd_pixels *c, const struct window *g, int parts,
		       const float *x, float *y)
{
	int64_t next = 0;
	bool whole = true;
	for (int i = 0; i < winograd_pixels_slices(c); i++) {
		struct window_slice s = winograd_pixels_slice(c, i);
		struct slice_room r = slice_room(g, &s, x);
		for (int j = 0; j < parts; j++)
			winograd_pixels_run(c, i, (struct channel_part){j, parts}, r.in,
					    y + s.at * g->groups * g->cout, r.scratch);
		whole = whole && s.at == next;
		next = s.at + s.n;
		slice_room_release(&r);
	}
	return whole && next == g->out_plane;
}

/* A shape with its operands, and what is right. */
struct layer {
	struct window g;
	float *x, *w, *bias;
	double *sum;
};

static struct layer layer_new(const struct shape *s)
{
	struct layer l = {.g = window_of(s)};
	int64_t n = l.g.groups * l.g.cout;
	l.x = drawn(1, l.g.groups * l.g.cin * l.g.in_plane);
	l.w = drawn(2, n * l.g.cin * l.g.taps);
	l.bias = drawn(3, n);
	l.sum = sums_of(&l.g, l.x, l.w, l.bias);
	return l;
}

static void layer_release(struct layer *l)
{
	mem_free(l->x), mem_free(l->w), mem_free(l->bias), mem_free(l->sum);
}

static void check(const char *name, const struct layer *l, int m, int n_threads)
{
	int64_t n = l->g.groups * l->g.cout;
	struct tensor t = {
		.elem = EL_F32, .rank = 3, .dim = {n, l->g.cin, l->g.taps}, .data = l->w};
	struct pool *pool = pool_new(n_threads, NULL);
	struct cpu_packs *packs = cpu_packs_new();
	struct cpu_ctx *ctx = cpu_ctx_new(pool, packs);
	const struct winograd_pixels_spec spec = {
		.g = l->g, .m = m, .weights = &t, .bias = l->bias, .lo = -2, .hi = 3};
	struct winograd_pixels *c = winograd_pixels_new(&spec, ctx);
	float *y = MEM_NEWN(float, (size_t)(l->g.out_plane * n));
	int parts = winograd_pixels_parts(c) < n_threads ? winograd_pixels_parts(c) : n_threads;
	bool whole = winograd_pixels_does(&l->g) && run_slices(c, &l->g, parts, l->x, y);
	double worst = worst_of(&l->g, l->sum, y, -2, 3);
	tap(whole && worst < 5e-6, "%s, F(%d), %d thread%s, level %d: %.1e", name, m, n_threads,
	    n_threads == 1 ? "" : "s", cpu_level, worst);
	winograd_pixels_free(c);
	cpu_ctx_free(ctx);
	cpu_packs_free(packs);
	pool_free(pool);
	mem_free(y);
}

int main(void)
{
	int best = cpu_level;
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		struct layer l = layer_new(&shapes[i]);
		for (cpu_level = best; cpu_level >= 1; cpu_level -= cpu_level == 3 ? 2 : 1)
			for (int m = 2; m <= 4; m += 2)
				for (int threads = 1; threads <= 3; threads += 2)
					check(shapes[i].name, &l, m, threads);
		layer_release(&l);
	}
	return tap_end();
}
