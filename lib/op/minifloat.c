/* minifloat.c - real numbers of 16, 8 and 4 bits. */
#include "op/minifloat.h"

#include <math.h>

/* ---- 16 bits ---- */

float half_to_float(uint16_t h)
{
	uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = h >> 10 & 31, mantissa = h & 0x3ff;
	union {
		uint32_t u;
		float f;
	} x;
	if (exponent == 31) {
		x.u = sign | 0x7f800000 | mantissa << 13;
	} else if (exponent) {
		x.u = sign | (exponent + 112) << 23 | mantissa << 13;
	} else {
		x.f = (float)mantissa * 0x1p-24f;
		x.u |= sign;
	}
	return x.f;
}

uint16_t half_from_float(float f)
{
	union {
		float f;
		uint32_t u;
	} x = {f}, y;
	uint16_t sign = (uint16_t)(x.u >> 16 & 0x8000);
	x.u &= 0x7fffffff;
	if (x.u > 0x7f800000)
		return sign | 0x7e00;
	if (x.u >= 0x477ff000) /* rounds to infinity */
		return sign | 0x7c00;
	if (x.u < 0x38800000) { /* subnormal: let the addition round */
		y.f = x.f + 0.5f;
		return sign | (uint16_t)(y.u - 0x3f000000);
	}
	x.u += 0xc8000fff + (x.u >> 13 & 1);
	return sign | (uint16_t)(x.u >> 13);
}

float bf16_to_float(uint16_t h)
{
	union {
		uint32_t u;
		float f;
	} x = {(uint32_t)h << 16};
	return x.f;
}

uint16_t bf16_from_float(float f)
{
	union {
		float f;
		uint32_t u;
	} x = {f};
	if ((x.u & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(x.u >> 16 | 0x40);
	return (uint16_t)((x.u + 0x7fff + (x.u >> 16 & 1)) >> 16);
}

/* ---- 8 and 4 bits ---- */

static const float nf4_level[16] = {-1.0f,
				    -0.6961928009986877f,
				    -0.5250730514526367f,
				    -0.39491748809814453f,
				    -0.28444138169288635f,
				    -0.18477343022823334f,
				    -0.09105003625154495f,
				    0.0f,
				    0.07958029955625534f,
				    0.16093020141124725f,
				    0.24611230194568634f,
				    0.33791524171829224f,
				    0.44070982933044434f,
				    0.5626170039176941f,
				    0.7229568362236023f,
				    1.0f};

double nf4_value(unsigned code)
{
	return (double)nf4_level[code & 15];
}

double f4e2m1_value(unsigned code)
{
	static const double level[8] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
	return code & 8 ? -level[code & 7] : level[code & 7];
}

double f8e4m3_value(unsigned code)
{
	int exponent = (int)(code >> 3 & 15), fraction = (int)(code & 7);
	double x = exponent == 0 ? ldexp(fraction, -9) : ldexp(8 + fraction, exponent - 10);
	if ((code & 127) == 127)
		return (double)NAN;
	return code & 128 ? -x : x;
}

double f8e5m2_value(unsigned code)
{
	return (double)half_to_float((uint16_t)(code << 8));
}

double f8e8m0_value(unsigned code)
{
	return code == 255 ? (double)NAN : ldexp(1, (int)code - 127);
}

/* The upper `32 - bits` bits of u, rounded to even by the lower ones. */
static uint32_t upper_bits(uint32_t u, unsigned bits)
{
	return (u + (1u << (bits - 1)) - 1 + (u >> bits & 1)) >> bits;
}

uint8_t f8e5m2_code(float x)
{
	uint32_t half = half_from_float(x), sign = half >> 8 & 0x80, size = half & 0x7fff;
	if (size > 0x7c00)
		return (uint8_t)(sign | 0x7e);
	return (uint8_t)(sign | upper_bits(size, 8));
}

uint8_t f8e4m3_code(float x)
{
	uint32_t half = half_from_float(x), sign = half >> 8 & 0x80;
	float size = half_to_float((uint16_t)(half & 0x7fff));
	/* Below 2^-6 codes are multiples of 2^-9; above, f16 has 7 bits and 8 of exponent more. */
	if (size < 0x1p-6f)
		return (uint8_t)(sign | (uint32_t)nearbyintf(size * 0x1p9f));
	uint32_t code = upper_bits(half & 0x7fff, 7) - (8 << 3);
	return (uint8_t)(sign | (size > 464 || !(size == size) ? 0x7f : code));
}

uint8_t f8e8m0_code(float x)
{
	union {
		float f;
		uint32_t u;
	} bits = {x};
	if (x != x)
		return 255;
	if (!(x > 0))
		return 0;
	/* Below 2^-126 floats have no exponent: 1.5 * 2^-127 is between codes 0 and 1. */
	uint32_t code = bits.u < 0x00800000 ? bits.u > 0x00600000 : upper_bits(bits.u, 23);
	return (uint8_t)(code > 254 ? 254 : code);
}

unsigned f4e2m1_code(float x)
{
	float size = fabsf(x);
	unsigned code = 0;
	/* Up while x is nearer to the next level, or as near and that one is even. */
	for (; code < 7; code++) {
		float middle = (float)(f4e2m1_value(code) + f4e2m1_value(code + 1)) / 2;
		if (size < middle || (size == middle && !(code & 1)))
			break;
	}
	return code | (signbit(x) ? 8 : 0);
}

unsigned nf4_code(float x)
{
	unsigned code = 0;
	while (code < 15 && x > (nf4_level[code] + nf4_level[code + 1]) / 2)
		code++;
	return code;
}
