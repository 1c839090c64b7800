/* winograd.c - 3x3 convolutions with stride 1, and those with three spatial dims whose windows
 * have 3x3 in each plane, by minimal filtering F(m x m, 3x3), m = 4 or 2:
 * tiles of m x m outputs from (m + 2) x (m + 2) inputs, a product of matrices for each of the
 * (m + 2)^2 points.  m = 4 takes a quarter of the multiplications of direct sums, but four times
 * the bytes of weights; m = 2 less than a half and twice the bytes.
 *
 *   Y = A^T [ sum over channels of (G g G^T) . (B^T d B) ] A
 *
 * With three spatial dims each plane of the result is a convolution of its own, whose channels are
 * the planes of all taps along the depth; those outside the input are zeros.
 * A block of tiles at a time: all input channels to points (points, cin, tiles), which stay in
 * the second-level cache; then, GEMM_M output channels at a time, products and outputs.  Several
 * threads take a block each while that comes out even, else they share one.
 * Interpolation points are 0, +-sqrt(1/2), +-sqrt(2) and infinity: errors are a few times those
 * of a direct sum, less than with the usual 1 and 2.  For m = 2: 0, +-1 and infinity.
 * Sources: Lavin and Gray, "Fast Algorithms for Convolutional Neural Networks", CVPR 2016;
 * Barabasz et al., "Error Analysis and Improving the Accuracy of Winograd Convolution for Deep
 * Neural Networks", ACM TOMS 46(4), 2020 (choice of points). */
#include "kernel/conv/conv.h"
#include "kernel/gemm/gemm.h"
#include "kernel/gemm/block_epilogue.h"
#include "kernel/vec.h"

#include <stdatomic.h>
#include <string.h>

enum { C_STRIDE = GEMM_M * GEMM_N + 16, MAX_LANES = 16 };

/* Up to LEVEL_WIDTH tiles: where each begins, and the same as runs of neighbours. */
struct wino_lanes {
	int n_tiles, n;
	int64_t tile[MAX_LANES], from[MAX_LANES];
	uint16_t bits[MAX_LANES];
};

#define LEVEL_FILE "kernel/conv/winograd_loops.h"
#include "kernel/isa_dispatch.h"

struct wino_run {
	const struct window *g;
	int m, points; /* outputs of a tile across; points of a tile */
	const struct cpu_post *post;
	bool in_registers;        /* the epilogue is applied by the transform */
	const float *x, *weights; /* of one image's group; of the group */
	float *y;
	int64_t row;             /* of the epilogue, of the group's first channel */
	int64_t cin, z;          /* channels, with those of the depth; plane of the result */
	int64_t across, n_tiles; /* tiles in a row, in a plane */
	int64_t pitch;           /* of one phase of an input row: across + 1 and more */
	int64_t t0, n;           /* tiles of the block */
	float *at_points;        /* (points, stride): (cin, GEMM_N) each */
	int64_t stride;
	int width, n_lanes; /* tiles of a vector; vectors of a block */
	struct wino_lanes lanes[GEMM_N / 4];
	int n_tasks;
	struct cpu_ctx *ctx;
	atomic_bool failed;
};

/* ---- weights ---- */

static bool is_possible(const struct window *g)
{
	if (g->kernel[1] != 3 || g->kernel[2] != 3)
		return false;
	for (int d = 1; d < 3; d++)
		if (g->stride[d] != 1 || g->dilation[d] != 1 || g->pad[d] < 0)
			return false;
	return true;
}

/* Cycles of one image's group, roughly: two vectors of sixteen multiply-adds each, or, when that
 * takes longer, weights from memory, and once more for each further block of tiles from the
 * third-level cache, in bytes a cycle; transforms; what every call of a product costs. */
enum { FROM_MEMORY = 3, FROM_CACHE = 6, CALL = 150 };

