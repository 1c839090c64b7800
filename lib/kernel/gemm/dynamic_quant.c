/* dynamic_quant.c - see dynamic_quant.h.
 *
 *	sum over k of a (w - zero) scale  =  scale (sum over pieces of a_scale * dot  -  zero * sum over pieces of a_scale * row)
 *
 * with the whole codes a, w without a sign, dot = sum a w and row = sum a of a piece; scale and zero for each column and group
 * of rows of the weights. */
#include "kernel/gemm/dynamic_quant.h"
#include "kernel/isa_level.h"
#include "kernel/vec.h"

#include <math.h>
#include <string.h>

enum { UNSIGNED = 128, MOST_CODE = 127 };

static int64_t pieces_of(const struct qpanels *q)
{
	return (q->k + DYNAMIC_K - 1) / DYNAMIC_K;
}

static int64_t groups_of(const struct qpanels *q)
{
	return (q->k + q->group - 1) / q->group;
}

static size_t whole_lines(int64_t bytes)
{
	return ((size_t)bytes + 63) & ~(size_t)63;
}

#ifdef CPU_HAS_LEVELS
/* What is added to codes of weights so that none is below 0: as little as may be, since it comes off the sums. */
static float base_of(const struct qpanels *q)
{
	float least = 0;
	for (int i = 0; i < 16 && q->code == EL_U4; i++)
		least = q->level[i] < least ? q->level[i] : least;
	return q->code == EL_U4 ? -least : UNSIGNED;
}
#endif

/* ---- rows: codes, scales of pieces, sums of groups ---- */

static size_t scales_at(const struct qpanels *q)
{
	return whole_lines(pieces_of(q) * DYNAMIC_K);
}

static size_t sums_at(const struct qpanels *q)
{
	return scales_at(q) + whole_lines(pieces_of(q) * 4);
}

size_t dynamic_row_bytes(const struct qpanels *q)
{
	return sums_at(q) + whole_lines(groups_of(q) * 4);
}

/* ---- panels: codes of four rows of a column side by side, scales and zeros of groups ---- */

static size_t parts_at(const struct qpanels *q)
{
	return (size_t)(pieces_of(q) * DYNAMIC_K * GEMM_N);
}

size_t dynamic_panel_bytes(const struct qpanels *q)
{
	return parts_at(q) + (size_t)groups_of(q) * 2 * GEMM_N * sizeof(float);
}

#ifdef CPU_HAS_LEVELS

#define VNNI __attribute__((target("arch=x86-64-v4,avx512vnni,prefer-vector-width=512")))
#define VNNI_INLINE VNNI __attribute__((always_inline)) static inline

bool dynamic_fits(const struct qpanels *q)
{
	if (cpu_level < 4 || !__builtin_cpu_supports("avx512vnni") ||
	    (q->group % DYNAMIC_K != 0 && q->group != q->k) ||
	    (q->code != EL_U4 && q->code != EL_I8))
		return false;
	for (int i = 0; i < 16 && q->code == EL_U4; i++)
		if (q->level[i] != rintf(q->level[i]) || fabsf(q->level[i]) > MOST_CODE)
			return false;
	return true;
}

VNNI_INLINE __mmask16 first(int64_t n)
{
	return n >= 16 ? (__mmask16)0xffff : n <= 0 ? (__mmask16)0 : (__mmask16)((1u << n) - 1);
}

/* n numbers of a piece to codes and zeros behind them, their scale, and the sum of the codes. */
VNNI_INLINE float quantise(const float *x, int64_t n, int8_t *code, int32_t *sum)
{
	__m512 a = _mm512_maskz_loadu_ps(first(n), x),
	       b = _mm512_maskz_loadu_ps(first(n - 16), x + 16);
	float most = _mm512_reduce_max_ps(_mm512_max_ps(_mm512_abs_ps(a), _mm512_abs_ps(b)));
	float scale = most / MOST_CODE;
	__m512 by = _mm512_set1_ps(most > 1e-30f ? MOST_CODE / most : 0);
	__m512i p = _mm512_cvtps_epi32(_mm512_mul_ps(a, by)),
		q = _mm512_cvtps_epi32(_mm512_mul_ps(b, by));
	_mm_storeu_si128((__m128i *)(void *)code, _mm512_cvtsepi32_epi8(p));
	_mm_storeu_si128((__m128i *)(void *)(code + 16), _mm512_cvtsepi32_epi8(q));
	*sum = _mm512_reduce_add_epi32(_mm512_add_epi32(p, q));
	return scale;
}

