/* roi_loops.h - maxima of bins of a small region, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

/* All channels of a region of at most BIN_COLUMNS columns and BIN_LANES bins a row: bins are lanes, which
 * pick their columns from one or two vectors.  False: not at this level. */
static bool LEVEL(pool_bins)(const struct bins *b, const float *f, float *y)
{
#if LEVEL_WIDTH == 16
	const VEC least = VALL(-FLT_MAX);
	const __mmask16 bins = (__mmask16)((1u << b->n) - 1), full = (__mmask16)b->full;
	const uint32_t columns = b->columns == 32 ? UINT32_MAX : (1u << b->columns) - 1;
	const __mmask16 low = (__mmask16)columns, high = (__mmask16)(columns >> 16);
	for (int64_t c = 0; c < b->channels; c++, f += b->plane)
		for (int64_t i = 0; i < b->rows; i++, y += b->n) {
			VEC v = least, w = least;
			for (int64_t at = b->top[i]; at < b->end[i]; at++) {
				const float *row = f + at * b->pitch;
				v = VMAX(_mm512_mask_loadu_ps(least, low, row), v); /* not NaN */
				if (high)
					w = VMAX(_mm512_mask_loadu_ps(least, high, row + 16), w);
			}
			VEC best = least;
			for (int t = 0; t < b->widest; t++)
				best = VMAX(_mm512_permutex2var_ps(v, _mm512_loadu_si512(b->column[t]), w),
					    best);
			_mm512_mask_storeu_ps(y, bins, b->end[i] > b->top[i]
							       ? _mm512_maskz_mov_ps(full, best)
							       : VALL(0.0f));
		}
	return true;
#else
	(void)b, (void)f, (void)y;
	return false;
#endif
}
