/* cpu_pixel_norm_loops.h - moments of channels that lie side by side, one level (cpu_levels.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

/* Of x (n,c): means (c), and sums of the squared differences from them (c). */
static void LEVEL(moments)(const float *restrict x, int64_t n, int64_t c, float *restrict mean,
			   float *restrict squares)
{
	enum { SUMS = 4 };
	int64_t j = 0, four = n / SUMS * SUMS;
	for (; j + LEVEL_WIDTH <= c; j += LEVEL_WIDTH) {
		VEC sum[SUMS] = {VALL(0.0f), VALL(0.0f), VALL(0.0f), VALL(0.0f)}, m;
		const float *p = x + j;
		for (int64_t i = 0; i < four; i += SUMS, p += SUMS * c)
			for (int k = 0; k < SUMS; k++)
				sum[k] = VADD(sum[k], VLOAD(p + k * c));
		for (int64_t i = four; i < n; i++, p += c)
			sum[0] = VADD(sum[0], VLOAD(p));
		m = VMUL(VADD(VADD(sum[0], sum[1]), VADD(sum[2], sum[3])), VALL(1.0f / (float)n));
		VSTORE(mean + j, m);
		for (int k = 0; k < SUMS; k++)
			sum[k] = VALL(0.0f);
		p = x + j;
		for (int64_t i = 0; i < four; i += SUMS, p += SUMS * c)
			for (int k = 0; k < SUMS; k++) {
				VEC d = VSUB(VLOAD(p + k * c), m);
				sum[k] = VFMA(d, d, sum[k]);
			}
		for (int64_t i = four; i < n; i++, p += c) {
			VEC d = VSUB(VLOAD(p), m);
			sum[0] = VFMA(d, d, sum[0]);
		}
		VSTORE(squares + j, VADD(VADD(sum[0], sum[1]), VADD(sum[2], sum[3])));
	}
	for (; j < c; j++) {
		float sum = 0, m;
		for (int64_t i = 0; i < n; i++)
			sum += x[i * c + j];
		mean[j] = m = sum / (float)n;
		sum = 0;
		for (int64_t i = 0; i < n; i++)
			sum += (x[i * c + j] - m) * (x[i * c + j] - m);
		squares[j] = sum;
	}
}
