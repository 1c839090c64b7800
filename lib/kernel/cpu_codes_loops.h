/* cpu_codes_loops.h - the inner loops of cpu_codes.c, one level (cpu_levels.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

static void LEVEL(codes)(const float *restrict x, int64_t n, float by, float zero, uint8_t *restrict y)
{
	for (int64_t i = 0; i < n; i++) {
		float q = __builtin_rintf(x[i] * by + zero);
		q = q > 0 ? q : 0;
		q = q < 255 ? q : 255;
		y[i] = (uint8_t)(int)q;
	}
}

static void LEVEL(scale_sums)(char *restrict sums, const int32_t *restrict shift, const float *restrict scale,
			      const float *restrict rest, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		int32_t sum;
		__builtin_memcpy(&sum, sums + 4 * i, sizeof sum);
		float value = FMA((float)(sum - shift[i]), scale[i], rest[i]);
		__builtin_memcpy(sums + 4 * i, &value, sizeof value);
	}
}
