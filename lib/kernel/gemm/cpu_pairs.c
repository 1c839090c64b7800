/* cpu_pairs.c - see cpu_pairs.h. */
#include "kernel/gemm/cpu_pairs.h"
#include "kernel/cpu_level.h"
#include "kernel/cpu_turn.h"
#include "kernel/gemm/cpu_tiles.h"

#include <string.h>

int64_t pairs_row(int64_t k)
{
	/* An odd number of lines: rows of any length meet all sets of the first-level cache. */
	return ((k + 31) / 32 | 1) * 32;
}

/* Rows of a panel, zeros behind the k-th. */
static int64_t depth(int64_t k)
{
	int64_t step = tiles_there() ? TILES_K : 2;
	return (k + step - 1) / step * step;
}

int64_t pairs_b_elements(int64_t k, int64_t n)
{
	return (n + PAIRS_N - 1) / PAIRS_N * PAIRS_N * depth(k);
}

#ifdef CPU_HAS_LEVELS

#define PAIRS __attribute__((target("arch=x86-64-v4,avx512bf16,prefer-vector-width=512")))
#define PAIRS_INLINE PAIRS __attribute__((always_inline)) static inline

enum { TURN_PAIRS = 64 }; /* pairs of a column that are turned at a time */

bool pairs_there(void)
{
	return tiles_there() || (cpu_level >= 4 && __builtin_cpu_supports("avx512bf16"));
}

/* ---- packing ---- */

PAIRS_INLINE __mmask16 first(int64_t n)
{
	return n >= 16 ? (__mmask16)0xffff : n <= 0 ? (__mmask16)0 : (__mmask16)((1u << n) - 1);
}

/* x[i] of the mask, rounded; zeros elsewhere. */
PAIRS_INLINE __m256i rounded(const float *x, __mmask16 m, __m512 by)
{
	__m512 v = _mm512_mul_ps(_mm512_maskz_loadu_ps(m, x), by);
	return (__m256i)_mm512_cvtneps_pbh(v);
}

/* n floats, and zeros up to `end` elements. */
PAIRS static void round_row(const float *x, int64_t n, int64_t end, float by, void *y)
{
	__m512 scale = _mm512_set1_ps(by);
	for (int64_t i = 0; i < end; i += 16)
		_mm256_mask_storeu_epi16((uint16_t *)y + i, first(end - i),
					 rounded(x + i, first(n - i), scale));
}

void pairs_pack_a(uint16_t *a, const float *x, int64_t m, int64_t k, float by)
{
	for (int64_t i = 0; i < m; i++)
		round_row(x + i * k, k, depth(k), by, a + i * pairs_row(k));
}

void pairs_end_row(uint16_t *row, int64_t k)
{
	memset(row + k, 0, (size_t)(depth(k) - k) * sizeof *row);
}

