/* elem_loops.h - element-wise loops over f32, one level (isa_dispatch.h).  x and y may be
 * the same array. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#include "kernel/vecmath.h"

/* Iterations do not depend on each other. */
#ifdef __clang__
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP _Pragma("GCC ivdep")
#endif

#define EACH(expr) do { \
	IVDEP \
	for (int64_t i = 0; i < n; i++) { \
		float v = x[i]; \
		y[i] = (expr); \
	} \
	return true; } while (0)

/* To the nearest integer, halves away from 0. */
static inline float LEVEL(rounded_away)(float v)
{
	float t = __builtin_truncf(v), rest = v - t;
	rest = rest < 0 ? -rest : rest;
	return t + LEVEL(with_sign)(rest >= 0.5f ? 1.0f : 0.0f, v);
}

#if LEVEL_WIDTH > 4
/* sin x, with one quarter cos x; by the C library where an argument is large, or not a number. */
static void LEVEL(sines)(int32_t quarters, const float *x, float *y, int64_t n)
{
	enum { PIECE = 1024 };
	for (int64_t i0 = 0; i0 < n; i0 += PIECE) {
		int64_t i1 = n - i0 < PIECE ? n : i0 + PIECE;
		int far = 0;
		for (int64_t i = i0; i < i1; i++)
			far |= !(x[i] >= -30000 && x[i] <= 30000);
		if (far) {
			for (int64_t i = i0; i < i1; i++)
				y[i] = quarters ? __builtin_cosf(x[i]) : __builtin_sinf(x[i]);
			continue;
		}
		IVDEP
		for (int64_t i = i0; i < i1; i++) {
			float v = x[i];
			y[i] = LEVEL(vsin)(v, quarters);
		}
	}
}
#endif

#if LEVEL_WIDTH == 16
#define SOME(i) (__mmask16)(n - (i) < 16 ? (1 << (n - (i))) - 1 : 0xffff)
/* The last by a mask: what a masked store wrote a load must wait for. */
#define EACH_VECTOR(expr) \
	do { \
		int64_t i = 0; \
		for (; i + 16 <= n; i += 16) { \
			VEC v = VLOAD(x + i); \
			VSTORE(y + i, (expr)); \
		} \
		if (i < n) { \
			VEC v = _mm512_maskz_loadu_ps(SOME(i), x + i); \
			_mm512_mask_storeu_ps(y + i, SOME(i), (expr)); \
		} \
	} while (0)

static void LEVEL(softplus)(const float *x, float *y, int64_t n)
{
	EACH_VECTOR(LEVEL(softpluses)(v));
}

static void LEVEL(gelu)(const float *x, float *y, int64_t n)
{
	EACH_VECTOR(LEVEL(gelus)(v));
}

/* struct unary_args: coarse.  False: there is no such form. */
static bool LEVEL(coarse)(enum op_kind kind, const struct unary_args *u, const float *x, float *y,
			  int64_t n)
{
	const VEC slope = VALL(u->a * -1.44269504f);
	if (kind == OP_SWISH)
		EACH_VECTOR(VMUL(v, LEVEL(coarse_odds)(VMUL(slope, v))));
	else if (kind == OP_SIGMOID)
		EACH_VECTOR(LEVEL(coarse_odds)(VMUL(VALL(-1.44269504f), v)));
	else if (kind == OP_GELU && u->gelu_tanh)
		EACH_VECTOR(LEVEL(coarse_tanh_gelus)(v));
	else if (kind == OP_GELU)
		EACH_VECTOR(LEVEL(coarse_gelus)(v));
	else
		return false;
	return true;
}
#undef EACH_VECTOR
#endif

