/* tape_kernel.c - the tape's inner loops, with vectors of 16 floats that the compiler
 * maps to what the processor has. */
#include "learn/tape/tape_kernel.h"
#include "learn/tape/tape_lanes.h"
#include "base/simd.h"

#include <math.h>

static const float NORM_EPS = 1e-5f;

VECTOR_CLONES
void kern_add(float *y, const float *x, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] += x[j];
}

VECTOR_CLONES
void kern_mul(float *y, const float *a, const float *b, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] = a[j] * b[j];
}

VECTOR_CLONES
void kern_mul_add(float *y, const float *a, const float *b, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] += a[j] * b[j];
}

VECTOR_CLONES
void kern_axpy(float *y, float s, const float *x, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] += s * x[j];
}

VECTOR_CLONES
float kern_dot(const float *a, const float *b, size_t n)
{
	vec s = {0};
	size_t j = 0;
	for (; j + L <= n; j += L)
		s += IN(a + j) * IN(b + j);
	float rest = 0;
	for (; j < n; j++)
		rest += a[j] * b[j];
	return LANE_SUM(s) + rest;
}

VECTOR_CLONES
void kern_bias_relu(float *y, const float *b, size_t rows, size_t n, bool relu)
{
	for (size_t i = 0; i < rows; i++, y += n)
		if (b && relu)
			for (size_t j = 0; j < n; j++) {
				float v = y[j] + b[j];
				y[j] = v < 0 ? 0 : v; /* a NaN stays one */
			}
		else if (b)
			for (size_t j = 0; j < n; j++)
				y[j] += b[j];
		else if (relu)
			for (size_t j = 0; j < n; j++)
				y[j] = y[j] < 0 ? 0 : y[j];
}

VECTOR_CLONES
void kern_drop(float *y, const uint8_t *bits, uint8_t threshold, float scale, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] = bits[j] >= threshold ? y[j] * scale : 0;
}

VECTOR_CLONES
void kern_colsum(float *sum, const float *g, size_t rows, size_t n)
{
	for (size_t i = 0; i < rows; i++, g += n)
		for (size_t j = 0; j < n; j++)
			sum[j] += g[j];
}

#define INLINE static inline __attribute__((always_inline))

/* Up to SUM_ROWS rows of vectors at a time, whose sums stay in registers, and what of them is left. */
enum { SUM_ROWS = 4 };

INLINE void relu_some_back(float *g, const float *y, float scale, float *sum, const size_t rows,
			   size_t n)
{
	size_t j = 0;
	for (; j + L <= n; j += L) {
		vec s = sum ? IN(sum + j) : (vec){0};
		for (size_t i = 0; i < rows; i++) {
			vec v = IN(g + i * n + j) * scale;
			v = (vec)((ivec)v & (IN(y + i * n + j) > 0));
			AT(g + i * n + j) = v;
			s += v;
		}
		if (sum)
			AT(sum + j) = s;
	}
	for (; j < n; j++)
		for (size_t i = 0; i < rows; i++) {
			float v = y[i * n + j] > 0 ? g[i * n + j] * scale : 0;
			g[i * n + j] = v;
			if (sum)
				sum[j] += v;
		}
}

VECTOR_CLONES
void kern_relu_back(float *g, const float *y, float scale, float *sum, size_t rows, size_t n)
{
	size_t i = 0;
	for (; i + SUM_ROWS <= rows; i += SUM_ROWS, g += SUM_ROWS * n, y += SUM_ROWS * n)
		relu_some_back(g, y, scale, sum, SUM_ROWS, n);
	for (; i < rows; i++, g += n, y += n)
		relu_some_back(g, y, scale, sum, 1, n);
}

/* A row of any length; a passes through the memory of xhat, or of y. */
INLINE float norm_any(float *y, float *xhat, const float *x, const float *r,
		      const struct norm_row *p)
{
	size_t n = p->n, j = 0;
	float *a = xhat ? xhat : y, rest = 0;
	vec s = {0};
	for (; j + L <= n; j += L) {
		vec v = IN(x + j);
		if (p->b)
			v += IN(p->b + j);
		if (r)
			v += IN(r + j);
		AT(a + j) = v;
		s += v;
	}
	for (; j < n; j++) {
		a[j] = x[j] + (p->b ? p->b[j] : 0) + (r ? r[j] : 0);
		rest += a[j];
	}
	float mean = (LANE_SUM(s) + rest) / (float)n;
	s = (vec){0};
	rest = 0;
	for (j = 0; j + L <= n; j += L) {
		vec v = IN(a + j) - mean;
		s += v * v;
	}
	for (; j < n; j++)
		rest += (a[j] - mean) * (a[j] - mean);
	float rstd = 1.0f / sqrtf((LANE_SUM(s) + rest) / (float)n + NORM_EPS);
	for (j = 0; j < n; j++) {
		float h = (a[j] - mean) * rstd, v = h * p->gain[j] + p->bias[j];
		if (xhat)
			xhat[j] = h;
		y[j] = p->relu && v < 0 ? 0 : v; /* a NaN stays one */
	}
	return rstd;
}

