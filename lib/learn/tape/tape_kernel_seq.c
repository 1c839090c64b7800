/* tape_kernel_seq.c - inner loops of sequences: sigmoid, tanh, the LSTM cell, content attention. */
#include "learn/tape/tape_kernel.h"
#include "base/simd.h"

#include <math.h>

#define INLINE static inline __attribute__((always_inline))

/* tanh as a quotient of polynomials, least error on |x| < 7.9, where it is 1 within rounding. */
INLINE float tanh_of(float x)
{
	const float most = 7.90531110763549805f;
	x = x > most ? most : x; /* a NaN stays one */
	x = x < -most ? -most : x;
	float s = x * x;
	float p = -2.76076847742355e-16f;
	p = p * s + 2.00018790482477e-13f;
	p = p * s - 8.60467152213735e-11f;
	p = p * s + 5.12229709037114e-08f;
	p = p * s + 1.48572235717979e-05f;
	p = p * s + 6.37261928875436e-04f;
	p = p * s + 4.89352455891786e-03f;
	float q = 1.19825839466702e-06f;
	q = q * s + 1.18534705686654e-04f;
	q = q * s + 2.26843463243900e-03f;
	q = q * s + 4.89352518554385e-03f;
	return x * p / q;
}

INLINE float sigmoid_of(float x)
{
	return 0.5f + 0.5f * tanh_of(0.5f * x);
}

VECTOR_CLONES
void kern_tanh(float *y, const float *x, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] = tanh_of(x[j]);
}

/* Four rows of w at a time: y is loaded and stored once for them. */
VECTOR_CLONES
void kern_few_rows(const struct few_rows *p)
{
	size_t i = 0, n = p->n;
	for (; i + 4 <= p->m; i += 4) {
		const float *w0 = p->w + i * n, *w1 = w0 + n, *w2 = w1 + n, *w3 = w2 + n;
		for (size_t r = 0; r < p->rows; r++) {
			const float *x = p->x + r * p->x_row + i * p->x_col;
			float *y = p->y + r * p->y_row;
			float a = x[0], b = x[p->x_col], c = x[2 * p->x_col], d = x[3 * p->x_col];
			for (size_t j = 0; j < n; j++)
				y[j] += (a * w0[j] + b * w1[j]) + (c * w2[j] + d * w3[j]);
		}
	}
	for (; i < p->m; i++)
		for (size_t r = 0; r < p->rows; r++)
			for (size_t j = 0; j < n; j++)
				p->y[r * p->y_row + j] +=
					p->x[r * p->x_row + i * p->x_col] * p->w[i * n + j];
}

VECTOR_CLONES
void kern_lstm(float *gates, const float *c_before, float *h, float *c, size_t n)
{
	float *in = gates, *forget = in + n, *cell = forget + n, *out = cell + n;
	for (size_t j = 0; j < n; j++) {
		in[j] = sigmoid_of(in[j]);
		forget[j] = sigmoid_of(forget[j] + 1);
		cell[j] = tanh_of(cell[j]);
		out[j] = sigmoid_of(out[j]);
		c[j] = in[j] * cell[j] + (c_before ? forget[j] * c_before[j] : 0);
		h[j] = out[j] * tanh_of(c[j]);
	}
}

VECTOR_CLONES
void kern_lstm_back(float *pre, float *dc, const float *dh, const float *gates,
		    const float *c_before, const float *c, size_t n)
{
	const float *in = gates, *forget = in + n, *cell = forget + n, *out = cell + n;
	for (size_t j = 0; j < n; j++) {
		float t = tanh_of(c[j]);
		float d = dc[j] + dh[j] * out[j] * (1 - t * t);
		pre[j] = d * cell[j] * in[j] * (1 - in[j]);
		pre[n + j] = c_before ? d * c_before[j] * forget[j] * (1 - forget[j]) : 0;
		pre[2 * n + j] = d * in[j] * (1 - cell[j] * cell[j]);
		pre[3 * n + j] = dh[j] * t * out[j] * (1 - out[j]);
		dc[j] = d * forget[j];
	}
}

/* th (n) = tanh(q + key) */
INLINE void match(float *th, const float *q, const float *key, size_t n)
{
	for (size_t j = 0; j < n; j++)
		th[j] = tanh_of(q[j] + key[j]);
}

VECTOR_CLONES
void kern_scores(float *score, float *th, const float *q, const float *keys, const float *v,
		 size_t m, size_t n)
{
	for (size_t i = 0; i < m; i++) {
		match(th, q, keys + i * n, n);
		score[i] = kern_dot(v, th, n);
	}
}

/* gq, gkey, gv += the gradients of d * (v . th), th = tanh(q + key) */
INLINE void match_back(float *gq, float *gkey, float *gv, float d, const float *th, const float *v,
		       size_t n)
{
	for (size_t j = 0; j < n; j++) {
		float pre = d * v[j] * (1 - th[j] * th[j]);
		gq[j] += pre;
		gkey[j] += pre;
		gv[j] += d * th[j];
	}
}

/* The gradient of score i is p_i (g . values_i - g . y). */
VECTOR_CLONES
void kern_attend_back(const struct attend_row *r)
{
	float gy = kern_dot(r->g, r->y, r->a);
	for (size_t i = 0; i < r->m; i++) {
		const float *key = r->keys + i * r->h, *value = r->values + i * r->a;
		match(r->th, r->q, key, r->h);
		float p = expf(kern_dot(r->v, r->th, r->h) - r->log_sum);
		float d = p * (kern_dot(r->g, value, r->a) - gy);
		if (r->gvalues)
			kern_axpy(r->gvalues + i * r->a, p, r->g, r->a);
		match_back(r->gq, r->gkeys + i * r->h, r->gv, d, r->th, r->v, r->h);
	}
}