/* False: no vector form of this operator. */
static bool LEVEL(unary)(enum op_kind kind, const struct unary_args *u, const float *x, float *y,
			 int64_t n)
{
	const float a = u->a, b = u->b;
#if LEVEL_WIDTH == 16
	if (u->coarse && LEVEL(coarse)(kind, u, x, y, n))
		return true;
#endif
	switch (kind) {
	case OP_RELU: EACH(v < 0 ? 0 : v);
	case OP_ABS: EACH(v < 0 ? -v : v + 0);
	case OP_NEGATIVE: EACH(-v);
	case OP_CLAMP: EACH(v < a ? a : v > b ? b : v);
	case OP_SIGMOID: LEVEL(sigmoid_rows)(1, false, x, y, n, 1, n); return true;
	case OP_TANH: EACH(LEVEL(vtanh)(v));
	case OP_EXP: EACH(LEVEL(vexp)(v));
	case OP_ERF: EACH(LEVEL(verf)(v));
#if LEVEL_WIDTH > 4
	case OP_SIN: LEVEL(sines)(0, x, y, n); return true;
	case OP_COS: LEVEL(sines)(1, x, y, n); return true;
#endif
	case OP_SQRT: EACH(__builtin_sqrtf(v));
	case OP_GELU:
		if (u->gelu_tanh)
			/* 1/2 (1 + tanh u) = sigmoid(2u), which is as near where u is far below 0. */
			EACH(v * LEVEL(vsigmoid)(1.595769122f * FMA(0.044715f * v * v, v, v)));
#if LEVEL_WIDTH == 16
		LEVEL(gelu)(x, y, n);
		return true;
#else
		EACH(0.5f * v * (1 + LEVEL(verf)(v * 0.707106781f)));
#endif
	case OP_SWISH: LEVEL(sigmoid_rows)(a, true, x, y, n, 1, n); return true;
	case OP_HSIGMOID: EACH(LEVEL(vhsigmoid)(v));
	case OP_HSWISH: EACH(v * LEVEL(vhsigmoid)(v));
	case OP_HARD_SIGMOID: EACH(a * v + b < 0 ? 0 : a * v + b > 1 ? 1 : a * v + b);
	case OP_ELU: EACH(LEVEL(velu)(v, a, 1));
	case OP_SELU: EACH(LEVEL(velu)(v, b * a, b));
	case OP_SOFT_PLUS:
#if LEVEL_WIDTH == 16
		LEVEL(softplus)(x, y, n);
		return true;
#else
		EACH(LEVEL(vsoftplus)(v));
#endif
	case OP_MISH: EACH(LEVEL(vmish)(v));
	case OP_LOG: EACH(LEVEL(vlog)(v));
	case OP_SOFT_SIGN: EACH(v / (1 + (v < 0 ? -v : v)));
	case OP_FLOOR: EACH(__builtin_floorf(v));
	case OP_CEILING: EACH(__builtin_ceilf(v));
	case OP_SIGN: EACH(v != v ? v : (float)((v > 0) - (v < 0)));
	case OP_ROUND:
		if (!u->half_away)
			EACH(__builtin_rintf(v));
		EACH(LEVEL(rounded_away)(v));
	default: return false;
	}
}
#undef EACH

/* Powers that need no logarithm; false: another one. */
static bool LEVEL(simple_power)(const float *x, float power, float *y, int64_t n)
{
#define EACH(expr) do { \
	IVDEP \
	for (int64_t i = 0; i < n; i++) { float p = x[i]; y[i] = (expr); } \
	return true; } while (0)
	if (power == 2)
		EACH(p * p);
	if (power == 3)
		EACH(p * p * p);
	if (power == 1)
		EACH(p);
	if (power == -1)
		EACH(1 / p);
	if (power == 0.5f)
		EACH(__builtin_sqrtf(p));
	if (power == -0.5f)
		EACH(1 / __builtin_sqrtf(p));
	return false;
#undef EACH
}

/* FakeQuantize-1, p: data, il, ih (input range), ol, oh (output range); top = levels - 1.  With fused
 * multiply-adds, as OpenVINO's CPU plugin does: sums of quantised tensors lie exactly between two
 * levels often, and then the last bit decides. */
static inline float LEVEL(quantized)(float x, float il, float ih, float ol, float oh, float top)
{
	float lo = il < ih ? il : ih, hi = il > ih ? il : ih, scale = top / (ih - il);
	float v = x < lo ? lo : x > hi ? hi : x;
	v = __builtin_rintf(__builtin_fmaf(v, scale, -il * scale));
	return __builtin_fmaf(v, (oh - ol) / top, ol);
}

static void LEVEL(quantize)(const float *const *p, const int *s, float top, float *y, int64_t n)
{
	const float *x = p[0], *a = p[1], *b = p[2], *c = p[3], *d = p[4];
	if (s[0] && !s[1] && !s[2] && !s[3] && !s[4]) {
		const float il = *a, ih = *b, ol = *c, oh = *d;
		IVDEP
		for (int64_t i = 0; i < n; i++)
			y[i] = LEVEL(quantized)(x[i], il, ih, ol, oh, top);
		return;
	}
	if (s[0] && s[1] && s[2] && s[3] && s[4]) {
		IVDEP
		for (int64_t i = 0; i < n; i++)
			y[i] = LEVEL(quantized)(x[i], a[i], b[i], c[i], d[i], top);
		return;
	}
	for (int64_t i = 0; i < n; i++)
		y[i] = LEVEL(quantized)(x[i * s[0]], a[i * s[1]], b[i * s[2]], c[i * s[3]],
					d[i * s[4]], top);
}

/* Rounded to the nearest i32; what that does not hold is -2^31. */
static void LEVEL(to_integers)(const float *x, int32_t *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		float v = __builtin_rintf(x[i]);
		y[i] = (int32_t)(v >= -0x1p31f && v < 0x1p31f ? v : -0x1p31f);
	}
}

/* Rounded to the nearest halves, in place. */
static void LEVEL(round_half)(float *x, int64_t n)
{
	int64_t i = 0;
#if LEVEL_WIDTH == 16
	for (; i + 16 <= n; i += 16)
		VSTORE(x + i, _mm512_cvtph_ps(_mm512_cvtps_ph(VLOAD(x + i), 0)));
#elif LEVEL_WIDTH == 8
	for (; i + 8 <= n; i += 8)
		VSTORE(x + i, _mm256_cvtph_ps(_mm256_cvtps_ph(VLOAD(x + i), 0)));
#endif
	for (; i < n; i++)
		x[i] = half_to_float(half_from_float(x[i]));
}