VNNI void dynamic_rows(const struct qpanels *q, const float *x, int64_t m, char *to)
{
	for (int64_t i = 0; i < m; i++, x += q->k, to += dynamic_row_bytes(q)) {
		float *scale = (float *)(void *)(to + scales_at(q)),
		      *sums = (float *)(void *)(to + sums_at(q));
		memset(sums, 0, (size_t)groups_of(q) * sizeof *sums);
		for (int64_t k = 0; k < q->k; k += DYNAMIC_K) {
			int32_t sum;
			int64_t p = k / DYNAMIC_K;
			scale[p] = quantise(x + k, q->k - k, (int8_t *)to + k, &sum);
			sums[k / q->group] += scale[p] * (float)sum;
		}
	}
}

/* Four rows of 16 columns, GEMM_N bytes apart, to 16 columns of four rows, without a sign. */
VNNI_INLINE void turn_bytes(const char *x, char *to)
{
	const __m512i flip = _mm512_set1_epi8((char)UNSIGNED);
	__m128i r[4];
	for (int i = 0; i < 4; i++)
		r[i] = _mm_loadu_si128((const __m128i *)(const void *)(x + i * GEMM_N));
	__m128i a = _mm_unpacklo_epi8(r[0], r[1]), b = _mm_unpackhi_epi8(r[0], r[1]);
	__m128i c = _mm_unpacklo_epi8(r[2], r[3]), d = _mm_unpackhi_epi8(r[2], r[3]);
	__m512i y = _mm512_castsi128_si512(_mm_unpacklo_epi16(a, c));
	y = _mm512_inserti32x4(y, _mm_unpackhi_epi16(a, c), 1);
	y = _mm512_inserti32x4(y, _mm_unpacklo_epi16(b, d), 2);
	y = _mm512_inserti32x4(y, _mm_unpackhi_epi16(b, d), 3);
	_mm512_storeu_si512(to, _mm512_xor_si512(y, flip));
}

/* 16 columns of eight codes of 4 bits each to 16 columns of rows 0 .. 3, and of rows 4 .. 7 behind GEMM_N columns. */
VNNI_INLINE void spread_nibbles(const char *x, __m512i level, char *to)
{
	const __m512i low = _mm512_set1_epi32(0xffff), bytes = _mm512_set1_epi32(0x00ff00ff);
	const __m512i nibbles = _mm512_set1_epi32(0x0f0f0f0f);
	__m512i w = _mm512_loadu_si512(x);
	for (int h = 0; h < 2; h++) {
		__m512i t = h == 0 ? _mm512_and_si512(w, low) : _mm512_srli_epi32(w, 16);
		t = _mm512_and_si512(_mm512_or_si512(t, _mm512_slli_epi32(t, 8)), bytes);
		t = _mm512_and_si512(_mm512_or_si512(t, _mm512_slli_epi32(t, 4)), nibbles);
		_mm512_storeu_si512(to + h * 4 * GEMM_N, _mm512_shuffle_epi8(level, t));
	}
}

/* Scales of a group, and the zeros of its codes without a sign. */
VNNI_INLINE void widen_parts(const struct qpanels *q, const char *group, float *to)
{
	const char *zero = group + q->scale_bytes;
	const float base = base_of(q);
	if (q->scale == EL_F16)
		vec_from_half((const uint16_t *)(const void *)group, to, GEMM_N);
	else
		memcpy(to, group, GEMM_N * sizeof *to);
	for (int j = 0; j < GEMM_N; j++)
		to[GEMM_N + j] =
			base + (q->zero == EL_I8    ? (float)((const int8_t *)zero)[j]
				: q->zero == EL_F32 ? ((const float *)(const void *)zero)[j]
						    : 0);
}

VNNI void dynamic_panel(const struct qpanels *q, int64_t panel, char *to)
{
	const char *group = q->data + panel * q->panel_bytes;
	float *parts = (float *)(void *)(to + parts_at(q));
	uint8_t levels[16] = {0};
	char *end = to + parts_at(q);
	for (int i = 0; i < 16 && q->code == EL_U4; i++)
		levels[i] = (uint8_t)(q->level[i] + base_of(q));
	const __m512i level =
		_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)levels));
	for (int64_t k = 0; k < q->k; k += q->group, parts += 2 * GEMM_N, group += q->group_bytes) {
		int64_t n = q->k - k < q->group ? q->k - k : q->group;
		const char *block = group + q->scale_bytes + q->zero_bytes;
		widen_parts(q, group, parts);
		for (int64_t i = 0; i < n;
		     i += QBLOCK, block += q->block_bytes, to += QBLOCK * GEMM_N)
			for (int j = 0; j < GEMM_N; j += 16) {
				if (q->code == EL_U4) {
					spread_nibbles(block + 4 * j, level, to + 4 * j);
					continue;
				}
				turn_bytes(block + j, to + 4 * j);
				turn_bytes(block + 4 * GEMM_N + j, to + 4 * (GEMM_N + j));
			}
	}
	memset(to, 0, (size_t)(end - to));
}

