/* quantize_vec.h - numbers as codes of 8 bits, in vectors of AVX-512, for loops that are compiled for it. */
#ifndef HSDAG_KERNEL_QUANTIZE_VEC_H
#define HSDAG_KERNEL_QUANTIZE_VEC_H

#include "kernel/isa_level.h"

#ifdef CPU_HAS_LEVELS
#include <immintrin.h>

#define CODES_VEC \
	__attribute__((target("arch=x86-64-v4,prefer-vector-width=512"), \
		       always_inline)) static inline

/* v * by + shift, limited to 0 .. 255 and rounded to the nearest, to even between two; what is no number becomes 0. */
CODES_VEC __m512i codes_vec(__m512 v, __m512 by, __m512 shift)
{
	v = _mm512_max_ps(_mm512_fmadd_ps(v, by, shift), _mm512_setzero_ps());
	return _mm512_cvtps_epi32(_mm512_min_ps(v, _mm512_set1_ps(255)));
}

/* Four vectors of codes, less `base` each, as 64 bytes. */
CODES_VEC __m512i codes_vec_pack(const __m512i code[4], int base)
{
	/* Packing by halves leaves quarters of the four side by side. */
	const __m512i order =
		_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
	__m512i all = _mm512_packus_epi16(_mm512_packs_epi32(code[0], code[1]),
					  _mm512_packs_epi32(code[2], code[3]));
	return _mm512_sub_epi8(_mm512_permutexvar_epi32(order, all), _mm512_set1_epi8((char)base));
}

/* One vector of them as the first bytes of y, as far as the mask has them. */
CODES_VEC void codes_vec_store(void *y, __mmask16 m, __m512i code, int base)
{
	__m128i bytes = _mm512_cvtepi32_epi8(_mm512_sub_epi32(code, _mm512_set1_epi32(base)));
	if (m == 0xffff) /* a masked store takes twice as long */
		_mm_storeu_si128((__m128i *)y, bytes);
	else
		_mm_mask_storeu_epi8(y, m, bytes);
}

#endif
#endif
