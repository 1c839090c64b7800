/* nhwc_norm_loops.h - moments of channels that lie side by side, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

static inline VEC LEVEL(widened)(const uint16_t *x)
{
#if LEVEL_WIDTH == 16
	__m256i u = _mm256_loadu_si256((const __m256i *)(const void *)x);
	return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(u), 16));
#elif LEVEL_WIDTH == 8
	__m128i u = _mm_loadu_si128((const __m128i *)(const void *)x);
	return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(u), 16));
#else
	uint32_t u[4];
	for (int i = 0; i < 4; i++)
		u[i] = (uint32_t)x[i] << 16;
	return VLOAD((const float *)(const void *)u);
#endif
}

static inline float LEVEL(widened_one)(uint16_t x)
{
	uint32_t u = (uint32_t)x << 16;
	float f;
	__builtin_memcpy(&f, &u, sizeof f);
	return f;
}

#define AT(i) (narrow ? LEVEL(widened)((const uint16_t *)x + (i)) : VLOAD((const float *)x + (i)))
#define ONE(i) (narrow ? LEVEL(widened_one)(((const uint16_t *)x)[i]) : ((const float *)x)[i])

/* Of x (n,c), f32 or bf16: means (c), and sums of the squared differences from them (c). */
static inline __attribute__((always_inline)) void
LEVEL(moments_of)(const bool narrow, const void *restrict x, int64_t n, int64_t c, float *restrict mean,
		  float *restrict squares)
{
	enum { SUMS = 4 };
	int64_t j = 0, four = n / SUMS * SUMS;
	for (; j + LEVEL_WIDTH <= c; j += LEVEL_WIDTH) {
		VEC sum[SUMS] = {VALL(0.0f), VALL(0.0f), VALL(0.0f), VALL(0.0f)}, m;
		int64_t at = j;
		for (int64_t i = 0; i < four; i += SUMS, at += SUMS * c)
			for (int k = 0; k < SUMS; k++)
				sum[k] = VADD(sum[k], AT(at + k * c));
		for (int64_t i = four; i < n; i++, at += c)
			sum[0] = VADD(sum[0], AT(at));
		m = VMUL(VADD(VADD(sum[0], sum[1]), VADD(sum[2], sum[3])), VALL(1.0f / (float)n));
		VSTORE(mean + j, m);
		for (int k = 0; k < SUMS; k++)
			sum[k] = VALL(0.0f);
		at = j;
		for (int64_t i = 0; i < four; i += SUMS, at += SUMS * c)
			for (int k = 0; k < SUMS; k++) {
				VEC d = VSUB(AT(at + k * c), m);
				sum[k] = VFMA(d, d, sum[k]);
			}
		for (int64_t i = four; i < n; i++, at += c) {
			VEC d = VSUB(AT(at), m);
			sum[0] = VFMA(d, d, sum[0]);
		}
		VSTORE(squares + j, VADD(VADD(sum[0], sum[1]), VADD(sum[2], sum[3])));
	}
	for (; j < c; j++) {
		float sum = 0, m;
		for (int64_t i = 0; i < n; i++)
			sum += ONE(i * c + j);
		mean[j] = m = sum / (float)n;
		sum = 0;
		for (int64_t i = 0; i < n; i++)
			sum += (ONE(i * c + j) - m) * (ONE(i * c + j) - m);
		squares[j] = sum;
	}
}
#undef AT
#undef ONE

static void LEVEL(moments)(bool narrow, const void *x, int64_t n, int64_t c, float *mean, float *squares)
{
	if (narrow)
		LEVEL(moments_of)(true, x, n, c, mean, squares);
	else
		LEVEL(moments_of)(false, x, n, c, mean, squares);
}
