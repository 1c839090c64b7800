/* vnni_gemm.c - see vnni_gemm.h. */
#include "kernel/gemm/vnni_gemm.h"
#include "kernel/isa_level.h"
#include "kernel/transpose.h"
#include "kernel/tiles/amx_tiles.h"

#include <math.h>
#include <string.h>

enum { BLOCK = PAIRS_M * PAIRS_K };
enum { TILE_ROWS = PAIRS_M / 2 };

_Static_assert((int)PAIRS_M == (int)TILES_M && (int)PAIRS_N == 2 * (int)TILES_N &&
		       (int)PAIRS_K * 2 == (int)TILES_STEP,
	       "a block is a tile, a panel two");

int64_t pairs_a_elements(int64_t m, int64_t k)
{
	return (m + PAIRS_M - 1) / PAIRS_M * ((k + PAIRS_K - 1) / PAIRS_K) * BLOCK;
}

#ifdef CPU_HAS_LEVELS
/* From the first element of row i on, further ones of the row BLOCK apart after each PAIRS_K. */
static int64_t row_at(int64_t i, int64_t k)
{
	return i / PAIRS_M * ((k + PAIRS_K - 1) / PAIRS_K) * BLOCK + i % PAIRS_M * PAIRS_K;
}
#endif

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

/* Row y += what is added; its greatest. */
PAIRS_INLINE float add_rows(const struct pairs_scores *s, const int n_add, int64_t y)
{
	__m512 most = _mm512_set1_ps(-INFINITY);
	float *x = s->x + y * s->ld;
	for (int64_t j = 0; j < s->k; j += 16) {
		__mmask16 m = first(s->k - j);
		__m512 v = _mm512_maskz_loadu_ps(m, x + j);
		for (int r = 0; r < n_add; r++)
			v = _mm512_add_ps(
				v, _mm512_maskz_loadu_ps(m, s->add[r] + y * s->add_step[r] + j));
		if (n_add > 0)
			_mm512_mask_storeu_ps(x + j, m, v);
		most = _mm512_mask_max_ps(most, m, most, v);
	}
	return _mm512_reduce_max_ps(most);
}

PAIRS_INLINE void find_tops(const struct pairs_scores *s, const int n_add, float *top)
{
	for (int64_t y = 0; y < s->rows; y++) {
		float most = add_rows(s, n_add, y);
		float least = s->least ? s->least[y * s->least_step] : -INFINITY;
		most = least > most ? least : most;
		top[y] = most == -INFINITY ? 0 : most;
	}
}

