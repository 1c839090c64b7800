/* depthwise_tokens_loops.h - the inner loops of depthwise_tokens.c, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define UNROLL _Pragma("GCC unroll 32")
#define INLINE static inline __attribute__((always_inline))

/* A block of two rows of p pixels.  k, s and p are constants where this is inlined, so that sums stay in
 * registers: each pixel of a window is read once.  The last channels may be computed twice. */
INLINE void LEVEL(block_of)(const int k, const int s, const int p, const struct block *b, const float *w,
			    const float *bias, int64_t begin, int64_t end, int64_t n)
{
	const int across = (p - 1) * s + k, down = s + k;
	for (int64_t at = begin; at < end; at += LEVEL_WIDTH) {
		const int64_t c = at + LEVEL_WIDTH <= n ? at : n - LEVEL_WIDTH;
		/* Added last, as where it is a step of its own. */
		const VEC last = bias ? VLOAD(bias + c) : VALL(0.0f);
		VEC acc[2 * 8];
		UNROLL
		for (int i = 0; i < 2 * p; i++)
			acc[i] = VALL(0.0f);
		UNROLL
		for (int x = 0; x < across; x++) {
			UNROLL
			for (int y = 0; y < down; y++) {
				const VEC in = VLOAD(b->from[y * across + x] + c);
				UNROLL
				for (int o = 0; o < 2; o++) {
					UNROLL
					for (int q = 0; q < p; q++) {
						const int ty = y - o * s, tx = x - q * s;
						if (ty < 0 || ty >= k || tx < 0 || tx >= k)
							continue;
						acc[o * p + q] = VFMA(VLOAD(w + (ty * k + tx) * n + c), in,
								      acc[o * p + q]);
					}
				}
			}
		}
		UNROLL
		for (int i = 0; i < 2 * p; i++)
			VSTORE(b->to[i] + c, VADD(acc[i], last));
	}
}

/* One pixel, any window. */
static void LEVEL(one_pixel)(const struct block *b, const float *w, const float *bias, int64_t begin, int64_t end,
			     int64_t n)
{
	for (int64_t at = begin; at < end; at += LEVEL_WIDTH) {
		const int64_t c = at + LEVEL_WIDTH <= n ? at : n - LEVEL_WIDTH;
		const VEC last = bias ? VLOAD(bias + c) : VALL(0.0f);
		VEC even = VALL(0.0f), odd = VALL(0.0f);
		int t = 0;
		for (; t + 2 <= b->taps; t += 2) {
			even = VFMA(VLOAD(w + t * n + c), VLOAD(b->from[t] + c), even);
			odd = VFMA(VLOAD(w + (t + 1) * n + c), VLOAD(b->from[t + 1] + c), odd);
		}
		if (t < b->taps)
			even = VFMA(VLOAD(w + t * n + c), VLOAD(b->from[t] + c), even);
		VSTORE(b->to[0] + c, VADD(VADD(even, odd), last));
	}
}

/* Channels begin .. end - 1 of n; begin is a multiple of the width. */
static void LEVEL(block)(int variant, const struct block *b, const float *w, const float *bias, int64_t begin,
			 int64_t end, int64_t n)
{
	switch (variant) {
#define CASE(k, s, p) case TOKENS_VARIANT(k, s, p): LEVEL(block_of)(k, s, p, b, w, bias, begin, end, n); break;
#if LEVEL_WIDTH == 16
#define CASES(k, s) CASE(k, s, 8) CASE(k, s, 7) CASE(k, s, 4)
#else
#define CASES(k, s) CASE(k, s, 4)
#endif
	CASES(3, 1) CASES(3, 2) CASES(5, 1) CASES(5, 2) CASE(7, 1, 4)
#undef CASES
#undef CASE
	default: /* any other filter */ LEVEL(one_pixel)(b, w, bias, begin, end, n);
	}
}

/* Limits as Clamp's: what is not a number stays. */
static void LEVEL(limit)(float lo, float hi, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++) {
		float v = y[i] < lo ? lo : y[i];
		y[i] = v > hi ? hi : v;
	}
}

#undef UNROLL
#undef INLINE
