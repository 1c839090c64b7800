/* sample_loops.h - taps of sample.c, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define INLINE static inline __attribute__((always_inline))

/* As position(). */
INLINE float LEVEL(position)(float v, float n, const bool align)
{
	float x = align ? (v + 1) / 2 * (n - 1) : ((v + 1) * n - 1) / 2;
	return x > -1e9f && x < 1e9f ? x : -1e9f;
}

INLINE void LEVEL(bilinear_of)(const float *grid, int64_t n, int32_t w, int32_t h, const bool align,
			       int32_t *at, float *weight)
{
	for (int64_t i = 0; i < n; i++) {
		float x = LEVEL(position)(grid[2 * i], (float)w, align), left = floorf(x);
		float y = LEVEL(position)(grid[2 * i + 1], (float)h, align), up = floorf(y);
		int32_t col = (int32_t)left, row = (int32_t)up;
		float x1 = x - left, x0 = 1 - x1, y1 = y - up, y0 = 1 - y1;
		bool in_x0 = (col >= 0) & (col < w), in_x1 = (col >= -1) & (col < w - 1);
		bool in_y0 = (row >= 0) & (row < h), in_y1 = (row >= -1) & (row < h - 1);
		/* far outside it is any number: not read */
		int32_t first = (int32_t)((uint32_t)row * (uint32_t)w + (uint32_t)col);
		at[i] = in_y0 & in_x0 ? first : -1;
		at[BLOCK + i] = in_y0 & in_x1 ? (int32_t)((uint32_t)first + 1) : -1;
		at[2 * BLOCK + i] = in_y1 & in_x0 ? (int32_t)((uint32_t)first + (uint32_t)w) : -1;
		at[3 * BLOCK + i] = in_y1 & in_x1 ? (int32_t)((uint32_t)first + (uint32_t)w + 1) : -1;
		weight[i] = y0 * x0;
		weight[BLOCK + i] = y0 * x1;
		weight[2 * BLOCK + i] = y1 * x0;
		weight[3 * BLOCK + i] = y1 * x1;
	}
}

/* Of n <= BLOCK positions between four pixels, zeros outside: what taps_of finds, BLOCK apart. */
static void LEVEL(bilinear)(const float *grid, int64_t n, int32_t w, int32_t h, bool align, int32_t *at,
			    float *weight)
{
	if (align)
		LEVEL(bilinear_of)(grid, n, w, h, true, at, weight);
	else
		LEVEL(bilinear_of)(grid, n, w, h, false, at, weight);
}

INLINE void LEVEL(nearest_of)(const float *grid, int64_t n, int32_t w, int32_t h, const bool align,
			      const bool border, int32_t *at, float *weight)
{
	for (int64_t i = 0; i < n; i++) {
		float x = rintf(LEVEL(position)(grid[2 * i], (float)w, align));
		float y = rintf(LEVEL(position)(grid[2 * i + 1], (float)h, align));
		int32_t col = (int32_t)x, row = (int32_t)y;
		if (border) {
			col = col < 0 ? 0 : col < w ? col : w - 1;
			row = row < 0 ? 0 : row < h ? row : h - 1;
		}
		bool in = (col >= 0) & (col < w) & (row >= 0) & (row < h);
		/* far outside it is any number: not read */
		int32_t pixel = (int32_t)((uint32_t)row * (uint32_t)w + (uint32_t)col);
		at[i] = in ? pixel : -1;
		weight[i] = 1;
	}
}

/* Of n <= BLOCK positions the nearest pixel; outside a zero, or the one at the border. */
static void LEVEL(nearest)(const float *grid, int64_t n, int32_t w, int32_t h, bool align, bool border,
			   int32_t *at, float *weight)
{
	if (align)
		LEVEL(nearest_of)(grid, n, w, h, true, border, at, weight);
	else
		LEVEL(nearest_of)(grid, n, w, h, false, border, at, weight);
}

#undef INLINE
