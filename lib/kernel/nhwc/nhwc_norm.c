/* nhwc_norm.c - MVN over planes and GroupNormalization of tensors in NHWC.
 *
 * Pieces of some pixels have a mean and a sum of squared differences from it each, channel by channel; those of all
 * pieces are joined as in Chan, Golub, LeVeque, "Algorithms for computing the sample variance", American Statistician
 * 37(3), 1983, equation 1.5.  A piece is the same for any number of threads. */
#include "kernel/nhwc/nhwc_line.h"
#include "kernel/nhwc/nhwc_kernels.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { PIECE_FLOATS = 8192, LEAST_PIXELS = 32 };

#define LEVEL_FILE "kernel/nhwc/nhwc_norm_loops.h"
#include "kernel/isa_dispatch.h"

struct norm_run {
	const struct nhwc_norm *p;
	struct cpu_ctx *ctx;
	const struct nhwc_tensor *x;
	void *y;
	struct mem_form form;  /* of y */
	int64_t image, pieces; /* pixels of a piece: piece */
	int64_t piece;
	float *moments;   /* (pieces, 2, channels): means, sums of squared differences */
	float *by, *plus; /* (channels repeated for a piece): y = x * by + plus */
	int n_tasks;
	atomic_bool failed;
};

/* Pixels first .. first + n - 1 (n,channels) where they are, or as f32 in tile.  *narrow: they are bf16. */
static const void *read_piece(const struct norm_run *r, int64_t first, int64_t n, float *tile,
			      bool *narrow)
{
	const struct form_shape *s = &r->p->shape;
	const struct mem_form *f = &r->x->form;
	*narrow = f->elem == EL_BF16 && form_line_narrow();
	if ((f->elem == EL_F32 || *narrow) && (f->nhwc || s->pixels == 1))
		return (const char *)r->x->data +
		       (r->image * s->pixels + first) * s->channels * form_size(f->elem);
	*narrow = false;
	form_read(f, s, r->x->data, r->image, first, n, tile);
	return tile;
}

static float *tile_of(struct norm_run *r, int thread)
{
	float *tile = cpu_thread_scratch(
		r->ctx, thread, (size_t)(r->piece * r->p->shape.channels) * sizeof *tile + 64);
	if (!tile)
		atomic_store(&r->failed, true);
	return tile;
}

static void moments_task(void *arg, int task, int thread)
{
	struct norm_run *r = arg;
	int64_t lo, hi, c = r->p->shape.channels, pixels = r->p->shape.pixels;
	float *tile = tile_of(r, thread);
	cpu_range(r->pieces, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; tile && i < hi; i++) {
		int64_t first = i * r->piece,
			n = pixels - first < r->piece ? pixels - first : r->piece;
		bool narrow;
		const void *x = read_piece(r, first, n, tile, &narrow);
		float *mean = r->moments + 2 * i * c;
		LEVEL_CALL(moments, narrow, x, n, c, mean, mean + c);
	}
}

/* Sums side by side, as each addition waits for the one before. */
enum { SIDE = 8 };

static double sum_of(const double *side)
{
	double sum = 0;
	for (int i = 0; i < SIDE; i++)
		sum += side[i];
	return sum;
}

/* The sum of n numbers, and of squares of what they are away from `mean`. */
static double sum_floats(const float *x, int64_t n)
{
	double side[SIDE] = {0};
	int64_t j = 0;
	for (; j + SIDE <= n; j += SIDE)
		for (int i = 0; i < SIDE; i++)
			side[i] += (double)x[j + i];
	for (; j < n; j++)
		side[0] += (double)x[j];
	return sum_of(side);
}

static double sum_away(const float *x, int64_t n, double mean)
{
	double side[SIDE] = {0};
	int64_t j = 0;
	for (; j + SIDE <= n; j += SIDE)
		for (int i = 0; i < SIDE; i++)
			side[i] += ((double)x[j + i] - mean) * ((double)x[j + i] - mean);
	for (; j < n; j++)
		side[0] += ((double)x[j] - mean) * ((double)x[j] - mean);
	return sum_of(side);
}

static float of_channel(const struct tensor *t, int64_t j)
{
	return t->elem == EL_F32 ? ((const float *)t->data)[j] : (float)tensor_real(t, j);
}

