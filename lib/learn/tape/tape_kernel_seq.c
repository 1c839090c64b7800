/* tape_kernel_seq.c - tanh, exp and sums of many numbers. */
#include "learn/tape/tape_kernel.h"
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

VECTOR_CLONES
void kern_tanh(float *y, const float *x, size_t n)
{
	for (size_t j = 0; j < n; j++)
		y[j] = tanh_of(x[j]);
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

VECTOR_CLONES
double kern_sum(const float *x, size_t n)
{
	enum { LANES = 8 };
	double lane[LANES] = {0}, sum = 0;
	size_t j = 0;
	for (; j + LANES <= n; j += LANES)
		for (size_t l = 0; l < LANES; l++)
			lane[l] += x[j + l];
	for (size_t l = 0; l < LANES; l++)
		sum += lane[l];
	for (; j < n; j++)
		sum += x[j];
	return sum;
}
