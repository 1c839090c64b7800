/* kernel.c - the tape's inner loops, with vectors of 16 floats that the compiler
 * maps to what the processor has. */
#include "learn/kernel.h"

#include <math.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else
#define CLONES
#endif

enum { L = 16 };
typedef float vec __attribute__((vector_size(4 * L), aligned(4), may_alias));

static const float NORM_EPS = 1e-5f;

/* Sum of the lanes, halves first. */
#define LANE_SUM(v) \
	((((v[0] + v[8]) + (v[4] + v[12])) + ((v[2] + v[10]) + (v[6] + v[14]))) + \
	 (((v[1] + v[9]) + (v[5] + v[13])) + ((v[3] + v[11]) + (v[7] + v[15]))))
#define AT(p) (*(vec *)(p))
#define IN(p) (*(const vec *)(p))

CLONES void kern_add(float *y, const float *x, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] += x[j];
}

CLONES void kern_mul(float *y, const float *a, const float *b, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] = a[j] * b[j];
}

CLONES void kern_mul_add(float *y, const float *a, const float *b, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] += a[j] * b[j];
}

CLONES void kern_axpy(float *y, float s, const float *x, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] += s * x[j];
}

CLONES float kern_dot(const float *a, const float *b, size_t n)
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

CLONES void kern_bias_relu(float *y, const float *b, size_t rows, size_t n, bool relu)
{
	for (size_t i = 0; i < rows; i++, y += n) {
		if (b)
			for (size_t j = 0; j < n; j++)
				y[j] += b[j];
		if (relu)
			for (size_t j = 0; j < n; j++)
				y[j] = y[j] < 0 ? 0 : y[j];   /* a NaN stays one */
	}
}

CLONES void kern_drop(float *y, const uint16_t *bits, uint16_t threshold, float scale, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] = bits[j] >= threshold ? y[j] * scale : 0;
}

CLONES void kern_relu_back(float *g, const float *y, float scale, size_t n)
{
	for (size_t j = 0; j < n; j++)
		g[j] = y[j] > 0 ? g[j] * scale : 0;
}

CLONES void kern_colsum(float *sum, const float *g, size_t rows, size_t n)
{
	for (size_t i = 0; i < rows; i++, g += n)
		for (size_t j = 0; j < n; j++)
			sum[j] += g[j];
}

CLONES float kern_norm(float *y, float *xhat, const float *x, const float *r, const float *gain,
		       const float *bias, size_t n, bool relu)
{
	vec s = {0};
	float rest = 0;
	size_t j = 0;
	for (; j + L <= n; j += L) {
		vec a = IN(x + j);
		if (r)
			a += IN(r + j);
		AT(xhat + j) = a;
		s += a;
	}
	for (; j < n; j++) {
		xhat[j] = r ? x[j] + r[j] : x[j];
		rest += xhat[j];
	}
	float mean = (LANE_SUM(s) + rest) / (float)n;

	s = (vec){0};
	rest = 0;
	for (j = 0; j + L <= n; j += L) {
		vec a = IN(xhat + j) - mean;
		AT(xhat + j) = a;
		s += a * a;
	}
	for (; j < n; j++) {
		xhat[j] -= mean;
		rest += xhat[j] * xhat[j];
	}
	float rstd = 1.0f / sqrtf((LANE_SUM(s) + rest) / (float)n + NORM_EPS);

	for (j = 0; j < n; j++) {
		float h = xhat[j] * rstd;
		float v = h * gain[j] + bias[j];
		xhat[j] = h;
		y[j] = relu && v < 0 ? 0 : v;   /* a NaN stays one */
	}
	return rstd;
}

CLONES void kern_norm_back(float *dx, bool add, float *ggain, float *gbias, const float *g,
			   const float *xhat, const float *gain, float rstd, size_t n)
{
	vec s = {0}, sx = {0};      /* sums of dxhat and of dxhat * xhat */
	float rest = 0, restx = 0;
	size_t j = 0;
	for (; j + L <= n; j += L) {
		vec gj = IN(g + j), d = gj * IN(gain + j), h = IN(xhat + j);
		AT(ggain + j) += gj * h;
		AT(gbias + j) += gj;
		s += d;
		sx += d * h;
	}
	for (; j < n; j++) {
		float d = g[j] * gain[j];
		ggain[j] += g[j] * xhat[j];
		gbias[j] += g[j];
		rest += d;
		restx += d * xhat[j];
	}
	float m = (LANE_SUM(s) + rest) / (float)n, mx = (LANE_SUM(sx) + restx) / (float)n;
	if (add)
		for (j = 0; j < n; j++)
			dx[j] += rstd * (g[j] * gain[j] - m - xhat[j] * mx);
	else
		for (j = 0; j < n; j++)
			dx[j] = rstd * (g[j] * gain[j] - m - xhat[j] * mx);
}

CLONES void kern_gather_sum(float *y, const float *x, const uint32_t *adj, const float *weight,
			    size_t n_edges, size_t n)
{
	size_t j = 0;
	for (; j + 4 * L <= n; j += 4 * L) {
		vec a = {0}, b = {0}, c = {0}, d = {0};
		for (size_t e = 0; e < n_edges; e++) {
			const float *p = x + (size_t)adj[e] * n + j;
			float w = weight[e];
			a += w * IN(p);
			b += w * IN(p + L);
			c += w * IN(p + 2 * L);
			d += w * IN(p + 3 * L);
		}
		AT(y + j) = a;
		AT(y + j + L) = b;
		AT(y + j + 2 * L) = c;
		AT(y + j + 3 * L) = d;
	}
	for (; j < n; j++) {
		float a = 0;
		for (size_t e = 0; e < n_edges; e++)
			a += weight[e] * x[(size_t)adj[e] * n + j];
		y[j] = a;
	}
}
