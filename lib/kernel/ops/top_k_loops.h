/* top_k_loops.h - TopK of adjacent lines side by side, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */

/* A key of f32's bits, or i32's: the lower comes first, or where `max` the higher. */
static inline int32_t LEVEL(key_of)(int32_t bits, bool real, bool max)
{
	return bits ^ ((bits >> 31) & (real ? INT32_MAX : 0)) ^ (max ? -1 : 0);
}

/* Keys of n elements `step` apart, without a sign; the least of them. */
static inline __attribute__((always_inline)) uint32_t
LEVEL(keys_apart)(const int32_t *x, int64_t step, int64_t n, bool real, bool max, uint32_t *restrict key)
{
	uint32_t least = UINT32_MAX;
	for (int64_t i = 0; i < n; i++) {
		int32_t bits = x[i * step];
		bits = real && bits == INT32_MIN ? 0 : bits; /* -0 is 0 */
		key[i] = (uint32_t)LEVEL(key_of)(bits, real, max) ^ UINT32_C(1) << 31;
		least = key[i] < least ? key[i] : least;
	}
	return least;
}

static uint32_t LEVEL(line_keys)(const int32_t *x, int64_t step, int64_t n, bool real, bool max, uint32_t *key)
{
	return step != 1 ? LEVEL(keys_apart)(x, step, n, real, max, key)
	       : real    ? LEVEL(keys_apart)(x, 1, n, true, max, key)
			 : LEVEL(keys_apart)(x, 1, n, false, max, key);
}

/* The first `most` of `lanes` lines, a multiple of 16, of `length` elements (`real`: f32, else i32), whose elements lie `step` apart and the lines beside each
 * other: index[i] has the i-th of each.  Sorted by keys, of which a lower one comes first, then by index. */
static void LEVEL(rank_lanes)(const int32_t *x, int64_t length, int64_t step, int lanes, int most, bool real,
			      bool max, int32_t (*restrict index)[TOPK_LANES])
{
	int32_t key[TOPK_FEW][TOPK_LANES];
	lanes = lanes / 16 * 16; /* as the compiler may know */
	for (int i = 0; i < most; i++)
		for (int l = 0; l < lanes; l++)
			key[i][l] = index[i][l] = INT32_MAX;
	for (int64_t j = 0; j < length; j++, x += step) {
		int32_t k[TOPK_LANES], at[TOPK_LANES];
		for (int l = 0; l < lanes; l++) {
			int32_t bits = real && x[l] == INT32_MIN ? 0 : x[l]; /* -0 is 0 */
			k[l] = LEVEL(key_of)(bits, real, max);
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
