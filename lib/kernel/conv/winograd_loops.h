/* winograd_loops.h - the transforms of winograd.c, one level (isa_dispatch.h):
 * LEVEL_WIDTH tiles at a time, one in each lane. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define UNROLL _Pragma("GCC unroll 16")
#define INLINE static inline __attribute__((always_inline))
#include "kernel/conv/winograd_points.h"

/* Tiles at .. at + LEVEL_WIDTH - 1 of a block: element x of each, one float a tile from x on. */
INLINE VEC LEVEL(tiles)(const float *x, const struct wino_lanes *l)
{
#if LEVEL_WIDTH == 16
	VEC v = _mm512_maskz_loadu_ps(l->bits[0], x + l->from[0]);
	for (int i = 1; i < l->n; i++)
		v = _mm512_mask_loadu_ps(v, l->bits[i], x + l->from[i]);
	return v;
#else
	if (l->n == 1 && l->n_tiles == LEVEL_WIDTH) /* neighbours */
		return VLOAD(x + l->from[0]);
	float v[LEVEL_WIDTH];
	for (int i = 0; i < LEVEL_WIDTH; i++)
		v[i] = i < l->n_tiles ? x[l->tile[i]] : 0;
	return VLOAD(v);
#endif
}

/* One channel: rows (row, phase, pitch) of the input to points, `stride` floats apart. */
INLINE void LEVEL(input_of)(const int m, const float *rows, int64_t pitch,
			    const struct wino_lanes *l, float *v, int64_t stride)
{
	VEC t[6][6], d[6], p[6];
	for (int x = 0; x < m + 2; x++) {
		const float *from = rows + x % m * pitch + x / m;
		UNROLL
		for (int y = 0; y < m + 2; y++)
			d[y] = LEVEL(tiles)(from + y * m * pitch, l);
		LEVEL(to_points)(m, d, p);
		UNROLL
		for (int y = 0; y < m + 2; y++)
			t[y][x] = p[y];
	}
	for (int y = 0; y < m + 2; y++) {
		LEVEL(to_points)(m, t[y], p);
		UNROLL
		for (int x = 0; x < m + 2; x++)
			VSTORE(v + (y * (m + 2) + x) * stride, p[x]);
	}
}

static void LEVEL(input)(int m, const float *rows, int64_t pitch, const struct wino_lanes *l,
			 float *v, int64_t stride)
{
	if (m == 4)
		LEVEL(input_of)(4, rows, pitch, l, v, stride);
	else
		LEVEL(input_of)(2, rows, pitch, l, v, stride);
}

/* m vectors of LEVEL_WIDTH lanes to y[lane * m + vector]. */
INLINE void LEVEL(interleave)(const int m, const VEC *o, float *y)
{
#if LEVEL_WIDTH == 16
	if (m == 2) {
		const __m512i lo = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22,
						     7, 23);
		const __m512i hi = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29,
						     14, 30, 15, 31);
		VSTORE(y, _mm512_permutex2var_ps(o[0], lo, o[1]));
		VSTORE(y + 16, _mm512_permutex2var_ps(o[0], hi, o[1]));
		return;
	}
	/* within 128 bits: pairs, then the four of a tile; then tiles in order */
	VEC p = _mm512_unpacklo_ps(o[0], o[1]), q = _mm512_unpackhi_ps(o[0], o[1]);
	VEC r = _mm512_unpacklo_ps(o[2], o[3]), s = _mm512_unpackhi_ps(o[2], o[3]);
#define PAIRS(f, a, b) _mm512_castpd_ps(f(_mm512_castps_pd(a), _mm512_castps_pd(b)))
	VEC t0 = PAIRS(_mm512_unpacklo_pd, p, r), t1 = PAIRS(_mm512_unpackhi_pd, p, r);
	VEC t2 = PAIRS(_mm512_unpacklo_pd, q, s), t3 = PAIRS(_mm512_unpackhi_pd, q, s);
