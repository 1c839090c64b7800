/* conv_seen.c - convolutions of which padding hides much, as large dilations of small planes: a product
 * for each tap over the pixels for which it sees the input.
 *
 * Output positions along each dim come in ranges that are seen by the same taps, so the plane in
 * rectangles.  While sums are made a plane holds its pixels rectangle after rectangle, and those that a
 * tap sees are few runs of them. */
#include "kernel/conv/conv.h"
#include "kernel/gemm/gemm.h"
#include "kernel/gemm/block_epilogue.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
	MIN_CHANNELS = 32, /* of a sum: fewer read and write the sums too often */
	MIN_ROWS = 32,
	MIN_PIXELS = 64,
	MAX_RANGES = 16,       /* along a dim */
	MAX_TILE = 2048,       /* pixels */
	TILE_FLOATS = 1 << 17, /* of packed patches: half the second-level cache */
	GRAIN = 1 << 20        /* multiplications that are worth another thread */
};
/* Multiplications that have to go. */
static const double most_seen = 0.75;

/* Ranges first[i] .. first[i + 1] - 1 of dim d. */
struct ranges {
	int n;
	int64_t first[MAX_RANGES + 1];
};

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* False: too many. */
static bool find_ranges(const struct window *g, int d, struct ranges *r)
{
	int64_t cut[2 * MAX_RANGES + 2];
	int n = 0;
	if (g->kernel[d] > MAX_RANGES)
		return false;
	cut[n++] = 0;
	cut[n++] = g->out[d];
	for (int64_t t = 0; t < g->kernel[d]; t++, n += 2)
		cpu_window_range(g, d, t, &cut[n], &cut[n + 1]);
	qsort(cut, (size_t)n, sizeof *cut, compare);
	r->n = 0;
	r->first[0] = 0;
	for (int i = 1; i < n; i++) {
		if (cut[i] == r->first[r->n])
			continue;
		if (r->n == MAX_RANGES)
			return false;
		r->first[++r->n] = cut[i];
	}
	return r->n > 0;
}

static int64_t seen_along(const struct window *g, int d)
{
	int64_t sum = 0, lo, hi;
	for (int64_t t = 0; t < g->kernel[d]; t++) {
		cpu_window_range(g, d, t, &lo, &hi);
		sum += hi - lo;
	}
	return sum;
}

bool cpu_conv_is_seen(const struct window *g)
{
	struct ranges r;
	double seen = (double)seen_along(g, 1) * (double)seen_along(g, 2);
	return g->in[0] == 1 && g->kernel[0] == 1 && g->out[0] == 1 && g->stride[1] == 1 &&
	       g->stride[2] == 1 && g->cin >= MIN_CHANNELS && g->cout >= MIN_ROWS &&
	       g->out_plane >= MIN_PIXELS &&
	       seen <= most_seen * (double)g->taps * (double)g->out_plane &&
	       find_ranges(g, 1, &r) && find_ranges(g, 2, &r);
}

int64_t cpu_conv_seen_floats(const struct window *g)
{
	return g->groups * g->taps * gemm_a_elements(g->cout, g->cin);
}

void cpu_conv_seen_pack(float *dst, const struct tensor *w, const struct window *g)
{
	int64_t step = gemm_a_elements(g->cout, g->cin), row = g->cin * g->taps;
	for (int64_t i = 0; i < g->groups; i++)
		for (int64_t t = 0; t < g->taps; t++, dst += step)
			gemm_pack_a_f32(dst, w->elem,
					(const char *)w->data + (size_t)(i * g->cout * row + t) *
									cpu_elem_size(w->elem),
					g->cout, g->cin, row, g->taps);
}

struct seen_run {
	const struct window *g;
	struct ranges down, across;
	const float *x, *weights;
	float *y;
	const struct cpu_post *post;
	struct cpu_ctx *ctx;
	int64_t kc, tile;
	int parts; /* of the rows of each group */
	atomic_bool failed;
};

/* Rows m0 .. m1 - 1 of the weights of a group, for one image. */
struct seen_task {
	int64_t image, group, m0, m1;
	const float *x; /* of the group */
	float *y;       /* likewise: (cout,out_plane) */
	float *b, *row; /* scratch: packed patches, a plane */
	struct gemm_piece *piece;
};

