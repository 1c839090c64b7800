/* attention_rows_loops.h - softmax down the columns of keys x GEMM_N scores, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#include "kernel/vecmath.h"

/* The columns in use: 16 of GEMM_N, or all. */
#define EACH(j) for (int j = 0; j < width; j += LEVEL_WIDTH)

static void LEVEL(add)(const float *mask, int64_t keys, int width, float *s)
{
	for (int64_t i = 0; i < keys * GEMM_N; i += GEMM_N)
		EACH(j)
			VSTORE(s + i + j, VADD(VLOAD(s + i + j), VLOAD(mask + i + j)));
}

/* mask (keys): what every column of a key's scores gets. */
static void LEVEL(add_each)(const float *mask, int64_t keys, int width, float *s)
{
	for (int64_t x = 0; x < keys; x++, s += GEMM_N) {
		if (mask[x] == 0)
			continue;
		EACH(j)
			VSTORE(s + j, VADD(VLOAD(s + j), VALL(mask[x])));
	}
}

/* Are all of `rows` rows of n numbers, `step` apart, this one? */
static bool LEVEL(all_are)(const float *x, int64_t step, int rows, int64_t n, float this)
{
	for (; rows > 0; rows--, x += step) {
		int other = 0;
		for (int64_t i = 0; i < n; i++)
			other |= x[i] != this;
		if (other)
			return false;
	}
	return true;
}

/* What a boolean mask adds. */
static void LEVEL(from_boolean)(float *m, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		m[i] = m[i] != 0 ? 0 : -__builtin_inff();
}

/* s += what a boolean mask adds. */
static void LEVEL(hide)(const float *restrict m, float *restrict s, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		s[i] += m[i] != 0 ? 0 : -__builtin_inff();
}

static void LEVEL(top)(const float *s, int64_t keys, int width, float *top)
{
	EACH(j) {
		VEC v = VLOAD(top + j);
		for (int64_t i = 0; i < keys; i++)
			v = VMAX(VLOAD(s + i * GEMM_N + j), v);
		VSTORE(top + j, v);
	}
}

/* What would be subnormal is 0, as in vec_exp_sum. */
static inline __attribute__((always_inline)) void
LEVEL(weights_of)(const int width, float *restrict s, int64_t keys, const float *restrict top,
		  float *restrict sum)
{
#if LEVEL_WIDTH == 16
	VEC t[GEMM_N / 16], all[GEMM_N / 16];
	EACH(j) {
		t[j / 16] = VLOAD(top + j);
		all[j / 16] = VLOAD(sum + j);
	}
	for (int64_t i = 0; i < keys; i++, s += GEMM_N)
		EACH(j) {
			VEC e = LEVEL(exps)(VSUB(VLOAD(s + j), t[j / 16]));
			VSTORE(s + j, e);
			all[j / 16] = VADD(all[j / 16], e);
		}
	EACH(j)
		VSTORE(sum + j, all[j / 16]);
#else
	for (int64_t i = 0; i < keys; i++, s += GEMM_N)
		for (int j = 0; j < width; j++) {
			float v = s[j] - top[j], e = LEVEL(vexp)(v);
			s[j] = v < -87.3f ? 0 : e;
			sum[j] += s[j];
		}
#endif
}

static void LEVEL(weights)(float *s, int64_t keys, int width, const float *top, float *sum)
{
	if (width == 16)
		LEVEL(weights_of)(16, s, keys, top, sum);
	else
		LEVEL(weights_of)(GEMM_N, s, keys, top, sum);
}

static void LEVEL(scale)(float *y, int64_t n, int width, const float *by)
{
	for (int64_t i = 0; i < n * GEMM_N; i += GEMM_N)
		EACH(j)
			VSTORE(y + i + j, VMUL(VLOAD(y + i + j), VLOAD(by + j)));
}

#undef EACH
