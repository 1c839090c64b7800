/* test_scores.c - scores of content attention and their gradients against sums in double precision: rows
 * and columns that make no whole block, exponentials beyond the bound. */
#include "tap.h"

#include "base/mem.h"
#include "base/rng.h"
#include "learn/tape/tape_scores.h"

#include <math.h>
#include <string.h>

enum { ROWS = 7, KEYS = 7, COLS = 150 };

struct sample {
	float eq[ROWS * COLS], ekeys[KEYS * COLS], v[COLS], d[ROWS * KEYS];
	float score[ROWS * KEYS], uq[ROWS * COLS], ukeys[KEYS * COLS], wd[COLS];
	float scratch[2 * KEYS * SCORES_LANES];
};

/* exp(2 x), |x| < size, in steps that f32 holds. */
static void draw(float *y, uint32_t stream, size_t n, double size)
{
	struct rng_addr at = {.seed = 5, .stream = stream};
	for (size_t i = 0; i < n; i++)
		y[i] = (float)exp(2 * size * (2 * rng_uniform(&at, (uint32_t)i) - 1));
}

static void draw_signed(float *y, uint32_t stream, size_t n)
{
	struct rng_addr at = {.seed = 5, .stream = stream};
	rng_uniform_f32(&at, -1, 1, y, n);
}

/* The larger error; what is no number is the largest. */
static double larger(double worst, double x)
{
	return isnan(x) ? INFINITY : fmax(worst, x);
}

static double weight_of(const struct sample *s, size_t n, size_t q, size_t i, size_t j)
{
	return 1 / (1 + (double)s->eq[q * n + j] * s->ekeys[i * n + j]);
}

static double worst_score(const struct sample *s, size_t rows, size_t m, size_t n)
{
	double worst = 0;
	for (size_t q = 0; q < rows; q++)
		for (size_t i = 0; i < m; i++) {
			double sum = 0;
			for (size_t j = 0; j < n; j++)
				sum += s->v[j] * (1 - 2 * weight_of(s, n, q, i, j));
			worst = larger(worst, fabs(sum - s->score[q * m + i]));
		}
	return worst;
}

static double worst_back(const struct sample *s, size_t rows, size_t m, size_t n)
{
	double worst = 0;
	for (size_t j = 0; j < n; j++) {
		double wd = 0, uq[ROWS] = {0}, uk[KEYS] = {0};
		for (size_t q = 0; q < rows; q++)
			for (size_t i = 0; i < m; i++) {
				double w = weight_of(s, n, q, i, j), g = s->d[q * m + i] * w;
				wd += g;
				uq[q] += g * (1 - w);
				uk[i] += g * (1 - w);
			}
		worst = larger(worst, fabs(wd - s->wd[j]));
		for (size_t q = 0; q < rows; q++)
			worst = larger(worst, fabs(uq[q] - s->uq[q * n + j]));
		for (size_t i = 0; i < m; i++)
			worst = larger(worst, fabs(uk[i] + 1 - s->ukeys[i * n + j]));
	}
	return worst;
}

static void compare(struct sample *s, double size, bool bounded)
{
	static const size_t rows[] = {1, 2, ROWS}, keys[] = {1, 2, KEYS}, cols[] = {3, 64, COLS};
	double worst = 0, worst_g = 0;
	bool alone = true;
	for (int c = 0; c < 27; c++) {
		size_t r = rows[c % 3], m = keys[c / 3 % 3], n = cols[c / 9];
		draw(s->eq, 1, r * n, size);
		draw(s->ekeys, 2, m * n, size);
		draw_signed(s->v, 3, n);
		draw_signed(s->d, 4, r * m);
		float last[KEYS];
		kern_scores(&(struct scores){last, s->eq + (r - 1) * n, s->ekeys, s->v, 1, m, n,
					     bounded});
		kern_scores(&(struct scores){s->score, s->eq, s->ekeys, s->v, r, m, n, bounded});
		alone = alone && !memcmp(last, s->score + (r - 1) * m, m * sizeof *last);
		for (size_t i = 0; i < m * n; i++)
			s->ukeys[i] = 1;
		memset(s->wd, 0, sizeof s->wd);
		struct scores_back g = {s->eq, s->ekeys, s->d, s->uq, s->ukeys, s->wd,     r,
					m,     n,        0,    0,     bounded,  s->scratch};
		for (g.first = 0; g.first < n; g.first = g.end) { /* in two parts */
			g.end = g.first || n <= SCORES_LANES ? n : SCORES_LANES;
			kern_scores_back(&g);
		}
		worst = fmax(worst, worst_score(s, r, m, n));
		worst_g = fmax(worst_g, worst_back(s, r, m, n));
	}
	tap(worst < 3e-5, "scores, |q| and |key| below %g%s (%.1g)", size,
	    bounded ? ", bounded" : "", worst);
	tap(worst_g < 3e-6, "their gradients (%.1g)", worst_g);
	tap(alone, "a query's bits do not depend on the queries beside it");
}

static void bounds(void)
{
	const float x[] = {1, 3, NAN, 2, 5, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 7, NAN, 1};
	bool right = true;
	for (size_t n = 1; n <= 21; n++) {
		float most = x[0];
		for (size_t i = 1; i < n; i++)
			most = x[i] > most ? x[i] : most;
		right = right && scores_largest(x, n) == most;
	}
	tap(right, "the largest number, without those that are none");
	tap(scores_bounded(x, 1, 1e8f) && !scores_bounded(x, 2, 1e9f) &&
		    !scores_bounded(x, 1, NAN) && !scores_bounded(x, 1, INFINITY),
	    "what is bounded");
}

int main(void)
{
	struct sample *s = MEM_NEW(struct sample);
	compare(s, 2, true);
	compare(s, 2, false);
	compare(s, 30, false);
	s->eq[0] = NAN;
	s->ekeys[0] = s->v[0] = 1;
	for (int bounded = 0; bounded < 2; bounded++) {
		kern_scores(&(struct scores){s->score, s->eq, s->ekeys, s->v, 1, 1, 1, bounded});
		tap(isnan(s->score[0]), "a NaN stays one");
	}
	bounds();
	mem_free(s);
	return tap_end();
}
