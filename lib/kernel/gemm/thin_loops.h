/* thin_loops.h - the inner loops of thin.c, one level (isa_dispatch.h): T_M rows by T_V
 * vectors of sums in registers, u sums for each where that hides the latency of a multiply-add. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

#if LEVEL_WIDTH == 16
#define T_M 12
#elif LEVEL_WIDTH == 8
#define T_M 6
#else
#define T_M 4
#endif
#define T_V 2

/* A vector of B that several rows need stays in a register: read again for each of two or three rows, it
 * would keep the ports of loads busier than the multiplications are. */
#ifdef CPU_HAS_LEVELS
#define KEEP(v) __asm__("" : "+v"(v))
#else
#define KEEP(v) (void)(v)
#endif
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))
enum { LEVEL(AHEAD) = 8192 };        /* bytes of B between fetching and using it */

INLINE VEC LEVEL(thin_b)(const bool half, const void *b, int64_t at)
{
	return half ? VHALF((const uint16_t *)b + at) : VLOAD((const float *)b + at);
}

INLINE void LEVEL(thin_fetch)(const bool half, const void *b, int64_t k, int64_t at)
{
	const char *p = (const char *)b + LEVEL(AHEAD) + (k * GEMM_N + at) * (half ? 2 : 4);
	if (at % (half ? 32 : 16) == 0) /* a cache line begins */
		__builtin_prefetch(p, 0, 3);
	if (!half && T_V * LEVEL_WIDTH == 32)
		__builtin_prefetch(p + 64, 0, 3);
}

/* mr, u, half, fetch and sa (distance of a[k] and a[k + 1]) are constants where this is inlined; at: the
 * first column.  Only the first rows fetch b: the others find it in the cache. */
INLINE void LEVEL(thin_of)(const int mr, const int u, const bool half, const bool fetch, const int sa,
			   int64_t kc, const float *a, const void *b, int at, float *c, int64_t ldc)
{
	VEC acc[8][T_M][T_V];
	int64_t k = 0;
	UNROLL
	for (int s = 0; s < u; s++)
		UNROLL
		for (int i = 0; i < mr; i++)
			UNROLL
			for (int j = 0; j < T_V; j++)
				acc[s][i][j] = VALL(0.0f);
	for (; k + u <= kc; k += u)
		UNROLL
		for (int s = 0; s < u; s++) {
			VEC row[T_V];
			if (fetch)
				LEVEL(thin_fetch)(half, b, k + s, at);
			UNROLL
			for (int j = 0; j < T_V; j++) {
				row[j] = LEVEL(thin_b)(half, b,
						       (k + s) * GEMM_N + at + j * LEVEL_WIDTH);
				if (mr > 1)
					KEEP(row[j]);
			}
			UNROLL
			for (int i = 0; i < mr; i++) {
				VEC x = VALL(a[(k + s) * sa + i]);
				UNROLL
				for (int j = 0; j < T_V; j++)
					acc[s][i][j] = VFMA(x, row[j], acc[s][i][j]);
			}
		}
	for (; k < kc; k++)
		UNROLL
		for (int i = 0; i < mr; i++) {
			VEC x = VALL(a[k * sa + i]);
			UNROLL
			for (int j = 0; j < T_V; j++)
				acc[0][i][j] = VFMA(x,
						    LEVEL(thin_b)(half, b, k * GEMM_N + at +
									   j * LEVEL_WIDTH),
						    acc[0][i][j]);
		}
	UNROLL
	for (int i = 0; i < mr; i++)
		UNROLL
		for (int j = 0; j < T_V; j++) {
			VEC sum = acc[0][i][j];
			UNROLL
			for (int s = 1; s < u; s++)
				sum = VADD(sum, acc[s][i][j]);
			VSTORE(c + i * ldc + at + j * LEVEL_WIDTH, sum);
		}
}

#define CASE(m, u) \
	case m: LEVEL(thin_of)(m, u, half, fetch, GEMM_M, kc, a, b, at, c, ldc); break;
INLINE void LEVEL(thin_rows)(int mr, const bool half, const bool fetch, int64_t kc, const float *a,
			     const void *b, int at, float *c, int64_t ldc)
{
	switch (mr) {
	CASE(1, 4) CASE(2, 2) CASE(3, 2) CASE(4, 1)
#if T_M >= 6
	CASE(5, 1) CASE(6, 1)
#endif
#if T_M >= 12
	CASE(7, 1) CASE(8, 1) CASE(9, 1) CASE(10, 1) CASE(11, 1) CASE(12, 1)
#endif
	}
}
#undef CASE

INLINE void LEVEL(thin_any)(int m, const bool half, int64_t kc, const float *a, const void *b,
			    float *c, int64_t ldc)
{
	for (int at = 0; at < GEMM_N; at += T_V * LEVEL_WIDTH) {
		if (m == 1) {
			LEVEL(thin_of)(1, 4, half, true, 1, kc, a, b, at, c, ldc);
			continue;
		}
		LEVEL(thin_rows)(m < T_M ? m : T_M, half, true, kc, a, b, at, c, ldc);
		for (int i = T_M; T_M < GEMM_M && i < m; i += T_M)
			LEVEL(thin_rows)(m - i < T_M ? m - i : T_M, half, false, kc, a + i, b, at,
					 c + i * ldc, ldc);
	}
}

static void LEVEL(thin)(int m, int64_t kc, const float *a, const void *b, bool half, float *c,
			int64_t ldc)
{
	if (half)
		LEVEL(thin_any)(m, true, kc, a, b, c, ldc);
	else
		LEVEL(thin_any)(m, false, kc, a, b, c, ldc);
}

#undef T_M
#undef T_V
#undef INLINE
#undef KEEP
#undef UNROLL