PAIRS_INLINE float weigh_row(const float *x, int64_t k, float top, uint16_t *y)
{
	const __m512 greatest = _mm512_set1_ps(top);
	__m512 low_sum = _mm512_setzero_ps(), high_sum = low_sum;
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

PAIRS void pairs_weights(uint16_t *a, const struct pairs_scores *s, float *top, float *sum)
{
	if (s->n_add == 0)
		find_tops(s, 0, top);
	else if (s->n_add == 1)
		find_tops(s, 1, top);
	else
		find_tops(s, 2, top);
	for (int64_t y = 0; y < s->rows; y++)
		sum[y] = weigh_row(s->x + y * s->ld, s->k, top[y], a + row_at(y, s->k));
	for (int64_t y = 0; y < s->rows && s->least; y++)
		sum[y] += expf(s->least[y * s->least_step] - top[y]);
}

/* Two rows of w columns, side by side, as far as `width`; NULL: a row of zeros. */
PAIRS_INLINE void join_rows(const float *x, const float *y, int64_t w, int64_t width, void *to)
{
	/* Element i of the first row, then of the second. */
	const __m512i order =
		_mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23,
				 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
	for (int64_t j = 0; j < width; j += 16) {
		__m512 low = x ? _mm512_maskz_loadu_ps(first(w - j), x + j) : _mm512_setzero_ps();
		__m512 high = y ? _mm512_maskz_loadu_ps(first(w - j), y + j) : _mm512_setzero_ps();
		__m512i both = (__m512i)_mm512_cvtne2ps_pbh(high, low);
		_mm512_storeu_si512((uint32_t *)to + j, _mm512_permutexvar_epi16(order, both));
	}
}

/* A panel of w columns, rows of x, ld apart: pairs are turned as if they were floats. */
PAIRS static void turn_panel(const float *x, int64_t ld, int64_t k, int64_t w, float *to)
{
	float pair[PAIRS_N * TURN_PAIRS];
	int64_t pairs = (k + 1) / 2;
	if (w < PAIRS_N || 2 * pairs < depth(k))
		memset(to, 0, (size_t)(depth(k) / 2 * PAIRS_N) * sizeof *to);
	for (int64_t p = 0; p < pairs; p += TURN_PAIRS) {
		int64_t n = pairs - p < TURN_PAIRS ? pairs - p : TURN_PAIRS;
		for (int64_t j = 0; j < w; j++)
			round_lines(x + j * ld + 2 * p, 2 * (p + n) > k ? k - 2 * p : 2 * n, 2 * n,
				    1, (uint16_t *)(void *)(pair + j * TURN_PAIRS), PAIRS_K);
		cpu_turn(pair, TURN_PAIRS, w, n, to + p * PAIRS_N, PAIRS_N);
	}
}

PAIRS void pairs_pack_b_of(uint16_t *b, const float *x, int64_t ld, int64_t k, int64_t n,
			   bool turned)
{
	int64_t rows = depth(k), panel = rows * PAIRS_N;
	for (int64_t j = 0; j < n; j += PAIRS_N, b += panel) {
		int64_t w = n - j < PAIRS_N ? n - j : PAIRS_N;
		if (turned)
			turn_panel(x + j * ld, ld, k, w, (float *)(void *)b);
		for (int64_t i = 0; i < rows && !turned; i += 2)
			join_rows(i < k ? x + i * ld + j : NULL,
				  i + 1 < k ? x + (i + 1) * ld + j : NULL, w, PAIRS_N,
				  b + i * PAIRS_N);
	}
}

void pairs_pack_b(uint16_t *b, const float *x, int64_t k, int64_t n, bool turned)
{
	pairs_pack_b_of(b, x, turned ? k : n, k, n, turned);
}

PAIRS void pairs_pack_a_of(uint16_t *a, const float *x, int64_t ld, int64_t m, int64_t k, float by)
{
	int64_t end = (k + PAIRS_K - 1) / PAIRS_K * PAIRS_K;
	for (int64_t i = 0; i < m; i++)
		round_lines(x + i * ld, k, end, by, a + row_at(i, k), BLOCK);
}

void pairs_pack_a(uint16_t *a, const float *x, int64_t m, int64_t k, float by)
{
	pairs_pack_a_of(a, x, k, m, k, by);
}

/* ---- products ---- */

/* m rows of a block, from a on, or of a panel with `across`, by w columns; the first `rows` of them are C's. */
PAIRS_INLINE void tile_of(const int m, const bool across, const bool add, const uint16_t *a,
			  const int32_t *b, int64_t pairs, float *c, int64_t ldc, int64_t rows,
			  int64_t w)
{
	const __mmask16 low = first(w), high = first(w - 16);
	const int64_t next = across ? 1 : PAIRS_K / 2;
	const int32_t *row = (const int32_t *)(const void *)a;
	__m512 sum[TILE_ROWS][2];
#pragma GCC unroll 8
	for (int i = 0; i < m; i++) {
		sum[i][0] = sum[i][1] = _mm512_setzero_ps();
		if (add && i < rows) {
			sum[i][0] = _mm512_maskz_loadu_ps(low, c + i * ldc);
			sum[i][1] = _mm512_maskz_loadu_ps(high, c + i * ldc + 16);
		}
	}
	for (int64_t p = 0; p < pairs; p++, b += PAIRS_N) {
		__m512bh b0 = (__m512bh)_mm512_loadu_si512(b);
		__m512bh b1 = (__m512bh)_mm512_loadu_si512(b + 16);
#pragma GCC unroll 8
		for (int i = 0; i < m; i++) {
			__m512bh x = (__m512bh)_mm512_set1_epi32(row[i * next]);
			sum[i][0] = _mm512_dpbf16_ps(sum[i][0], x, b0);
			sum[i][1] = _mm512_dpbf16_ps(sum[i][1], x, b1);
		}
		if (across)
			row += PAIRS_N;
		else
			row += p % (PAIRS_K / 2) == PAIRS_K / 2 - 1 ? BLOCK / 2 - PAIRS_K / 2 + 1
								    : 1;
	}
#pragma GCC unroll 8
	for (int i = 0; i < m; i++)
		if (i < rows) {
			_mm512_mask_storeu_ps(c + i * ldc, low, sum[i][0]);
			_mm512_mask_storeu_ps(c + i * ldc + 16, high, sum[i][1]);
		}
}

/* `rows` rows, a tile's or fewer.  It may have rows too many, which A has room for. */
PAIRS_INLINE void some_rows(const bool across, const bool add, const uint16_t *a, const int32_t *b,
			    int64_t pairs, float *c, int64_t ldc, int64_t rows, int64_t w)
{
	if (rows >= TILE_ROWS)
		tile_of(TILE_ROWS, across, add, a, b, pairs, c, ldc, TILE_ROWS, w);
	else if (rows > TILE_ROWS / 2)
		tile_of(TILE_ROWS, across, add, a, b, pairs, c, ldc, rows, w);
	else if (rows > 1)
		tile_of(TILE_ROWS / 2, across, add, a, b, pairs, c, ldc, rows, w);
	else
		tile_of(1, across, add, a, b, pairs, c, ldc, rows, w);
}

/* m rows by a panel of w columns. */
PAIRS_INLINE void panel_by_vectors(const bool add, const uint16_t *a, const uint16_t *b, int64_t m,
				   int64_t w, int64_t k, float *c, int64_t ldc)
{
	const int32_t *y = (const int32_t *)(const void *)b;
	for (int64_t i = 0; i < m; i += TILE_ROWS)
		some_rows(false, add, a + row_at(i, k), y, (k + 1) / 2, c + i * ldc, ldc, m - i, w);
}

PAIRS static void set_panel(const uint16_t *a, const uint16_t *b, int64_t m, int64_t w, int64_t k,
			    float *c, int64_t ldc)
{
	panel_by_vectors(false, a, b, m, w, k, c, ldc);
}

PAIRS static void add_panel(const uint16_t *a, const uint16_t *b, int64_t m, int64_t w, int64_t k,
			    float *c, int64_t ldc)
{
	panel_by_vectors(true, a, b, m, w, k, c, ldc);
}

void pairs_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		    int64_t ldc)
{
	if (tiles_there()) {
		tiles_multiply(a, b, m, n, depth(k), c, ldc);
		return;
	}
	for (int64_t j = 0; j < n; j += PAIRS_N)
		set_panel(a, b + j * depth(k), m, n - j < PAIRS_N ? n - j : PAIRS_N, k, c + j, ldc);
}

