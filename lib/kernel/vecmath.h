/* vecmath.h - exp, tanh and their kin for one float, without branches, so that loops
 * over them vectorise; and rows of sigmoids.  Included once per level (isa_dispatch.h), never
 * guarded.
 * Relative errors below 2e-7 (exp), 3e-7 (tanh, sigmoid, erf); tests/unit/test_op.c holds them, and sin
 * and cos, to 1e-6. */

static inline float LEVEL(from_bits)(int32_t i)
{
	union {
		int32_t i;
		float f;
	} x = {i};
	return x.f;
}

static inline int32_t LEVEL(to_bits)(float f)
{
	union {
		float f;
		int32_t i;
	} x = {f};
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
	float shifted = FMA(c, 1.44269504f, 12582912.0f); /* rounds: n is in its low bits */
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

/* x = 2^n m, sqrt(1/2) <= m < sqrt(2): n ln 2 + ln m by a polynomial (Cephes, logf). */
static inline float LEVEL(vlog)(float x)
{
	float scaled = x < 1.17549435e-38f ? x * 8388608.0f : x; /* subnormal ones by 2^23 */
	int32_t bits = LEVEL(to_bits)(scaled);
	float n = (float)((bits >> 23) - 126) - (x < 1.17549435e-38f ? 23.0f : 0.0f);
	float m = LEVEL(from_bits)((bits & 0x007fffff) | 0x3f000000);
	n -= m < 0.707106781f ? 1.0f : 0.0f;
	m = (m < 0.707106781f ? m + m : m) - 1;
	float s = m * m, p = 7.0376836292e-2f;
	p = FMA(p, m, -1.1514610310e-1f);
	p = FMA(p, m, 1.1676998740e-1f);
	p = FMA(p, m, -1.2420140846e-1f);
	p = FMA(p, m, 1.4249322787e-1f);
	p = FMA(p, m, -1.6668057665e-1f);
	p = FMA(p, m, 2.0000714765e-1f);
	p = FMA(p, m, -2.4999993993e-1f);
	p = FMA(p, m, 3.3333331174e-1f);
	float y = FMA(n, -2.12194440e-4f, p * m * s);
	y = FMA(n, 0.693359375f, m + FMA(-0.5f, s, y));
	y = x > 3.40282347e38f ? x : y; /* infinity, not a number */
	y = x == 0 ? -__builtin_inff() : y;
	return x < 0 || x != x ? __builtin_nanf("") : y;
}

/* ln(1 + e^x) = max(x, 0) + ln(1 + u), u = e^-|x|; what 1 + u loses of u is put back. */
static inline float LEVEL(vsoftplus)(float x)
{
	float u = LEVEL(vexp)(x < 0 ? x : -x), w = 1 + u;
	float rest = (u - (w - 1)) / w;
	return (x > 0 ? x : 0) + (LEVEL(vlog)(w) + rest);
}

/* x tanh(ln(1 + e^x)), with n = e^x (e^x + 2): x n / (n + 2). */
static inline float LEVEL(vmish)(float x)
{
	float e = LEVEL(vexp)(x > 20 ? 20 : x), n = e * (e + 2);
	float y = x * n / (n + 2);
	return x > 20 ? x : y;
}

/* a (e^x - 1) where x < 0, b x elsewhere. */
static inline float LEVEL(velu)(float x, float a, float b)
{
	float low = a * (LEVEL(vexp)(x > 0 ? 0 : x) - 1);
	return x > 0 ? b * x : low;
}

/* Limited to 0 .. 6, a sixth of x + 3. */
static inline float LEVEL(vhsigmoid)(float x)
{
	float v = x + 3;
	v = v < 0 ? 0 : v; /* a NaN stays one */
	return (v > 6 ? 6 : v) * (1 / 6.0f);
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

#if LEVEL_WIDTH > 4
/* sin x, or with one quarter cos x, for |x| <= 30,000: x = n pi / 2 + r, |r| <= pi / 4, and polynomials (Cephes,
 * sinf and cosf).  Not without fused multiply-adds: n pi / 2 must not be rounded. */
static inline float LEVEL(vsin)(float x, int32_t quarters)
{
	float shifted = FMA(x, 0.636619772f, 12582912.0f); /* rounds: n is in its low bits */
	float n = shifted - 12582912.0f;
	float r = FMA(n, -1.57079637f, x);
	r = FMA(n, 4.37113883e-8f, r);
	r = FMA(n, 1.71512451e-15f, r);
	float s = r * r;
	float p = FMA(-1.9515295891e-4f, s, 8.3321608736e-3f);
	p = FMA(p, s, -1.6666654611e-1f);
	float sine = FMA(p * s, r, r);
	float q = FMA(2.443315711809948e-5f, s, -1.388731625493765e-3f);
	q = FMA(q, s, 4.166664568298827e-2f);
	float cosine = FMA(q * s, s, FMA(-0.5f, s, 1));
	int32_t turn = LEVEL(to_bits)(shifted) + quarters;
	float v = turn & 1 ? cosine : sine;
	return LEVEL(from_bits)(LEVEL(to_bits)(v) ^ (int32_t)((uint32_t)turn << 30 & 0x80000000u));
}
#endif

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

#if LEVEL_WIDTH == 16
/* e^c without its power of two: p of p 2^n, as vexp. */
static inline __attribute__((always_inline)) VEC LEVEL(exp_factor)(VEC c, VEC *n)
{
	*n = _mm512_roundscale_ps(VMUL(c, VALL(1.44269504f)), 0);
	VEC r = VFMA(*n, VALL(2.12194440e-4f), VFMA(*n, VALL(-0.693359375f), c));
	VEC p = VFMA(VALL(1.9875691500e-4f), r, VALL(1.3981999507e-3f));
	p = VFMA(p, r, VALL(8.3334519073e-3f));
	p = VFMA(p, r, VALL(4.1665795894e-2f));
	p = VFMA(p, r, VALL(1.6666665459e-1f));
	p = VFMA(p, r, VALL(5.0000001201e-1f));
	return VADD(VFMA(p, VMUL(r, r), r), VALL(1.0f));
}
#endif

/* 1 / (1 + e^-v): at least 1e-38, and a little above 0 where it should be less.  With AVX-512 a
 * reciprocal and a step of Newton's instead of a division, which is most of the time. */
static inline VEC LEVEL(sigmoids)(VEC v)
{
#if LEVEL_WIDTH == 16
	/* NaN is the second operand, and stays. */
	VEC c = VMAX(VALL(-104.0f), VMIN(VALL(87.0f), VSUB(VALL(0.0f), v)));
	VEC n, p = LEVEL(exp_factor)(c, &n);
	VEC d = VADD(VALL(1.0f), _mm512_scalef_ps(p, n));
	VEC y = _mm512_rcp14_ps(d);
	return VMUL(y, _mm512_fnmadd_ps(d, y, VALL(2.0f)));
#else
	float t[LEVEL_WIDTH];
	VSTORE(t, v);
	for (int i = 0; i < LEVEL_WIDTH; i++)
		t[i] = LEVEL(vsigmoid)(t[i]);
	return VLOAD(t);
#endif
}

#if LEVEL_WIDTH == 16
/* e^v for v <= 0, 0 where that is below 1e-38. */
static inline VEC LEVEL(exps)(VEC v)
{
	VEC c = VMAX(VALL(-87.3f), v); /* NaN stays */
	VEC n, p = LEVEL(exp_factor)(c, &n);
	__mmask16 there = _mm512_cmp_ps_mask(v, VALL(-87.3f), _CMP_NLT_UQ);
	return _mm512_maskz_scalef_ps(there, p, n);
}

/* v / 2 (1 + erf(v / sqrt 2)), as verf, but with a reciprocal and a step of Newton's. */
static inline VEC LEVEL(gelus)(VEC v)
{
	VEC c = VMIN(VALL(3.925f), VMAX(VALL(-3.925f), VMUL(v, VALL(0.707106781f))));
	VEC s = VMUL(c, c);
	VEC p = VFMA(VALL(2.0460229456e-6f), s, VALL(2.8484484238e-4f));
	p = VFMA(p, s, VALL(3.7725963421e-3f));
	p = VFMA(p, s, VALL(5.2769441427e-2f));
	p = VFMA(p, s, VALL(1.9059479786e-1f));
	p = VFMA(p, s, VALL(1.1283791458f));
	VEC q = VFMA(VALL(3.8047796990e-5f), s, VALL(1.1638694892e-3f));
	q = VFMA(q, s, VALL(1.4983290143e-2f));
	q = VFMA(q, s, VALL(1.1418315739e-1f));
	q = VFMA(q, s, VALL(5.0224297195e-1f));
	q = VFMA(q, s, VALL(1.0f));
	VEC y = _mm512_rcp14_ps(q);
	y = VMUL(VMUL(c, p), VMUL(y, _mm512_fnmadd_ps(q, y, VALL(2.0f))));
	y = VMIN(VALL(1.0f), VMAX(VALL(-1.0f), y));
	VEC half = VMUL(VALL(0.5f), v);
	return VFMA(half, y, half);
}
#endif

#if LEVEL_WIDTH == 16
/* ln(1 + e^v): max(v, 0) + ln(1 + u), u = e^-|v|, where ln(1 + u) = 2 artanh(u / (2 + u)) by its series, of which s^14 is
 * below a 24th bit. */
static inline VEC LEVEL(softpluses)(VEC v)
{
	const VEC zero = VALL(0.0f);
	VEC u = LEVEL(exps)(_mm512_or_ps(v, VALL(-0.0f)));
	VEC d = VADD(u, VALL(2.0f)), r = _mm512_rcp14_ps(d);
	r = VMUL(r, _mm512_fnmadd_ps(d, r, VALL(2.0f)));
	VEC s = VMUL(u, r), q = VMUL(s, s), p = VFMA(VALL(2 / 13.0f), q, VALL(2 / 11.0f));
	p = VFMA(p, q, VALL(2 / 9.0f));
	p = VFMA(p, q, VALL(2 / 7.0f));
	p = VFMA(p, q, VALL(2 / 5.0f));
	p = VFMA(p, q, VALL(2 / 3.0f));
	p = VFMA(p, q, VALL(2.0f));
	return VFMA(p, s, VMAX(zero, v));
}

/* 1 / (1 + 2^t) with an error of 2^-12 of it, for what is rounded to bf16.  NaN stays. */
static inline VEC LEVEL(coarse_odds)(VEC t)
{
	VEC c = VMIN(VALL(150.0f), VMAX(VALL(-150.0f), t));
	VEC n = _mm512_roundscale_ps(c, 0), f = VSUB(c, n);
	VEC p = VFMA(VFMA(VALL(0.05500893f), f, VALL(0.242211f)), f, VALL(0.69328293f));
	p = VFMA(p, f, VALL(1.0f)); /* 2^f, |f| <= 1/2 */
	return _mm512_rcp14_ps(VADD(VALL(1.0f), _mm512_scalef_ps(p, n)));
}

/* v / (1 + e^-l), where l, the logarithm of the odds of a normal variable below v, is a polynomial in base 2. */
static inline VEC LEVEL(coarse_gelus)(VEC v)
{
	VEC s = VMIN(VALL(23.0f), VMUL(v, v));
	VEC p = VFMA(VALL(7.354813516e-7f), s, VALL(-1.868702391e-5f));
	p = VFMA(p, s, VALL(-9.868988435e-4f));
	p = VFMA(p, s, VALL(1.072791614e-1f));
	p = VFMA(p, s, VALL(2.3002069815f));
	return VMUL(v, LEVEL(coarse_odds)(VMUL(VSUB(VALL(0.0f), v), p)));
}

/* The same of Gelu's form by tanh: v / (1 + e^-2u), u = sqrt(2 / pi) (v + 0.044715 v^3). */
static inline VEC LEVEL(coarse_tanh_gelus)(VEC v)
{
	VEC u = VFMA(VMUL(v, v), VALL(-0.102943242f), VALL(-2.3022082f)); /* -2u log2(e) / v */
	return VMUL(v, LEVEL(coarse_odds)(VMUL(v, u)));
}
#endif

/* y = sigmoid(a x), times x if `gate` (Swish), for (rows, n) values, ld floats from row to row; x
 * and y may be the same.  Each is the same wherever it stands. */
static __attribute__((noinline, unused)) void LEVEL(sigmoid_rows)(float a, bool gate,
								  const float *x, float *y,
								  int64_t ld, int64_t rows,
								  int64_t n)
{
	const VEC slope = VALL(a), one = VALL(1.0f);
	for (; rows > 0; rows--, x += ld, y += ld) {
		int64_t i = 0;
		for (; i + LEVEL_WIDTH <= n; i += LEVEL_WIDTH) {
			VEC v = VLOAD(x + i);
			VSTORE(y + i, VMUL(gate ? v : one, LEVEL(sigmoids)(VMUL(slope, v))));
		}
		if (i < n) {
			float rest[LEVEL_WIDTH] = {0};
			__builtin_memcpy(rest, x + i, (size_t)(n - i) * sizeof *x);
			VEC v = VLOAD(rest);
			VSTORE(rest, VMUL(gate ? v : one, LEVEL(sigmoids)(VMUL(slope, v))));
			__builtin_memcpy(y + i, rest, (size_t)(n - i) * sizeof *y);
		}
	}
}
