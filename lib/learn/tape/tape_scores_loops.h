/* tape_scores_loops.h - the inner loops of tape_scores.c, one level (isa_dispatch.h).
 *
 * Four vectors of 1 + eq ekey share one reciprocal, or where that is a division two of them do, which goes on beside
 * multiplications. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))
#include "learn/tape/tape_vec_loops.h"
enum { LEVEL(FOUR) = 4 * LEVEL_WIDTH };
enum { LEVEL(AHEAD) = 8 }; /* keys */

INLINE float LEVEL(lane_sum)(VEC x)
{
#if LEVEL_WIDTH == 16
	return _mm512_reduce_add_ps(x);
#else
	float lane[LEVEL_WIDTH];
	VSTORE(lane, x);
	for (int w = LEVEL_WIDTH / 2; w > 0; w /= 2)
		for (int l = 0; l < w; l++)
			lane[l] += lane[l + w];
	return lane[0];
#endif
}

/* 1 / w; a NaN stays one. */
INLINE VEC LEVEL(match)(VEC eq, VEC ekey, const bool bounded)
{
	VEC x = VFMA(eq, ekey, VALL(1.0f));
	return bounded ? x : VMIN(VALL(SCORES_MOST), x);
}

static float LEVEL(largest)(const float *x, size_t n)
{
	VEC most = VALL(x[0]);
	float lane[LEVEL_WIDTH], top;
	size_t j = 0;
	for (; j + LEVEL_WIDTH <= n; j += LEVEL_WIDTH)
		most = VMAX(VLOAD(x + j), most); /* a NaN is left out */
	VSTORE(lane, most);
	top = lane[0];
	for (int l = 1; l < LEVEL_WIDTH; l++)
		top = lane[l] > top ? lane[l] : top;
	for (; j < n; j++)
		top = x[j] > top ? x[j] : top;
	return top;
}

/* ---- forward ---- */

/* sum += v / match over FOUR columns */
INLINE VEC LEVEL(add_part)(VEC sum, const float *e, const float *k, const float *v,
			   const bool bounded)
{
	VEC m[4];
	UNROLL
	for (int c = 0; c < 4; c++)
		m[c] = LEVEL(match)(VLOAD(e + c * LEVEL_WIDTH), VLOAD(k + c * LEVEL_WIDTH), bounded);
	VEC ab = VMUL(m[0], m[1]), cd = VMUL(m[2], m[3]);
	VEC x = VFMA(VLOAD(v), m[1], VMUL(VLOAD(v + LEVEL_WIDTH), m[0]));
	VEC y = VFMA(VLOAD(v + 2 * LEVEL_WIDTH), m[3], VMUL(VLOAD(v + 3 * LEVEL_WIDTH), m[2]));
#if LEVEL_WIDTH == 16
	return VFMA(VFMA(x, cd, VMUL(y, ab)), LEVEL(inverse)(VMUL(ab, cd)), sum);
#else
	return VADD(sum, VADD(x / ab, y / cd));
#endif
}

/* sum (4) = lane_sum of each of v (4), with the same bits. */
INLINE void LEVEL(lane_sums)(float *sum, const VEC *v)
{
#if LEVEL_WIDTH == 16
	__m128 x[4];
	UNROLL
	for (int i = 0; i < 4; i++) {
		__m256 half = _mm256_add_ps(_mm512_castps512_ps256(v[i]),
					    _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(v[i]), 1)));
		x[i] = _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
	}
	__m128 a = _mm_add_ps(_mm_unpacklo_ps(x[0], x[1]), _mm_unpackhi_ps(x[0], x[1]));
	__m128 b = _mm_add_ps(_mm_unpacklo_ps(x[2], x[3]), _mm_unpackhi_ps(x[2], x[3]));
	_mm_storeu_ps(sum, _mm_add_ps(_mm_movelh_ps(a, b), _mm_movehl_ps(b, a)));
#else
	for (int i = 0; i < 4; i++)
		sum[i] = LEVEL(lane_sum)(v[i]);
#endif
}

