/* phase_loops.h - the inner loops of phase.c, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

/* One row of `width` floats, `pad` columns of padding before it and more behind, to its even and
 * odd columns, `pitch` of each; odd may be NULL. */
static void LEVEL(halve)(const float *x, int64_t width, int64_t pad, float padding, float *even,
			 float *odd, int64_t pitch)
{
#if LEVEL_WIDTH == 16
	const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
						30);
	const __m512i odds = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29,
					       31);
	for (int64_t i = 0; i < pitch; i += 16) {
		__mmask16 out = (__mmask16)(pitch - i < 16 ? (1u << (pitch - i)) - 1 : 0xffff);
		VEC v[2];
		for (int j = 0; j < 2; j++) {
			int64_t at = 2 * i + 16 * j - pad, lo = at < 0 ? -at : 0, hi = width - at;
			lo = lo > 16 ? 16 : lo;
			hi = hi < lo ? lo : hi > 16 ? 16 : hi;
			v[j] = _mm512_mask_loadu_ps(VALL(padding),
						    (__mmask16)((1u << hi) - (1u << lo)), x + at);
		}
		_mm512_mask_storeu_ps(even + i, out, _mm512_permutex2var_ps(v[0], evens, v[1]));
		if (odd)
			_mm512_mask_storeu_ps(odd + i, out,
					      _mm512_permutex2var_ps(v[0], odds, v[1]));
	}
#else
	for (int64_t i = 0; i < pitch; i++) {
		int64_t a = 2 * i - pad, b = a + 1;
		even[i] = a >= 0 && a < width ? x[a] : padding;
		if (odd)
			odd[i] = b >= 0 && b < width ? x[b] : padding;
	}
#endif
}