static void LEVEL(fake_convert)(int fraction, const float *const *p, const int *s, float *y,
				int64_t n)
{
	enum { PIECE = 64 };
	/* e4m3: exponents from -6, up to 448; e5m2: from -14, up to 57344 */
	const int32_t least = fraction == 3 ? -6 : -14;
	const float most = fraction == 3 ? 448 : 57344;
	float x[PIECE] = {0}, scale[PIECE], shift[PIECE];
	for (int64_t i0 = 0; i0 < n; i0 += PIECE) {
		int64_t m = n - i0 < PIECE ? n - i0 : PIECE;
		for (int64_t i = 0; i < m; i++) {
			scale[i] = p[1][s[1] ? i0 + i : 0];
			shift[i] = p[2][s[2] ? i0 + i : 0];
			x[i] = p[0][s[0] ? i0 + i : 0] * scale[i] - shift[i];
		}
		LEVEL(round_half)(x, PIECE);
		for (int i = 0; i < PIECE; i++) {
			int32_t exponent = (LEVEL(to_bits)(x[i]) >> 23 & 255) - 127;
			exponent = (exponent < least ? least : exponent > 16 ? 16 : exponent) - fraction;
			float v = __builtin_rintf(x[i] * LEVEL(pow2)(-exponent)) * LEVEL(pow2)(exponent);
			v = v > most ? most : v < -most ? -most : v;
			x[i] = v != 0 ? v : LEVEL(with_sign)(0, x[i]);
		}
		for (int64_t i = 0; i < m; i++)
			y[i0 + i] = (x[i] + shift[i]) / scale[i];
	}
}

static void LEVEL(from_half)(const uint16_t *x, float *y, int64_t n)
{
	int64_t i = 0;
#if LEVEL_WIDTH == 16
	for (; i + 16 <= n; i += 16)
		_mm512_storeu_ps(y + i, _mm512_cvtph_ps(_mm256_loadu_si256(
						(const __m256i *)(const void *)(x + i))));
#elif LEVEL_WIDTH == 8
	for (; i + 8 <= n; i += 8)
		_mm256_storeu_ps(y + i, _mm256_cvtph_ps(_mm_loadu_si128(
						(const __m128i *)(const void *)(x + i))));
#endif
	for (; i < n; i++)
		y[i] = half_to_float(x[i]);
}

/* Reductions keep 16 partial results whatever the width of a vector, and add them in one order.
 * PARTS: part[] of n floats at x. */
#define PARTS(start, step) \
	for (int j = 0; j < 16; j++) \
		part[j] = (start); \
	int64_t i = 0; \
	for (; i + 16 <= n; i += 16) \
		for (int j = 0; j < 16; j++) { \
			float s = part[j], v = x[i + j]; \
			part[j] = (step); \
		} \
	for (int j = 0; i < n; i++, j++) { \
		float s = part[j], v = x[i]; \
		part[j] = (step); \
	}

#define REDUCE(start, step, join) \
	do { \
		float part[16]; \
		PARTS(start, step) \
		for (int w = 8; w; w >>= 1) \
			for (int j = 0; j < w; j++) { \
				float p = part[j], q = part[j + w]; \
				part[j] = (join); \
			} \
		return part[0]; \
	} while (0)

static float LEVEL(sum)(const float *x, int64_t n)
{
	REDUCE(0, s + v, p + q);
}

/* y[r] = reduction of n floats at x + r ld, r < rows <= 16, in the order of REDUCE: what is left of
 * each row is one column of a square, whose rows are joined. */
#define ROWS(start, step, join) \
	do { \
		for (int r = 0; r < rows; r++, x += ld) { \
			float part[16]; \
			PARTS(start, step) \
			for (int j = 0; j < 16; j++) \
				column[j][r] = part[j]; \
		} \
		for (int w = 8; w; w >>= 1) \
			for (int j = 0; j < w; j++) \
				for (int r = 0; r < 16; r++) { \
					float p = column[j][r], q = column[j + w][r]; \
					column[j][r] = (join); \
				} \
		for (int r = 0; r < rows; r++) \
			y[r] = column[0][r]; \
		return; \
	} while (0)

static void LEVEL(reduce_rows)(enum op_kind kind, const float *x, int64_t ld, int64_t n, int rows,
			       float *y)
{
	float column[16][16] = {{0}};
	const float inf = __builtin_inff();
	switch (kind) {
	case OP_REDUCE_MAX: ROWS(-inf, v > s ? v : s, q > p ? q : p);
	case OP_REDUCE_MIN: ROWS(inf, v < s ? v : s, q < p ? q : p);
	case OP_REDUCE_L1: ROWS(0, s + (v < 0 ? -v : v), p + q);
	case OP_REDUCE_L2: ROWS(0, s + v * v, p + q);
	case OP_REDUCE_PROD: ROWS(1, s * v, p * q);
	case OP_REDUCE_SUM: case OP_REDUCE_MEAN: ROWS(0, s + v, p + q);
	default: MISSED(kind);
	}
}
#undef ROWS

static float LEVEL(sum_sizes)(const float *x, int64_t n)
{
	REDUCE(0, s + (v < 0 ? -v : v), p + q);
}

static float LEVEL(product)(const float *x, int64_t n)
{
	REDUCE(1, s * v, p * q);
}

