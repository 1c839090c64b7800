/* cpu_gemm_loops.h - the inner kernels of cpu_gemm.c, one level (cpu_levels.h): tiles of
 * T_M rows by T_V vectors in registers. */

#if LEVEL_WIDTH == 16
#define T_M 12
#elif LEVEL_WIDTH == 8
#define T_M 6
#else
#define T_M 4
#endif
#define T_V 2
#define T_N (T_V * LEVEL_WIDTH)

#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

/* mr and half are constants where this is inlined, so acc lives in registers. */
INLINE void LEVEL(tile_of)(const int mr, const bool half, int64_t kc, const float *a, const void *b,
			   float *c, int64_t ldc, bool add)
{
	VEC acc[T_M][T_V];
	const float *bf = b;
	const uint16_t *bh = b;
	UNROLL
	for (int i = 0; i < mr; i++)
		UNROLL
		for (int j = 0; j < T_V; j++)
			acc[i][j] = VALL(0.0f);
	for (int64_t k = 0; k < kc; k++) {
		VEC row[T_V];
		UNROLL
		for (int j = 0; j < T_V; j++)
			row[j] = half ? VHALF(bh + k * GEMM_N + j * LEVEL_WIDTH)
				      : VLOAD(bf + k * GEMM_N + j * LEVEL_WIDTH);
		UNROLL
		for (int i = 0; i < mr; i++) {
			VEC x = VALL(a[k * GEMM_M + i]);
			UNROLL
			for (int j = 0; j < T_V; j++)
				acc[i][j] = VFMA(x, row[j], acc[i][j]);
		}
	}
	UNROLL
	for (int i = 0; i < mr; i++)
		UNROLL
		for (int j = 0; j < T_V; j++) {
			float *p = c + i * ldc + j * LEVEL_WIDTH;
			if (add)
				acc[i][j] = VADD(VLOAD(p), acc[i][j]);
			VSTORE(p, acc[i][j]);
		}
}

#define CASE(m) case m: LEVEL(tile_of)(m, half, kc, a, b, c, ldc, add); break;
INLINE void LEVEL(tile_rows)(int mr, const bool half, int64_t kc, const float *a, const void *b,
			     float *c, int64_t ldc, bool add)
{
	switch (mr) {
	CASE(1) CASE(2) CASE(3) CASE(4)
#if T_M >= 6
	CASE(5) CASE(6)
#endif
#if T_M >= 12
	CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#endif
	}
}
#undef CASE

static void LEVEL(tile_f32)(int mr, int64_t kc, const float *a, const void *b, float *c,
			    int64_t ldc, bool add)
{
	LEVEL(tile_rows)(mr, false, kc, a, b, c, ldc, add);
}

static void LEVEL(tile_half)(int mr, int64_t kc, const float *a, const void *b, float *c,
			     int64_t ldc, bool add)
{
	LEVEL(tile_rows)(mr, true, kc, a, b, c, ldc, add);
}

static void LEVEL(tile)(int mr, int nr, int64_t kc, const float *a, const void *b, bool half,
			float *c, int64_t ldc, bool add)
{
	for (int j = 0; j < nr; j += T_N) {
		const void *bj = half ? (const void *)((const uint16_t *)b + j)
				      : (const void *)((const float *)b + j);
		for (int i = 0; i < mr; i += T_M) {
			int rows = mr - i < T_M ? mr - i : T_M, cols = nr - j < T_N ? nr - j : T_N;
			float edge[T_M * T_N], *to = cols == T_N ? c + i * ldc + j : edge;
			int64_t ld = cols == T_N ? ldc : T_N;
			bool sum = add && cols == T_N;
			if (half)
				LEVEL(tile_half)(rows, kc, a + i, bj, to, ld, sum);
			else
				LEVEL(tile_f32)(rows, kc, a + i, bj, to, ld, sum);
			for (int r = 0; to == edge && r < rows; r++)
				for (int s = 0; s < cols; s++) {
					float *p = c + (i + r) * ldc + j + s;
					*p = add ? *p + edge[r * T_N + s] : edge[r * T_N + s];
				}
		}
	}
}

/* Four rows of B at a time, each with its own sums: enough independent sums to hide the latency of
 * a multiply-add. */
INLINE void LEVEL(row_of)(const bool half, int64_t kc, const float *x, const void *b, float *y)
{
	enum { V = GEMM_N / LEVEL_WIDTH > 4 ? 4 : GEMM_N / LEVEL_WIDTH, U = 8 / V };
	for (int n = 0; n < GEMM_N; n += V * LEVEL_WIDTH) {
		const float *bf = (const float *)b + n;
		const uint16_t *bh = (const uint16_t *)b + n;
		VEC acc[U][V];
		UNROLL
		for (int u = 0; u < U; u++)
			UNROLL
			for (int j = 0; j < V; j++)
				acc[u][j] = VALL(0.0f);
		int64_t k = 0;
		for (; k + U <= kc; k += U)
			UNROLL
			for (int u = 0; u < U; u++)
				UNROLL
				for (int j = 0; j < V; j++)
					acc[u][j] = VFMA(VALL(x[k + u]),
							 half ? VHALF(bh + (k + u) * GEMM_N +
								      j * LEVEL_WIDTH)
							      : VLOAD(bf + (k + u) * GEMM_N +
								      j * LEVEL_WIDTH),
							 acc[u][j]);
		for (; k < kc; k++)
			UNROLL
			for (int j = 0; j < V; j++)
				acc[0][j] = VFMA(VALL(x[k]),
						 half ? VHALF(bh + k * GEMM_N + j * LEVEL_WIDTH)
						      : VLOAD(bf + k * GEMM_N + j * LEVEL_WIDTH),
						 acc[0][j]);
		UNROLL
		for (int j = 0; j < V; j++) {
			VEC s = acc[0][j];
			UNROLL
			for (int u = 1; u < U; u++)
				s = VADD(s, acc[u][j]);
			VSTORE(y + n + j * LEVEL_WIDTH, s);
		}
	}
}

/* y: GEMM_N sums. */
static void LEVEL(row)(int64_t kc, const float *x, const void *b, bool half, float *y)
{
	if (half)
		LEVEL(row_of)(true, kc, x, b, y);
	else
		LEVEL(row_of)(false, kc, x, b, y);
}

static void LEVEL(gather_panel)(const float *const *row, int64_t kc, int64_t at, float *dst)
{
	for (int64_t k = 0; k < kc; k++, dst += GEMM_N) {
		UNROLL
		for (int j = 0; j < GEMM_N; j += LEVEL_WIDTH)
			VSTORE(dst + j, VLOAD(row[k] + at + j));
	}
}

#undef T_M
#undef T_V
#undef T_N
#undef INLINE
#undef UNROLL