/* The lane sums of L vectors, which are used up, over n: LANE_SUM(v[i]) / n, in the same order. */
INLINE void lane_means(float mean[L], vec v[L], size_t n)
{
	for (size_t i = 0; i < 8; i++)
		v[i] = JOIN(v[i], v[i + 8], 8);
	for (size_t i = 0; i < 4; i++)
		v[i] = JOIN(v[i], v[i + 4], 4);
	for (size_t i = 0; i < 2; i++)
		v[i] = JOIN(v[i], v[i + 2], 2);
	AT(mean) = JOIN(v[0], v[1], 1) / (float)n;
}

/* Sums of a = x (+ b) (+ r), which is written, two vectors at a time. */
INLINE void row_sum(vec *sum, float *a, const float *x, const float *b, const float *r, size_t n)
{
	vec s = {0}, t = {0};
	for (size_t j = 0; j < n; j += 2 * L) {
		vec u = IN(x + j), v = IN(x + j + L);
		if (b) {
			u += IN(b + j);
			v += IN(b + j + L);
		}
		if (r) {
			u += IN(r + j);
			v += IN(r + j + L);
		}
		AT(a + j) = u;
		AT(a + j + L) = v;
		s += u;
		t += v;
	}
	*sum = s + t;
}

INLINE void square_sum(vec *sum, const float *a, float mean, size_t n)
{
	vec s = {0}, t = {0};
	for (size_t j = 0; j < n; j += 2 * L) {
		vec u = IN(a + j) - mean, v = IN(a + j + L) - mean;
		s += u * u;
		t += v * v;
	}
	*sum = s + t;
}

INLINE void norm_row_end(float *y, float *xhat, const float *a, float mean, float rstd,
			 const float *gain, const float *bias, size_t n, const bool relu)
{
	for (size_t j = 0; j < n; j += L) {
		vec h = (IN(a + j) - mean) * rstd, v = h * IN(gain + j) + IN(bias + j);
		if (xhat)
			AT(xhat + j) = h;
		if (relu)
			v = (vec)((ivec)v & ~(v < 0)); /* a NaN stays one */
		AT(y + j) = v;
	}
}

/* The same for up to L rows of whole pairs of vectors: their lanes are summed, and their roots taken, at once. */
INLINE void norm_some(float *y, float *xhat, float *rstd, const float *x, const float *r,
		      size_t rows, const struct norm_row *p, const size_t n)
{
	const float *b = p->b, *gain = p->gain, *bias = p->bias;
	float *a = xhat ? xhat : y, mean[L], square[L];
	vec s[L];
	for (size_t i = rows; i < L; i++)
		s[i] = (vec){0};
	for (size_t i = 0; i < rows; i++)
		row_sum(&s[i], a + i * n, x + i * n, b, r ? r + i * n : NULL, n);
	lane_means(mean, s, n);
	for (size_t i = 0; i < rows; i++)
		square_sum(&s[i], a + i * n, mean[i], n);
	lane_means(square, s, n);
	for (size_t i = 0; i < rows; i++)
		rstd[i] = 1.0f / sqrtf(square[i] + NORM_EPS);
	for (size_t i = 0; i < rows; i++, y += n, a += n, xhat = xhat ? xhat + n : NULL)
		if (p->relu)
			norm_row_end(y, xhat, a, mean[i], rstd[i], gain, bias, n, true);
		else
			norm_row_end(y, xhat, a, mean[i], rstd[i], gain, bias, n, false);
}

VECTOR_CLONES
void kern_norm(float *y, float *xhat, float *rstd, const float *x, const float *r, size_t rows,
	       const struct norm_row *p)
{
	size_t n = p->n, step = n % (2 * L) == 0 ? L : 1;
	for (size_t i = 0; i < rows; i += step) {
		size_t at = i * n, some = rows - i < step ? rows - i : step;
		float *h = xhat ? xhat + at : NULL;
		const float *ri = r ? r + at : NULL;
		if (n == 8 * L)
			norm_some(y + at, h, rstd + i, x + at, ri, some, p, 8 * L);
		else if (step > 1)
			norm_some(y + at, h, rstd + i, x + at, ri, some, p, n);
		else
			rstd[i] = norm_any(y + at, h, x + at, ri, p);
	}
}