/* Scores of QUERIES queries and KEYS keys, first ones at q and k.  Their product is 1 or a multiple of 4. */
INLINE void LEVEL(scores_of)(const struct scores *s, size_t q, size_t k, float all,
			     const int QUERIES, const int KEYS, const bool bounded)
{
	VEC sum[8];
	float lanes[8];
	size_t j = 0, n = s->n;
	const float *e = s->eq + q * n, *key = s->ekeys + k * n;
	UNROLL
	for (int i = 0; i < QUERIES * KEYS; i++)
		sum[i] = VALL(0.0f);
	for (; j + LEVEL(FOUR) <= n; j += LEVEL(FOUR)) {
		UNROLL
		for (int b = 0; b < 4 * KEYS; b++) /* the keys are read once in a walk: from far away */
			__builtin_prefetch(key + n * LEVEL(AHEAD) + (size_t)(b / 4) * n + j + b % 4 * LEVEL_WIDTH);
		UNROLL
		for (int i = 0; i < QUERIES * KEYS; i++)
			sum[i] = LEVEL(add_part)(sum[i], e + (size_t)(i / KEYS) * n + j,
						 key + (size_t)(i % KEYS) * n + j, s->v + j, bounded);
	}
	for (int i = 0; j < n && i < QUERIES * KEYS; i++) { /* the last columns, and zeros */
		float pe[LEVEL(FOUR)] = {0}, pk[LEVEL(FOUR)] = {0}, pv[LEVEL(FOUR)] = {0};
		memcpy(pe, e + (size_t)(i / KEYS) * n + j, (n - j) * sizeof *pe);
		memcpy(pk, key + (size_t)(i % KEYS) * n + j, (n - j) * sizeof *pk);
		memcpy(pv, s->v + j, (n - j) * sizeof *pv);
		sum[i] = LEVEL(add_part)(sum[i], pe, pk, pv, bounded);
	}
	if (QUERIES * KEYS == 1)
		lanes[0] = LEVEL(lane_sum)(sum[0]);
	else
		UNROLL
		for (int i = 0; i < QUERIES * KEYS; i += 4)
			LEVEL(lane_sums)(lanes + i, sum + i);
	UNROLL
	for (int i = 0; i < QUERIES * KEYS; i++)
		s->score[(q + (size_t)(i / KEYS)) * s->m + k + (size_t)(i % KEYS)] = all - 2 * lanes[i];
}

INLINE void LEVEL(scores_all)(const struct scores *s, float all, const bool bounded)
{
	size_t q = 0, k;
	for (; q + 4 <= s->rows; q += 4) {
		for (k = 0; k + 2 <= s->m; k += 2)
			LEVEL(scores_of)(s, q, k, all, 4, 2, bounded);
		for (; k < s->m; k++)
			LEVEL(scores_of)(s, q, k, all, 4, 1, bounded);
	}
	for (; q + 2 <= s->rows; q += 2) {
		for (k = 0; k + 2 <= s->m; k += 2)
			LEVEL(scores_of)(s, q, k, all, 2, 2, bounded);
		for (; k < s->m; k++)
			for (size_t i = 0; i < 2; i++)
				LEVEL(scores_of)(s, q + i, k, all, 1, 1, bounded);
	}
	for (; q < s->rows; q++) {
		for (k = 0; k + 4 <= s->m; k += 4)
			LEVEL(scores_of)(s, q, k, all, 1, 4, bounded);
		for (; k < s->m; k++)
			LEVEL(scores_of)(s, q, k, all, 1, 1, bounded);
	}
}

static void LEVEL(scores)(const struct scores *s)
{
	float all = 0;
	for (size_t j = 0; j < s->n; j++)
		all += s->v[j];
	if (s->bounded)
		LEVEL(scores_all)(s, all, true);
	else
		LEVEL(scores_all)(s, all, false);
}

/* ---- back ---- */

/* One key and four queries: their matches, reciprocals of the products of two. */
struct LEVEL(four_matches) {
	VEC m[4], iab, icd;
};

INLINE struct LEVEL(four_matches) LEVEL(match_four)(const VEC e[4], VEC k, const bool bounded)
{
	struct LEVEL(four_matches) f;
	UNROLL
	for (int i = 0; i < 4; i++)
		f.m[i] = LEVEL(match)(e[i], k, bounded);
	VEC ab = VMUL(f.m[0], f.m[1]), cd = VMUL(f.m[2], f.m[3]);
#if LEVEL_WIDTH == 16
	VEC inverse = LEVEL(inverse)(VMUL(ab, cd));
	f.iab = VMUL(cd, inverse);
	f.icd = VMUL(ab, inverse);
#else
	f.iab = LEVEL(inverse)(ab);
	f.icd = LEVEL(inverse)(cd);
#endif
	return f;
}

