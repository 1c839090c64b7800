/* cpu_norm_loops.h - mean and variance of a row, and the row without them, one level (cpu_levels.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

#if LEVEL_WIDTH == 16
#define SOME(i) (__mmask16)(n - (i) < 16 ? (1 << (n - (i))) - 1 : 0xffff)
#endif

static inline float LEVEL(lanes)(VEC v)
{
#if LEVEL_WIDTH == 16
	return _mm512_reduce_add_ps(v);
#else
	float lane[LEVEL_WIDTH];
	VSTORE(lane, v);
	for (int w = LEVEL_WIDTH / 2; w; w >>= 1)
		for (int j = 0; j < w; j++)
			lane[j] += lane[j + w];
	return lane[0];
#endif
}

/* Sum of x - mean, or of its square, in several sums side by side: one addition waits for the one before. */
static inline __attribute__((always_inline)) float
LEVEL(deviation)(const float *x, int64_t n, float mean, const bool square)
{
	enum { SUMS = 4 };
	VEC sum[SUMS] = {VALL(0.0f), VALL(0.0f), VALL(0.0f), VALL(0.0f)}, m = VALL(mean);
	int64_t i = 0;
	for (; i + SUMS * LEVEL_WIDTH <= n; i += SUMS * LEVEL_WIDTH)
		for (int j = 0; j < SUMS; j++) {
			VEC v = VSUB(VLOAD(x + i + j * LEVEL_WIDTH), m);
			sum[j] = square ? VFMA(v, v, sum[j]) : VADD(sum[j], v);
		}
	for (; i + LEVEL_WIDTH <= n; i += LEVEL_WIDTH) {
		VEC v = VSUB(VLOAD(x + i), m);
		sum[1] = square ? VFMA(v, v, sum[1]) : VADD(sum[1], v);
	}
	float rest = 0;
#if LEVEL_WIDTH == 16
	if (i < n) {
		VEC v = _mm512_maskz_sub_ps(SOME(i), _mm512_maskz_loadu_ps(SOME(i), x + i), m);
		sum[2] = square ? VFMA(v, v, sum[2]) : VADD(sum[2], v);
	}
#else
	for (; i < n; i++) {
		float v = x[i] - mean;
		rest += square ? v * v : v;
	}
#endif
	return LEVEL(lanes)(VADD(VADD(sum[0], sum[1]), VADD(sum[2], sum[3]))) + rest;
}

static struct moments LEVEL(moments)(const float *x, int64_t n)
{
	struct moments m;
	m.mean = LEVEL(deviation)(x, n, 0, false) / (float)n;
	m.variance = LEVEL(deviation)(x, n, m.mean, true) / (float)n;
	return m;
}

static void LEVEL(standardize_row)(const float *x, int64_t n, float mean, float scale, float *y)
{
	int64_t i = 0;
	VEC m = VALL(mean), by = VALL(scale);
	for (; i + LEVEL_WIDTH <= n; i += LEVEL_WIDTH)
		VSTORE(y + i, VMUL(VSUB(VLOAD(x + i), m), by));
#if LEVEL_WIDTH == 16
	if (i < n)
		_mm512_mask_storeu_ps(y + i, SOME(i),
				      VMUL(VSUB(_mm512_maskz_loadu_ps(SOME(i), x + i), m), by));
#else
	for (; i < n; i++)
		y[i] = (x[i] - mean) * scale;
#endif
}

/* Rows one behind the other.  Step by step for all: within a row each step waits for the last. */
static void LEVEL(standardize)(const float *x, int64_t n, int rows, const struct op *op, float *y)
{
	float mean[ROWS], scale[ROWS] = {0}, eps = (float)op->a.norm.eps, each = (float)n;
	for (int i = 0; i < rows; i++)
		mean[i] = LEVEL(deviation)(x + i * n, n, 0, false) / each;
	for (int i = 0; i < rows; i++)
		scale[i] = LEVEL(deviation)(x + i * n, n, mean[i], true);
	for (int i = 0; i < ROWS; i++) {
		float v = scale[i] / each;
		float inside = 1 / __builtin_sqrtf(v + eps), outside = 1 / (__builtin_sqrtf(v) + eps);
		scale[i] = !op->a.norm.normalize_variance ? 1
			   : op->a.norm.eps_inside_sqrt   ? inside
							  : outside;
	}
	for (int i = 0; i < rows; i++)
		LEVEL(standardize_row)(x + i * n, n, mean[i], scale[i], y + i * n);
}
#undef SOME

enum { LEVEL(ACROSS) = LEVEL_WIDTH == 16 ? 4 : 8 }; /* vectors of sums that stay in registers */

/* sum[i] += sum over j < count of x[j step + i] squared, i < n. */
static void LEVEL(square_columns)(const float *x, int64_t step, int64_t count, float *sum, int64_t n)
{
	enum { WIDE = LEVEL(ACROSS) * LEVEL_WIDTH };
	int64_t i = 0;
	for (; i + WIDE <= n; i += WIDE) {
		VEC s[LEVEL(ACROSS)];
		for (int k = 0; k < LEVEL(ACROSS); k++)
			s[k] = VLOAD(sum + i + k * LEVEL_WIDTH);
		for (int64_t j = 0; j < count; j++)
			for (int k = 0; k < LEVEL(ACROSS); k++) {
				VEC v = VLOAD(x + j * step + i + k * LEVEL_WIDTH);
				s[k] = VFMA(v, v, s[k]);
			}
		for (int k = 0; k < LEVEL(ACROSS); k++)
			VSTORE(sum + i + k * LEVEL_WIDTH, s[k]);
	}
	for (int64_t j = 0; j < count && i < n; j++)
		for (int64_t k = i; k < n; k++)
			sum[k] = FMA(x[j * step + k], x[j * step + k], sum[k]);
}

/* y[j step + i] = x[j step + i] times by[i]. */
static void LEVEL(scale_columns)(const float *x, int64_t step, int64_t count, const float *by,
				 float *y, int64_t n)
{
	for (int64_t j = 0; j < count; j++, x += step, y += step) {
		int64_t i = 0;
		for (; i + LEVEL_WIDTH <= n; i += LEVEL_WIDTH)
			VSTORE(y + i, VMUL(VLOAD(x + i), VLOAD(by + i)));
		for (; i < n; i++)
			y[i] = x[i] * by[i];
	}
}
