/* tape_kernel_seq.c - inner loops of sequences: sigmoid, tanh, exp, the LSTM cell. */
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

/* Vectors are passed to functions that are inlined always: no call depends on how. */
#pragma GCC diagnostic ignored "-Wpsabi"

/* ---- the LSTM cell ----
 *
 * Sixteen columns at a time in vectors of their own: pointers into one array keep the compiler from
 * finding them itself. */

INLINE vec tanh_lanes(vec x)
{
	vec y;
	for (size_t l = 0; l < L; l++)
		y[l] = tanh_of(x[l]);
	return y;
}

INLINE vec sigmoid_lanes(vec x)
{
	vec y;
	for (size_t l = 0; l < L; l++)
		y[l] = sigmoid_of(x[l]);
	return y;
}

/* The first n of L floats; the others are 0. */
INLINE vec load_some(const float *p, size_t n)
{
	vec v = {0};
	if (n == L)
		v = IN(p);
	else
		memcpy(&v, p, n * sizeof *p);
	return v;
}

INLINE void store_some(float *p, vec v, size_t n)
{
	if (n == L)
		AT(p) = v;
	else
		memcpy(p, &v, n * sizeof *p);
}

/* The sums of one gate: x (n) and what is `at` behind more, which may be NULL. */
INLINE vec gate_sum(const float *x, const float *more, size_t at, size_t some)
{
	vec v = load_some(x + at, some);
	if (more)
		v += load_some(more + at, some);
	return v;
}

VECTOR_CLONES
void kern_lstm(float *gates, const float *x, const float *more, const float *c_before, float *h,
	       float *c, size_t n)
{
	for (size_t j = 0; j < n; j += L) {
		size_t some = n - j < L ? n - j : L;
		vec in = sigmoid_lanes(gate_sum(x, more, j, some));
		vec forget = sigmoid_lanes(gate_sum(x, more, n + j, some) + 1);
		vec cell = tanh_lanes(gate_sum(x, more, 2 * n + j, some));
		vec out = sigmoid_lanes(gate_sum(x, more, 3 * n + j, some));
		vec now = in * cell;
		if (c_before)
			now += forget * load_some(c_before + j, some);
		store_some(gates + j, in, some);
		store_some(gates + n + j, forget, some);
		store_some(gates + 2 * n + j, cell, some);
		store_some(gates + 3 * n + j, out, some);
		store_some(c + j, now, some);
		store_some(h + j, out * tanh_lanes(now), some);
	}
}

VECTOR_CLONES
void kern_lstm_back(float *pre, float *dc, const float *dh, const float *gates,
		    const float *c_before, const float *c, size_t n)
{
	for (size_t j = 0; j < n; j += L) {
		size_t some = n - j < L ? n - j : L;
		vec in = load_some(gates + j, some), forget = load_some(gates + n + j, some);
		vec cell = load_some(gates + 2 * n + j, some);
		vec out = load_some(gates + 3 * n + j, some);
		vec t = tanh_lanes(load_some(c + j, some)), g = load_some(dh + j, some);
		vec d = load_some(dc + j, some) + g * out * (1 - t * t);
		vec before = {0};
		if (c_before)
			before = load_some(c_before + j, some);
		store_some(pre + j, d * cell * in * (1 - in), some);
		store_some(pre + n + j, d * before * forget * (1 - forget), some);
		store_some(pre + 2 * n + j, d * in * (1 - cell * cell), some);
		store_some(pre + 3 * n + j, g * t * out * (1 - out), some);
		store_some(dc + j, d * forget, some);
	}
}

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