/* What is not a number does not count: VMAX(v, s) is v > s ? v : s. */
#define EXTREME(start, VJOIN, join) \
	do { \
		VEC part[4] = {VALL(start), VALL(start), VALL(start), VALL(start)}; \
		int64_t i = 0; \
		for (; i + 4 * LEVEL_WIDTH <= n; i += 4 * LEVEL_WIDTH) \
			for (int j = 0; j < 4; j++) \
				part[j] = VJOIN(VLOAD(x + i + j * LEVEL_WIDTH), part[j]); \
		for (; i + LEVEL_WIDTH <= n; i += LEVEL_WIDTH) \
			part[0] = VJOIN(VLOAD(x + i), part[0]); \
		float lane[LEVEL_WIDTH], s = (start); \
		VSTORE(lane, VJOIN(VJOIN(part[0], part[1]), VJOIN(part[2], part[3]))); \
		for (int j = 0; j < LEVEL_WIDTH; j++) \
			s = lane[j] join s ? lane[j] : s; \
		for (; i < n; i++) \
			s = x[i] join s ? x[i] : s; \
		return s; \
	} while (0)

static float LEVEL(max)(const float *x, int64_t n)
{
	EXTREME(-__builtin_inff(), VMAX, >);
}

static float LEVEL(min)(const float *x, int64_t n)
{
	EXTREME(__builtin_inff(), VMIN, <);
}
#undef EXTREME

/* Does box b (x0, y0, x1, y1, area) overlap one of n by more than `least` (intersection over union)?
 * The n: five rows of numbers, `ld` apart.  Sides of intersections are longer by `offset`, where the
 * boxes meet. */
static bool LEVEL(overlaps_any)(const float *b, const float *rows, int64_t ld, int64_t n,
				float offset, float least)
{
	const float *x0 = rows, *y0 = x0 + ld, *x1 = y0 + ld, *y1 = x1 + ld, *area = y1 + ld;
	for (int64_t i0 = 0; i0 < n; i0 += 64) {
		int64_t i1 = n - i0 < 64 ? n : i0 + 64;
		int any = 0;
		for (int64_t i = i0; i < i1; i++) {
			float w = (b[2] < x1[i] ? b[2] : x1[i]) - (b[0] > x0[i] ? b[0] : x0[i]) + offset;
			float h = (b[3] < y1[i] ? b[3] : y1[i]) - (b[1] > y0[i] ? b[1] : y0[i]) + offset;
			float both = w * h, iou = both / (b[4] + area[i] - both);
			int meet = (b[0] <= x1[i]) & (b[2] >= x0[i]) & (b[1] <= y1[i]) & (b[3] >= y0[i]);
			iou = (w > 0) & (h > 0) & meet ? iou : 0;
			any |= iou > least;
		}
		if (any)
			return true;
	}
	return false;
}

static float LEVEL(sum_squares)(const float *x, float mean, int64_t n)
{
	REDUCE(0, s + (v - mean) * (v - mean), p + q);
}

#define EACH(expr) \
	do { \
		IVDEP \
		for (int64_t i = 0; i < n; i++) { \
			float s = y[i], v = x[i]; \
			y[i] = (expr); \
		} \
		return; \
	} while (0)

/* One more element for each of n reductions. */
static void LEVEL(join)(enum op_kind kind, const float *x, float *y, int64_t n)
{
	switch (kind) {
	case OP_REDUCE_MAX: EACH(v > s ? v : s);
	case OP_REDUCE_MIN: EACH(v < s ? v : s);
	case OP_REDUCE_PROD: EACH(s * v);
	case OP_REDUCE_L1: EACH(s + (v < 0 ? -v : v));
	case OP_REDUCE_L2: EACH(FMA(v, v, s));
	case OP_REDUCE_SUM: case OP_REDUCE_MEAN: EACH(s + v);
	default: MISSED(kind);
	}
}
#undef EACH

/* What would be subnormal is 0: sums with 1 do not notice, and products of subnormal numbers take
 * a hundred cycles each on some processors. */
static float LEVEL(exp_sum)(const float *x, float shift, float *y, int64_t n)
{
#if LEVEL_WIDTH == 16
	VEC sum[2] = {VALL(0.0f), VALL(0.0f)};
	const VEC top = VALL(shift);
	int64_t i = 0;
	for (; i + 32 <= n; i += 32)
		for (int j = 0; j < 2; j++) {
			VEC e = LEVEL(exps)(VSUB(VLOAD(x + i + 16 * j), top));
			VSTORE(y + i + 16 * j, e);
			sum[j] = VADD(sum[j], e);
		}
	for (; i < n; i += 16) {
		VEC e = LEVEL(exps)(VSUB(_mm512_maskz_loadu_ps(SOME(i), x + i), top));
		_mm512_mask_storeu_ps(y + i, SOME(i), e);
		sum[0] = _mm512_mask_add_ps(sum[0], SOME(i), sum[0], e);
	}
	return _mm512_reduce_add_ps(VADD(sum[0], sum[1]));
#else
	IVDEP
	for (int64_t i = 0; i < n; i++) {
		float v = x[i] - shift, e = LEVEL(vexp)(v);
		y[i] = v < -87.3f ? 0 : e;
	}
	return LEVEL(sum)(y, n);
#endif
}

#if LEVEL_WIDTH == 16
enum { LEVEL(SHORT) = 4 }; /* vectors of a row that stays in registers */