/* m rows by a panel, a group at a time. */
VNNI_INLINE void tile_of(const int m, const struct qpanels *q, const char *rows, const char *panel,
			 int64_t n, float *c, int64_t ldc)
{
	const size_t row = dynamic_row_bytes(q), scales = scales_at(q), sums = sums_at(q);
	const float *parts = (const float *)(const void *)(panel + parts_at(q));
	const int64_t pieces = pieces_of(q), each = (q->group + DYNAMIC_K - 1) / DYNAMIC_K;
	for (int64_t g = 0, p = 0; p < pieces; g++, parts += 2 * GEMM_N) {
		__m512 sum[6][2];
		for (int i = 0; i < m; i++)
			sum[i][0] = sum[i][1] = _mm512_setzero_ps();
		for (int64_t last = p + each < pieces ? p + each : pieces; p < last; p++) {
			__m512i dot[6][2];
			const char *b = panel + p * DYNAMIC_K * GEMM_N;
			for (int i = 0; i < m; i++)
				dot[i][0] = dot[i][1] = _mm512_setzero_si512();
#pragma GCC unroll 8
			for (int k = 0; k < DYNAMIC_K; k += 4, b += 4 * GEMM_N) {
				__m512i b0 = _mm512_loadu_si512(b), b1 = _mm512_loadu_si512(b + 64);
#pragma GCC unroll 6
				for (int i = 0; i < m; i++) {
					int32_t four;
					memcpy(&four, rows + (size_t)i * row + p * DYNAMIC_K + k,
					       sizeof four);
					__m512i x = _mm512_set1_epi32(four);
					dot[i][0] = _mm512_dpbusd_epi32(dot[i][0], b0, x);
					dot[i][1] = _mm512_dpbusd_epi32(dot[i][1], b1, x);
				}
			}
#pragma GCC unroll 6
			for (int i = 0; i < m; i++) {
				float by;
				memcpy(&by, rows + (size_t)i * row + scales + p * 4, sizeof by);
				for (int j = 0; j < 2; j++)
					sum[i][j] = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dot[i][j]),
								    _mm512_set1_ps(by), sum[i][j]);
			}
		}
		for (int j = 0; j < 2; j++) {
			__m512 scale = _mm512_loadu_ps(parts + 16 * j),
			       zero = _mm512_loadu_ps(parts + GEMM_N + 16 * j);
			__mmask16 there = first(n - 16 * j);
#pragma GCC unroll 6
			for (int i = 0; i < m; i++) {
				float all, *to = c + i * ldc + 16 * j;
				memcpy(&all, rows + (size_t)i * row + sums + g * 4, sizeof all);
				__m512 v = _mm512_fnmadd_ps(zero, _mm512_set1_ps(all), sum[i][j]);
				__m512 old = g > 0 ? _mm512_maskz_loadu_ps(there, to)
						   : _mm512_setzero_ps();
				_mm512_mask_storeu_ps(to, there, _mm512_fmadd_ps(v, scale, old));
			}
		}
	}
}

VNNI void dynamic_multiply(const struct qpanels *q, const char *rows, const char *panel, int64_t m,
			   int64_t n, float *c, int64_t ldc)
{
	const size_t row = dynamic_row_bytes(q);
	for (; m >= 6; m -= 6, rows += 6 * row, c += 6 * ldc)
		tile_of(6, q, rows, panel, n, c, ldc);
	switch (m) {
	case 5: tile_of(5, q, rows, panel, n, c, ldc); break;
	case 4: tile_of(4, q, rows, panel, n, c, ldc); break;
	case 3: tile_of(3, q, rows, panel, n, c, ldc); break;
	case 2: tile_of(2, q, rows, panel, n, c, ldc); break;
	case 1: tile_of(1, q, rows, panel, n, c, ldc); break;
	default: /* no rows are left */ break;
	}
}

#else

bool dynamic_fits(const struct qpanels *q)
{
	(void)q;
	return false;
}

void dynamic_rows(const struct qpanels *q, const float *x, int64_t m, char *to)
{
	(void)q, (void)x, (void)m, (void)to;
}

void dynamic_panel(const struct qpanels *q, int64_t panel, char *to)
{
	(void)q, (void)panel, (void)to;
}

void dynamic_multiply(const struct qpanels *q, const char *rows, const char *panel, int64_t m,
		      int64_t n, float *c, int64_t ldc)
{
	(void)q, (void)rows, (void)panel, (void)m, (void)n, (void)c, (void)ldc;
}

#endif
