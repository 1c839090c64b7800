/* indirect_loops.h - the inner loops of indirect.c, one level (isa_dispatch.h): tiles of T_M pixels by two vectors of
 * output channels in registers. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#include "kernel/partial_loops.h"

#if LEVEL_WIDTH == 16
#define T_M 12
#elif LEVEL_WIDTH == 8
#define T_M 6
#else
#define T_M 4
#endif
#undef UNROLL
#undef INLINE
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

static int LEVEL(tile_rows)(void)
{
	return T_M;
}

/* nv vectors of columns.  first: sums begin with the bias, else with what is there. */
INLINE void LEVEL(tile_of)(const int nv, const struct tile *t, int n)
{
	VEC acc[T_M][2];
	const float *x[T_M];
	UNROLL
	for (int i = 0; i < T_M; i++)
		UNROLL
		for (int j = 0; j < nv; j++)
			acc[i][j] = t->first ? VLOAD(t->bias + j * LEVEL_WIDTH)
				: i < t->rows
				? LEVEL(load_some)(t->y + i * t->ld + j * LEVEL_WIDTH, n - j * LEVEL_WIDTH)
				: VALL(0.0f);
	for (int q = 0; q < t->n_taps; q++) {
		const float *b = t->weights + t->tap[q].weights;
		UNROLL
		for (int i = 0; i < T_M; i++)
			x[i] = t->tap[q].pixel[i] + t->channel;
		const int64_t kc = t->kc ? t->kc : t->tap[q].n;
		for (int64_t k = 0; k < kc; k++, b += GEMM_N) {
			VEC row[2];
			UNROLL
			for (int j = 0; j < nv; j++)
				row[j] = VLOAD(b + j * LEVEL_WIDTH);
			UNROLL
			for (int i = 0; i < T_M; i++) {
				VEC a = VALL(x[i][k]);
				UNROLL
				for (int j = 0; j < nv; j++)
					acc[i][j] = VFMA(a, row[j], acc[i][j]);
			}
		}
	}
	if (t->last)
		UNROLL
		for (int i = 0; i < T_M; i++)
			UNROLL
			for (int j = 0; j < nv; j++)
				acc[i][j] = VMIN(VALL(t->hi), VMAX(VALL(t->lo), acc[i][j]));
	UNROLL
	for (int i = 0; i < T_M; i++) {
		if (i >= t->rows)
			break;
		UNROLL
		for (int j = 0; j < nv; j++)
			LEVEL(store_some)(t->y + i * t->ld + j * LEVEL_WIDTH, acc[i][j],
					  n - j * LEVEL_WIDTH);
	}
}

/* n columns of a panel of GEMM_N. */
static void LEVEL(tile)(const struct tile *t, int n)
{
	struct tile s = *t;
	for (; n > 0; n -= 2 * LEVEL_WIDTH) {
		if (n > LEVEL_WIDTH)
			LEVEL(tile_of)(2, &s, n);
		else
			LEVEL(tile_of)(1, &s, n);
		s.weights += 2 * LEVEL_WIDTH;
		s.bias += 2 * LEVEL_WIDTH;
		s.y += 2 * LEVEL_WIDTH;
	}
}

#undef T_M
#undef UNROLL
#undef INLINE