/* The same by tiles, which write whole panels. */
static void panel_by_tiles(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k,
			   float *c, int64_t ldc, bool add)
{
	enum { ROWS = 2 * PAIRS_M };
	float sum[ROWS * PAIRS_N];
	for (int64_t i = 0; i < m; i += ROWS, c += ROWS * ldc) {
		int64_t rows = m - i < ROWS ? m - i : ROWS;
		tiles_multiply(a + row_at(i, k), b, rows, PAIRS_N, depth(k), sum, PAIRS_N);
		for (int64_t r = 0; r < rows; r++)
			for (int64_t j = 0; j < n; j++)
				c[r * ldc + j] = sum[r * PAIRS_N + j] + (add ? c[r * ldc + j] : 0);
	}
}

void pairs_panel(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		 int64_t ldc, bool add)
{
	if (tiles_there() && (add || n < PAIRS_N))
		panel_by_tiles(a, b, m, n, k, c, ldc, add);
	else if (tiles_there())
		tiles_multiply(a, b, m, n, depth(k), c, ldc);
	else if (add)
		add_panel(a, b, m, n, k, c, ldc);
	else
		set_panel(a, b, m, n, k, c, ldc);
}

/* m <= PAIRS_N rows, a panel of X, by a panel of w columns. */
PAIRS static void outer_by_vectors(const uint16_t *x, const uint16_t *y, int64_t m, int64_t w,
				   int64_t k, float *c, int64_t ldc)
{
	const int32_t *right = (const int32_t *)(const void *)y;
	for (int64_t i = 0; i < m; i += TILE_ROWS)
		some_rows(true, true, x + 2 * i, right, (k + 1) / 2, c + i * ldc, ldc, m - i, w);
}