/* Pixels of rectangle (i, j), and where they begin in the order of rectangles. */
static int64_t rectangle(const struct seen_run *r, int i, int j, int64_t *begin)
{
	int64_t rows = r->down.first[i + 1] - r->down.first[i];
	*begin = r->down.first[i] * r->g->out[2] + rows * r->across.first[j];
	return rows * (r->across.first[j + 1] - r->across.first[j]);
}

/* Pieces of the input for pixels c0 .. c0 + n - 1 of rectangle (i, j) at `at`, from tap (ty, tx). */
static int add_pieces(const struct seen_run *r, int i, int j, int64_t tap, int64_t c0, int64_t n,
		      int64_t at, struct gemm_piece *piece)
{
	const struct window *g = r->g;
	int64_t y0 = r->down.first[i], x0 = r->across.first[j];
	int64_t width = r->across.first[j + 1] - x0;
	y0 += tap / g->kernel[2] * g->dilation[1] - g->pad[1];
	x0 += tap % g->kernel[2] * g->dilation[2] - g->pad[2];
	int count = 0;
	while (n > 0) {
		int64_t x = c0 % width, run = width - x < n ? width - x : n;
		piece[count++] =
			(struct gemm_piece){(y0 + c0 / width) * g->in[2] + x0 + x, at, run};
		c0 += run;
		at += run;
		n -= run;
	}
	return count;
}

/* Sums of channels k0 .. k0 + kc - 1 of a tap into pixels `first` .. + n - 1, packed in t->b. */
static void add_products(const struct seen_run *r, const struct seen_task *t, int64_t tap,
			 int64_t k0, int64_t kc, int64_t first, int64_t n)
{
	const struct window *g = r->g;
	const float *weights =
		r->weights + (t->group * g->taps + tap) * gemm_a_elements(g->cout, g->cin);
	for (int64_t m = t->m0; m < t->m1; m += GEMM_M) {
		struct gemm_block b = {.mr = t->m1 - m < GEMM_M ? (int)(t->m1 - m) : GEMM_M,
				       .kc = kc,
				       .a = weights + m * g->cin + k0 * GEMM_M,
				       .ldb = GEMM_N,
				       .ldc = g->out_plane,
				       .add = true};
		b.ahead = b.a;
		if (m + GEMM_M < t->m1) {
			b.ahead = weights + (m + GEMM_M) * g->cin + k0 * GEMM_M;
			b.ahead_step = GEMM_M * sizeof *weights;
		}
		for (int64_t j = 0; j < n; j += GEMM_N) {
			b.nr = n - j < GEMM_N ? (int)(n - j) : GEMM_N;
			b.b = t->b + j * kc;
			b.c = t->y + m * g->out_plane + first + j;
			gemm_multiply(&b);
			b.ahead_step = 0;
		}
	}
}

/* What a tap adds through channels k0 .. k0 + kc - 1 to rows i of rectangles, those of columns j0 .. j1 - 1,
 * which follow each other, tile by tile. */
static void add_run(const struct seen_run *r, const struct seen_task *t, int64_t tap, int64_t k0,
		    int64_t kc, int i, int j0, int j1)
{
	const float *row[GEMM_K];
	int64_t begin, at = 0, start = 0;
	int n_pieces = 0;
	for (int64_t k = 0; k < kc; k++)
		row[k] = t->x + (k0 + k) * r->g->in_plane;
	rectangle(r, i, j0, &begin);
	for (int j = j0; j < j1; j++) {
		int64_t unused, size = rectangle(r, i, j, &unused);
		for (int64_t c = 0; c < size;) {
			int64_t n = size - c < r->tile - at ? size - c : r->tile - at;
			n_pieces += add_pieces(r, i, j, tap, c, n, at, t->piece + n_pieces);
			at += n;
			c += n;
			if (at < r->tile && (j + 1 < j1 || c < size))
				continue;
			gemm_gather_pieces(row, kc, at, n_pieces, t->piece, t->b);
			add_products(r, t, tap, k0, kc, begin + start, at);
			start += at;
			at = n_pieces = 0;
		}
	}
}

/* Do ranges from `first` on see tap t of dim d?  *n: how many. */
static int seen_ranges(const struct window *g, int d, int64_t t, const struct ranges *r, int *n)
{
	int64_t lo, hi;
	int first = 0;
	cpu_window_range(g, d, t, &lo, &hi);
	while (first < r->n && r->first[first] < lo)
		first++;
	*n = 0;
	while (first + *n < r->n && r->first[first + *n] < hi)
		++*n;
	return first;
}

