/* nhwc_line.c - see nhwc_line.h. */
#include "kernel/nhwc/nhwc_line.h"
#include "kernel/quantize_vec.h"
#include "kernel/isa_level.h"

#include <stddef.h>

#define LEVEL_FILE "kernel/nhwc/nhwc_line_loops.h"
#include "kernel/isa_dispatch.h"

#ifdef CPU_HAS_LEVELS

#define CODES __attribute__((target("arch=x86-64-v4,prefer-vector-width=512")))
#define CODES_INLINE CODES __attribute__((always_inline)) static inline

/* v times 1 or -1. */
CODES_INLINE __m512 signed_by(__m512 v, float sign)
{
	return _mm512_xor_ps(v, _mm512_and_ps(_mm512_set1_ps(sign), _mm512_set1_ps(-0.0f)));
}

#define NARROW __attribute__((target("arch=x86-64-v4,avx512bf16,prefer-vector-width=512")))
#define NARROW_INLINE NARROW __attribute__((always_inline)) static inline

bool form_line_narrow(void)
{
	return cpu_level >= 4 && __builtin_cpu_supports("avx512bf16");
}

/* Elements i .. i + 15 of x, those of the mask. */
NARROW_INLINE __m512 load(const void *x, const bool narrow, int64_t i, const bool whole,
			  __mmask16 some)
{
	if (!narrow)
		return whole ? _mm512_loadu_ps((const float *)x + i)
			     : _mm512_maskz_loadu_ps(some, (const float *)x + i);
	const uint16_t *p = (const uint16_t *)x + i;
	__m256i u = whole ? _mm256_loadu_si256((const __m256i *)(const void *)p)
			  : _mm256_maskz_loadu_epi16(some, p);
	return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(u), 16));
}

NARROW_INLINE void store(void *y, const bool narrow, int64_t i, const bool whole, __mmask16 some,
			 __m512 v)
{
	uint16_t *p = (uint16_t *)y + i;
	if (narrow && whole)
		_mm256_storeu_si256((__m256i *)(void *)p, (__m256i)_mm512_cvtneps_pbh(v));
	else if (narrow)
		_mm256_mask_storeu_epi16(p, some, (__m256i)_mm512_cvtneps_pbh(v));
	else if (whole)
		_mm512_storeu_ps((float *)y + i, v);
	else
		_mm512_mask_storeu_ps((float *)y + i, some, v);
}

enum addend { NONE, WIDE, SHORT };

NARROW_INLINE void some(const struct form_line *l, const bool x16, const bool multiplies,
			const enum addend a, const bool y16, int64_t j, const bool whole,
			__mmask16 m)
{
	__m512 v = signed_by(load(l->x, x16, j, whole, m), l->x_sign);
	if (multiplies)
		v = _mm512_mul_ps(v, load(l->m, false, j, whole, m));
	if (a != NONE)
		v = _mm512_add_ps(v, signed_by(load(l->a, a == SHORT, j, whole, m), l->a_sign));
	if (l->slope != 1)
		v = _mm512_mask_mul_ps(v, _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_LT_OQ), v,
				       _mm512_set1_ps(l->slope));
	v = _mm512_min_ps(_mm512_set1_ps(l->hi), _mm512_max_ps(_mm512_set1_ps(l->lo), v));
	store(l->y, y16, j, whole, m, v);
}

/* All but l and the place are constants where this is inlined. */
NARROW_INLINE void pass(const struct form_line *l, const bool x16, const bool multiplies,
			const enum addend a, const bool y16, int64_t n)
{
	int64_t j = 0;
	for (; j + 16 <= n; j += 16)
		some(l, x16, multiplies, a, y16, j, true, 0xffff);
	if (j < n)
		some(l, x16, multiplies, a, y16, j, false, (__mmask16)((1 << (n - j)) - 1));
}

NARROW_INLINE void pass_to(const struct form_line *l, const bool x16, const bool multiplies,
			   const enum addend a, int64_t n)
{
	if (l->y_elem == EL_BF16)
		pass(l, x16, multiplies, a, true, n);
	else
		pass(l, x16, multiplies, a, false, n);
}

NARROW_INLINE void pass_from(const struct form_line *l, const bool x16, int64_t n)
{
	enum addend a = !l->a ? NONE : l->a_elem == EL_BF16 ? SHORT : WIDE;
	if (l->m && a == NONE)
		pass_to(l, x16, true, NONE, n);
	else if (l->m && a == WIDE)
		pass_to(l, x16, true, WIDE, n);
	else if (l->m)
		pass_to(l, x16, true, SHORT, n);
	else if (a == NONE)
		pass_to(l, x16, false, NONE, n);
	else if (a == WIDE)
		pass_to(l, x16, false, WIDE, n);
	else
		pass_to(l, x16, false, SHORT, n);
}

NARROW static void narrow_line(const struct form_line *l, int64_t n)
{
	if (l->x_elem == EL_BF16)
		pass_from(l, true, n);
	else
		pass_from(l, false, n);
}

