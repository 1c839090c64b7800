/* amx_tiles_finish.c - what becomes of sums by tiles (amx_tiles.h), a row of two vectors at a time. */
#include "base/err.h"
#include "kernel/tiles/amx_tiles.h"
#include "kernel/isa_level.h"

#if defined(CPU_HAS_LEVELS) && defined(__linux__)

#include <immintrin.h>

#define TILES __attribute__((target("arch=x86-64-v4,avx512bf16,prefer-vector-width=512")))
#define TILES_INLINE TILES __attribute__((always_inline)) static inline

enum { SIDE = TILES_N, COLUMNS = 2 * SIDE };

/* The vectors of vecmath.h, for what is rounded to bf16. */
#pragma GCC push_options
#pragma GCC target("arch=x86-64-v4,prefer-vector-width=512")
#define LEVEL(name) name##_tiles
#define LEVEL_WIDTH 16
#define FMA(a, b, c) __builtin_fmaf(a, b, c)
#include "kernel/simd_vector.h"
#include "kernel/vecmath.h"
#pragma GCC pop_options

/* NaN stays: the second operand is what comes of one. */
TILES_INLINE __m512 limited(__m512 x, float lo, float hi)
{
	return _mm512_min_ps(_mm512_set1_ps(hi), _mm512_max_ps(_mm512_set1_ps(lo), x));
}

TILES_INLINE __m512 finished(const struct tiles_post *p, const enum tiles_unary unary, __m512 x)
{
	const __m512 log2e = _mm512_set1_ps(1.44269504f);
	switch (unary) {
	case TILES_HSWISH: {
		__m512 t = limited(_mm512_add_ps(x, _mm512_set1_ps(3)), 0, 6);
		return _mm512_mul_ps(x, _mm512_mul_ps(t, _mm512_set1_ps(1 / 6.0f)));
	}
	case TILES_SIGMOID:
		return coarse_odds_tiles(
			_mm512_sub_ps(_mm512_setzero_ps(), _mm512_mul_ps(log2e, x)));
	case TILES_SWISH: {
		__m512 slope = _mm512_mul_ps(log2e, _mm512_set1_ps(-p->beta));
		return _mm512_mul_ps(x, coarse_odds_tiles(_mm512_mul_ps(slope, x)));
	}
	case TILES_GELU: return coarse_gelus_tiles(x);
	case TILES_LIMITS: return limited(x, p->lo, p->hi);
	}
	MISSED(unary);
	return x;
}

TILES_INLINE __m512 widened(__m256i x)
{
	return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(x), 16));
}

/* Numbers of integers. */
TILES_INLINE __m512 of_codes(__m128i x, bool is_signed)
{
	return _mm512_cvtepi32_ps(is_signed ? _mm512_cvtepi8_epi32(x) : _mm512_cvtepu8_epi32(x));
}

/* To the nearest integer, within the type's limits. */
TILES_INLINE __m128i to_code(__m512 x, bool is_signed)
{
	__m512i i = _mm512_cvtps_epi32(x);
	return is_signed ? _mm512_cvtsepi32_epi8(i)
			 : _mm512_cvtusepi32_epi8(_mm512_max_epi32(i, _mm512_setzero_si512()));
}

/* What is to be added to one row: columns of both masks. */
TILES_INLINE void addends(const struct tiles_to *to, int64_t row, __mmask16 m0, __mmask16 m1,
			  __m512 *a0, __m512 *a1)
{
	__mmask32 both = m0 | (__mmask32)m1 << SIDE;
	if (to->add_form == TILES_TO_BF16) {
		const uint16_t *x = (const uint16_t *)to->add + row * to->ld;
		__m512i a = _mm512_maskz_loadu_epi16(both, x);
		*a0 = widened(_mm512_castsi512_si256(a));
		*a1 = widened(_mm512_extracti64x4_epi64(a, 1));
	} else if (to->add_form == TILES_TO_F32) {
		const float *x = (const float *)to->add + row * to->ld;
		*a0 = _mm512_maskz_loadu_ps(m0, x);
		*a1 = _mm512_maskz_loadu_ps(m1, x + SIDE);
	} else {
		const uint8_t *x = (const uint8_t *)to->add + row * to->ld;
		__m256i a = _mm256_maskz_loadu_epi8(both, x);
		__m512 by = _mm512_set1_ps(to->add_scale);
		bool is_signed = to->add_form == TILES_TO_I8;
		*a0 = _mm512_mul_ps(by, of_codes(_mm256_castsi256_si128(a), is_signed));
		*a1 = _mm512_mul_ps(by, of_codes(_mm256_extracti128_si256(a, 1), is_signed));
	}
}

/* What was made, as it is added to others. */
TILES_INLINE __m512 as_made(const struct tiles_to *to, __m512 x)
{
	bool is_signed = to->made == TILES_TO_I8;
	return _mm512_mul_ps(_mm512_set1_ps(to->made_scale),
			     of_codes(to_code(x, is_signed), is_signed));
}

