/* cpu_codes_loops.h - the inner loops of cpu_codes.c, one level (cpu_levels.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

static void LEVEL(codes)(const float *restrict x, int64_t n, float by, float more, uint8_t *restrict y)
{
	int64_t i = 0;
#if LEVEL_WIDTH == 16
	const VEC scale = VALL(by), shift = VALL(more), high = VALL(255.0f);
	for (; i < n; i += 16) {
		__mmask16 m = n - i >= 16 ? (__mmask16)0xffff : (__mmask16)((1u << (n - i)) - 1);
		__m512 q = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(m, x + i), scale, shift);
		q = _mm512_min_ps(_mm512_max_ps(q, _mm512_setzero_ps()), high);
		_mm512_mask_cvtepi32_storeu_epi8(y + i, m, _mm512_cvtps_epi32(q));
	}
#endif
	for (; i < n; i++) {
		float q = __builtin_rintf(FMA(x[i], by, more));
		q = q > 0 ? q : 0;
		q = q < 255 ? q : 255;
		y[i] = (uint8_t)(int)q;
	}
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
