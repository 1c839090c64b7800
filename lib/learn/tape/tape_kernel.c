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
	for (size_t i = 0; i < rows; i++, y += n) {
		if (b)
			for (size_t j = 0; j < n; j++)
				y[j] += b[j];
		if (relu)
			for (size_t j = 0; j < n; j++)
				y[j] = y[j] < 0 ? 0 : y[j]; /* a NaN stays one */
	}
}

VECTOR_CLONES
void kern_drop(float *y, const uint8_t *bits, uint8_t threshold, float scale, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] = bits[j] >= threshold ? y[j] * scale : 0;
}

VECTOR_CLONES
void kern_relu_back(float *g, const float *y, float scale, size_t n)
{
	for (size_t j = 0; j < n; j++)
		g[j] = y[j] > 0 ? g[j] * scale : 0;
}

VECTOR_CLONES
void kern_colsum(float *sum, const float *g, size_t rows, size_t n)
{
	for (size_t i = 0; i < rows; i++, g += n)
		for (size_t j = 0; j < n; j++)
			sum[j] += g[j];
}

#define INLINE static inline __attribute__((always_inline))

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

/* The same for rows of V vectors, which stay in registers. */
INLINE float norm_short(float *y, float *xhat, const float *x, const float *r,
			const struct norm_row *p, const size_t V)
{
	vec a[8], s = {0}, t = {0};
	for (size_t i = 0; i < V; i++) {
		a[i] = IN(x + i * L);
		if (p->b)
			a[i] += IN(p->b + i * L);
		if (r)
			a[i] += IN(r + i * L);
	}
	for (size_t i = 0; i < V; i += 2) {
		s += a[i];
		t += a[i + 1];
	}
	s += t;
	float mean = LANE_SUM(s) / (float)(V * L);
	s = t = (vec){0};
	for (size_t i = 0; i < V; i += 2) {
		a[i] -= mean;
		a[i + 1] -= mean;
		s += a[i] * a[i];
		t += a[i + 1] * a[i + 1];
	}
	s += t;
	float rstd = 1.0f / sqrtf(LANE_SUM(s) / (float)(V * L) + NORM_EPS);
	for (size_t i = 0; i < V; i++) {
		vec h = a[i] * rstd, v = h * IN(p->gain + i * L) + IN(p->bias + i * L);
		if (xhat)
			AT(xhat + i * L) = h;
		if (p->relu)
			v = (vec)((ivec)v & ~(v < 0)); /* a NaN stays one */
		AT(y + i * L) = v;
	}
	return rstd;
}

VECTOR_CLONES
void kern_norm(float *y, float *xhat, float *rstd, const float *x, const float *r, size_t rows,
	       const struct norm_row *p)
{
	size_t n = p->n;
	for (size_t i = 0; i < rows; i++) {
		size_t at = i * n;
		float *h = xhat ? xhat + at : NULL;
		const float *ri = r ? r + at : NULL;
		rstd[i] = n == 8 * L ? norm_short(y + at, h, x + at, ri, p, 8)
				     : norm_any(y + at, h, x + at, ri, p);
	}
}

/* da = rstd * (d - mean(d) - xhat * mean(d * xhat)), where d = g * gain */
VECTOR_CLONES
void kern_norm_back(float *g, float *ggain, float *gbias, const float *xhat, const float *rstd,
		    const float *gain, size_t rows, size_t n)
{
	for (size_t i = 0; i < rows; i++, g += n, xhat += n) {
		vec s = {0}, sx = {0};
		float rest = 0, restx = 0;
		size_t j = 0;
		for (; j + L <= n; j += L) {
			vec gj = IN(g + j), h = IN(xhat + j), d = gj * IN(gain + j);
			AT(ggain + j) += gj * h;
			AT(gbias + j) += gj;
			AT(g + j) = d;
			s += d;
			sx += d * h;
		}
		for (; j < n; j++) {
			ggain[j] += g[j] * xhat[j];
			gbias[j] += g[j];
			g[j] *= gain[j];
			rest += g[j];
			restx += g[j] * xhat[j];
		}
		float m = (LANE_SUM(s) + rest) / (float)n, mx = (LANE_SUM(sx) + restx) / (float)n;
		for (j = 0; j + L <= n; j += L)
			AT(g + j) = rstd[i] * (IN(g + j) - m - IN(xhat + j) * mx);
		for (; j < n; j++)
			g[j] = rstd[i] * (g[j] - m - xhat[j] * mx);
	}
}

VECTOR_CLONES
void kern_gather_sum(float *y, const float *x, const uint32_t *adj, const float *weight,
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
