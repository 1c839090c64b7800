/* cpu_color_loops.h - a row of pixels from luma and chroma, in bytes, one level (cpu_levels.h). */

/* Limited to 0 .. 255 and rounded. */
static inline uint32_t LEVEL(color_byte)(float x)
{
	float low = x < 0 ? 0 : x;
	return (uint32_t)(int32_t)((low > 255 ? 255 : low) + 0.5f);
}

/* BT.601, as OpenVINO has its factors; u, v: one for two pixels, `step` bytes apart; to (n, 3). */
static void LEVEL(yuv_row)(const uint8_t *luma, const uint8_t *u, const uint8_t *v, int step,
			   bool bgr, uint8_t *to, int64_t n)
{
	enum { PIECE = 64 };
	for (int64_t x0 = 0; x0 < n; x0 += PIECE) {
		int64_t m = n - x0 < PIECE ? n - x0 : PIECE;
		float y[PIECE] = {0}, p[PIECE] = {0}, q[PIECE] = {0};
		uint32_t pixel[PIECE];
		for (int64_t i = 0; i < m; i++)
			y[i] = (float)luma[x0 + i];
		for (int64_t i = 0; i < m; i += 2) {
			p[i] = p[i + 1] = (float)u[(x0 + i) / 2 * step] - 128;
			q[i] = q[i + 1] = (float)v[(x0 + i) / 2 * step] - 128;
		}
		for (int i = 0; i < PIECE; i++) {
			float c = 1.164f * (y[i] - 16);
			uint32_t red = LEVEL(color_byte)(c + 1.596f * q[i]);
			uint32_t green = LEVEL(color_byte)(c - 0.391f * p[i] - 0.813f * q[i]);
			uint32_t blue = LEVEL(color_byte)(c + 2.018f * p[i]);
			pixel[i] = (bgr ? blue : red) | green << 8 | (bgr ? red : blue) << 16;
		}
		/* Four bytes each; the next pixel overwrites the last of them.  Bytes are little-endian. */
		for (int64_t i = 0; i + 1 < m; i++, to += 3)
			__builtin_memcpy(to, &pixel[i], 4);
		__builtin_memcpy(to, &pixel[m - 1], 3);
		to += 3;
	}
}
