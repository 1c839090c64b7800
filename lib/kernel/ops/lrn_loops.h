/* lrn_loops.h - LRN over channels, a row of pixels of one channel, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

/* sum[i] = bias + scale times the sum over j < count of x[j plane + i] squared. */
static void LEVEL(lrn_sums)(const float *x, int64_t plane, int64_t count, float scale, float bias,
			    float *sum, int64_t n)
{
	int64_t i = 0;
	for (; i + LEVEL_WIDTH <= n; i += LEVEL_WIDTH) {
		VEC s = VALL(0.0f);
		for (int64_t j = 0; j < count; j++) {
			VEC v = VLOAD(x + j * plane + i);
			s = VFMA(v, v, s);
		}
		VSTORE(sum + i, VFMA(s, VALL(scale), VALL(bias)));
	}
	for (; i < n; i++) {
		float s = 0;
		for (int64_t j = 0; j < count; j++)
			s = FMA(x[j * plane + i], x[j * plane + i], s);
		sum[i] = FMA(s, scale, bias);
	}
}

/* y = x / sum^0.75 */
static void LEVEL(lrn_quotients)(const float *x, const float *sum, float *y, int64_t n)
{
	IVDEP
	for (int64_t i = 0; i < n; i++) {
		float root = __builtin_sqrtf(sum[i]);
		y[i] = x[i] / (root * __builtin_sqrtf(root));
	}
}