/* A row of so many vectors, the last of them by a mask. */
static inline __attribute__((always_inline)) void LEVEL(softmax_short)(const int vectors, const float *x,
									float *y, int64_t n)
{
	const int last = vectors - 1;
	const __mmask16 rest = SOME(16 * last);
	VEC v[LEVEL(SHORT)], top, sum = VALL(0.0f);
	for (int i = 0; i < last; i++)
		v[i] = VLOAD(x + 16 * i);
	v[last] = _mm512_mask_loadu_ps(VALL(-__builtin_inff()), rest, x + 16 * last);
	top = v[0];
	for (int i = 1; i < vectors; i++)
		top = VMAX(v[i], top);
	top = VALL(_mm512_reduce_max_ps(top));
	for (int i = 0; i < vectors; i++)
		v[i] = LEVEL(exps)(VSUB(v[i], top));
	for (int i = 0; i < last; i++)
		sum = VADD(sum, v[i]);
	sum = _mm512_mask_add_ps(sum, rest, sum, v[last]);
	const VEC by = VALL(1 / _mm512_reduce_add_ps(sum));
	for (int i = 0; i < last; i++)
		VSTORE(y + 16 * i, VMUL(v[i], by));
	_mm512_mask_storeu_ps(y + 16 * last, rest, VMUL(v[last], by));
}

/* A longer one: the vector by a mask alone stays in a register. */
static inline void LEVEL(softmax_long)(const float *x, float *y, int64_t n)
{
	const VEC lowest = VALL(-__builtin_inff());
	const int64_t whole = n / 16 * 16;
	const __mmask16 rest = (__mmask16)((1 << (n - whole)) - 1);
	VEC last = _mm512_mask_loadu_ps(lowest, rest, x + whole), most[2] = {lowest, last}, sum = VALL(0.0f);
	int64_t i = 0;
	for (; i + 32 <= whole; i += 32)
		for (int j = 0; j < 2; j++)
			most[j] = VMAX(VLOAD(x + i + 16 * j), most[j]);
	if (i < whole)
		most[0] = VMAX(VLOAD(x + i), most[0]);
	const VEC top = VALL(_mm512_reduce_max_ps(VMAX(most[0], most[1])));
	last = LEVEL(exps)(VSUB(last, top));
	for (i = 0; i < whole; i += 16) {
		VEC e = LEVEL(exps)(VSUB(VLOAD(x + i), top));
		VSTORE(y + i, e);
		sum = VADD(sum, e);
	}
	sum = _mm512_mask_add_ps(sum, rest, sum, last);
	const VEC by = VALL(1 / _mm512_reduce_add_ps(sum));
	for (i = 0; i < whole; i += 16)
		VSTORE(y + i, VMUL(VLOAD(y + i), by));
	_mm512_mask_storeu_ps(y + whole, rest, VMUL(last, by));
}
#endif

static void LEVEL(softmax)(const float *x, float *y, int64_t n)
{
#if LEVEL_WIDTH == 16
	switch (n > 16 * LEVEL(SHORT) ? 0 : (n + 15) / 16) {
	case 1: LEVEL(softmax_short)(1, x, y, n); return;
	case 2: LEVEL(softmax_short)(2, x, y, n); return;
	case 3: LEVEL(softmax_short)(3, x, y, n); return;
	case 4: LEVEL(softmax_short)(4, x, y, n); return;
	default: /* longer */ LEVEL(softmax_long)(x, y, n); return;
	}
#else
	float by = 1 / LEVEL(exp_sum)(x, LEVEL(max)(x, n), y, n);
	for (int64_t i = 0; i < n; i++)
		y[i] *= by;
#endif
}
#undef REDUCE
#undef PARTS

/* The remainder of one division, of p's sign, or of q's (floor). */
static inline float LEVEL(fmod_of)(bool floor, float p, float q)
{
	float v = __builtin_fmodf(p, q);
	return floor && v != 0 && (v < 0) != (q < 0) ? v + q : v;
}

#if LEVEL_WIDTH == 16
/* Remainders of divisions with one rounding, so exact where the quotient has less than 24 bits; vectors with a larger
 * one are computed by fmod. */