/* ---- codes ---- */

bool form_line_codes(void)
{
	return cpu_level >= 4;
}

/* Elements i .. i + 15 of x, those of the mask. */
CODES_INLINE __m512 load_codes(const struct form_line *l, const enum elem elem, int64_t i,
			       __mmask16 m)
{
	if (elem == EL_F32)
		return _mm512_maskz_loadu_ps(m, (const float *)l->x + i);
	__m128i u = _mm_maskz_loadu_epi8(m, (const uint8_t *)l->x + i);
	__m512i code = elem == EL_U8 ? _mm512_cvtepu8_epi32(u) : _mm512_cvtepi8_epi32(u);
	__m512 v = _mm512_sub_ps(_mm512_cvtepi32_ps(code), _mm512_set1_ps(l->x_zero));
	return _mm512_mul_ps(v, _mm512_set1_ps(l->x_scale));
}

CODES_INLINE __m512 line_of(const struct form_line *l, const enum elem elem, const bool multiplies,
			    const bool adds, int64_t i, __mmask16 k)
{
	__m512 v = signed_by(load_codes(l, elem, i, k), l->x_sign);
	if (multiplies)
		v = _mm512_mul_ps(v, _mm512_maskz_loadu_ps(k, l->m + i));
	if (adds)
		v = _mm512_add_ps(
			v, signed_by(_mm512_maskz_loadu_ps(k, (const float *)l->a + i), l->a_sign));
	if (l->slope != 1)
		v = _mm512_mask_mul_ps(v, _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_LT_OQ), v,
				       _mm512_set1_ps(l->slope));
	return _mm512_min_ps(_mm512_set1_ps(l->hi), _mm512_max_ps(_mm512_set1_ps(l->lo), v));
}

CODES_INLINE __m512i codes_of_line(const struct form_line *l, __m512 v)
{
	return codes_vec(v, _mm512_set1_ps(l->y_by), _mm512_set1_ps(l->y_shift));
}

CODES_INLINE void codes_pass(const struct form_line *l, const enum elem elem, const bool multiplies,
			     const bool adds, const bool to_codes, int64_t n)
{
	const int base = l->y_elem == EL_I8 ? 128 : 0;
	int64_t i = 0;
	for (; to_codes && i + 64 <= n; i += 64) {
		__m512i code[4];
		for (int k = 0; k < 4; k++)
			code[k] = codes_of_line(
				l, line_of(l, elem, multiplies, adds, i + 16 * k, 0xffff));
		_mm512_storeu_si512((uint8_t *)l->y + i, codes_vec_pack(code, base));
	}
	for (; i < n; i += 16) {
		__mmask16 m = n - i >= 16 ? (__mmask16)0xffff : (__mmask16)((1 << (n - i)) - 1);
		__m512 v = line_of(l, elem, multiplies, adds, i, m);
		if (to_codes)
			codes_vec_store((uint8_t *)l->y + i, m, codes_of_line(l, v), base);
		else
			_mm512_mask_storeu_ps((float *)l->y + i, m, v);
	}
}

CODES_INLINE void codes_to(const struct form_line *l, const enum elem elem, const bool multiplies,
			   const bool adds, int64_t n)
{
	if (l->y_elem == EL_F32)
		codes_pass(l, elem, multiplies, adds, false, n);
	else
		codes_pass(l, elem, multiplies, adds, true, n);
}

CODES_INLINE void codes_with(const struct form_line *l, const enum elem elem, int64_t n)
{
	if (l->m && l->a)
		codes_to(l, elem, true, true, n);
	else if (l->m)
		codes_to(l, elem, true, false, n);
	else if (l->a)
		codes_to(l, elem, false, true, n);
	else
		codes_to(l, elem, false, false, n);
}

CODES static void codes_line(const struct form_line *l, int64_t n)
{
	if (l->x_elem == EL_U8)
		codes_with(l, EL_U8, n);
	else if (l->x_elem == EL_I8)
		codes_with(l, EL_I8, n);
	else
		codes_with(l, EL_F32, n);
}

#else

bool form_line_narrow(void)
{
	return false;
}

bool form_line_codes(void)
{
	return false;
}

static void codes_line(const struct form_line *l, int64_t n)
{
	(void)l, (void)n;
}

static void narrow_line(const struct form_line *l, int64_t n)
{
	(void)l, (void)n;
}

#endif

static bool has_codes(enum elem elem)
{
	return elem == EL_U8 || elem == EL_I8;
}

void form_line(const struct form_line *l, int64_t n)
{
	if (has_codes(l->x_elem) || has_codes(l->y_elem))
		codes_line(l, n);
	else if (l->x_elem == EL_BF16 || l->y_elem == EL_BF16 || (l->a && l->a_elem == EL_BF16))
		narrow_line(l, n);
	else
		LEVEL_CALL(line, l, n);
}