/* Two rows of w columns, side by side; NULL: a row of zeros. */
PAIRS static void join_rows(const float *x, const float *y, int64_t w, void *to)
{
	const __m512 one = _mm512_set1_ps(1);
	for (int64_t j = 0; j < PAIRS_N; j += 16) {
		__m512i low = _mm512_setzero_si512(), high = low;
		if (x)
			low = _mm512_cvtepu16_epi32(rounded(x + j, first(w - j), one));
		if (y)
			high = _mm512_cvtepu16_epi32(rounded(y + j, first(w - j), one));
		_mm512_storeu_si512((uint32_t *)to + j,
				    _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
	}
}

/* A panel of w columns, rows of x (w,k): pairs are turned as if they were floats. */
static void turn_panel(const float *x, int64_t k, int64_t w, float *to)
{
	float pair[PAIRS_N * TURN_PAIRS];
	int64_t pairs = (k + 1) / 2;
	if (w < PAIRS_N || 2 * pairs < depth(k))
		memset(to, 0, (size_t)(depth(k) / 2 * PAIRS_N) * sizeof *to);
	for (int64_t p = 0; p < pairs; p += TURN_PAIRS) {
		int64_t n = pairs - p < TURN_PAIRS ? pairs - p : TURN_PAIRS;
		for (int64_t j = 0; j < w; j++)
			round_row(x + j * k + 2 * p, 2 * (p + n) > k ? k - 2 * p : 2 * n, 2 * n, 1,
				  pair + j * TURN_PAIRS);
		cpu_turn(pair, TURN_PAIRS, w, n, to + p * PAIRS_N, PAIRS_N);
	}
}

void pairs_pack_b(uint16_t *b, const float *x, int64_t k, int64_t n, bool turned)
{
	int64_t rows = depth(k), panel = rows * PAIRS_N;
	for (int64_t j = 0; j < n; j += PAIRS_N, b += panel) {
		int64_t w = n - j < PAIRS_N ? n - j : PAIRS_N;
		if (turned)
			turn_panel(x + j * k, k, w, (float *)(void *)b);
		for (int64_t i = 0; i < rows && !turned; i += 2)
			join_rows(i < k ? x + i * n + j : NULL,
				  i + 1 < k ? x + (i + 1) * n + j : NULL, w, b + i * PAIRS_N);
	}
}

/* ---- products ---- */

/* m rows by w columns of C; A's rows `row` pairs apart. */
PAIRS_INLINE void tile_of(const int m, const int32_t *a, int64_t row, const int32_t *b,
			  int64_t pairs, float *c, int64_t ldc, int64_t w)
{
	__m512 sum[12][2];
	for (int i = 0; i < m; i++)
		sum[i][0] = sum[i][1] = _mm512_setzero_ps();
	for (int64_t p = 0; p < pairs; p++, b += PAIRS_N) {
		__m512bh b0 = (__m512bh)_mm512_loadu_si512(b);
		__m512bh b1 = (__m512bh)_mm512_loadu_si512(b + 16);
#pragma GCC unroll 12
		for (int i = 0; i < m; i++) {
			__m512bh x = (__m512bh)_mm512_set1_epi32(a[i * row + p]);
			sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, b0);
			sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, b1);
		}
	}
	for (int i = 0; i < m; i++) {
		_mm512_mask_storeu_ps(c + i * ldc, first(w), sum[i][0]);
		_mm512_mask_storeu_ps(c + i * ldc + 16, first(w - 16), sum[i][1]);
	}
}

PAIRS void pairs_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k,
			  float *c, int64_t ldc)
{
	if (tiles_there()) {
		tiles_multiply(a, pairs_row(k), b, m, n, depth(k), c, ldc);
		return;
	}
	int64_t pairs = (k + 1) / 2, row = pairs_row(k) / 2;
	const int32_t *x = (const int32_t *)(const void *)a;
	const int32_t *y = (const int32_t *)(const void *)b;
	for (int64_t j = 0; j < n; j += PAIRS_N, y += pairs * PAIRS_N) {
		int64_t i = 0, w = n - j < PAIRS_N ? n - j : PAIRS_N;
		for (; i + 12 <= m; i += 12)
			tile_of(12, x + i * row, row, y, pairs, c + i * ldc + j, ldc, w);
		for (; i + 4 <= m; i += 4)
			tile_of(4, x + i * row, row, y, pairs, c + i * ldc + j, ldc, w);
		for (; i < m; i++)
			tile_of(1, x + i * row, row, y, pairs, c + i * ldc + j, ldc, w);
	}
}

#else

bool pairs_there(void)
{
	return false;
}

void pairs_pack_a(uint16_t *a, const float *x, int64_t m, int64_t k, float by)
{
	(void)a, (void)x, (void)m, (void)k, (void)by;
}

void pairs_end_row(uint16_t *row, int64_t k)
{
	(void)row, (void)k;
}

void pairs_pack_b(uint16_t *b, const float *x, int64_t k, int64_t n, bool turned)
{
	(void)b, (void)x, (void)k, (void)n, (void)turned;
}

void pairs_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		    int64_t ldc)
{
	(void)a, (void)b, (void)m, (void)n, (void)k, (void)c, (void)ldc;
}

#endif