static double cycles(const struct window *g, int m)
{
	double k = (double)(g->cin * g->kernel[0]), c = (double)g->cout, points = (m + 2) * (m + 2);
	int64_t tiles = (g->out[1] + m - 1) / m * ((g->out[2] + m - 1) / m);
	double blocks = (double)((tiles + GEMM_N - 1) / GEMM_N * g->out[0]);
	tiles *= g->out[0];
	double sums = k * c * points * (double)tiles / 32 / 0.9;
	double read =
		k * c * points * sizeof(float) * (1.0 / FROM_MEMORY + (blocks - 1) / FROM_CACHE);
	return (sums > read ? sums : read) + (k + c) * (double)tiles * (m == 4 ? 14 : 8) +
	       points * blocks * (c / GEMM_M + 1) * CALL;
}

/* What the transform of one filter takes: from constants nothing. */
static int choose(const struct window *g, double filter_four, double filter_two)
{
	if (!is_possible(g) || g->cin < 8 || g->cout < 8)
		return 0;
	double filters = (double)g->cin * (double)g->kernel[0] * (double)g->cout;
	double direct =
		(double)g->cin * (double)g->cout * (double)(g->taps * g->out_plane) / 32 / 0.85;
	double four = cycles(g, 4) + filters * filter_four,
	       two = cycles(g, 2) + filters * filter_two;
	if ((four < two ? four : two) > 0.9 * direct)
		return 0;
	return four < two ? 4 : 2;
}

int cpu_winograd_choose(const struct window *g)
{
	return choose(g, 0, 0);
}

int cpu_winograd_choose_computed(const struct window *g)
{
	enum { FILTER_FOUR = 60, FILTER_TWO = 30 };
	return choose(g, FILTER_FOUR, FILTER_TWO);
}

/* ---- inputs to points ---- */

/* The block's tiles as vectors; offsets into rows (row, phase, pitch) from its first tile's row. */
static void find_lanes(struct wino_run *r)
{
	int64_t first = r->t0 / r->across;
	r->width = cpu_level >= 4 ? 16 : cpu_level == 3 ? 8 : 4;
	r->n_lanes = (int)((r->n + r->width - 1) / r->width);
	for (int v = 0; v < r->n_lanes; v++) {
		struct wino_lanes *l = &r->lanes[v];
		int64_t left = r->n - v * r->width;
		l->n_tiles = left < r->width ? (int)left : r->width;
		l->n = 0;
		for (int i = 0; i < l->n_tiles; i++) {
			int64_t t = r->t0 + v * r->width + i, y = t / r->across - first,
				x = t % r->across;
			l->tile[i] = y * r->m * r->m * r->pitch + x;
			if (i == 0 || x == 0) {
				l->from[l->n] = l->tile[i] - i;
				l->bits[l->n++] = 0;
			}
			l->bits[l->n - 1] |= (uint16_t)(1u << i);
		}
	}
}

/* Rows of channel c that the block's tiles need, each as m phases. */
static void split_rows(const struct wino_run *r, int64_t c, float *rows)
{
	const struct window *g = r->g;
	int64_t z = r->z * g->stride[0] + c % g->kernel[0] * g->dilation[0] - g->pad[0];
	bool there = z >= 0 && z < g->in[0];
	const float *x =
		r->x + c / g->kernel[0] * g->in_plane + (there ? z : 0) * g->in[1] * g->in[2];
	int64_t first = r->t0 / r->across, last = (r->t0 + r->n - 1) / r->across;
	for (int64_t y = r->m * first; y < r->m * last + r->m + 2; y++, rows += r->m * r->pitch) {
		int64_t iy = y - g->pad[1];
		bool inside = there && iy >= 0 && iy < g->in[1];
		LEVEL_CALL(split, r->m, x + (inside ? iy : 0) * g->in[2], inside ? g->in[2] : 0,
			   g->pad[2], rows, r->pitch);
	}
}

/* Input channels lo .. hi - 1. */
static void input_channels(struct wino_run *r, int64_t lo, int64_t hi, int thread)
{
	int64_t n_rows = r->m * ((r->t0 + r->n - 1) / r->across - r->t0 / r->across) + r->m + 2;
	float *rows = cpu_thread_scratch(r->ctx, thread,
					 (size_t)(n_rows * r->m * r->pitch) * sizeof *rows);
	if (!rows) {
		r->failed = true;
		return;
	}
	for (int64_t c = lo; c < hi; c++) {
		split_rows(r, c, rows);
		for (int v = 0; v < r->n_lanes; v++)
			LEVEL_CALL(input, r->m, rows, r->pitch, &r->lanes[v],
				   r->at_points + c * GEMM_N + v * r->width, r->stride);
	}
}

