/* cpu_topk_loops.h - TopK of adjacent lines side by side, one level (cpu_levels.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

/* The first `most` of `lanes` lines, a multiple of 16, of `length` floats, whose elements lie `step` apart and the lines beside each
 * other: index[i] has the i-th of each.  Sorted by keys, of which a lower one comes first, then by index. */
static void LEVEL(rank_lanes)(const float *x, int64_t length, int64_t step, int lanes, int most, bool max,
			      int32_t (*restrict index)[TOPK_LANES])
{
	int32_t key[TOPK_FEW][TOPK_LANES];
	const int32_t flip = max ? -1 : 0;
	lanes = lanes / 16 * 16; /* as the compiler may know */
	for (int i = 0; i < most; i++)
		for (int l = 0; l < lanes; l++)
			key[i][l] = index[i][l] = INT32_MAX;
	for (int64_t j = 0; j < length; j++, x += step) {
		int32_t k[TOPK_LANES], at[TOPK_LANES];
		float v[TOPK_LANES];
		for (int l = 0; l < lanes; l++)
			v[l] = x[l] + 0.0f; /* -0 is 0 */
		memcpy(k, v, (size_t)lanes * sizeof *k);
		for (int l = 0; l < lanes; l++) {
			k[l] = k[l] ^ ((k[l] >> 31) & INT32_MAX) ^ flip;
			at[l] = (int32_t)j;
		}
		for (int i = 0; i < most; i++) {
			int32_t *restrict old = key[i], *restrict old_at = index[i];
			for (int l = 0; l < lanes; l++) {
				int32_t a = old[l], b = old_at[l], c = k[l], d = at[l];
				/* all ones where the new one is before */
				int32_t m = -((c < a) | ((c == a) & (d < b)));
				old[l] = (c & m) | (a & ~m);
				old_at[l] = (d & m) | (b & ~m);
				k[l] = (a & m) | (c & ~m);
				at[l] = (b & m) | (d & ~m);
			}
		}
	}
}
