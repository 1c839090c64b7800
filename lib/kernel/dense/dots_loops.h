/* dots_loops.h - the inner loops of dots.c, one level (isa_dispatch.h). */

#include "kernel/partial_loops.h"

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define UNROLL _Pragma("GCC unroll 4")
#define INLINE static inline __attribute__((always_inline))

/* Halves added until four are left. */
INLINE vec4 LEVEL(quarter)(VEC v)
{
#if LEVEL_WIDTH == 4
	return v;
#else
#if LEVEL_WIDTH == 16
	__m256 h = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
#else
	__m256 h = v;
#endif
	return (vec4)_mm_add_ps(_mm256_castps256_ps128(h), _mm256_extractf128_ps(h, 1));
#endif
}

/* The sums of the lanes of four vectors. */
INLINE vec4 LEVEL(lane_sums)(const VEC *v)
{
	vec4 a = LEVEL(quarter)(v[0]), b = LEVEL(quarter)(v[1]);
	vec4 c = LEVEL(quarter)(v[2]), d = LEVEL(quarter)(v[3]);
	vec4 ab = __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
	vec4 cd = __builtin_shufflevector(c, d, 0, 1, 4, 5) + __builtin_shufflevector(c, d, 2, 3, 6, 7);
	return __builtin_shufflevector(ab, cd, 0, 2, 4, 6) + __builtin_shufflevector(ab, cd, 1, 3, 5, 7);
}

/* Rows that are missing are the first one again.  steps is a constant where this is inlined. */
INLINE void LEVEL(dots_of)(const int steps, const float *w, int rows, bool fetch, const float *x,
			   int64_t n, float *y, int64_t pitch)
{
	const float *row[DOTS_ROWS];
	VEC sum[DOTS_STEPS][2][DOTS_ROWS];
	int64_t i = 0;
	UNROLL
	for (int j = 0; j < DOTS_ROWS; j++) {
		row[j] = w + (j < rows ? j : 0) * n;
		UNROLL
		for (int t = 0; t < steps; t++)
			sum[t][0][j] = sum[t][1][j] = VALL(0.0f);
	}
	for (; i + 2 * LEVEL_WIDTH <= n; i += 2 * LEVEL_WIDTH) {
		UNROLL
		for (int h = 0; h < 2; h++) {
			const int64_t at = i + h * LEVEL_WIDTH;
			VEC v[DOTS_STEPS];
			UNROLL
			for (int t = 0; t < steps; t++)
				v[t] = VLOAD(x + t * n + at);
			UNROLL
			for (int j = 0; j < DOTS_ROWS; j++) {
				VEC u = VLOAD(row[j] + at);
				UNROLL
				for (int t = 0; t < steps; t++)
					sum[t][h][j] = VFMA(u, v[t], sum[t][h][j]);
			}
		}
		if (!fetch)
			continue;
		UNROLL
		for (int j = 0; j < DOTS_ROWS; j++) {
			__builtin_prefetch(row[j] + DOTS_ROWS * n + i);
			if (LEVEL_WIDTH == 16)
				__builtin_prefetch(row[j] + DOTS_ROWS * n + i + LEVEL_WIDTH);
		}
	}
	/* Less than two vectors are left; lanes behind the end are zeros. */
	UNROLL
	for (int h = 0; h < 2; h++) {
		const int64_t at = i + h * LEVEL_WIDTH;
		if (at >= n)
			break;
		VEC v[DOTS_STEPS];
		UNROLL
		for (int t = 0; t < steps; t++)
			v[t] = LEVEL(load_some)(x + t * n + at, n - at);
		UNROLL
		for (int j = 0; j < DOTS_ROWS; j++) {
			VEC u = LEVEL(load_some)(row[j] + at, n - at);
			UNROLL
			for (int t = 0; t < steps; t++)
				sum[t][h][j] = VFMA(u, v[t], sum[t][h][j]);
		}
	}
	UNROLL
	for (int t = 0; t < steps; t++, y += pitch) {
		UNROLL
		for (int j = 0; j < DOTS_ROWS; j++)
			sum[t][0][j] = VADD(sum[t][0][j], sum[t][1][j]);
		vec4 all = LEVEL(lane_sums)(sum[t][0]);
		for (int j = 0; j < rows; j++)
			y[j] = all[j];
	}
}

static void LEVEL(dots)(const float *w, int rows, bool fetch, const float *x, int steps, int64_t n,
			float *y, int64_t pitch)
{
	if (steps == 2)
		LEVEL(dots_of)(2, w, rows, fetch, x, n, y, pitch);
	else
		LEVEL(dots_of)(1, w, rows, fetch, x, n, y, pitch);
}

#undef UNROLL
#undef INLINE