static void LEVEL(remainder)(bool floor, const float *a, int sa, const float *b, int sb, float *y,
			     int64_t n)
{
	const VEC sizes = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff)), sign = VALL(-0.0f);
	for (int64_t i = 0; i < n; i += 16) {
		const __mmask16 some = SOME(i);
		VEC x = sa ? _mm512_maskz_loadu_ps(some, a + i) : VALL(*a);
		VEC d = sb ? _mm512_mask_loadu_ps(VALL(1.0f), some, b + i) : VALL(*b);
		VEC size = _mm512_and_ps(d, sizes), t = _mm512_div_ps(x, d);
		t = floor ? _mm512_roundscale_ps(t, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC)
			  : _mm512_roundscale_ps(t, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
		VEC v = VFNMA(t, d, x);
		__mmask16 near = _mm512_cmp_ps_mask(_mm512_and_ps(t, sizes), VALL(0x1p22f), _CMP_LT_OQ) &
				 _mm512_cmp_ps_mask(size, VALL(0x1p127f), _CMP_LT_OQ);
		/* A quotient that was rounded to the next integer: the rest has the wrong sign. */
		VEC like = _mm512_and_ps(floor ? d : x, sign);
		__mmask16 wrong = _mm512_cmp_ps_mask(_mm512_xor_ps(v, like), VALL(0.0f), _CMP_LT_OQ);
		v = _mm512_mask_add_ps(v, wrong, v, _mm512_or_ps(size, like));
		if (near != 0xffff) {
			float p[16], q[16], r[16];
			VSTORE(p, x);
			VSTORE(q, d);
			for (int j = 0; j < 16; j++)
				r[j] = LEVEL(fmod_of)(floor, p[j], q[j]);
			v = VLOAD(r);
		}
		_mm512_mask_storeu_ps(y + i, some, v);
	}
}
#elif LEVEL_WIDTH == 8
/* The same of eight. */
static inline VEC LEVEL(remainders)(bool floor, VEC x, VEC d)
{
	const VEC sign = VALL(-0.0f), size = _mm256_andnot_ps(sign, d);
	VEC t = _mm256_div_ps(x, d);
	t = floor ? _mm256_floor_ps(t) : _mm256_round_ps(t, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
	VEC v = VFNMA(t, d, x), like = _mm256_and_ps(floor ? d : x, sign);
	VEC near = _mm256_and_ps(_mm256_cmp_ps(_mm256_andnot_ps(sign, t), VALL(0x1p22f), _CMP_LT_OQ),
				 _mm256_cmp_ps(size, VALL(0x1p127f), _CMP_LT_OQ));
	/* A quotient that was rounded to the next integer: the rest has the wrong sign. */
	VEC wrong = _mm256_cmp_ps(_mm256_xor_ps(v, like), VALL(0.0f), _CMP_LT_OQ);
	v = _mm256_blendv_ps(v, VADD(v, _mm256_or_ps(size, like)), wrong);
	if (_mm256_movemask_ps(near) != 0xff) {
		float p[8], q[8], r[8];
		VSTORE(p, x);
		VSTORE(q, d);
		for (int j = 0; j < 8; j++)
			r[j] = LEVEL(fmod_of)(floor, p[j], q[j]);
		v = VLOAD(r);
	}
	return v;
}

static void LEVEL(remainder)(bool floor, const float *a, int sa, const float *b, int sb, float *y,
			     int64_t n)
{
	int64_t i = 0;
	for (; i + 8 <= n; i += 8)
		VSTORE(y + i, LEVEL(remainders)(floor, sa ? VLOAD(a + i) : VALL(*a),
						sb ? VLOAD(b + i) : VALL(*b)));
	if (i < n) {
		float p[8] = {0}, q[8] = {1, 1, 1, 1, 1, 1, 1, 1};
		for (int64_t j = 0; j < n - i; j++) {
			p[j] = a[(i + j) * sa];
			q[j] = b[(i + j) * sb];
		}
		VSTORE(p, LEVEL(remainders)(floor, VLOAD(p), VLOAD(q)));
		__builtin_memcpy(y + i, p, (size_t)(n - i) * sizeof *y);
	}
}
#endif

/* Exponents from 50 on carry into the sign of what is added. */
static bool LEVEL(any_huge)(bool half, const void *x, int64_t n)
{
	enum { PIECE = 4096 };
	const uint32_t *w = x;
	const uint16_t *h = x;
	for (int64_t i0 = 0; i0 < n; i0 += PIECE) {
		int64_t i1 = n - i0 < PIECE ? n : i0 + PIECE;
		uint32_t any = 0;
		uint16_t any_half = 0;
		if (half)
			for (int64_t i = i0; i < i1; i++)
				any_half |= (uint16_t)((h[i] & 0x7fff) + (0x8000 - 0x5880));
		else
			for (int64_t i = i0; i < i1; i++)
				any |= (w[i] & 0x7fffffff) + (0x80000000 - 0x58800000);
		if (any >> 31 || any_half >> 15)
			return true;
	}
	return false;
}

static void LEVEL(fill)(float v, float *y, int64_t n)
{
	int64_t i = 0;
	for (; i + LEVEL_WIDTH <= n; i += LEVEL_WIDTH)
		VSTORE(y + i, VALL(v));
	for (; i < n; i++)
		y[i] = v;
}

/* One row: strides sa, sb are 0 or 1. */
#define EACH(expr) do { \
	if (sa && sb) { \
		IVDEP \
		for (int64_t i = 0; i < n; i++) { float p = a[i], q = b[i]; y[i] = (expr); } \
	} else if (sa) { \
		const float q = b[0]; \
		IVDEP \
		for (int64_t i = 0; i < n; i++) { float p = a[i]; y[i] = (expr); } \
	} else { \
		const float p = a[0]; \
		IVDEP \
		for (int64_t i = 0; i < n; i++) { float q = b[i]; y[i] = (expr); } \
	} \
	return true; } while (0)

