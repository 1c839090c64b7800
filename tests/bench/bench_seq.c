/* bench_seq.c - milliseconds of a recurrent layer, of content attention and of messages on the tape, forward
 * and back, and beside them the bare matrix products of the same layer by OpenBLAS as an anchor.
 *
 *   bench_seq [REPEATS] */
#include "blas.h"
#include "base/clock.h"
#include "base/rng.h"
#include "learn/tape/tape.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shape {
	uint32_t steps, batch, h;
};

static float *noise(size_t n, uint32_t stream)
{
	struct rng_addr at = {.seed = 1, .stream = stream};
	float *x = MEM_NEWN(float, n);
	rng_uniform_f32(&at, -0.1f, 0.1f, x, n);
	return x;
}

/* The sum of y's entries and its gradients. */
static void sum_back(struct tape *t, struct mat *y, const float *ones)
{
	struct mat *s = tape_matmul(t, tape_matmul(t, tape_input(t, ones, 1, y->rows), y),
				    tape_input(t, ones, y->cols, 1));
	tape_back(t, 1, &s, (double[]){1});
}

struct buffers {
	float *x, *w, *g, *ones, *y;
};

static double lstm(struct tape *t, const struct shape *s, const struct buffers *b)
{
	uint32_t rows = s->steps * s->batch, n = 4 * s->h;
	double t0 = clock_s();
	tape_begin(t, true, NULL);
	struct mat *x = tape_param(t, b->x, b->g, rows, n);
	struct mat *w = tape_param(t, b->w, b->g + (size_t)rows * n, s->h, n);
	uint32_t length[8];
	for (uint32_t i = 0; i < s->batch; i++)
		length[i] = s->steps;
	const struct sequences q = tape_sequences(t, length, s->batch);
	sum_back(t, tape_lstm(t, x, w, NULL, &q, false), b->ones);
	return clock_s() - t0;
}

/* h w and pre w^T of every step, and the gradient of w. */
static double lstm_products(const struct shape *s, const struct buffers *b)
{
	int h = (int)s->h, n = (int)s->batch, rows = (int)(s->steps * s->batch);
	double t0 = clock_s();
	for (uint32_t i = 0; i < s->steps; i++) {
		float *y = b->y + (size_t)i * s->batch * 4 * s->h;
		blas_gemm(false, false, n, 4 * h, h, 1, b->x, h, b->w, 4 * h, 0, y, 4 * h);
		blas_gemm(false, true, n, h, 4 * h, 1, y, 4 * h, b->w, 4 * h, 0, b->g, h);
	}
	blas_gemm(true, false, h, 4 * h, rows, 1, b->x, h, b->y, 4 * h, 0, b->g, 4 * h);
	return clock_s() - t0;
}

static double attend(struct tape *t, const struct shape *s, const struct buffers *b)
{
	uint32_t rows = s->steps * s->batch;
	double t0 = clock_s();
	tape_begin(t, true, NULL);
	struct mat *q = tape_param(t, b->x, b->g, rows, s->h);
	struct mat *keys = tape_param(t, b->w, b->g + (size_t)rows * s->h, s->steps, s->h);
	struct mat *v = tape_input(t, b->ones, 1, s->h);
	sum_back(t, tape_attend(t, q, tape_attended(t, keys, keys), v), b->ones);
	return clock_s() - t0;
}

/* Scores and sums of attention whose scores are products: one of each forward, two of each back. */
static double attend_products(const struct shape *s, const struct buffers *b)
{
	int h = (int)s->h, m = (int)s->steps, rows = (int)(s->steps * s->batch);
	double t0 = clock_s();
	for (int i = 0; i < 3; i++) {
		blas_gemm(false, true, rows, m, h, 1, b->x, h, b->w, h, 0, b->y, m);
		blas_gemm(false, false, rows, h, m, 1, b->y, m, b->w, h, 0, b->g, h);
	}
	return clock_s() - t0;
}

/* Messages of Placeto: a round over `batch` visits of a graph of `steps` groups, each of which hears the
 * two before it, made again on the way back. */
static struct hearing chain(uint32_t n, struct arena *a)
{
	struct hearing h = {.n = n};
	for (int way = 0; way < 2; way++) {
		uint32_t *ptr = arena_raw(a, n + 1, sizeof *ptr), *node = arena_raw(a, 2 * n, 4),
			 m = 0;
		for (uint32_t i = 0; i < n; i++) {
			ptr[i] = m;
			for (uint32_t k = 1; k <= 2; k++)
				if (way ? i + k < n : i >= k)
					node[m++] = way ? i + k : i - k;
		}
		ptr[n] = m;
		h.ptr[way] = ptr;
		h.node[way] = node;
	}
	return h;
}

