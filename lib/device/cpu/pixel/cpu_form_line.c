/* cpu_form_line.c - see cpu_form_line.h. */
#include "device/cpu/pixel/cpu_form_line.h"
#include "kernel/cpu_level.h"

#include <stddef.h>

#define LEVEL_FILE "device/cpu/pixel/cpu_form_line_loops.h"
#include "kernel/cpu_levels.h"

#ifdef CPU_HAS_LEVELS

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

/* v times 1 or -1. */
NARROW_INLINE __m512 signed_by(__m512 v, float sign)
{
	return _mm512_xor_ps(v, _mm512_and_ps(_mm512_set1_ps(sign), _mm512_set1_ps(-0.0f)));
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
	if (l->y_bf16)
		pass(l, x16, multiplies, a, true, n);
	else
		pass(l, x16, multiplies, a, false, n);
}

NARROW_INLINE void pass_from(const struct form_line *l, const bool x16, int64_t n)
{
	enum addend a = !l->a ? NONE : l->a_bf16 ? SHORT : WIDE;
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
	if (l->x_bf16)
		pass_from(l, true, n);
	else
		pass_from(l, false, n);
}

#else

bool form_line_narrow(void)
{
	return false;
}

static void narrow_line(const struct form_line *l, int64_t n)
{
	(void)l, (void)n;
}

#endif

void form_line(const struct form_line *l, int64_t n)
{
	if (l->x_bf16 || l->y_bf16 || (l->a && l->a_bf16))
		narrow_line(l, n);
	else
		LEVEL_CALL(line, l, n);
}