TILES_INLINE void store(const struct tiles_to *to, const enum tiles_form form, int64_t row,
			__mmask32 m, __m512 x0, __m512 x1)
{
	if (form == TILES_TO_BF16) {
		_mm512_mask_storeu_epi16((uint16_t *)to->y + row * to->ld, m,
					 (__m512i)_mm512_cvtne2ps_pbh(x1, x0));
	} else if (form == TILES_TO_F32) {
		float *y = (float *)to->y + row * to->ld;
		_mm512_mask_storeu_ps(y, (__mmask16)m, x0);
		_mm512_mask_storeu_ps(y + SIDE, (__mmask16)(m >> SIDE), x1);
	} else {
		bool is_signed = form == TILES_TO_I8;
		__m256i both = _mm256_set_m128i(to_code(x1, is_signed), to_code(x0, is_signed));
		_mm256_mask_storeu_epi8((uint8_t *)to->y + row * to->ld, m, both);
	}
}

/* Of one row: sums that were not made may be subnormal, and slow. */
TILES_INLINE __m512 sums_at(const float *c, __mmask16 m, const bool integers)
{
	return integers ? _mm512_cvtepi32_ps(_mm512_maskz_load_epi32(m, c))
			: _mm512_maskz_load_ps(m, c);
}

/* What of a call is known when it is compiled. */
struct finish {
	enum tiles_unary unary;
	enum tiles_form form;
	bool integers, adds, asks;
};

TILES_INLINE void finish_rows(const struct finish f, const struct tiles_post *p, const float *c,
			      int rows, int64_t w, const float *bias, const float *scale,
			      const struct tiles_to *to)
{
	__mmask16 m0 = (__mmask16)(w < SIDE ? (1u << w) - 1 : 0xffff);
	__mmask16 m1 = (__mmask16)(w > SIDE ? (1u << (w - SIDE)) - 1 : 0);
	__mmask32 both = m0 | (__mmask32)m1 << SIDE;
	__m512 b0 = _mm512_loadu_ps(bias), b1 = _mm512_loadu_ps(bias + SIDE);
	__m512 s0 = f.integers ? _mm512_loadu_ps(scale) : b0;
	__m512 s1 = f.integers ? _mm512_loadu_ps(scale + SIDE) : b1;
	__m512 odd0 = _mm512_setzero_ps(), odd1 = odd0; /* zeros, or NaN */
	for (int64_t i = 0; i < rows; i++, c += COLUMNS) {
		__m512 x0 = sums_at(c, m0, f.integers), x1 = sums_at(c + SIDE, m1, f.integers);
		if (f.asks) {
			odd0 = _mm512_fmadd_ps(x0, _mm512_setzero_ps(), odd0);
			odd1 = _mm512_fmadd_ps(x1, _mm512_setzero_ps(), odd1);
		}
		x0 = _mm512_add_ps(x0, b0);
		x1 = _mm512_add_ps(x1, b1);
		if (f.integers) {
			x0 = _mm512_mul_ps(x0, s0);
			x1 = _mm512_mul_ps(x1, s1);
		}
		x0 = finished(p, f.unary, x0);
		x1 = finished(p, f.unary, x1);
		if (f.adds) {
			__m512 a0, a1;
			addends(to, i, m0, m1, &a0, &a1);
			if (f.integers) {
				x0 = as_made(to, x0);
				x1 = as_made(to, x1);
			}
			x0 = limited(_mm512_add_ps(x0, a0), to->lo, to->hi);
			x1 = limited(_mm512_add_ps(x1, a1), to->lo, to->hi);
		}
		store(to, f.form, i, both, x0, x1);
	}
	if (f.asks && _mm512_cmp_ps_mask(odd0, odd1, _CMP_UNORD_Q))
		*to->odd = true;
}

/* The commonest ones are compiled for themselves. */
TILES void tiles_finish(const struct tiles_post *p, const void *c, int rows, int64_t w,
			const float *bias, const float *scale, const struct tiles_to *to)
{
	const struct finish f = {p->unary, to->form, p->integers, to->add != NULL, to->odd != NULL};
#define CASE(u, t, i, a, o) \
	if (f.unary == (u) && f.form == (t) && f.integers == (i) && f.adds == (a) && \
	    f.asks == (o)) { \
		finish_rows((struct finish){u, t, i, a, o}, p, c, rows, w, bias, scale, to); \
		return; \
	}
	CASE(TILES_LIMITS, TILES_TO_BF16, false, false, false)
	CASE(TILES_LIMITS, TILES_TO_BF16, false, true, false)
	CASE(TILES_LIMITS, TILES_TO_BF16, false, false, true)
	CASE(TILES_LIMITS, TILES_TO_F32, false, false, false)
	CASE(TILES_LIMITS, TILES_TO_F32, false, true, false)
	CASE(TILES_LIMITS, TILES_TO_U8, true, false, false)
	CASE(TILES_LIMITS, TILES_TO_I8, true, false, false)
	CASE(TILES_LIMITS, TILES_TO_U8, true, true, false)
	CASE(TILES_LIMITS, TILES_TO_I8, true, true, false)
	CASE(TILES_LIMITS, TILES_TO_F32, true, false, false)
	CASE(TILES_SWISH, TILES_TO_BF16, false, false, false)
	CASE(TILES_GELU, TILES_TO_BF16, false, false, false)
	CASE(TILES_GELU, TILES_TO_F32, false, false, false)
	CASE(TILES_HSWISH, TILES_TO_BF16, false, false, false)
#undef CASE
	finish_rows(f, p, c, rows, w, bias, scale, to);
}

#else

void tiles_finish(const struct tiles_post *p, const void *c, int rows, int64_t w, const float *bias,
		  const float *scale, const struct tiles_to *to)
{
	(void)p, (void)c, (void)rows, (void)w, (void)bias, (void)scale, (void)to;
}

#endif
