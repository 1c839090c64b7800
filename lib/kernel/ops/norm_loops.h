/* norm_loops.h - mean and variance of a row, and the row without them, one level (isa_dispatch.h). */

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

/* by[i] = what elements are multiplied with whose squares sum up to by[i], `each` of them, over `root`. */
static inline void LEVEL(scales)(enum root root, float each, float eps, float *by, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		float v = by[i] / each, larger = v > eps ? v : eps;
		float of = root == ROOT_OF_SUM ? v + eps : root == ROOT_OF_LARGER ? larger : v;
		by[i] = root == ROOT_NONE ? 1 : 1 / (__builtin_sqrtf(of) + (root == ROOT_AND ? eps : 0));
	}
}

/* Rows one behind the other.  Step by step for all: within a row each step waits for the last. */
static void LEVEL(standardize)(const float *x, int64_t n, int rows, const struct op *op, float *y)
{
	float mean[ROWS], scale[ROWS] = {0}, each = (float)n;
	for (int i = 0; i < rows; i++)
		mean[i] = LEVEL(deviation)(x + i * n, n, 0, false) / each;
	for (int i = 0; i < rows; i++)
		scale[i] = LEVEL(deviation)(x + i * n, n, mean[i], true);
	LEVEL(scales)(mvn_root(op), each, (float)op->a.norm.eps, scale, ROWS);
	for (int i = 0; i < rows; i++)
		LEVEL(standardize_row)(x + i * n, n, mean[i], scale[i], y + i * n);
}
#undef SOME

enum { LEVEL(ACROSS) = LEVEL_WIDTH == 16 ? 4 : 8 }; /* vectors of sums that stay in registers */

/* sum[i] += sum over j < count of x[j step + i] - mean[i], or of its square, i < n. */
static inline __attribute__((always_inline)) void
LEVEL(join_columns)(const float *x, int64_t step, int64_t count, const float *mean, const bool square,
		    float *sum, int64_t n)
{
	enum { WIDE = LEVEL(ACROSS) * LEVEL_WIDTH };
	int64_t i = 0;
	for (; i + WIDE <= n; i += WIDE) {
		VEC s[LEVEL(ACROSS)], m[LEVEL(ACROSS)];
		for (int k = 0; k < LEVEL(ACROSS); k++) {
			s[k] = VLOAD(sum + i + k * LEVEL_WIDTH);
			m[k] = VLOAD(mean + i + k * LEVEL_WIDTH);
		}
		for (int64_t j = 0; j < count; j++)
			for (int k = 0; k < LEVEL(ACROSS); k++) {
				VEC v = VSUB(VLOAD(x + j * step + i + k * LEVEL_WIDTH), m[k]);
				s[k] = square ? VFMA(v, v, s[k]) : VADD(s[k], v);
			}
		for (int k = 0; k < LEVEL(ACROSS); k++)
			VSTORE(sum + i + k * LEVEL_WIDTH, s[k]);
	}
	for (int64_t j = 0; j < count && i < n; j++)
		for (int64_t k = i; k < n; k++) {
			float v = x[j * step + k] - mean[k];
			sum[k] = square ? FMA(v, v, sum[k]) : sum[k] + v;
		}
}

static void LEVEL(sum_columns)(const float *x, int64_t step, int64_t count, const float *mean, bool square,
			       float *sum, int64_t n)
{
	if (square)
		LEVEL(join_columns)(x, step, count, mean, true, sum, n);
	else
		LEVEL(join_columns)(x, step, count, mean, false, sum, n);
}

/* y[j step + i] = (x[j step + i] - less[i]) by[i] + more[i]. */
static void LEVEL(scale_columns)(const float *x, int64_t step, int64_t count, const float *less, const float *by,
				 const float *more, float *y, int64_t n)
{
	for (int64_t j = 0; j < count; j++, x += step, y += step) {
		int64_t i = 0;
		for (; i + LEVEL_WIDTH <= n; i += LEVEL_WIDTH)
			VSTORE(y + i, VFMA(VSUB(VLOAD(x + i), VLOAD(less + i)), VLOAD(by + i), VLOAD(more + i)));
		for (; i < n; i++)
			y[i] = FMA(x[i] - less[i], by[i], more[i]);
	}
}
