/* test_indirect.c - convolutions with channels behind pixels whose rows are found through pointers, slice by slice, at every
 * level of vector instructions, against sums in double precision. */
#include "base/pool.h"
#include "kernel/conv/indirect.h"
#include "kernel/isa_level.h"
#include "pixel_conv.h"
#include "pixel_shapes.h"
#include "tap.h"

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
		for (size_t i = 0; i < N_SHAPES && cpu_level != 2; i++)
			for (int threads = 1; threads <= 3; threads += 2)
				check(&shapes[i], threads);
	return tap_end();
}