static bool LEVEL(binary)(enum op_kind kind, const float *a, int sa, const float *b, int sb,
			  float *y, int64_t n)
{
	switch (kind) {
	case OP_ADD: EACH(p + q);
	case OP_SUBTRACT: EACH(p - q);
	case OP_MULTIPLY: EACH(p * q);
	case OP_DIVIDE: EACH(p / q);
	case OP_MAXIMUM: EACH(p > q ? p : q);
	case OP_MINIMUM: EACH(p < q ? p : q);
	case OP_SQUARED_DIFFERENCE: EACH((p - q) * (p - q));
	case OP_PRELU: EACH(p < 0 ? p * q : p);
	case OP_POWER: return !sb && LEVEL(simple_power)(a, b[0], y, n);
#if LEVEL_WIDTH > 4
	/* clang-format off */
	case OP_MOD: case OP_FLOOR_MOD:
		/* clang-format on */
		LEVEL(remainder)(kind == OP_FLOOR_MOD, a, sa, b, sb, y, n);
		return true;
#endif
	default: return false;
	}
}
#undef SOME
#undef EACH

static float LEVEL(dot)(const float *x, const float *y, int64_t n)
{
	float part[32] = {0};
	int64_t i = 0;
	for (; i + 32 <= n; i += 32)
		for (int j = 0; j < 32; j++)
			part[j] = FMA(x[i + j], y[i + j], part[j]);
	for (int j = 0; i < n; i++, j++)
		part[j] = FMA(x[i], y[i], part[j]);
	for (int w = 16; w; w >>= 1)
		for (int j = 0; j < w; j++)
			part[j] += part[j + w];
	return part[0];
}

static void LEVEL(scale_shift)(const float *x, float scale, float shift, float *y, int64_t n)
{
	IVDEP
	for (int64_t i = 0; i < n; i++)
		y[i] = FMA(x[i], scale, shift);
}

static void LEVEL(axpy)(float a, const float *x, float *y, int64_t n)
{
	IVDEP
	for (int64_t i = 0; i < n; i++)
		y[i] = FMA(a, x[i], y[i]);
}

static void LEVEL(every)(const float *x, int64_t stride, float *restrict y, int64_t n)
{
	if (stride == 2)
		for (int64_t i = 0; i < n; i++)
			y[i] = x[2 * i];
	else
		for (int64_t i = 0; i < n; i++)
			y[i] = x[stride * i];
}

/* y[i] = x[i % rows * ld + i / rows] */
static void LEVEL(interleave)(const float *restrict x, int64_t ld, int64_t rows, float *restrict y,
			      int64_t n)
{
	if (rows == 1) {
		__builtin_memcpy(y, x, (size_t)n * sizeof *y);
		return;
	}
	if (rows == 2) {
		for (int64_t i = 0; i < n / 2; i++) {
			y[2 * i] = x[i];
			y[2 * i + 1] = x[ld + i];
		}
		if (n % 2)
			y[n - 1] = x[n / 2];
		return;
	}
	for (int64_t j = 0; j < rows; j++, x += ld)
		for (int64_t i = 0; i * rows + j < n; i++)
			y[i * rows + j] = x[i];
}

/* y = max(y, x) or y + x, x with a stride. */
static void LEVEL(join_strided)(bool max, const float *x, int64_t stride, float *y, int64_t n)
{
	if (max && stride == 1)
		for (int64_t i = 0; i < n; i++)
			y[i] = x[i] > y[i] ? x[i] : y[i];
	else if (max)
		for (int64_t i = 0; i < n; i++)
			y[i] = x[i * stride] > y[i] ? x[i * stride] : y[i];
	else
		for (int64_t i = 0; i < n; i++)
			y[i] += x[i * stride];
}

/* y[i] = sum over t < taps of weight[t * ld + i] * x[at[t * ld + i]]; a position below 0 stands for
 * a zero. */
static void LEVEL(gather_sum)(const float *x, const int32_t *at, const float *weight, int taps,
			      int64_t ld, float *y, int64_t n)
{
	int64_t i0 = 0;
	if (taps == 1) {
#if LEVEL_WIDTH == 16
		for (; i0 + 16 <= n; i0 += 16) {
			__m512i p = _mm512_loadu_si512(at + i0);
			__mmask16 in = _mm512_cmpge_epi32_mask(p, _mm512_setzero_si512());
			VEC v = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), in, p, x, 4);
			VSTORE(y + i0, VMUL(VLOAD(weight + i0), v));
		}
#endif
		for (; i0 < n; i0++)
			y[i0] = weight[i0] * (at[i0] < 0 ? 0 : x[at[i0]]);
		return;
	}
#if LEVEL_WIDTH == 8
	for (; i0 + 8 <= n; i0 += 8) {
		VEC sum = VALL(0.0f);
		for (int t = 0; t < taps; t++) {
			__m256i p = _mm256_loadu_si256((const void *)(at + t * ld + i0));
			VEC in = _mm256_castsi256_ps(_mm256_cmpgt_epi32(p, _mm256_set1_epi32(-1)));
			VEC v = _mm256_mask_i32gather_ps(VALL(0.0f), x, p, in, 4);
			sum = VFMA(VLOAD(weight + t * ld + i0), v, sum);
		}
		VSTORE(y + i0, sum);
	}