/* da = rstd * (d - mean(d) - xhat * mean(d * xhat)), where d = g * gain.  A row of any length: row i of all. */
INLINE void norm_any_back(float *g, const struct norm_back *p, size_t i, size_t n)
{
	const float *y = p->y ? p->y + i * n : NULL, *xhat = p->xhat + i * n;
	float rstd = p->rstd[i], rest = 0, restx = 0;
	vec s = {0}, sx = {0};
	size_t j = 0;
	for (; j + L <= n; j += L) {
		vec gj = IN(g + j), h = IN(xhat + j);
		if (y)
			gj = (vec)((ivec)(gj * p->scale) & (IN(y + j) > 0));
		vec d = gj * IN(p->gain + j);
		AT(p->ggain + j) += gj * h;
		AT(p->gbias + j) += gj;
		AT(g + j) = d;
		s += d;
		sx += d * h;
	}
	for (; j < n; j++) {
		float gj = !y ? g[j] : y[j] > 0 ? g[j] * p->scale : 0;
		p->ggain[j] += gj * xhat[j];
		p->gbias[j] += gj;
		g[j] = gj * p->gain[j];
		rest += g[j];
		restx += g[j] * xhat[j];
	}
	float m = (LANE_SUM(s) + rest) / (float)n, mx = (LANE_SUM(sx) + restx) / (float)n;
	for (j = 0; j + L <= n; j += L)
		AT(g + j) = rstd * (IN(g + j) - m - IN(xhat + j) * mx);
	for (; j < n; j++)
		g[j] = rstd * (g[j] - m - xhat[j] * mx);
	for (j = 0; p->gb && j < n; j++)
		p->gb[j] += g[j];
}

enum { BACK_ROWS = L / 2 }; /* whose two sums are a vector */

/* The same for BACK_ROWS rows of whole vectors, from row `row` on: what is added up over rows is read and written once
 * for all. */
INLINE void norm_some_back(float *g, const struct norm_back *p, size_t row, const size_t n,
			   const bool relu)
{
	const float *y = relu ? p->y + row * n : NULL, *xhat = p->xhat + row * n;
	const float *gain = p->gain, *rstd = p->rstd + row;
	float *ggain = p->ggain, *gbias = p->gbias, *gb = p->gb, scale = p->scale;
	vec s[L] = {{0}};
	float mean[L];
	for (size_t j = 0; j < n; j += L) {
		vec gg = IN(ggain + j), sum = IN(gbias + j), w = IN(gain + j);
		for (size_t i = 0; i < BACK_ROWS; i++) {
			vec gj = IN(g + i * n + j), h = IN(xhat + i * n + j);
			if (relu)
				gj = (vec)((ivec)(gj * scale) & (IN(y + i * n + j) > 0));
			vec d = gj * w;
			AT(g + i * n + j) = d;
			gg += gj * h;
			sum += gj;
			s[i] += d;
			s[BACK_ROWS + i] += d * h;
		}
		AT(ggain + j) = gg;
		AT(gbias + j) = sum;
	}
	lane_means(mean, s, n);
	for (size_t j = 0; j < n; j += L) {
		vec sum = gb ? IN(gb + j) : (vec){0};
		for (size_t i = 0; i < BACK_ROWS; i++) {
			vec v = rstd[i] * (IN(g + i * n + j) - mean[i] -
					   IN(xhat + i * n + j) * mean[BACK_ROWS + i]);
			AT(g + i * n + j) = v;
			sum += v;
		}
		if (gb)
			AT(gb + j) = sum;
	}
}

VECTOR_CLONES
void kern_norm_back(float *g, const struct norm_back *p, size_t rows, size_t n)
{
	size_t i = 0;
	for (; n % L == 0 && i + BACK_ROWS <= rows; i += BACK_ROWS)
		if (n == 8 * L && p->y)
			norm_some_back(g + i * n, p, i, 8 * L, true);
		else if (p->y)
			norm_some_back(g + i * n, p, i, n, true);
		else
			norm_some_back(g + i * n, p, i, n, false);
	for (; i < rows; i++)
		norm_any_back(g + i * n, p, i, n);
}

/* Columns j .. j + V vectors - 1 */
INLINE void gather_some(float *y, const float *x, const uint32_t *adj, const float *weight,
			size_t n_edges, size_t n, size_t j, const size_t V)
{
	vec a[8] = {{0}};
	for (size_t e = 0; e < n_edges; e++) {
		const float *p = x + (size_t)adj[e] * n + j;
		float w = weight[e];
		for (size_t i = 0; i < V; i++)
			a[i] += w * IN(p + i * L);
	}
	for (size_t i = 0; i < V; i++)
		AT(y + j + i * L) = a[i];
}

VECTOR_CLONES
void kern_gather_sum(float *y, const float *x, const uint32_t *adj, const float *weight,
		     size_t n_edges, size_t n)
{
	size_t j = 0;
	for (; j + 8 * L <= n; j += 8 * L)
		gather_some(y, x, adj, weight, n_edges, n, j, 8);
	for (; j + L <= n; j += L)
		gather_some(y, x, adj, weight, n_edges, n, j, 1);
	for (; j < n; j++) {
		float a = 0;
		for (size_t e = 0; e < n_edges; e++)
			a += weight[e] * x[(size_t)adj[e] * n + j];
		y[j] = a;
	}
}
