/* attention_quantized.c - see attention_quantized.h.
 *
 * With codes q, k without a sign and zeros y, z:  sum (q - y) (k - z)  =  sum q (k - 128)  -  y sum (k - 128)
 *                                                   -  (z - 128) (sum q  -  d y)
 * Queries are bytes without a sign, four steps of d side by side, then their sums; keys are k - 128, then their sums. */
#include "kernel/dense/attention_quantized.h"
#include "kernel/isa_level.h"
#include "kernel/vec.h"

#include <string.h>

enum { STEP = 4, UNSIGNED = 128, KEYS = 8, PIECE = 128 };

static int64_t depth(int64_t d)
{
	return (d + STEP - 1) / STEP * STEP;
}

static int64_t whole_lines(int64_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

int64_t attend_codes_queries(int64_t d)
{
	return (depth(d) + (int64_t)sizeof(int32_t)) * CODES_ROWS;
}

int64_t attend_codes_keys(int64_t n, int64_t d)
{
	return whole_lines(n * depth(d)) + whole_lines(n * (int64_t)sizeof(int32_t));
}

#ifdef CPU_HAS_LEVELS

#define VNNI __attribute__((target("arch=x86-64-v4,avx512vnni,prefer-vector-width=512")))
#define VNNI_INLINE VNNI __attribute__((always_inline)) static inline

bool attend_codes_there(void)
{
	return cpu_level >= 4 && __builtin_cpu_supports("avx512vnni");
}

void attend_codes_pack_queries(const struct code_grid *grid, const float *q, int rows, int64_t d,
			       char *queries)
{
	int32_t sums[CODES_ROWS] = {0};
	uint8_t code[PIECE], *to = (uint8_t *)queries;
	memset(queries, 0, (size_t)(depth(d) * CODES_ROWS));
	for (int y = 0; y < rows; y++, q += d)
		for (int64_t i = 0; i < d; i += PIECE) {
			int64_t n = d - i < PIECE ? d - i : PIECE;
			codes_of(grid, q + i, n, code);
			memset(code + n, 0, sizeof code - (size_t)n);
			for (int64_t j = 0; j < n; j += STEP)
				memcpy(to + (i + j) * CODES_ROWS + STEP * y, code + j, STEP);
			for (int64_t j = 0; j < n; j++)
				sums[y] += code[j];
		}
	memcpy(queries + depth(d) * CODES_ROWS, sums, sizeof sums);
}

/* Codes of a key without a sign, d of them, lose 128 where they lie; their sum. */
VNNI_INLINE int32_t flip_key(char *key, int64_t d)
{
	const __m512i flip = _mm512_set1_epi8((char)UNSIGNED), one = _mm512_set1_epi8(1);
	__m512i sum = _mm512_setzero_si512();
	for (int64_t i = 0; i < d; i += 64) {
		__mmask64 m = d - i >= 64 ? ~0ull : (1ull << (d - i)) - 1;
		__m512i x = _mm512_maskz_loadu_epi8(m, key + i);
		x = _mm512_maskz_mov_epi8(m, _mm512_xor_si512(x, flip));
		_mm512_mask_storeu_epi8(key + i, m, x);
		sum = _mm512_dpbusd_epi32(sum, one, x);
	}
	return _mm512_reduce_add_epi32(sum);
}

VNNI void attend_codes_pack_keys(const struct code_grid *grid, const float *k, int64_t n, int64_t d,
				 char *keys)
{
	int32_t *sums = (int32_t *)(void *)(keys + whole_lines(n * depth(d)));
	if (d == depth(d))
		codes_of(grid, k, n * d, (uint8_t *)keys);
	for (int64_t x = 0; x < n; x++, k += d, keys += depth(d)) {
		if (d != depth(d))
			codes_of(grid, k, d, (uint8_t *)keys);
		sums[x] = flip_key(keys, d);
		memset(keys + d, 0, (size_t)(depth(d) - d));
	}
}

/* m keys by all queries. */
VNNI_INLINE void tile_of(const int m, const char *queries, const char *k, int64_t d, __m512 y,
			 const int32_t *sums, __m512 scale, const __m512 more[2], float *s)
{
	__m512i dot[KEYS][2];
#pragma GCC unroll 12
	for (int i = 0; i < m; i++)
		dot[i][0] = dot[i][1] = _mm512_setzero_si512();
	/* Three keys a pointer: so few addresses stay in registers. */
	const char *at[(KEYS + 2) / 3];
#pragma GCC unroll 4
	for (int i = 0; i < (m + 2) / 3; i++)
		at[i] = k + 3 * i * d;
	for (int64_t j = 0; j < d; j += STEP, queries += STEP * CODES_ROWS) {
		__m512i b0 = _mm512_loadu_si512(queries), b1 = _mm512_loadu_si512(queries + 64);
#pragma GCC unroll 12
		for (int i = 0; i < m; i++) {
			int32_t four;
			memcpy(&four, at[i / 3] + i % 3 * d, sizeof four);
			__m512i x = _mm512_set1_epi32(four);
			dot[i][0] = _mm512_dpbusd_epi32(dot[i][0], b0, x);
			dot[i][1] = _mm512_dpbusd_epi32(dot[i][1], b1, x);
		}
#pragma GCC unroll 4
		for (int i = 0; i < (m + 2) / 3; i++)
			at[i] += STEP;
	}
#pragma GCC unroll 12
	for (int i = 0; i < m; i++)
#pragma GCC unroll 2
		for (int j = 0; j < 2; j++) {
			__m512 v = _mm512_add_ps(_mm512_cvtepi32_ps(dot[i][j]), more[j]);
			v = _mm512_fnmadd_ps(y, _mm512_set1_ps((float)sums[i]), v);
			_mm512_storeu_ps(s + i * CODES_ROWS + 16 * j, _mm512_mul_ps(v, scale));
		}
}

VNNI void attend_codes_score(const struct code_grid *q_grid, const struct code_grid *k_grid,
			     float scale, const char *queries, const char *keys, int64_t n,
			     int64_t d, int64_t x0, int64_t x1, float *s)
{
	const int64_t dp = depth(d);
	const int32_t *q_sums = (const int32_t *)(const void *)(queries + dp * CODES_ROWS);
	const int32_t *sums = (const int32_t *)(const void *)(keys + whole_lines(n * dp));
	__m512 more[2], by = _mm512_set1_ps(scale * q_grid->scale * k_grid->scale);
	__m512 y = _mm512_set1_ps(q_grid->zero), z = _mm512_set1_ps(UNSIGNED - k_grid->zero);
	for (int j = 0; j < 2; j++) {
		__m512 all = _mm512_cvtepi32_ps(_mm512_loadu_si512(q_sums + 16 * j));
		more[j] = _mm512_mul_ps(_mm512_fnmadd_ps(_mm512_set1_ps((float)d), y, all), z);
	}
	for (; x1 - x0 >= KEYS; x0 += KEYS, s += KEYS * CODES_ROWS)
		tile_of(KEYS, queries, keys + x0 * dp, dp, y, sums + x0, by, more, s);
	for (; x1 - x0 >= 4; x0 += 4, s += 4 * CODES_ROWS)
		tile_of(4, queries, keys + x0 * dp, dp, y, sums + x0, by, more, s);
	for (; x0 < x1; x0++, s += CODES_ROWS)
		tile_of(1, queries, keys + x0 * dp, dp, y, sums + x0, by, more, s);
}

#else

bool attend_codes_there(void)
{
	return false;
}

void attend_codes_pack_queries(const struct code_grid *grid, const float *q, int rows, int64_t d,
			       char *queries)
{
	(void)grid, (void)q, (void)rows, (void)d, (void)queries;
}

void attend_codes_pack_keys(const struct code_grid *grid, const float *k, int64_t n, int64_t d,
			    char *keys)
{
	(void)grid, (void)k, (void)n, (void)d, (void)keys;
}

void attend_codes_score(const struct code_grid *q_grid, const struct code_grid *k_grid, float scale,
			const char *queries, const char *keys, int64_t n, int64_t d, int64_t x0,
			int64_t x1, float *s)
{
	(void)q_grid, (void)k_grid, (void)scale, (void)queries, (void)keys, (void)n, (void)d,
		(void)x0;
	(void)x1, (void)s;
}

#endif