/* by and plus of channels first .. first + n - 1, one group. */
static void join_group(const struct norm_run *r, int64_t first, int64_t n)
{
	const struct nhwc_norm *p = r->p;
	int64_t c = p->shape.channels, pixels = p->shape.pixels;
	double sum = 0, squares = 0, all = (double)pixels * (double)n;
	for (int pass = 0; pass < 2; pass++)
		for (int64_t i = 0; i < r->pieces; i++) {
			const float *m = r->moments + 2 * i * c + first;
			int64_t left = pixels - i * r->piece;
			double of = (double)(left < r->piece ? left : r->piece);
			if (pass == 0)
				sum += of * sum_floats(m, n);
			else
				squares += sum_floats(m + c, n) + of * sum_away(m, n, sum / all);
		}
	float variance = (float)(squares / all), mean = (float)(sum / all);
	float scale = !p->scales      ? 1
		      : p->eps_inside ? 1 / sqrtf(variance + p->eps)
				      : 1 / (sqrtf(variance) + p->eps);
	for (int64_t j = first; j < first + n; j++) {
		r->by[j] = p->gain.data ? scale * of_channel(&p->gain, j) : scale;
		r->plus[j] = (p->shift.data ? of_channel(&p->shift, j) : 0) - mean * r->by[j];
	}
}

static void join_pieces(const struct norm_run *r)
{
	int64_t c = r->p->shape.channels, each = c / r->p->groups;
	for (int64_t g = 0; g < r->p->groups; g++)
		join_group(r, g * each, each);
	for (int64_t i = 1; i < r->piece; i++) {
		memcpy(r->by + i * c, r->by, (size_t)c * sizeof *r->by);
		memcpy(r->plus + i * c, r->plus, (size_t)c * sizeof *r->plus);
	}
}

static void apply_task(void *arg, int task, int thread)
{
	struct norm_run *r = arg;
	const struct form_shape *s = &r->p->shape;
	int64_t lo, hi, c = s->channels;
	bool there = r->form.nhwc || s->pixels == 1, narrow = r->form.elem == EL_BF16;
	float *tile = tile_of(r, thread);
	cpu_range(r->pieces, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; tile && i < hi; i++) {
		int64_t first = i * r->piece,
			n = s->pixels - first < r->piece ? s->pixels - first : r->piece;
		int64_t at = (r->image * s->pixels + first) * c;
		bool straight = there && (!narrow || form_line_narrow());
		bool x_bf16;
		const void *x = read_piece(r, first, n, tile, &x_bf16);
		struct form_line l = {.x = x,
				      .x_elem = x_bf16 ? EL_BF16 : EL_F32,
				      .a_elem = EL_F32,
				      .m = r->by,
				      .a = r->plus,
				      .y = straight ? (char *)r->y + at * form_size(r->form.elem)
						    : (char *)tile,
				      .y_elem = straight && narrow ? EL_BF16 : EL_F32,
				      .x_sign = 1,
				      .a_sign = 1,
				      .slope = 1,
				      .lo = -INFINITY,
				      .hi = INFINITY};
		form_line(&l, n * c);
		if (!straight)
			form_write(&r->form, s, r->y, r->image, first, n, tile);
	}
}

int nhwc_norm(const struct nhwc_norm *p, struct cpu_ctx *ctx, const struct nhwc_tensor *x,
	      const struct nhwc_tensor *y, struct err *e)
{
	int64_t c = p->shape.channels, pixels = p->shape.pixels;
	struct norm_run r = {.p = p, .ctx = ctx, .x = x, .y = y->data, .form = y->form};
	r.piece = PIECE_FLOATS / c > LEAST_PIXELS ? PIECE_FLOATS / c : LEAST_PIXELS;
	r.piece = r.piece < pixels ? r.piece : pixels;
	r.pieces = (pixels + r.piece - 1) / r.piece;
	r.moments = cpu_slot_scratch(ctx, SLOT_STEP,
				     (size_t)(2 * c * (r.pieces + r.piece)) * sizeof *r.moments);
	if (!r.moments)
		return cpu_no_memory(e);
	r.by = r.moments + 2 * c * r.pieces;
	r.plus = r.by + c * r.piece;
	r.n_tasks = (int)(r.pieces < 4 * ctx->n_threads ? r.pieces : 4 * ctx->n_threads);
	for (; r.image < p->shape.images && !atomic_load(&r.failed); r.image++) {
		cpu_parallel(ctx, r.n_tasks, moments_task, &r);
		join_pieces(&r);
		cpu_parallel(ctx, r.n_tasks, apply_task, &r);
	}
	return atomic_load(&r.failed) ? cpu_no_memory(e) : 0;
}