#undef PAIRS
	VEC u0 = _mm512_shuffle_f32x4(t0, t1, 0x44), u1 = _mm512_shuffle_f32x4(t2, t3, 0x44);
	VEC u2 = _mm512_shuffle_f32x4(t0, t1, 0xee), u3 = _mm512_shuffle_f32x4(t2, t3, 0xee);
	VSTORE(y, _mm512_shuffle_f32x4(u0, u1, 0x88));
	VSTORE(y + 16, _mm512_shuffle_f32x4(u0, u1, 0xdd));
	VSTORE(y + 32, _mm512_shuffle_f32x4(u2, u3, 0x88));
	VSTORE(y + 48, _mm512_shuffle_f32x4(u2, u3, 0xdd));
#elif LEVEL_WIDTH == 8
	/* in each half pairs, then the four of a tile; then tiles in order */
	VEC p = _mm256_unpacklo_ps(o[0], o[1]), q = _mm256_unpackhi_ps(o[0], o[1]);
	if (m == 2) {
		VSTORE(y, _mm256_permute2f128_ps(p, q, 0x20));
		VSTORE(y + 8, _mm256_permute2f128_ps(p, q, 0x31));
		return;
	}
	VEC r = _mm256_unpacklo_ps(o[2], o[3]), s = _mm256_unpackhi_ps(o[2], o[3]);
#define PAIRS(f, a, b) _mm256_castpd_ps(f(_mm256_castps_pd(a), _mm256_castps_pd(b)))
	VEC t0 = PAIRS(_mm256_unpacklo_pd, p, r), t1 = PAIRS(_mm256_unpackhi_pd, p, r);
	VEC t2 = PAIRS(_mm256_unpacklo_pd, q, s), t3 = PAIRS(_mm256_unpackhi_pd, q, s);
#undef PAIRS
	VSTORE(y, _mm256_permute2f128_ps(t0, t1, 0x20));
	VSTORE(y + 8, _mm256_permute2f128_ps(t2, t3, 0x20));
	VSTORE(y + 16, _mm256_permute2f128_ps(t0, t1, 0x31));
	VSTORE(y + 24, _mm256_permute2f128_ps(t2, t3, 0x31));
#else
	float lane[4][LEVEL_WIDTH];
	for (int j = 0; j < m; j++)
		VSTORE(lane[j], o[j]);
	for (int k = 0; k < LEVEL_WIDTH; k++)
		for (int j = 0; j < m; j++)
			y[m * k + j] = lane[j][k];
#endif
}

/* One channel: points, `stride` floats apart, to outputs (m rows, LEVEL_WIDTH tiles, m). */
INLINE void LEVEL(output_of)(const int m, const float *c, int64_t stride, float bias, float lo,
			     float hi, float *y)
{
	VEC t[4][6], d[6], o[4];
	for (int x = 0; x < m + 2; x++) {
		UNROLL
		for (int i = 0; i < m + 2; i++)
			d[i] = VLOAD(c + (i * (m + 2) + x) * stride);
		LEVEL(from_points)(m, d, o);
		UNROLL
		for (int i = 0; i < m; i++)
			t[i][x] = o[i];
	}
	for (int i = 0; i < m; i++, y += m * LEVEL_WIDTH) {
		LEVEL(from_points)(m, t[i], o);
		UNROLL
		for (int j = 0; j < m; j++)
			o[j] = VMIN(VALL(hi), VMAX(VALL(lo), VADD(o[j], VALL(bias))));
		LEVEL(interleave)(m, o, y);
	}
}

static void LEVEL(output)(int m, const float *c, int64_t stride, float bias, float lo, float hi,
			  float *y)
{
	if (m == 4)
		LEVEL(output_of)(4, c, stride, bias, lo, hi, y);
	else
		LEVEL(output_of)(2, c, stride, bias, lo, hi, y);
}

