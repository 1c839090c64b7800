/* cpu_pairs.c - see cpu_pairs.h. */
#include "kernel/gemm/cpu_pairs.h"
#include "kernel/cpu_level.h"
#include "kernel/cpu_turn.h"
#include "kernel/tiles/cpu_tiles.h"

#include <string.h>

enum { BLOCK = PAIRS_M * PAIRS_K };

_Static_assert((int)PAIRS_M == (int)TILES_M && (int)PAIRS_N == 2 * (int)TILES_N &&
		       (int)PAIRS_K * 2 == (int)TILES_STEP,
	       "a block is a tile, a panel two");

int64_t pairs_a_elements(int64_t m, int64_t k)
{
	return (m + PAIRS_M - 1) / PAIRS_M * ((k + PAIRS_K - 1) / PAIRS_K) * BLOCK;
}

/* From the first element of row i on, further ones of the row BLOCK apart after each PAIRS_K. */
static int64_t row_at(int64_t i, int64_t k)
{
	return i / PAIRS_M * ((k + PAIRS_K - 1) / PAIRS_K) * BLOCK + i % PAIRS_M * PAIRS_K;
}

/* Rows of a panel, zeros behind the k-th. */
static int64_t depth(int64_t k)
{
	int64_t step = tiles_there() ? PAIRS_K : 2;
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

/* n floats, times `by`, and zeros up to `end` elements: lines of PAIRS_K, `step` apart. */
PAIRS_INLINE void round_lines(const float *x, int64_t n, int64_t end, float by, uint16_t *y,
			      int64_t step)
{
	__m512 scale = _mm512_set1_ps(by);
	for (int64_t i = 0; i < end; i += PAIRS_K, y += step) {
		__m256i low = rounded(x + i, first(n - i), scale);
		__m256i high = rounded(x + i + 16, first(n - i - 16), scale);
		_mm256_mask_storeu_epi16(y, first(end - i), low);
		_mm256_mask_storeu_epi16(y + 16, first(end - i - 16), high);
	}
}

PAIRS void pairs_pack_a(uint16_t *a, const float *x, int64_t m, int64_t k, float by)
{
	int64_t end = (k + PAIRS_K - 1) / PAIRS_K * PAIRS_K;
	for (int64_t i = 0; i < m; i++)
		round_lines(x + i * k, k, end, by, a + row_at(i, k), BLOCK);
}

/* e^(v - top) as 2^n times a polynomial for 2^f, |f| <= 1/2; what would be subnormal is 0, NaN stays. */
PAIRS_INLINE __m512 weights(__m512 v, __m512 top)
{
	const __m512 least = _mm512_set1_ps(-125.0f);
	__m512 t = _mm512_mul_ps(_mm512_sub_ps(v, top), _mm512_set1_ps(1.44269504f));
	__mmask16 there = _mm512_cmp_ps_mask(t, least, _CMP_NLT_UQ);
	t = _mm512_max_ps(least, t);
	__m512 n = _mm512_roundscale_ps(t, 0), f = _mm512_sub_ps(t, n);
	__m512 p = _mm512_fmadd_ps(_mm512_set1_ps(0.05500893f), f, _mm512_set1_ps(0.242211f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.69328293f));
	p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
	return _mm512_maskz_scalef_ps(there, p, n);
}

PAIRS float pairs_weights(uint16_t *a, int64_t i, const float *x, int64_t k, float top)
{
	const __m512 greatest = _mm512_set1_ps(top);
	__m512 low_sum = _mm512_setzero_ps(), high_sum = low_sum;
	uint16_t *y = a + row_at(i, k);
	for (int64_t j = 0; j < k; j += PAIRS_K, y += BLOCK) {
		__mmask16 m = first(k - j), n = first(k - j - 16);
		__m512 low = weights(_mm512_maskz_loadu_ps(m, x + j), greatest);
		__m512 high = weights(_mm512_maskz_loadu_ps(n, x + j + 16), greatest);
		low = _mm512_maskz_mov_ps(m, low);
		high = _mm512_maskz_mov_ps(n, high);
		low_sum = _mm512_add_ps(low_sum, low);
		high_sum = _mm512_add_ps(high_sum, high);
		_mm512_storeu_si512(y, (__m512i)_mm512_cvtne2ps_pbh(high, low));
	}
	return _mm512_reduce_add_ps(_mm512_add_ps(low_sum, high_sum));
}

/* Two rows of w columns, side by side; NULL: a row of zeros. */
PAIRS static void join_rows(const float *x, const float *y, int64_t w, void *to)
{
	/* Element i of the first row, then of the second. */
	const __m512i order =
		_mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23,
				 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
	for (int64_t j = 0; j < PAIRS_N; j += 16) {
		__m512 low = x ? _mm512_maskz_loadu_ps(first(w - j), x + j) : _mm512_setzero_ps();
		__m512 high = y ? _mm512_maskz_loadu_ps(first(w - j), y + j) : _mm512_setzero_ps();
		__m512i both = (__m512i)_mm512_cvtne2ps_pbh(high, low);
		_mm512_storeu_si512((uint32_t *)to + j, _mm512_permutexvar_epi16(order, both));
	}
}

/* A panel of w columns, rows of x (w,k): pairs are turned as if they were floats. */
PAIRS static void turn_panel(const float *x, int64_t k, int64_t w, float *to)
{
	float pair[PAIRS_N * TURN_PAIRS];
	int64_t pairs = (k + 1) / 2;
	if (w < PAIRS_N || 2 * pairs < depth(k))
		memset(to, 0, (size_t)(depth(k) / 2 * PAIRS_N) * sizeof *to);
	for (int64_t p = 0; p < pairs; p += TURN_PAIRS) {
		int64_t n = pairs - p < TURN_PAIRS ? pairs - p : TURN_PAIRS;
		for (int64_t j = 0; j < w; j++)
			round_lines(x + j * k + 2 * p, 2 * (p + n) > k ? k - 2 * p : 2 * n, 2 * n,
				    1, (uint16_t *)(void *)(pair + j * TURN_PAIRS), PAIRS_K);
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

/* m rows, which begin at elements `at` of A, by w columns of C. */
PAIRS_INLINE void tile_of(const int m, const uint16_t *a, const int64_t *at, const int32_t *b,
			  int64_t pairs, float *c, int64_t ldc, int64_t w)
{
	const int32_t *row[12];
	__m512 sum[12][2];
	for (int i = 0; i < m; i++) {
		row[i] = (const int32_t *)(const void *)(a + at[i]);
		sum[i][0] = sum[i][1] = _mm512_setzero_ps();
	}
	for (int64_t p = 0, j = 0; p < pairs; p++, b += PAIRS_N) {
		__m512bh b0 = (__m512bh)_mm512_loadu_si512(b);
		__m512bh b1 = (__m512bh)_mm512_loadu_si512(b + 16);
#pragma GCC unroll 12
		for (int i = 0; i < m; i++) {
			__m512bh x = (__m512bh)_mm512_set1_epi32(row[i][j]);
			sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, b0);
			sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, b1);
		}
		j += p % (PAIRS_K / 2) == PAIRS_K / 2 - 1 ? BLOCK / 2 - PAIRS_K / 2 + 1 : 1;
	}
	for (int i = 0; i < m; i++) {
		_mm512_mask_storeu_ps(c + i * ldc, first(w), sum[i][0]);
		_mm512_mask_storeu_ps(c + i * ldc + 16, first(w - 16), sum[i][1]);
	}
}

PAIRS static void multiply_by_vectors(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n,
				      int64_t k, float *c, int64_t ldc)
{
	int64_t pairs = (k + 1) / 2;
	const int32_t *y = (const int32_t *)(const void *)b;
	for (int64_t j = 0; j < n; j += PAIRS_N, y += pairs * PAIRS_N) {
		int64_t w = n - j < PAIRS_N ? n - j : PAIRS_N;
		for (int64_t i = 0, step; i < m; i += step) {
			int64_t at[12];
			step = m - i >= 12 ? 12 : m - i >= 4 ? 4 : 1;
			for (int r = 0; r < step; r++)
				at[r] = row_at(i + r, k);
			float *to = c + i * ldc + j;
			if (step == 12)
				tile_of(12, a, at, y, pairs, to, ldc, w);
			else if (step == 4)
				tile_of(4, a, at, y, pairs, to, ldc, w);
			else
				tile_of(1, a, at, y, pairs, to, ldc, w);
		}
	}
}

void pairs_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		    int64_t ldc)
{
	if (tiles_there())
		tiles_multiply(a, b, m, n, depth(k), c, ldc);
	else
		multiply_by_vectors(a, b, m, n, k, c, ldc);
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

float pairs_weights(uint16_t *a, int64_t i, const float *x, int64_t k, float top)
{
	(void)a, (void)i, (void)x, (void)k, (void)top;
	return 0;
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
