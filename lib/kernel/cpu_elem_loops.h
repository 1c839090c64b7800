/* cpu_elem_loops.h - element-wise loops over f32, one level (cpu_levels.h).  x and y may be
 * the same array. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#include "kernel/cpu_vecmath.h"

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

/* False: no vector form of this operator. */
static bool LEVEL(unary)(enum op_kind kind, const struct unary_args *u, const float *x, float *y,
			 int64_t n)
{
	const float a = u->a, b = u->b;
	switch (kind) {
	case OP_RELU: EACH(v < 0 ? 0 : v);
	case OP_ABS: EACH(v < 0 ? -v : v + 0);
	case OP_NEGATIVE: EACH(-v);
	case OP_CLAMP: EACH(v < a ? a : v > b ? b : v);
	case OP_SIGMOID: LEVEL(sigmoid_rows)(1, false, x, y, n, 1, n); return true;
	case OP_TANH: EACH(LEVEL(vtanh)(v));
	case OP_EXP: EACH(LEVEL(vexp)(v));
	case OP_ERF: EACH(LEVEL(verf)(v));
	case OP_SQRT: EACH(__builtin_sqrtf(v));
	case OP_GELU:
		if (u->gelu_tanh)
			EACH(0.5f * v *
			     (1 + LEVEL(vtanh)(0.797884561f * FMA(0.044715f * v * v, v, v))));
		EACH(0.5f * v * (1 + LEVEL(verf)(v * 0.707106781f)));
	case OP_SWISH: LEVEL(sigmoid_rows)(a, true, x, y, n, 1, n); return true;
	case OP_HSIGMOID: EACH((v < -3 ? 0 : v > 3 ? 6 : v + 3) * (1 / 6.0f));
	case OP_HSWISH: EACH(v * ((v < -3 ? 0 : v > 3 ? 6 : v + 3) * (1 / 6.0f)));
	case OP_HARD_SIGMOID: EACH(a * v + b < 0 ? 0 : a * v + b > 1 ? 1 : a * v + b);
	case OP_ELU: EACH(v > 0 ? v : a * (LEVEL(vexp)(v) - 1));
	case OP_SELU: EACH(v > 0 ? b * v : b * a * (LEVEL(vexp)(v) - 1));
	case OP_SOFT_SIGN: EACH(v / (1 + (v < 0 ? -v : v)));
	case OP_FLOOR: EACH(__builtin_floorf(v));
	case OP_CEILING: EACH(__builtin_ceilf(v));
	default: return false;
	}
}
#undef EACH

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
	default: return false;
	}
}
#undef EACH

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
	for (int64_t i = 0; i < n; i++)
		y[i] = LEVEL(quantized)(x[i * s[0]], a[i * s[1]], b[i * s[2]], c[i * s[3]],
					d[i * s[4]], top);
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

static void LEVEL(from_bf16)(const uint16_t *x, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = LEVEL(from_bits)((int32_t)((uint32_t)x[i] << 16));
}

/* Reductions keep 16 partial results whatever the width of a vector, and add them in one order. */
#define REDUCE(start, step, join) \
	do { \
		float part[16]; \
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
		} \
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

static float LEVEL(max)(const float *x, int64_t n)
{
	REDUCE(-__builtin_inff(), v > s ? v : s, p > q ? p : q);
}

static float LEVEL(min)(const float *x, int64_t n)
{
	REDUCE(__builtin_inff(), v < s ? v : s, p < q ? p : q);
}

static float LEVEL(sum_squares)(const float *x, float mean, int64_t n)
{
	REDUCE(0, s + (v - mean) * (v - mean), p + q);
}

static float LEVEL(exp_sum)(const float *x, float shift, float *y, int64_t n)
{
	IVDEP
	for (int64_t i = 0; i < n; i++)
		y[i] = LEVEL(vexp)(x[i] - shift);
	return LEVEL(sum)(y, n);
}
#undef REDUCE

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

static void LEVEL(center_scale)(const float *x, float mean, float scale, float *y, int64_t n)
{
	IVDEP
	for (int64_t i = 0; i < n; i++)
		y[i] = (x[i] - mean) * scale;
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
