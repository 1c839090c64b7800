/* tape_kernel_seq.c - inner loops of sequences: sigmoid, tanh, the LSTM cell, content attention. */
#include "learn/tape/tape_kernel.h"
#include "learn/tape/tape_lanes.h"
#include "base/simd.h"

#include <stdint.h>
#include <string.h>

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

/* ---- content attention ----
 *
 * tanh(q + key) = 1 - 2 w with w = 1 / (1 + exp(2q) exp(2 key)): exponentials are made once for each q and
 * each key, and four divisions share one.  Beyond 1e9 the product of exponentials changes no bit of 1 - 2 w;
 * it stays there, so that no product of four sums overflows. */

/* exp(x), |x| < 87, within two units of the last place: 2^k exp(r), |r| < log(2) / 2. */
INLINE float exp_of(float x)
{
	const float magic = 12582912.0f; /* 1.5 * 2^23: rounds to whole numbers */
	float k = x * 1.44269504f + magic;
	int32_t bits;
	memcpy(&bits, &k, sizeof bits);
	k -= magic;
	float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
	float p = 1.9875691500e-4f;
	p = p * r + 1.3981999507e-3f;
	p = p * r + 8.3334519073e-3f;
	p = p * r + 4.1665795894e-2f;
	p = p * r + 1.6666665459e-1f;
	p = p * r + 5.0000001201e-1f;
	p = p * (r * r) + r + 1;
	bits = (int32_t)((uint32_t)bits << 23) + 0x3f800000;
	float scale;
	memcpy(&scale, &bits, sizeof scale);
	return p * scale;
}

VECTOR_CLONES
void kern_exp(float *y, const float *x, float factor, float shift, size_t n)
{
	const float most = 80;
	for (size_t j = 0; j < n; j++) {
		float a = x[j] * factor - shift;
		a = a > most ? most : a; /* a NaN stays one */
		a = a < -most ? -most : a;
		y[j] = exp_of(a);
	}
}

/* 1 / w */
INLINE float match(float eq, float ekey)
{
	const float most = 1e9f;
	float x = eq * ekey;
	x = x > most ? most : x; /* a NaN stays one */
	return 1 + x;
}

enum { FOUR = 4 * L }; /* columns whose divisions are shared */

VECTOR_CLONES
void kern_scores(float *score, const float *eq, const float *ekeys, const float *v, size_t m,
		 size_t n)
{
	float lane[L] = {0}, all = 0;
	for (size_t j = 0; j < n; j++)
		lane[j % L] += v[j];
	for (size_t l = 0; l < L; l++)
		all += lane[l];
	for (size_t i = 0; i < m; i++) {
		const float *k = ekeys + i * n;
		vec sums = {0};
		float rest = 0;
		size_t j = 0;
		for (; j + FOUR <= n; j += FOUR) {
			vec part;
			for (size_t l = 0; l < L; l++) {
				const float *e = eq + j + l, *kl = k + j + l, *vl = v + j + l;
				float a = match(e[0], kl[0]), b = match(e[L], kl[L]);
				float c = match(e[2 * L], kl[2 * L]),
				      d = match(e[3 * L], kl[3 * L]);
				float ab = a * b, cd = c * d;
				float x = vl[0] * b + vl[L] * a, y = vl[2 * L] * d + vl[3 * L] * c;
				part[l] = (x * cd + y * ab) / (ab * cd);
			}
			sums += part;
		}
		for (; j < n; j++)
			rest += v[j] / match(eq[j], k[j]);
		score[i] = all - 2 * (LANE_SUM(sums) + rest);
	}
}

/* Columns [j, j + FOUR) of kern_scores_back: sums over the keys stay in registers. */
INLINE void columns_back(const struct scores_back *r, size_t j)
{
	float eq[FOUR], uq[FOUR] = {0}, wd[FOUR] = {0};
	memcpy(eq, r->eq + j, sizeof eq);
	for (size_t i = 0; i < r->m; i++) {
		const float *k = r->ekeys + i * r->n + j;
		float *uk = r->ukeys + i * r->n + j, g = r->d[i];
		for (size_t l = 0; l < L; l++) {
			float a = match(eq[l], k[l]), b = match(eq[L + l], k[L + l]);
			float c = match(eq[2 * L + l], k[2 * L + l]),
			      d = match(eq[3 * L + l], k[3 * L + l]);
			float ab = a * b, cd = c * d, inverse = 1 / (ab * cd);
			float iab = cd * inverse, icd = ab * inverse;
			float wa = b * iab, wb = a * iab, wc = d * icd, we = c * icd;
			float ga = g * wa, gb = g * wb, gc = g * wc, ge = g * we;
			float ua = ga - ga * wa, ub = gb - gb * wb, uc = gc - gc * wc,
			      ue = ge - ge * we;
			wd[l] += ga;
			wd[L + l] += gb;
			wd[2 * L + l] += gc;
			wd[3 * L + l] += ge;
			uq[l] += ua;
			uq[L + l] += ub;
			uq[2 * L + l] += uc;
			uq[3 * L + l] += ue;
			uk[l] += ua;
			uk[L + l] += ub;
			uk[2 * L + l] += uc;
			uk[3 * L + l] += ue;
		}
	}
	for (size_t l = 0; l < FOUR; l++) {
		r->uq[j + l] = uq[l];
		r->wd[j + l] += wd[l];
	}
}

VECTOR_CLONES
void kern_scores_back(const struct scores_back *r)
{
	size_t j = 0;
	for (; j + FOUR <= r->n; j += FOUR)
		columns_back(r, j);
	for (; j < r->n; j++) {
		float uq = 0;
		for (size_t i = 0; i < r->m; i++) {
			float w = 1 / match(r->eq[j], r->ekeys[i * r->n + j]), g = r->d[i] * w;
			r->wd[j] += g;
			uq += g - g * w;
			r->ukeys[i * r->n + j] += g - g * w;
		}
		r->uq[j] = uq;
	}
}
