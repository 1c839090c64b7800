/* cpu_attend_codes.c - see cpu_attend_codes.h.
 *
 * With codes q, k without a sign and zeros y, z:  sum (q - y) (k - z)  =  sum q (k - 128)  -  y sum (k - 128)
 *                                                   -  (z - 128) (sum q  -  d y)
 * Queries are bytes without a sign, four steps of d side by side; keys are k - 128. */
#include "kernel/dense/cpu_attend_codes.h"
#include "kernel/cpu_level.h"
#include "kernel/cpu_vec.h"

#include <string.h>

enum { STEP = 4, UNSIGNED = 128, KEYS = 6, PIECE = 128 };

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
	return depth(d) * CODES_ROWS + CODES_ROWS * (int64_t)sizeof(float);
}

int64_t attend_codes_room(int64_t d)
{
	return whole_lines(CODES_KEYS * depth(d)) + whole_lines(whole_lines(d));
}

#ifdef CPU_HAS_LEVELS

#define VNNI __attribute__((target("arch=x86-64-v4,avx512vnni,prefer-vector-width=512")))
#define VNNI_INLINE VNNI __attribute__((always_inline)) static inline

bool attend_codes_there(void)
{
	return cpu_level >= 4 && __builtin_cpu_supports("avx512vnni");
}

VNNI void attend_codes_pack(const struct code_grid *grid, const float *q, int rows, int64_t d,
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

/* m keys by all queries. */
VNNI_INLINE void tile_of(const int m, const char *queries, const int8_t *k, int64_t d, float y,
			 __m512 scale, const __m512 more[2], float *s)
{
	__m512i dot[KEYS][2], ones = _mm512_set1_epi8(1);
	int32_t sum[KEYS] = {0};
	for (int i = 0; i < m; i++)
		dot[i][0] = dot[i][1] = _mm512_setzero_si512();
	for (int64_t j = 0; j < d; j += STEP, queries += STEP * CODES_ROWS) {
		__m512i b0 = _mm512_loadu_si512(queries), b1 = _mm512_loadu_si512(queries + 64);
#pragma GCC unroll 6
		for (int i = 0; i < m; i++) {
			int32_t four;
			memcpy(&four, k + i * d + j, sizeof four);
			__m512i x = _mm512_set1_epi32(four);
			dot[i][0] = _mm512_dpbusd_epi32(dot[i][0], b0, x);
			dot[i][1] = _mm512_dpbusd_epi32(dot[i][1], b1, x);
		}
	}
	for (int i = 0; i < m; i++) {
		__m512i all = _mm512_setzero_si512();
		for (int64_t j = 0; j < d; j += 64) {
			__mmask64 there =
				d - j >= 64 ? ~(__mmask64)0 : ((__mmask64)1 << (d - j)) - 1;
			all = _mm512_dpbusd_epi32(all, ones,
						  _mm512_maskz_loadu_epi8(there, k + i * d + j));
		}
		sum[i] = _mm512_reduce_add_epi32(all);
	}
	for (int i = 0; i < m; i++)
		for (int j = 0; j < 2; j++) {
			__m512 v = _mm512_add_ps(_mm512_cvtepi32_ps(dot[i][j]), more[j]);
			v = _mm512_sub_ps(v, _mm512_set1_ps(y * (float)sum[i]));
			_mm512_storeu_ps(s + i * CODES_ROWS + 16 * j, _mm512_mul_ps(v, scale));
		}
}

VNNI void attend_codes_score(const struct code_grid *q_grid, const struct code_grid *k_grid,
			     float scale, const char *queries, const float *k, int64_t n, int64_t d,
			     char *room, float *s)
{
	int64_t dp = depth(d);
	int8_t *keys = (int8_t *)room;
	uint8_t *row = (uint8_t *)room + whole_lines(CODES_KEYS * dp);
	for (int64_t x = 0; x < n; x++) {
		codes_of(k_grid, k + x * d, d, row);
		for (int64_t i = 0; i < d; i++)
			keys[x * dp + i] = (int8_t)(row[i] ^ UNSIGNED);
		memset(keys + x * dp + d, 0, (size_t)(dp - d));
	}
	const int32_t *sums = (const int32_t *)(const void *)(queries + dp * CODES_ROWS);
	__m512 more[2], by = _mm512_set1_ps(scale * q_grid->scale * k_grid->scale);
	float z = k_grid->zero - UNSIGNED;
	for (int j = 0; j < 2; j++) {
		__m512 all = _mm512_cvtepi32_ps(_mm512_loadu_si512(sums + 16 * j));
		all = _mm512_sub_ps(all, _mm512_set1_ps((float)d * q_grid->zero));
		more[j] = _mm512_mul_ps(all, _mm512_set1_ps(-z));
	}
	for (; n >= KEYS; n -= KEYS, keys += KEYS * dp, s += KEYS * CODES_ROWS)
		tile_of(KEYS, queries, keys, dp, q_grid->zero, by, more, s);
	for (; n > 0; n--, keys += dp, s += CODES_ROWS)
		tile_of(1, queries, keys, dp, q_grid->zero, by, more, s);
}

#else

bool attend_codes_there(void)
{
	return false;
}

void attend_codes_pack(const struct code_grid *grid, const float *q, int rows, int64_t d,
		       char *queries)
{
	(void)grid, (void)q, (void)rows, (void)d, (void)queries;
}

void attend_codes_score(const struct code_grid *q_grid, const struct code_grid *k_grid, float scale,
			const char *queries, const float *k, int64_t n, int64_t d, char *room,
			float *s)
{
	(void)q_grid, (void)k_grid, (void)scale, (void)queries, (void)k, (void)n, (void)d,
		(void)room, (void)s;
}

#endif
