/* cpu_attend_loops.h - softmax down the columns of keys x GEMM_N scores, one level (cpu_levels.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#include "kernel/cpu_vecmath.h"

/* The columns in use: 16 of GEMM_N, or all. */
#define EACH(j) for (int j = 0; j < width; j += LEVEL_WIDTH)

static void LEVEL(add)(const float *mask, int64_t keys, int width, float *s)
{
	for (int64_t i = 0; i < keys * GEMM_N; i += GEMM_N)
		EACH(j)
			VSTORE(s + i + j, VADD(VLOAD(s + i + j), VLOAD(mask + i + j)));
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

/* What would be subnormal is 0, as in vec_exp_sum; so 2^n is one factor. */
static inline __attribute__((always_inline)) void
LEVEL(weights_of)(const int width, float *restrict s, int64_t keys, const float *restrict top,
		  float *restrict sum)
{
	for (int64_t i = 0; i < keys; i++, s += GEMM_N)
		for (int j = 0; j < width; j++) {
			float v = s[j] - top[j], c = v < -87.3f ? -87.3f : v;
			float shifted = FMA(c, 1.44269504f, 12582912.0f), n = shifted - 12582912.0f;
			float r = FMA(n, 2.12194440e-4f, FMA(n, -0.693359375f, c));
			float p = FMA(1.9875691500e-4f, r, 1.3981999507e-3f);
			p = FMA(p, r, 8.3334519073e-3f);
			p = FMA(p, r, 4.1665795894e-2f);
			p = FMA(p, r, 1.6666665459e-1f);
			p = FMA(p, r, 5.0000001201e-1f);
			p = FMA(p, r * r, r) + 1;
			p *= LEVEL(pow2)(LEVEL(to_bits)(shifted) - 0x4b400000);
			p = v < -87.3f ? 0 : p;
			s[j] = p;
			sum[j] += p;
		}
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