static void input_task(void *arg, int task, int thread)
{
	struct wino_run *r = arg;
	int64_t lo, hi;
	cpu_range(r->cin, r->n_tasks, task, &lo, &hi);
	input_channels(r, lo, hi, thread);
}

/* ---- products, points to outputs ---- */

static void multiply_points(const struct wino_run *r, int64_t m, int rows, float *c)
{
	int64_t cin = r->cin;
	const float *u = r->weights + m * r->points * cin;
	for (int i = 0; i < r->points; i++, u += cin * GEMM_M)
		for (int64_t k = 0; k < cin; k += GEMM_K) {
			struct gemm_block b = {.mr = rows,
					       .nr = (int)r->n,
					       .kc = cin - k < GEMM_K ? cin - k : GEMM_K,
					       .a = u + k * GEMM_M,
					       .b = r->at_points + i * r->stride + k * GEMM_N,
					       .ldb = GEMM_N,
					       .c = c + i * C_STRIDE,
					       .ldc = GEMM_N,
					       .add = k > 0,
					       .ahead = u + (k + cin) * GEMM_M,
					       .ahead_step = GEMM_M * sizeof(float)};
			gemm_multiply(&b);
		}
}

/* Outputs (m, width, m) of one vector of tiles to a channel's plane. */
static void put_tiles(const struct wino_run *r, const float *tiles, int vector, int64_t channel)
{
	const struct window *g = r->g;
	int m = r->m;
	int64_t t = r->t0 + vector * r->width, end = r->t0 + r->n;
	int64_t first = r->z * g->out[1] * g->out[2]; /* pixel of the plane */
	float *plane = r->y + channel * g->out_plane;
	end = end > t + r->width ? t + r->width : end;
	while (t < end) {
		int64_t y = t / r->across * m, x = t % r->across * m, run = r->across - x / m;
		run = run > end - t ? end - t : run;
		int64_t n = m * run < g->out[2] - x ? m * run : g->out[2] - x;
		for (int i = 0; i < m && y + i < g->out[1]; i++) {
			int64_t at = first + (y + i) * g->out[2] + x;
			memcpy(plane + at, tiles + i * m * r->width, (size_t)n * sizeof *plane);
			if (r->post->whole && !r->in_registers)
				cpu_epilogue_row(r->post->whole, plane + at, r->row + channel, at,
						 n);
		}
		tiles += m * run;
		t += run;
	}
}

/* Panels lo .. hi - 1 of output channels. */
static void output_panels(struct wino_run *r, int64_t lo, int64_t hi, int thread)
{
	int64_t cout = r->g->cout;
	float tiles[4 * MAX_LANES * 4] __attribute__((aligned(64)));
	float *c = cpu_thread_scratch(r->ctx, thread, (size_t)(r->points * C_STRIDE) * sizeof *c);
	struct cpu_post_rows rows = {.bias = {0}};
	if (!c) {
		r->failed = true;
		return;
	}
	for (int64_t m = lo * GEMM_M; m < hi * GEMM_M && m < cout; m += GEMM_M) {
		int n = cout - m < GEMM_M ? (int)(cout - m) : GEMM_M;
		bool post = r->in_registers && cpu_post_rows(r->post, r->row + m, n, 0, &rows);
		float low = post ? rows.post.lo : -__builtin_inff();
		float high = post ? rows.post.hi : __builtin_inff();
		multiply_points(r, m, n, c);
		for (int i = 0; i < n; i++)
			for (int v = 0; v < r->n_lanes; v++) {
				LEVEL_CALL(output, r->m, c + i * GEMM_N + v * r->width, C_STRIDE,
					   rows.bias[i], low, high, tiles);
				put_tiles(r, tiles, v, m + i);
			}
	}
}

