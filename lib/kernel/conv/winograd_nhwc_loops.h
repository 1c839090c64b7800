/* winograd_nhwc_loops.h - the inner loops of winograd_nhwc.c, one level (isa_dispatch.h): LEVEL_WIDTH
 * channels at a time. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#undef UNROLL
#undef INLINE
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))
#include "kernel/conv/winograd_points.h"
#include "kernel/partial_loops.h"

static int64_t LEVEL(vector_floats)(void)
{
	return LEVEL_WIDTH;
}

/* One tile: at[(m + 2)^2] pixels of cin channels to points, `stride` floats apart, each of them channels with zeros up to
 * whole vectors. */
INLINE void LEVEL(tile_to_points_of)(const int m, const float *const *at, int64_t cin, float *v,
				     int64_t stride)
{
	VEC t[6][6], d[6], p[6];
	for (int64_t c = 0; c < cin; c += LEVEL_WIDTH) {
		for (int x = 0; x < m + 2; x++) {
			UNROLL
			for (int y = 0; y < m + 2; y++)
				d[y] = LEVEL(load_some)(at[y * (m + 2) + x] + c, cin - c);
			LEVEL(to_points)(m, d, p);
			UNROLL
			for (int y = 0; y < m + 2; y++)
				t[y][x] = p[y];
		}
		for (int y = 0; y < m + 2; y++) {
			LEVEL(to_points)(m, t[y], p);
			UNROLL
			for (int x = 0; x < m + 2; x++)
				VSTORE(v + (y * (m + 2) + x) * stride + c, p[x]);
		}
	}
}

static void LEVEL(tile_to_points)(int m, const float *const *at, int64_t cin, float *v,
				  int64_t stride)
{
	if (m == 4)
		LEVEL(tile_to_points_of)(4, at, cin, v, stride);
	else
		LEVEL(tile_to_points_of)(2, at, cin, v, stride);
}

/* One tile's points (m + 2)^2, `stride` floats apart, of n <= GEMM_N channels, to outputs: rows x cols pixels of y,
 * `row` and `pixel` floats apart. */
INLINE void LEVEL(tile_from_points_of)(const int m, const float *c, int64_t stride, int64_t n,
				       const float *bias, float lo, float hi, int rows, int cols,
				       float *y, int64_t row, int64_t pixel)
{
	VEC t[4][6], d[6], o[4];
	for (int64_t at = 0; at < n; at += LEVEL_WIDTH) {
		VEC shift = VLOAD(bias + at);
		for (int x = 0; x < m + 2; x++) {
			UNROLL
			for (int i = 0; i < m + 2; i++)
				d[i] = VLOAD(c + (i * (m + 2) + x) * stride + at);
			LEVEL(from_points)(m, d, o);
			UNROLL
			for (int i = 0; i < m; i++)
				t[i][x] = o[i];
		}
		UNROLL
		for (int i = 0; i < m; i++) {
			if (i >= rows)
				break;
			LEVEL(from_points)(m, t[i], o);
			UNROLL
			for (int j = 0; j < m; j++)
				if (j < cols)
					LEVEL(store_some)(y + i * row + j * pixel + at,
							  VMIN(VALL(hi), VMAX(VALL(lo), VADD(o[j], shift))),
							  n - at);
		}
	}
}

static void LEVEL(tile_from_points)(int m, const float *c, int64_t stride, int64_t n,
				    const float *bias, float lo, float hi, int rows, int cols,
				    float *y, int64_t row, int64_t pixel)
{
	if (m == 4)
		LEVEL(tile_from_points_of)(4, c, stride, n, bias, lo, hi, rows, cols, y, row, pixel);
	else
		LEVEL(tile_from_points_of)(2, c, stride, n, bias, lo, hi, rows, cols, y, row, pixel);
}

#undef UNROLL
#undef INLINE
