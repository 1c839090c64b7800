/* test_tape_kernel.c - loops of the tape over rows and columns of any number, beside the same in double precision: several
 * rows at a time and what of them is left, whole vectors and what is left. */
#include "tap.h"

#include "base/rng.h"
#include "learn/tape/tape_kernel.h"

#include <math.h>
#include <string.h>

enum { ROWS = 35, COLS = 160, ALL = ROWS * COLS };

static const uint32_t rows[] = {1, 3, 4, 7, 8, 15, 16, 17, 33, 35};
static const uint32_t cols[] = {1, 15, 16, 31, 32, 48, 64, 100, 127, 128, 129, 160};
enum { N_ROWS = sizeof rows / sizeof *rows, N_COLS = sizeof cols / sizeof *cols };

static float x[ALL], residual[ALL], g[ALL], y[ALL], xhat[ALL], rstd[ROWS];
static float b[COLS], gain[COLS], bias[COLS];
static double want[ALL], want_hat[ALL], want_rstd[ROWS];

static void fill(void)
{
	const struct rng_addr at = {.seed = 3};
	struct rng_addr next = at;
	float *all[] = {x, residual, g, b, gain, bias};
	const size_t n[] = {ALL, ALL, ALL, COLS, COLS, COLS};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		next.stream = (uint32_t)i;
		rng_uniform_f32(&next, -2, 2, all[i], n[i]);
	}
}

static double distance(const float *got, const double *of, size_t n)
{
	double worst = 0;
	for (size_t i = 0; i < n; i++) {
		double e = fabs((double)got[i] - of[i]) / (1 + fabs(of[i]));
		worst = e <= worst ? worst : e; /* NaN is worst */
	}
	return worst;
}

/* ---- layer normalisation ---- */

/* What is normalised has these in addition to x, and what it becomes is cut off at 0. */
struct how {
	bool b, residual, relu, back_b;
};

static void normalise(uint32_t m, uint32_t n, struct how how)
{
	for (uint32_t i = 0; i < m; i++) {
		double mean = 0, square = 0, a[COLS];
		for (uint32_t j = 0; j < n; j++) {
			a[j] = (double)x[i * n + j] + (how.b ? (double)b[j] : 0) +
			       (how.residual ? (double)residual[i * n + j] : 0);
			mean += a[j] / n;
		}
		for (uint32_t j = 0; j < n; j++)
			square += (a[j] - mean) * (a[j] - mean) / n;
		want_rstd[i] = 1 / sqrt(square + 1e-5);
		for (uint32_t j = 0; j < n; j++) {
			double h = (a[j] - mean) * want_rstd[i];
			double v = h * (double)gain[j] + (double)bias[j];
			want_hat[i * n + j] = h;
			want[i * n + j] = how.relu && v < 0 ? 0 : v;
		}
	}
}

/* In place of y, of xhat, and with neither. */
static double norm_error(uint32_t m, uint32_t n, struct how how)
{
	const struct norm_row p = {how.b ? b : NULL, gain, bias, n, how.relu};
	const float *r = how.residual ? residual : NULL;
	size_t all = (size_t)m * n;
	normalise(m, n, how);
	memcpy(xhat, x, all * sizeof *x);
	kern_norm(y, xhat, rstd, xhat, r, m, &p);
	double e = fmax(distance(y, want, all), distance(xhat, want_hat, all));
	e = fmax(e, n > 1 ? distance(rstd, want_rstd, m) : 0);
	memcpy(y, x, all * sizeof *x);
	kern_norm(y, NULL, rstd, y, r, m, &p);
	e = fmax(e, distance(y, want, all));
	kern_norm(y, NULL, rstd, x, r, m, &p);
	return fmax(e, distance(y, want, all));
}

