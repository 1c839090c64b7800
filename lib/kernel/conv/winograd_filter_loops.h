/* winograd_filter_loops.h - filters of winograd_filter.c to points, one level (isa_dispatch.h).  As
 * cpu_winograd_filter, but GEMM_M filters side by side: the same operations on each, so the same bits. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define INLINE static inline __attribute__((always_inline))

/* y = a x[0] + b x[1] + c x[2], of GEMM_M filters; x `step` apart. */
INLINE void LEVEL(mix_taps)(const double *row, const double *x, int64_t step, double *y)
{
	for (int l = 0; l < GEMM_M; l++)
		y[l] = x[l] * row[0] + x[step + l] * row[1] + x[2 * step + l] * row[2];
}

INLINE void LEVEL(filters_of)(const int m, const double (*G)[3], const double (*g)[GEMM_M], float *u,
			      int64_t step)
{
	double t[3][GEMM_M], y[GEMM_M];
	for (int i = 0; i < m + 2; i++) {
		for (int j = 0; j < 3; j++)
			LEVEL(mix_taps)(G[i], g[j], 3 * GEMM_M, t[j]);
		for (int j = 0; j < m + 2; j++, u += step) {
			LEVEL(mix_taps)(G[j], t[0], GEMM_M, y);
			for (int l = 0; l < GEMM_M; l++)
				u[l] = (float)y[l];
		}
	}
}

/* g: (9) taps of GEMM_M filters; u: a point of theirs, the next one `step` behind. */
static void LEVEL(filters)(int m, const double (*g)[GEMM_M], float *u, int64_t step)
{
	if (m == 4)
		LEVEL(filters_of)(4, four_G, g, u, step);
	else
		LEVEL(filters_of)(2, two_G, g, u, step);
}

#undef INLINE
