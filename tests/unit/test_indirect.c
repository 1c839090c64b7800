/* test_indirect.c - convolutions with channels behind pixels whose rows are found through pointers, slice by slice, at every
 * level of vector instructions, against sums in double precision. */
#include "base/pool.h"
#include "kernel/conv/cpu_indirect.h"
#include "kernel/cpu_level.h"
#include "pixel_conv.h"
#include "tap.h"

struct shape {
	const char *name;
	int64_t groups, cin, cout; /* of a group */
	int64_t in[3], kernel[3], stride[3], dilation[3], pad[3], pad_end[3];
};

static const struct shape shapes[] = {
	{"stride", 1, 32, 64, {1, 16, 15}, {1, 3, 3}, {1, 2, 2}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
	{"odd sizes",
	 1,
	 33,
	 37,
	 {1, 13, 14},
	 {1, 3, 3},
	 {1, 1, 1},
	 {1, 1, 1},
	 {0, 1, 1},
	 {0, 1, 1}},
	{"few channels",
	 1,
	 3,
	 5,
	 {1, 21, 40},
	 {1, 5, 5},
	 {1, 1, 1},
	 {1, 1, 1},
	 {0, 2, 2},
	 {0, 2, 2}},
	{"a row of taps",
	 1,
	 24,
	 40,
	 {1, 9, 30},
	 {1, 1, 7},
	 {1, 1, 1},
	 {1, 1, 1},
	 {0, 0, 3},
	 {0, 0, 3}},
	{"dilation", 1, 20, 33, {1, 12, 13}, {1, 3, 3}, {1, 1, 1}, {1, 4, 5}, {0, 4, 5}, {0, 4, 5}},
	{"taps that see padding alone",
	 1,
	 40,
	 48,
	 {1, 7, 9},
	 {1, 3, 3},
	 {1, 1, 1},
	 {1, 12, 12},
	 {0, 12, 12},
	 {0, 12, 12}},
	{"pixels that see padding alone",
	 1,
	 9,
	 18,
	 {1, 5, 6},
	 {1, 2, 2},
	 {1, 1, 1},
	 {1, 1, 1},
	 {0, 3, 4},
	 {0, 2, 5}},
	{"planes", 1, 16, 24, {7, 10, 11}, {3, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 0, 0}, {1, 0, 0}},
	{"cubes", 1, 12, 18, {6, 9, 8}, {3, 3, 3}, {2, 1, 2}, {1, 1, 1}, {1, 1, 1}, {1, 1, 0}},
	{"planes of which one is left",
	 1,
	 10,
	 20,
	 {3, 8, 9},
	 {3, 3, 3},
	 {1, 1, 1},
	 {1, 1, 1},
	 {0, 1, 1},
	 {0, 1, 1}},
	{"groups", 8, 4, 4, {1, 14, 13}, {1, 3, 3}, {1, 2, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
	{"groups of more than a panel",
	 2,
	 17,
	 35,
	 {1, 9, 9},
	 {1, 3, 3},
	 {1, 1, 1},
	 {1, 1, 1},
	 {0, 1, 1},
	 {0, 1, 1}},
	{"one tap, groups of more than a panel",
	 3,
	 40,
	 36,
	 {1, 9, 11},
	 {1, 1, 1},
	 {1, 1, 1},
	 {1, 1, 1},
	 {0, 0, 0},
	 {0, 0, 0}},
	{"one tap, groups, a line",
	 4,
	 24,
	 9,
	 {1, 1, 37},
	 {1, 1, 1},
	 {1, 1, 1},
	 {1, 1, 1},
	 {0, 0, 0},
	 {0, 0, 0}},
	{"one tap, stride",
	 1,
	 48,
	 96,
	 {1, 14, 14},
	 {1, 1, 1},
	 {1, 2, 2},
	 {1, 1, 1},
	 {0, 0, 0},
	 {0, 0, 0}},
	{"channels in pieces",
	 1,
	 1700,
	 34,
	 {1, 5, 6},
	 {1, 3, 3},
	 {1, 1, 1},
	 {1, 1, 1},
	 {0, 1, 1},
	 {0, 1, 1}},
	{"taps in pieces",
	 1,
	 300,
	 33,
	 {1, 6, 7},
	 {1, 3, 3},
	 {1, 1, 1},
	 {1, 1, 1},
	 {0, 1, 1},
	 {0, 1, 1}},
	{"one pixel", 1, 50, 70, {1, 1, 1}, {1, 3, 3}, {1, 1, 1}, {1, 1, 1}, {0, 1, 1}, {0, 1, 1}},
};

static struct window window_of(const struct shape *s)
{
	struct window g = {.batch = 1,
			   .groups = s->groups,
			   .cin = s->cin,
			   .cout = s->cout,
			   .in_plane = 1,
			   .out_plane = 1,
			   .taps = 1};
	for (int d = 0; d < 3; d++) {
		int64_t reach = (s->kernel[d] - 1) * s->dilation[d] + 1;
		g.in[d] = s->in[d];
		g.kernel[d] = s->kernel[d];
		g.stride[d] = s->stride[d];
		g.dilation[d] = s->dilation[d];
		g.pad[d] = s->pad[d];
		g.pad_end[d] = s->pad_end[d];
		g.out[d] = (s->in[d] + s->pad[d] + s->pad_end[d] - reach) / s->stride[d] + 1;
		g.in_plane *= g.in[d];
		g.out_plane *= g.out[d];
		g.taps *= g.kernel[d];
	}
	return g;
}

/* Each slice has nothing but its own pixels, and writes all of them once, in parts of the channels. */
static bool run_slices(const struct indirect *m, const struct window *g, int parts, const float *x,
		       float *y)
{
	int64_t next = 0;
	bool whole = true;
	for (int i = 0; i < indirect_slices(m); i++) {
		struct window_slice s = indirect_slice(m, i);
		struct slice_room r = slice_room(g, &s, x);
		for (int j = 0; j < parts; j++)
			indirect_run(m, i, (struct channel_part){j, parts}, r.in,
				     y + s.at * g->groups * g->cout, r.scratch);
		whole = whole && s.at == next;
		next = s.at + s.n;
		slice_room_release(&r);
	}
	return whole && next == g->out_plane;
}

static void check(const struct shape *s, int n_threads)
{
	struct window g = window_of(s);
	int64_t n = g.groups * g.cout;
	float *x = drawn(1, g.groups * g.cin * g.in_plane), *w = drawn(2, n * g.cin * g.taps);
	float *bias = drawn(3, n), *y = MEM_NEWN(float, (size_t)(g.out_plane * n));
	struct tensor t = {.elem = EL_F32, .rank = 3, .dim = {n, g.cin, g.taps}, .data = w};
	struct pool *pool = pool_new(n_threads, NULL);
	struct cpu_packs *packs = cpu_packs_new();
	struct cpu_ctx *ctx = cpu_ctx_new(pool, packs);
	const struct indirect_spec spec = {.g = g, .weights = &t, .bias = bias, .lo = -2, .hi = 3};
	struct indirect *m = indirect_new(&spec, ctx);
	int parts = indirect_parts(m) < n_threads ? indirect_parts(m) : n_threads;
	bool whole = run_slices(m, &g, parts, x, y);
	double *sum = sums_of(&g, x, w, bias), worst = worst_of(&g, sum, y, -2, 3);
	tap(whole && worst < 2e-6, "%s, %d thread%s, level %d: %.1e", s->name, n_threads,
	    n_threads == 1 ? "" : "s", cpu_level, worst);
	indirect_free(m);
	cpu_ctx_free(ctx);
	cpu_packs_free(packs);
	pool_free(pool);
	mem_free(x), mem_free(w), mem_free(bias), mem_free(y), mem_free(sum);
}

/* Where AVX-512 is not used: products of groups pay, but of a vector by a vector. */
static void check_choice(void)
{
	struct shape s = {"", 4, 24, 16, {1, 9, 9}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {0}, {0}};
	int best = cpu_level;
	cpu_level = cpu_level > 3 ? 3 : cpu_level;
	struct window groups = window_of(&s);
	s.groups = 1;
	struct window one = window_of(&s);
	s.groups = 4;
	s.cin = s.cout = 8;
	struct window small = window_of(&s);
	tap(indirect_pays(&groups) && !indirect_pays(&one) && !indirect_pays(&small),
	    "1x1 pays in groups that are not small");
	cpu_level = best;
}

int main(void)
{
	int best = cpu_level;
	check_choice();
	for (cpu_level = best; cpu_level >= 1; cpu_level--)
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes && cpu_level != 2; i++)
			for (int threads = 1; threads <= 3; threads += 2)
				check(&shapes[i], threads);
	return tap_end();
}
