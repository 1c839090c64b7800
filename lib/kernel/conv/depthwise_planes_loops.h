/* depthwise_planes_loops.h - depthwise convolution of small planes, one level (isa_dispatch.h): as many planes
 * side by side as a vector has lanes, a pixel of all of them being one vector. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#include "kernel/gemm/block_epilogue_loops.h"

#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))

/* Four runs of four floats at from[0..3] to the columns of a square with rows to[0..3]. */
INLINE void LEVEL(square)(const float *const *from, float *const *to)
{
	vec4 r[4], t[4];
	UNROLL
	for (int i = 0; i < 4; i++)
		r[i] = *(const vec4 *)(const void *)from[i];
	t[0] = __builtin_shufflevector(r[0], r[2], 0, 4, 1, 5);
	t[1] = __builtin_shufflevector(r[1], r[3], 0, 4, 1, 5);
	t[2] = __builtin_shufflevector(r[0], r[2], 2, 6, 3, 7);
	t[3] = __builtin_shufflevector(r[1], r[3], 2, 6, 3, 7);
	*(vec4 *)(void *)to[0] = __builtin_shufflevector(t[0], t[1], 0, 4, 1, 5);
	*(vec4 *)(void *)to[1] = __builtin_shufflevector(t[0], t[1], 2, 6, 3, 7);
	*(vec4 *)(void *)to[2] = __builtin_shufflevector(t[2], t[3], 0, 4, 1, 5);
	*(vec4 *)(void *)to[3] = __builtin_shufflevector(t[2], t[3], 2, 6, 3, 7);
}

/* Planes (LEVEL_WIDTH, n), the last `planes` of them alike when there are fewer, to pixels: pixel i at
 * y + place[i]. */
static void LEVEL(planes_to_pixels)(const float *x, int planes, int64_t n, const int32_t *place,
				    float *y)
{
	for (int l = 0; l < LEVEL_WIDTH; l += 4) {
		const float *from[4];
		int64_t i = 0;
		for (int j = 0; j < 4; j++)
			from[j] = x + (l + j < planes ? l + j : planes - 1) * n;
		for (; i + 4 <= n; i += 4) {
			float *to[4];
			UNROLL
			for (int j = 0; j < 4; j++)
				to[j] = y + place[i + j] + l;
			LEVEL(square)(from, to);
			UNROLL
			for (int j = 0; j < 4; j++)
				from[j] += 4;
		}
		for (; i < n; i++)
			for (int j = 0; j < 4; j++)
				y[place[i] + l + j] = *from[j]++;
	}
}

/* The way back: n pixels, one behind the other, to `planes` planes. */
static void LEVEL(pixels_to_planes)(const float *x, int planes, int64_t n, float *y)
{
	for (int l = 0; l < planes; l += 4) {
		int m = planes - l < 4 ? planes - l : 4;
		int64_t i = 0;
		for (; m == 4 && i + 4 <= n; i += 4) {
			const float *from[4];
			float *to[4];
			UNROLL
			for (int j = 0; j < 4; j++) {
				from[j] = x + (i + j) * LEVEL_WIDTH + l;
				to[j] = y + (l + j) * n + i;
			}
			LEVEL(square)(from, to);
		}
		for (; i < n; i++)
			for (int j = 0; j < m; j++)
				y[(l + j) * n + i] = x[i * LEVEL_WIDTH + l + j];
	}
}

/* p pixels of a row, plane of taps by plane and in these column by column as in taps_loops.h.  x: the
 * first pixel of their windows; w (planes, k, k). */
INLINE void LEVEL(pixels)(const int k, const int s, const int p, const struct pixels *d,
			  const float *x, const float *w, VEC bias, float *y)
{
	VEC acc[7];
	UNROLL
	for (int i = 0; i < p; i++)
		acc[i] = VALL(0.0f);
	for (int plane = 0; plane < d->planes; plane++, x += d->plane_pitch)
		for (int c = 0; c < k; c++)
			UNROLL
			for (int r = 0; r < k; r++) {
				const VEC weight = VLOAD(w + ((plane * k + r) * k + c) * LEVEL_WIDTH);
				const float *from = x + r * d->pitch + c * LEVEL_WIDTH;
				UNROLL
				for (int i = 0; i < p; i++)
					acc[i] = VFMA(weight, VLOAD(from + i * s * LEVEL_WIDTH),
						      acc[i]);
			}
	UNROLL
	for (int i = 0; i < p; i++)
		VSTORE(y + i * LEVEL_WIDTH, LEVEL(post_limits)(&d->post, VADD(acc[i], bias)));
}

INLINE void LEVEL(rows_of_pixels)(const int k, const int s, const struct pixels *d, const float *x,
				  const float *w, const float *b, float *y)
{
	const VEC bias = VLOAD(b);
	for (int64_t row = 0; row < d->depth * d->height; row++) {
		const float *from = x + row / d->height * d->deeper + row % d->height * s * d->pitch;
		int64_t i = 0;
		for (; i + 7 <= d->width; i += 7, y += 7 * LEVEL_WIDTH)
			LEVEL(pixels)(k, s, 7, d, from + i * s * LEVEL_WIDTH, w, bias, y);
		for (; i + 3 <= d->width; i += 3, y += 3 * LEVEL_WIDTH)
			LEVEL(pixels)(k, s, 3, d, from + i * s * LEVEL_WIDTH, w, bias, y);
		for (; i < d->width; i++, y += LEVEL_WIDTH)
			LEVEL(pixels)(k, s, 1, d, from + i * s * LEVEL_WIDTH, w, bias, y);
	}
}

/* All pixels of the result: x within its padding, weights (planes, k, k) and bias for each lane. */
static void LEVEL(convolve_pixels)(const struct pixels *d, const float *x, const float *w,
				   const float *b, float *y)
{
	switch (10 * d->k + d->s) {
#define CASE(k, s) case 10 * k + s: LEVEL(rows_of_pixels)(k, s, d, x, w, b, y); break;
	CASE(3, 1) CASE(3, 2) CASE(5, 1) CASE(5, 2) CASE(7, 1) CASE(7, 2)
#undef CASE
	}
}
#undef UNROLL
#undef INLINE