static int64_t n_panels(const struct wino_run *r)
{
	return (r->g->cout + GEMM_M - 1) / GEMM_M;
}

static void output_task(void *arg, int task, int thread)
{
	struct wino_run *r = arg;
	int64_t lo, hi;
	cpu_range(n_panels(r), r->n_tasks, task, &lo, &hi);
	output_panels(r, lo, hi, thread);
}

/* ---- all of it ---- */

/* Blocks that are alike: the whole ones of each plane, or each plane's only one. */
static int64_t like_blocks(const struct wino_run *r)
{
	return r->n_tiles < GEMM_N ? 1 : r->n_tiles / GEMM_N;
}

/* One of them, with room for points of the thread's own. */
static void block_task(void *arg, int task, int thread)
{
	struct wino_run *all = arg, r = *all;
	r.z = task / like_blocks(all);
	r.t0 = task % like_blocks(all) * GEMM_N;
	r.n = r.n_tiles < GEMM_N ? r.n_tiles : GEMM_N;
	r.at_points += thread * r.points * r.stride;
	find_lanes(&r);
	input_channels(&r, 0, r.cin, thread);
	if (!r.failed)
		output_panels(&r, 0, n_panels(&r), thread);
	if (r.failed)
		all->failed = true;
}

/* The block at t0 of plane z, on all threads. */
static void share_block(struct wino_run *r)
{
	int64_t panels = n_panels(r);
	int most = r->ctx->n_threads > 1 ? 4 * r->ctx->n_threads : 1;
	r->n = r->n_tiles - r->t0 < GEMM_N ? r->n_tiles - r->t0 : GEMM_N;
	find_lanes(r);
	r->n_tasks = r->cin < most ? (int)r->cin : most;
	cpu_parallel(r->ctx, r->n_tasks, input_task, r);
	r->n_tasks = panels < most ? (int)panels : most;
	cpu_parallel(r->ctx, r->n_tasks, output_task, r);
}

/* As many blocks that are alike as come out even, a thread each; the others one by one. */
static void run_blocks(struct wino_run *r)
{
	int64_t threads = r->ctx->n_threads, like = like_blocks(r), planes = r->g->out[0];
	int64_t apart = threads > 1 ? planes * like / threads * threads : 0;
	int64_t blocks = (r->n_tiles + GEMM_N - 1) / GEMM_N;
	if (apart > 0)
		cpu_parallel(r->ctx, (int)apart, block_task, r);
	for (r->z = 0; r->z < planes; r->z++)
		for (int64_t b = 0; b < blocks; b++) {
			r->t0 = b * GEMM_N;
			if (b >= like || r->z * like + b >= apart)
				share_block(r);
		}
}

int cpu_winograd(struct cpu_ctx *c, const struct window *g, int m, const float *x,
		 const float *weights, float *y, const struct cpu_post *post, struct err *e)
{
	struct wino_run r = {.g = g,
			     .m = m,
			     .points = (m + 2) * (m + 2),
			     .post = post,
			     .cin = g->cin * g->kernel[0],
			     .ctx = c};
	r.in_registers = post->simple && !post->residual && !post->hswish && post->swish == 0;
	r.across = (g->out[2] + m - 1) / m;
	r.n_tiles = r.across * ((g->out[1] + m - 1) / m);
	int64_t unit = 32 / m; /* of a phase, that are split at a time */
	r.pitch = (r.across + 1 + unit - 1) / unit * unit;
	r.stride = r.cin * GEMM_N + 16;
	r.at_points = cpu_slot_scratch(
		c, SLOT_WHOLE, (size_t)(c->n_threads * r.points * r.stride) * sizeof *r.at_points);
	if (!r.at_points)
		return cpu_no_memory(e);
	for (int64_t i = 0; i < g->batch * g->groups; i++) {
		r.x = x + i * g->cin * g->in_plane;
		r.y = y + i * g->cout * g->out_plane;
		r.row = i * g->cout;
		r.weights = weights + i % g->groups * cpu_winograd_floats(m, g->cout, r.cin);
		run_blocks(&r);
	}
	return r.failed ? cpu_no_memory(e) : 0;
}