static struct mat *one_round(struct tape *t, const void *arg, struct mat *const *x, uint32_t first,
			     uint32_t n)
{
	const struct after relu = {.relu = true};
	const struct hearing *h = arg;
	uint32_t *row = arena_raw(tape_arena(t), (size_t)n * h->n, sizeof *row);
	for (uint32_t i = 0; i < n * h->n; i++)
		row[i] = first * h->n + i;
	struct mat *e = tape_gather(t, x[0], row, n * h->n);
	struct mat *f = tape_linear(t, e, x[1], x[2], relu);
	struct mat *g =
		tape_linear_norm(t, tape_hear(t, f, h, false), x[1], x[2], NULL, x[2], x[2], relu);
	uint32_t *visit = arena_raw(tape_arena(t), (size_t)n * h->n, sizeof *visit);
	for (uint32_t i = 0; i < n * h->n; i++)
		visit[i] = i / h->n;
	return tape_segment_mean(t, tape_add(t, g, e), visit, n, 0);
}

static double messages(struct tape *t, const struct shape *s, const struct buffers *b)
{
	uint32_t rows = s->steps * s->batch, h = s->h, most = 1 + 1024 / s->steps;
	double t0 = clock_s();
	tape_begin(t, true, NULL);
	struct hearing along = chain(s->steps, tape_arena(t));
	struct mat **in = ARENA_NEWN(tape_arena(t), struct mat *, 3);
	in[0] = tape_param(t, b->x, b->g, rows, h);
	in[1] = tape_param(t, b->w, b->g + (size_t)rows * h, h, h);
	in[2] = tape_param(t, b->ones, b->g + (size_t)(rows + h) * h, 1, h);
	sum_back(t, tape_again(t, s->batch, h, most, one_round, &along, 3, in), b->ones);
	return clock_s() - t0;
}

/* The products of f and g: twice forward, once each for the gradients of rows and of weights. */
static double messages_products(const struct shape *s, const struct buffers *b)
{
	int h = (int)s->h, rows = (int)(s->steps * s->batch);
	double t0 = clock_s();
	for (int i = 0; i < 6; i++)
		blas_gemm(false, i >= 4, rows, h, h, 1, b->x, h, b->w, h, 0, b->y, h);
	for (int i = 0; i < 2; i++)
		blas_gemm(true, false, h, h, rows, 1, b->x, h, b->y, h, 0, b->g, h);
	return clock_s() - t0;
}

static double best(int repeats,
		   double (*fn)(struct tape *, const struct shape *, const struct buffers *),
		   double (*bare)(const struct shape *, const struct buffers *), struct tape *t,
		   const struct shape *s, const struct buffers *b)
{
	double least = INFINITY;
	for (int i = 0; i <= repeats; i++) {
		double x = fn ? fn(t, s, b) : bare(s, b);
		least = i && x < least ? x : least;
	}
	return 1e3 * least;
}

int main(int argc, char **argv)
{
	static const struct shape shapes[] = {
		{200, 1, 256}, {200, 2, 256}, {383, 5, 256}, {383, 5, 128}, {1000, 1, 128}};
	int repeats = argc > 1 ? atoi(argv[1]) : 5;
	blas_init();
	printf("ms, forward and back, one thread, best of %d\n\n%6s %6s %6s %10s %10s %8s %10s "
	       "%10s %8s\n",
	       repeats, "steps", "batch", "width", "lstm", "products", "ratio", "attention",
	       "products", "ratio");
	struct tape *t = tape_new(NULL);
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		const struct shape *s = &shapes[i];
		size_t rows = (size_t)s->steps * s->batch, wide = 4 * s->h + s->steps;
		struct buffers b = {noise(rows * wide, 1), noise(wide * wide, 2),
				    noise((rows + wide) * wide, 3), noise(rows + wide, 4),
				    noise(rows * wide, 5)};
		double l = best(repeats, lstm, NULL, t, s, &b);
		double lp = best(repeats, NULL, lstm_products, t, s, &b);
		double a = best(repeats, attend, NULL, t, s, &b);
		double ap = best(repeats, NULL, attend_products, t, s, &b);
		printf("%6u %6u %6u %10.2f %10.2f %8.2f %10.2f %10.2f %8.2f\n", s->steps, s->batch,
		       s->h, l, lp, l / lp, a, ap, a / ap);
		mem_free(b.x);
		mem_free(b.w);
		mem_free(b.g);
		mem_free(b.ones);
		mem_free(b.y);
	}
	static const struct shape visits[] = {{76, 76, 32}, {100, 100, 32}, {400, 100, 64}};
	printf("\n%6s %6s %6s %10s %10s %8s\n", "groups", "visits", "width", "messages", "products",
	       "ratio");
	for (size_t i = 0; i < sizeof visits / sizeof *visits; i++) {
		const struct shape *s = &visits[i];
		size_t rows = (size_t)s->steps * s->batch, h = s->h;
		struct buffers b = {noise(rows * h, 1), noise(h * h, 2),
				    noise((rows + h + 1) * h, 3), noise(rows + h, 4),
				    noise(rows * h, 5)};
		double m = best(repeats, messages, NULL, t, s, &b);
		double p = best(repeats, NULL, messages_products, t, s, &b);
		printf("%6u %6u %6u %10.2f %10.2f %8.2f\n", s->steps, s->batch, s->h, m, p, m / p);
		mem_free(b.x);
		mem_free(b.w);
		mem_free(b.g);
		mem_free(b.ones);
		mem_free(b.y);
	}
	tape_free(t);
	return 0;
}