static double norm_back_error(uint32_t m, uint32_t n, struct how how)
{
	static double ga[ALL], sums[3][COLS];
	static float back[ALL], got[3][COLS];
	const double scale = 1.25;
	normalise(m, n, how);
	for (size_t i = 0; i < (size_t)m * n; i++) {
		y[i] = (float)want[i];
		xhat[i] = (float)want_hat[i];
		back[i] = g[i];
	}
	for (uint32_t j = 0; j < n; j++)
		for (int k = 0; k < 3; k++)
			sums[k][j] = got[k][j] = (float)j;
	for (uint32_t i = 0; i < m; i++) {
		double mean = 0, slope = 0;
		for (uint32_t j = 0; j < n; j++) {
			size_t at = (size_t)i * n + j;
			double v = !how.relu   ? (double)g[at]
				   : y[at] > 0 ? (double)g[at] * scale
					       : 0;
			sums[0][j] += v * (double)xhat[at];
			sums[1][j] += v;
			ga[at] = v * (double)gain[j];
			mean += ga[at] / n;
			slope += ga[at] * (double)xhat[at] / n;
		}
		rstd[i] = (float)want_rstd[i];
		for (uint32_t j = 0; j < n; j++) {
			size_t at = (size_t)i * n + j;
			ga[at] = want_rstd[i] * (ga[at] - mean - (double)xhat[at] * slope);
			sums[2][j] += how.back_b ? ga[at] : 0;
		}
	}
	const struct norm_back p = {.y = how.relu ? y : NULL,
				    .scale = (float)scale,
				    .xhat = xhat,
				    .rstd = rstd,
				    .gain = gain,
				    .ggain = got[0],
				    .gbias = got[1],
				    .gb = how.back_b ? got[2] : NULL};
	kern_norm_back(back, &p, m, n);
	double e = n > 1 ? distance(back, ga, (size_t)m * n) : 0;
	for (int k = 0; k < (n > 1 ? 3 : 2); k++)
		e = fmax(e, distance(got[k], sums[k], n));
	return e;
}

/* ---- others ---- */

static double relu_back_error(uint32_t m, uint32_t n, struct how how)
{
	static double ga[ALL], sums[COLS];
	static float back[ALL], got[COLS];
	for (uint32_t j = 0; j < n; j++)
		sums[j] = got[j] = 1;
	for (size_t i = 0; i < (size_t)m * n; i++) {
		back[i] = g[i];
		ga[i] = x[i] > 0 ? 1.25 * (double)g[i] : 0;
		sums[i % n] += how.back_b ? ga[i] : 0;
	}
	kern_relu_back(back, x, 1.25f, how.back_b ? got : NULL, m, n);
	return fmax(distance(back, ga, (size_t)m * n), distance(got, sums, n));
}

static double bias_error(uint32_t m, uint32_t n, struct how how)
{
	for (size_t i = 0; i < (size_t)m * n; i++) {
		y[i] = x[i];
		want[i] = (double)x[i] + (how.b ? (double)b[i % n] : 0);
		want[i] = how.relu && want[i] < 0 ? 0 : want[i];
	}
	kern_bias_relu(y, how.b ? b : NULL, m, n, how.relu);
	return distance(y, want, (size_t)m * n);
}

/* A row as the sum of m others, some twice. */
static double gather_error(uint32_t m, uint32_t n, struct how how)
{
	uint32_t adj[ROWS];
	float weight[ROWS];
	(void)how;
	for (uint32_t e = 0; e < m; e++) {
		adj[e] = e * 7 % ROWS / 2;
		weight[e] = g[e];
	}
	for (uint32_t j = 0; j < n; j++) {
		want[j] = 0;
		for (uint32_t e = 0; e < m; e++)
			want[j] += (double)weight[e] * (double)x[adj[e] * n + j];
	}
	kern_gather_sum(y, x, adj, weight, m, n);
	return distance(y, want, n);
}

static void check(const char *what, double (*error)(uint32_t, uint32_t, struct how), double most)
{
	for (int i = 0; i < 16; i++) {
		const struct how how = {i & 1, i & 2, i & 4, i & 8};
		double worst = 0;
		for (int r = 0; r < N_ROWS; r++)
			for (int c = 0; c < N_COLS; c++)
				worst = fmax(worst, error(rows[r], cols[c], how));
		tap(worst < most, "%s%s%s%s%s: %.1e", what, how.b ? ", b" : "",
		    how.residual ? ", residual" : "", how.relu ? ", relu" : "",
		    how.back_b ? ", sums" : "", worst);
	}
}

int main(void)
{
	fill();
	check("layer norm", norm_error, 1e-5);
	check("layer norm backwards", norm_back_error, 1e-5);
	check("relu backwards", relu_back_error, 1e-5);
	check("bias and relu", bias_error, 1e-6);
	check("sum of rows", gather_error, 1e-5);
	return tap_end();
}
