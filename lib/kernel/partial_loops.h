/* partial_loops.h - vectors of which only the first floats are there, one level (isa_dispatch.h).
 * Never guarded: the loops that need them include it once for each level. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

#if LEVEL_WIDTH == 8
/* The first n of eight lanes, 0 < n < 8. */
static inline __m256i LEVEL(first_lanes)(int64_t n)
{
	return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
#endif

/* The first n > 0 of LEVEL_WIDTH floats at p, zeros behind them. */
static inline __attribute__((always_inline)) VEC LEVEL(load_some)(const float *p, int64_t n)
{
	if (n >= LEVEL_WIDTH)
		return VLOAD(p);
#if LEVEL_WIDTH == 16
	return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
#elif LEVEL_WIDTH == 8
	return _mm256_maskload_ps(p, LEVEL(first_lanes)(n));
#else
	float some[LEVEL_WIDTH] = {0};
	__builtin_memcpy(some, p, (size_t)n * sizeof *p);
	return VLOAD(some);
#endif
}

/* The first n > 0 lanes of v, at most LEVEL_WIDTH, to p. */
static inline __attribute__((always_inline)) void LEVEL(store_some)(float *p, VEC v, int64_t n)
{
	if (n >= LEVEL_WIDTH) {
		VSTORE(p, v);
		return;
	}
#if LEVEL_WIDTH == 16
	_mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), v);
#elif LEVEL_WIDTH == 8
	_mm256_maskstore_ps(p, LEVEL(first_lanes)(n), v);
#else
	float some[LEVEL_WIDTH];
	VSTORE(some, v);
	__builtin_memcpy(p, some, (size_t)n * sizeof *p);
#endif
}