static void add_tap(const struct seen_run *r, const struct seen_task *t, int64_t tap)
{
	const struct window *g = r->g;
	int ni, nj, i0 = seen_ranges(g, 1, tap / g->kernel[2], &r->down, &ni);
	int j0 = seen_ranges(g, 2, tap % g->kernel[2], &r->across, &nj);
	for (int64_t k0 = 0; nj > 0 && k0 < g->cin; k0 += r->kc) {
		int64_t kc = g->cin - k0 < r->kc ? g->cin - k0 : r->kc;
		for (int i = i0; i < i0 + ni; i++)
			add_run(r, t, tap, k0, kc, i, j0, j0 + nj);
	}
}

/* The pixels of a plane in their own order. */
static void order_pixels(const struct seen_run *r, const float *from, float *to)
{
	for (int i = 0; i < r->down.n; i++)
		for (int j = 0; j < r->across.n; j++) {
			int64_t begin, x0 = r->across.first[j];
			int64_t width = r->across.first[j + 1] - x0;
			rectangle(r, i, j, &begin);
			for (int64_t y = r->down.first[i]; y < r->down.first[i + 1]; y++) {
				memcpy(to + y * r->g->out[2] + x0, from + begin,
				       (size_t)width * sizeof *to);
				begin += width;
			}
		}
}

static void seen_task(void *arg, int task, int thread)
{
	struct seen_run *r = arg;
	const struct window *g = r->g;
	int64_t plane = g->out_plane, index = task / r->parts, p0, p1;
	struct seen_task t = {.image = index / g->groups, .group = index % g->groups};
	cpu_range((g->cout + GEMM_M - 1) / GEMM_M, r->parts, task % r->parts, &p0, &p1);
	t.m0 = p0 * GEMM_M;
	t.m1 = p1 * GEMM_M < g->cout ? p1 * GEMM_M : g->cout;
	t.x = r->x + index * g->cin * g->in_plane;
	t.y = r->y + index * g->cout * plane;
	/* Whole lines, for pieces behind them are aligned. */
	size_t floats = (size_t)((r->kc * r->tile + plane + 15) / 16 * 16);
	t.b = cpu_thread_scratch(r->ctx, thread,
				 floats * sizeof *t.b + (size_t)r->tile * sizeof *t.piece);
	if (!t.b) {
		r->failed = true;
		return;
	}
	t.row = t.b + r->kc * r->tile;
	t.piece = (struct gemm_piece *)(void *)(t.b + floats);
	memset(t.y + t.m0 * plane, 0, (size_t)((t.m1 - t.m0) * plane) * sizeof *t.y);
	for (int64_t tap = 0; tap < g->taps; tap++)
		add_tap(r, &t, tap);
	for (int64_t m = t.m0; m < t.m1; m++) {
		memcpy(t.row, t.y + m * plane, (size_t)plane * sizeof *t.row);
		order_pixels(r, t.row, t.y + m * plane);
		if (r->post->whole)
			cpu_epilogue_tile(r->post->whole, t.y + m * plane, plane,
					  index * g->cout + m, 1, 0, plane);
	}
}

int cpu_conv_seen(struct cpu_ctx *c, const struct window *g, const float *x, const float *weights,
		  float *y, const struct cpu_post *post, struct err *e)
{
	struct seen_run r = {.g = g, .x = x, .weights = weights, .y = y, .post = post, .ctx = c};
	find_ranges(g, 1, &r.down);
	find_ranges(g, 2, &r.across);
	int64_t cuts = (g->cin + GEMM_K - 1) / GEMM_K, panels = (g->cout + GEMM_M - 1) / GEMM_M;
	r.kc = (g->cin + cuts - 1) / cuts;
	r.tile = TILE_FLOATS / r.kc / GEMM_N * GEMM_N;
	r.tile = r.tile < MAX_TILE ? r.tile : MAX_TILE;
	int64_t n = g->batch * g->groups;
	r.parts = cpu_tasks(g->cout * g->cin * g->taps * g->out_plane, GRAIN);
	int64_t most = n >= 4 * c->n_threads ? 1 : c->n_threads;
	r.parts = r.parts < most ? r.parts : (int)most;
	r.parts = r.parts < panels ? r.parts : (int)panels;
	cpu_parallel(c, (int)n * r.parts, seen_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}
