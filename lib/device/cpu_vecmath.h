/* cpu_vecmath.h - exp, tanh and their kin for one float, without branches, so that loops
 * over them vectorise.  Included once per level (cpu_levels.h), never guarded.
 * Relative errors below 2e-7 (exp), 3e-7 (tanh, sigmoid, erf); tests/unit/test_op.c holds them to
 * 1e-6. */

static inline float LEVEL(from_bits)(int32_t i)
{
	union { int32_t i; float f; } x = {i};
	return x.f;
}

static inline int32_t LEVEL(to_bits)(float f)
{
	union { float f; int32_t i; } x = {f};
	return x.i;
}

/* 2^i for -126 <= i <= 127. */
static inline float LEVEL(pow2)(int32_t i)
{
	return LEVEL(from_bits)((int32_t)((uint32_t)(i + 127) << 23));
}

/* |x| with the sign of s. */
static inline float LEVEL(with_sign)(float x, float s)
{
	return LEVEL(from_bits)((LEVEL(to_bits)(x) & 0x7fffffff) | (LEVEL(to_bits)(s) & INT32_MIN));
}

/* x = n ln 2 + r, |r| <= ln 2 / 2; e^r by a polynomial of degree 6; 2^n in two factors, so that
 * results may be subnormal or infinite. */
static inline float LEVEL(vexp)(float x)
{
	float c = x > 89 ? 89 : x;
	c = c < -104 ? -104 : c;
	float shifted = FMA(c, 1.44269504f, 12582912.0f);    /* rounds: n is in its low bits */
	float n = shifted - 12582912.0f;
	float r = FMA(n, -0.693359375f, c);
	r = FMA(n, 2.12194440e-4f, r);
	float p = 1.9875691500e-4f;
	p = FMA(p, r, 1.3981999507e-3f);
	p = FMA(p, r, 8.3334519073e-3f);
	p = FMA(p, r, 4.1665795894e-2f);
	p = FMA(p, r, 1.6666665459e-1f);
	p = FMA(p, r, 5.0000001201e-1f);
	p = FMA(p, r * r, r) + 1;
	int32_t i = LEVEL(to_bits)(shifted) - 0x4b400000, half = i >> 1;
	return p * LEVEL(pow2)(half) * LEVEL(pow2)(i - half);
}

static inline float LEVEL(vsigmoid)(float x)
{
	return 1 / (1 + LEVEL(vexp)(-x));
}

static inline float LEVEL(vtanh)(float x)
{
	float t = x < 0 ? -x : x, s = x * x;
	float p = -5.70498872745e-3f;
	p = FMA(p, s, 2.06390887954e-2f);
	p = FMA(p, s, -5.37397155531e-2f);
	p = FMA(p, s, 1.33314422036e-1f);
	p = FMA(p, s, -3.33332819422e-1f);
	float small = FMA(p * s, x, x);
	float large = 1 - 2 / (LEVEL(vexp)(2 * t) + 1);
	return t < 0.625f ? small : LEVEL(with_sign)(large, x);
}

/* x P(x^2) / Q(x^2) with least relative error where |erf| < 1 - 3e-8. */
static inline float LEVEL(verf)(float x)
{
	float c = x > 3.925f ? 3.925f : x;
	c = c < -3.925f ? -3.925f : c;
	float s = c * c;
	float p = FMA(2.0460229456e-6f, s, 2.8484484238e-4f);
	p = FMA(p, s, 3.7725963421e-3f);
	p = FMA(p, s, 5.2769441427e-2f);
	p = FMA(p, s, 1.9059479786e-1f);
	p = FMA(p, s, 1.1283791458f);
	float q = FMA(3.8047796990e-5f, s, 1.1638694892e-3f);
	q = FMA(q, s, 1.4983290143e-2f);
	q = FMA(q, s, 1.1418315739e-1f);
	q = FMA(q, s, 5.0224297195e-1f);
	q = FMA(q, s, 1.0f);
	float y = c * p / q;
	y = y > 1 ? 1 : y;
	return y < -1 ? -1 : y;
}