enum { OUTER_K = 256 }; /* of the left side, as blocks */

/* A panel of X by all of Y by tiles, which want blocks. */
static void outer_by_tiles(const uint16_t *x, const uint16_t *y, int64_t m, int64_t n, int64_t k,
			   float *c, int64_t ldc)
{
	enum { FLOATS = BLOCK / 2 };
	float block[PAIRS_N / PAIRS_M * (OUTER_K / PAIRS_K) * FLOATS] __attribute__((aligned(64)));
	for (int64_t l = 0; l < k; l += OUTER_K) {
		int64_t some = k - l < OUTER_K ? k - l : OUTER_K, n_blocks = 0;
		for (int64_t i = 0; i < m; i += PAIRS_M)
			for (int64_t b = 0; b < some; b += PAIRS_K)
				cpu_turn((const float *)(const void *)(x + (l + b) * PAIRS_N +
								       2 * i),
					 PAIRS_N, PAIRS_K / 2, PAIRS_M, block + n_blocks++ * FLOATS,
					 PAIRS_K / 2);
		for (int64_t j = 0; j < n; j += PAIRS_N)
			pairs_panel((const uint16_t *)(const void *)block,
				    y + j * depth(k) + l * PAIRS_N, m,
				    n - j < PAIRS_N ? n - j : PAIRS_N, some, c + j, ldc, true);
	}
}

void pairs_outer(const uint16_t *x, const uint16_t *y, int64_t m, int64_t n, int64_t k, float *c,
		 int64_t ldc)
{
	for (int64_t i = 0; i < m; i += PAIRS_N, x += depth(k) * PAIRS_N, c += PAIRS_N * ldc) {
		int64_t rows = m - i < PAIRS_N ? m - i : PAIRS_N;
		if (tiles_there())
			outer_by_tiles(x, y, rows, n, k, c, ldc);
		for (int64_t j = 0; j < n && !tiles_there(); j += PAIRS_N)
			outer_by_vectors(x, y + j * depth(k), rows,
					 n - j < PAIRS_N ? n - j : PAIRS_N, k, c + j, ldc);
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

void pairs_weights(uint16_t *a, const struct pairs_scores *s, float *top, float *sum)
{
	(void)a, (void)s, (void)top, (void)sum;
}

void pairs_pack_b(uint16_t *b, const float *x, int64_t k, int64_t n, bool turned)
{
	(void)b, (void)x, (void)k, (void)n, (void)turned;
}

void pairs_pack_a_of(uint16_t *a, const float *x, int64_t ld, int64_t m, int64_t k, float by)
{
	(void)a, (void)x, (void)ld, (void)m, (void)k, (void)by;
}

void pairs_pack_b_of(uint16_t *b, const float *x, int64_t ld, int64_t k, int64_t n, bool turned)
{
	(void)b, (void)x, (void)ld, (void)k, (void)n, (void)turned;
}

void pairs_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		    int64_t ldc)
{
	(void)a, (void)b, (void)m, (void)n, (void)k, (void)c, (void)ldc;
}

void pairs_panel(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		 int64_t ldc, bool add)
{
	(void)a, (void)b, (void)m, (void)n, (void)k, (void)c, (void)ldc, (void)add;
}

void pairs_outer(const uint16_t *x, const uint16_t *y, int64_t m, int64_t n, int64_t k, float *c,
		 int64_t ldc)
{
	(void)x, (void)y, (void)m, (void)n, (void)k, (void)c, (void)ldc;
}

#endif