#endif
	for (int64_t i = i0; i < n; i++)
		y[i] = 0;
	for (int t = 0; t < taps && i0 < n; t++, at += ld, weight += ld) {
		int64_t i = i0;
#if LEVEL_WIDTH == 16
		for (; i + 16 <= n; i += 16) {
			__m512i p = _mm512_loadu_si512(at + i);
			__mmask16 in = _mm512_cmpge_epi32_mask(p, _mm512_setzero_si512());
			VEC v = _mm512_mask_i32gather_ps(_mm512_setzero_ps(), in, p, x, 4);
			VSTORE(y + i, VFMA(VLOAD(weight + i), v, VLOAD(y + i)));
		}
#endif
		for (; i < n; i++)
			y[i] = FMA(weight[i], at[i] < 0 ? 0 : x[at[i]], y[i]);
	}
}

/* y[i] = sum over t < taps of weight[t * step] * x[at[t * step] * ld + i], i < n: as gather_sum, where
 * all that is read at one position lies together. */
static void LEVEL(pixel_sum)(const float *x, const int32_t *at, const float *weight, int taps,
			     int64_t step, int64_t ld, float *y, int64_t n)
{
	enum { ACROSS = 4 };
	int64_t i = 0;
	for (; i + ACROSS * LEVEL_WIDTH <= n; i += ACROSS * LEVEL_WIDTH) {
		VEC sum[ACROSS] = {VALL(0.0f), VALL(0.0f), VALL(0.0f), VALL(0.0f)};
		for (int t = 0; t < taps; t++) {
			const float *from = x + at[t * step] * ld + i;
			for (int j = 0; j < ACROSS && at[t * step] >= 0; j++)
				sum[j] = VFMA(VALL(weight[t * step]), VLOAD(from + j * LEVEL_WIDTH),
					      sum[j]);
		}
		for (int j = 0; j < ACROSS; j++)
			VSTORE(y + i + j * LEVEL_WIDTH, sum[j]);
	}
	for (; i + LEVEL_WIDTH <= n; i += LEVEL_WIDTH) {
		VEC sum = VALL(0.0f);
		for (int t = 0; t < taps; t++)
			if (at[t * step] >= 0)
				sum = VFMA(VALL(weight[t * step]), VLOAD(x + at[t * step] * ld + i),
					   sum);
		VSTORE(y + i, sum);
	}
	for (; i < n; i++) {
		float sum = 0;
		for (int t = 0; t < taps; t++)
			if (at[t * step] >= 0)
				sum = FMA(weight[t * step], x[at[t * step] * ld + i], sum);
		y[i] = sum;
	}
}

/* y = sum over t < taps of weight[t] * x[t]. */
static void LEVEL(mix)(const float *const *x, const float *weight, int taps, float *y, int64_t n)
{
	const float *p = x[0], *q = x[taps > 1], a = weight[0], b = taps > 1 ? weight[1] : 0;
	if (taps == 1) {
		IVDEP
		for (int64_t i = 0; i < n; i++)
			y[i] = a * p[i];
		return;
	}
	IVDEP
	for (int64_t i = 0; i < n; i++)
		y[i] = FMA(b, q[i], a * p[i]);
	for (int t = 2; t < taps; t++)
		LEVEL(axpy)(weight[t], x[t], y, n);
}

/* y[i] = sum over t < taps of weight[t] * x[at[t] + s * i].  With s = 1 whole vectors: up to
 * LEVEL_WIDTH - 1 more elements are read and written. */
static void LEVEL(tap_sums)(const float *x, const int64_t *at, const float *weight, int taps,
			    int64_t s, float *y, int64_t n)
{
	int64_t i = 0;
	if (s != 1) {
		for (; i < n; i++)
			y[i] = 0;
		for (int t = 0; t < taps; t++) {
			const float *from = x + at[t], w = weight[t];
			IVDEP
			for (i = 0; i < n; i++)
				y[i] = FMA(w, from[i * s], y[i]);
		}
		return;
	}
	for (; i + 3 * LEVEL_WIDTH < n; i += 4 * LEVEL_WIDTH) {
		VEC sum[4] = {VALL(0.0f), VALL(0.0f), VALL(0.0f), VALL(0.0f)};
		for (int t = 0; t < taps; t++) {
			const float *from = x + at[t] + i;
			VEC w = VALL(weight[t]);
			for (int j = 0; j < 4; j++)
				sum[j] = VFMA(w, VLOAD(from + j * LEVEL_WIDTH), sum[j]);
		}
		for (int j = 0; j < 4; j++)
			VSTORE(y + i + j * LEVEL_WIDTH, sum[j]);
	}
	for (; i + LEVEL_WIDTH < n; i += 2 * LEVEL_WIDTH) {
		VEC a = VALL(0.0f), b = VALL(0.0f);
		for (int t = 0; t < taps; t++) {
			VEC w = VALL(weight[t]);
			a = VFMA(w, VLOAD(x + at[t] + i), a);
			b = VFMA(w, VLOAD(x + at[t] + i + LEVEL_WIDTH), b);
		}
		VSTORE(y + i, a);
		VSTORE(y + i + LEVEL_WIDTH, b);
	}
	for (; i < n; i += LEVEL_WIDTH) {
		VEC sum = VALL(0.0f);
		for (int t = 0; t < taps; t++)
			sum = VFMA(VALL(weight[t]), VLOAD(x + at[t] + i), sum);
		VSTORE(y + i, sum);
	}
}