/* w = 1 / match */
INLINE void LEVEL(weights_of_four)(VEC w[4], const struct LEVEL(four_matches) *f)
{
	w[0] = VMUL(f->m[1], f->iab);
	w[1] = VMUL(f->m[0], f->iab);
	w[2] = VMUL(f->m[3], f->icd);
	w[3] = VMUL(f->m[2], f->icd);
}

/* QUERIES <= 4 queries from q on, `some` columns from j on, of which ek and uk (m, LEVEL_WIDTH) are those of
 * the keys.  Returns sums for wd. */
INLINE VEC LEVEL(block_back)(const struct scores_back *r, size_t q, size_t j, size_t some,
			     const float *ek, float *uk, const int QUERIES, const bool bounded)
{
	VEC e[4], uq[4], w[4], wd[2] = {VALL(0.0f), VALL(0.0f)};
	const size_t m = r->m;
	const float *d[4];
	UNROLL
	for (int i = 0; i < 4; i++)
		d[i] = r->d + (q + (size_t)(i < QUERIES ? i : 0)) * m;
	UNROLL
	for (int i = 0; i < 4; i++) {
		e[i] = i < QUERIES ? LEVEL(load_some)(r->eq + (q + (size_t)i) * r->n + j, some) : VALL(0.0f);
		uq[i] = VALL(0.0f);
	}
	/* The next key's reciprocals are on their way while this one's weights are used; behind the last key is uk. */
	struct LEVEL(four_matches) now, next = LEVEL(match_four)(e, VLOAD(ek), bounded);
	for (size_t key = 0; key < m; key++) {
		VEC u = VLOAD(uk + key * LEVEL_WIDTH);
		now = next;
		next = LEVEL(match_four)(e, VLOAD(ek + (key + 1) * LEVEL_WIDTH), bounded);
		LEVEL(weights_of_four)(w, &now);
		UNROLL
		for (int i = 0; i < QUERIES; i++) {
			/* Plain sums: there are processors that add beside multiplications. */
			VEC dw = VMUL(VALL(d[i][key]), w[i]), part = VFNMA(dw, w[i], dw);
			wd[i % 2] = VADD(wd[i % 2], dw);
			uq[i] = VADD(uq[i], part);
			u = VADD(u, part);
		}
		VSTORE(uk + key * LEVEL_WIDTH, u);
	}
	UNROLL
	for (int i = 0; i < QUERIES; i++)
		LEVEL(store_some)(r->uq + (q + (size_t)i) * r->n + j, uq[i], some);
	return VADD(wd[0], wd[1]);
}

/* A vector of columns of all queries and keys: the keys' fit the first cache. */
INLINE void LEVEL(columns_back)(const struct scores_back *r, size_t j, size_t some, const bool bounded)
{
	float *ek = r->scratch, *uk = ek + r->m * LEVEL_WIDTH;
	VEC wd = LEVEL(load_some)(r->wd + j, some);
	size_t q = 0;
	for (size_t i = 0; i < r->m; i++) {
		VSTORE(ek + i * LEVEL_WIDTH, LEVEL(load_some)(r->ekeys + i * r->n + j, some));
		VSTORE(uk + i * LEVEL_WIDTH, LEVEL(load_some)(r->ukeys + i * r->n + j, some));
	}
	for (; q + 4 <= r->rows; q += 4)
		wd = VADD(wd, LEVEL(block_back)(r, q, j, some, ek, uk, 4, bounded));
	for (; q + 2 <= r->rows; q += 2)
		wd = VADD(wd, LEVEL(block_back)(r, q, j, some, ek, uk, 2, bounded));
	for (; q < r->rows; q++)
		wd = VADD(wd, LEVEL(block_back)(r, q, j, some, ek, uk, 1, bounded));
	for (size_t i = 0; i < r->m; i++)
		LEVEL(store_some)(r->ukeys + i * r->n + j, VLOAD(uk + i * LEVEL_WIDTH), some);
	LEVEL(store_some)(r->wd + j, wd, some);
}

static void LEVEL(scores_back)(const struct scores_back *r)
{
	for (size_t j = r->first; j < r->end; j += LEVEL_WIDTH) {
		size_t some = r->n - j < LEVEL_WIDTH ? r->n - j : LEVEL_WIDTH;
		if (r->bounded)
			LEVEL(columns_back)(r, j, some, true);
		else
			LEVEL(columns_back)(r, j, some, false);
	}
}

#undef UNROLL
#undef INLINE