#if LEVEL_WIDTH == 8
/* 32 floats to m phases. */
static void LEVEL(split_some)(int m, const float *x, float *y, int64_t pitch)
{
	const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
	for (int i = 0; i < 32; i += 8 * m, x += 8 * m, y += 8) {
		VEC a = VLOAD(x), b = VLOAD(x + 8);
		/* of 16 every other one: in each half two of a, two of b */
		VEC even = _mm256_shuffle_ps(a, b, 0x88), odd = _mm256_shuffle_ps(a, b, 0xdd);
		if (m == 2) {
#define PAIRS(v) _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(v), 0xd8))
			VSTORE(y, PAIRS(even));
			VSTORE(y + pitch, PAIRS(odd));
#undef PAIRS
			continue;
		}
		VEC c = VLOAD(x + 16), d = VLOAD(x + 24);
		VEC evens = _mm256_shuffle_ps(c, d, 0x88), odds = _mm256_shuffle_ps(c, d, 0xdd);
		const VEC phase[4] = {
			_mm256_shuffle_ps(even, evens, 0x88), _mm256_shuffle_ps(odd, odds, 0x88),
			_mm256_shuffle_ps(even, evens, 0xdd), _mm256_shuffle_ps(odd, odds, 0xdd)};
		UNROLL
		for (int j = 0; j < 4; j++)
			VSTORE(y + j * pitch, _mm256_permutevar8x32_ps(phase[j], order));
	}
}
#elif LEVEL_WIDTH == 4
static void LEVEL(split_some)(int m, const float *x, float *y, int64_t pitch)
{
	for (int i = 0; i < 32 / m; i++)
		for (int j = 0; j < m; j++)
			y[j * pitch + i] = x[i * m + j];
}
#endif

/* A row of `width` floats with `pad` zeros before it, and zeros behind, to m phases of `pitch`
 * floats, a multiple of 32 / m: y[i % m * pitch + i / m] = row[i]. */
static void LEVEL(split)(int m, const float *x, int64_t width, int64_t pad, float *y, int64_t pitch)
{
	int64_t n = m * pitch;
#if LEVEL_WIDTH == 16
	const __m512i four_a = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25,
						 29);
	const __m512i four_b = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23,
						 27, 31);
	const __m512i two_a = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
						30);
	const __m512i two_b = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29,
						31);
	for (int64_t i = 0; i < n; i += 32, y += 32 / m) {
		VEC v[2];
		for (int j = 0; j < 2; j++) {
			int64_t lo = pad - i - 16 * j, hi = lo + width;
			lo = lo < 0 ? 0 : lo > 16 ? 16 : lo;
			hi = hi < lo ? lo : hi > 16 ? 16 : hi;
			v[j] = _mm512_maskz_loadu_ps((__mmask16)((1u << hi) - (1u << lo)),
						     x + (i + 16 * j - pad));
		}
		if (m == 2) {
			VSTORE(y, _mm512_permutex2var_ps(v[0], two_a, v[1]));
			VSTORE(y + pitch, _mm512_permutex2var_ps(v[0], two_b, v[1]));
			continue;
		}
		VEC p = _mm512_permutex2var_ps(v[0], four_a, v[1]);
		VEC q = _mm512_permutex2var_ps(v[0], four_b, v[1]);
		_mm256_storeu_ps(y, _mm512_castps512_ps256(p));
		_mm256_storeu_ps(y + pitch, _mm512_extractf32x8_ps(p, 1));
		_mm256_storeu_ps(y + 2 * pitch, _mm512_castps512_ps256(q));
		_mm256_storeu_ps(y + 3 * pitch, _mm512_extractf32x8_ps(q, 1));
	}
#else
	for (int64_t i = 0; i < n; i += 32, y += 32 / m) {
		int64_t lo = pad > i ? pad - i : 0, hi = pad + width - i;
		float edge[32] = {0};
		hi = hi > 32 ? 32 : hi;
		bool inside = lo == 0 && hi == 32;
		if (!inside && lo < hi)
			memcpy(edge + lo, x + i + lo - pad, (size_t)(hi - lo) * sizeof *edge);
		LEVEL(split_some)(m, inside ? x + i - pad : edge, y, pitch);
	}
#endif
}

#undef UNROLL
#undef INLINE
