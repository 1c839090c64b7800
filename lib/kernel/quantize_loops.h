/* quantize_loops.h - the inner loops of quantize.c, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#include "kernel/vecmath.h"

#define ALWAYS __attribute__((always_inline)) static inline

#if LEVEL_WIDTH == 16
/* Codes of 16 numbers, of which HSwish is taken first, if that is asked for. */
ALWAYS __m512i LEVEL(codes16)(__m512 v, __m512 by, __m512 more, const bool hswish)
{
	if (hswish) {
		__m512 u = _mm512_max_ps(VALL(0.0f), VADD(v, VALL(3.0f))); /* a NaN stays one */
		v = VMUL(v, VMUL(_mm512_min_ps(VALL(6.0f), u), VALL(1 / 6.0f)));
	}
	return codes_vec(v, by, more);
}

/* Rows of `columns` numbers, whole vectors of them, or one grid for all, 64 numbers at a time; how many numbers it was. */
ALWAYS int64_t LEVEL(codes_many)(const float *restrict x, int64_t n, int64_t columns, const float *restrict by,
				 const float *restrict more, const bool each, const bool hswish, int base, uint8_t *restrict y)
{
	__m512 scale = VALL(*by), shift = VALL(*more);
	int64_t i = 0, j = 0;
	for (; i + 64 <= n; i += 64) {
		__m512i code[4];
		for (int k = 0; k < 4; k++) {
			if (each) {
				scale = VLOAD(by + j);
				shift = VLOAD(more + j);
				j = j + 16 == columns ? 0 : j + 16;
			}
			code[k] = LEVEL(codes16)(VLOAD(x + i + 16 * k), scale, shift, hswish);
		}
		_mm512_storeu_si512(y + i, codes_vec_pack(code, base));
	}
	return i;
}
#endif

/* A row, or with one grid for all what is left of it. */
ALWAYS void LEVEL(codes_some)(const float *restrict x, int64_t n, const float *restrict by, const float *restrict more,
			      const bool each, const bool hswish, int base, uint8_t *restrict y)
{
#if LEVEL_WIDTH == 16
	__m512 scale = VALL(*by), shift = VALL(*more);
	for (int64_t i = 0; i < n; i += 16) {
		__mmask16 m = n - i >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (n - i)) - 1);
		if (each) {
			scale = _mm512_maskz_loadu_ps(m, by + i);
			shift = _mm512_maskz_loadu_ps(m, more + i);
		}
		codes_vec_store(y + i, m, LEVEL(codes16)(_mm512_maskz_loadu_ps(m, x + i), scale, shift, hswish), base);
	}
#else
	for (int64_t i = 0; i < n; i++) {
		float v = hswish ? x[i] * LEVEL(vhsigmoid)(x[i]) : x[i];
		float q = __builtin_rintf(FMA(v, by[each ? i : 0], more[each ? i : 0]));
		q = q > 0 ? q : 0;
		q = q < 255 ? q : 255;
		y[i] = (uint8_t)((int)q - base);
	}
#endif
}

ALWAYS void LEVEL(codes_rows)(const float *restrict x, int64_t n, int64_t columns, const float *restrict by,
			      const float *restrict more, const bool hswish, int base, uint8_t *restrict y)
{
	int64_t i = 0;
#if LEVEL_WIDTH == 16
	if (columns % 16 == 0)
		i = LEVEL(codes_many)(x, n, columns, by, more, true, hswish, base, y) / columns * columns;
#endif
	for (; i < n; i += columns)
		LEVEL(codes_some)(x + i, columns, by, more, true, hswish, base, y + i);
}

static void LEVEL(codes)(const float *restrict x, int64_t n, int64_t columns, const float *restrict by,
			 const float *restrict more, bool hswish, int base, uint8_t *restrict y)
{
	if (hswish)
		LEVEL(codes_rows)(x, n, columns, by, more, true, base, y);
	else
		LEVEL(codes_rows)(x, n, columns, by, more, false, base, y);
}

ALWAYS void LEVEL(codes_alike)(const float *restrict x, int64_t n, const float *restrict by, const float *restrict more,
			       const bool hswish, int base, uint8_t *restrict y)
{
	int64_t i = 0;
#if LEVEL_WIDTH == 16
	i = LEVEL(codes_many)(x, n, 0, by, more, false, hswish, base, y);
#endif
	LEVEL(codes_some)(x + i, n - i, by, more, false, hswish, base, y + i);
}

/* The same with one grid for all. */
static void LEVEL(codes_one)(const float *restrict x, int64_t n, const float *restrict by, const float *restrict more,
			     bool hswish, int base, uint8_t *restrict y)
{
	if (hswish)
		LEVEL(codes_alike)(x, n, by, more, true, base, y);
	else
		LEVEL(codes_alike)(x, n, by, more, false, base, y);
}

static void LEVEL(scale_sums)(char *restrict sums, const int32_t *restrict shift, const float *restrict scale,
			      const float *restrict rest, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int32_t sum;
		__builtin_memcpy(&sum, sums + 4 * i, sizeof sum);
		float value = FMA((float)(sum - shift[i]), scale[i], rest[i]);
		__builtin_memcpy(sums + 4 * i, &value, sizeof value);
	}
}
#undef ALWAYS
