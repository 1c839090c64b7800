/* tape_scores_loops.h - the inner loops of tape_scores.c, one level (cpu_levels.h).
 *
 * Four vectors of 1 + eq ekey share one reciprocal: four of columns, or two of columns of two queries. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#define UNROLL _Pragma("GCC unroll 8")
#define INLINE static inline __attribute__((always_inline))
enum { LEVEL(FOUR) = 4 * LEVEL_WIDTH };
enum { LEVEL(AHEAD) = 8 }; /* keys */

/* 1 / x within two units of the last place, 0 < x < 1e37 */
INLINE VEC LEVEL(inverse)(VEC x)
{
#if LEVEL_WIDTH == 16
	VEC r = _mm512_rcp14_ps(x);
	return _mm512_fmadd_ps(r, _mm512_fnmadd_ps(x, r, VALL(1.0f)), r);
#else
	return VALL(1.0f) / x;
#endif
}

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
	return VFMA(VFMA(x, cd, VMUL(y, ab)), LEVEL(inverse)(VMUL(ab, cd)), sum);
}

/* Scores of QUERIES queries and KEYS keys, first ones at q and k. */
INLINE void LEVEL(scores_of)(const struct scores *s, size_t q, size_t k, float all,
			     const int QUERIES, const int KEYS, const bool bounded)
{
	VEC sum[2][4];
	size_t j = 0, n = s->n;
	const float *e = s->eq + q * n, *key = s->ekeys + k * n;
	UNROLL
	for (int a = 0; a < QUERIES; a++)
		UNROLL
		for (int b = 0; b < KEYS; b++)
			sum[a][b] = VALL(0.0f);
	for (; j + LEVEL(FOUR) <= n; j += LEVEL(FOUR)) {
		UNROLL
		for (int b = 0; b < 4 * KEYS; b++) /* the keys are read once in a walk: from far away */
			__builtin_prefetch(key + n * LEVEL(AHEAD) + (size_t)(b / 4) * n + j + b % 4 * LEVEL_WIDTH);
		UNROLL
		for (int a = 0; a < QUERIES; a++)
			UNROLL
			for (int b = 0; b < KEYS; b++)
				sum[a][b] = LEVEL(add_part)(sum[a][b], e + (size_t)a * n + j,
							    key + (size_t)b * n + j, s->v + j,
							    bounded);
	}
	for (int a = 0; a < QUERIES; a++)
		for (int b = 0; b < KEYS; b++) {
			if (j < n) { /* the last columns, and zeros */
				float pe[LEVEL(FOUR)] = {0}, pk[LEVEL(FOUR)] = {0},
				      pv[LEVEL(FOUR)] = {0};
				memcpy(pe, e + (size_t)a * n + j, (n - j) * sizeof *pe);
				memcpy(pk, key + (size_t)b * n + j, (n - j) * sizeof *pk);
				memcpy(pv, s->v + j, (n - j) * sizeof *pv);
				sum[a][b] = LEVEL(add_part)(sum[a][b], pe, pk, pv, bounded);
			}
			s->score[(q + (size_t)a) * s->m + k + (size_t)b] =
				all - 2 * LEVEL(lane_sum)(sum[a][b]);
		}
}

INLINE void LEVEL(scores_all)(const struct scores *s, float all, const bool bounded)
{
	size_t q = 0, k;
	for (; q + 2 <= s->rows; q += 2) {
		for (k = 0; k + 2 <= s->m; k += 2)
			LEVEL(scores_of)(s, q, k, all, 2, 2, bounded);
		for (; k < s->m; k++)
			LEVEL(scores_of)(s, q, k, all, 2, 1, bounded);
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

/* w = 1 / match of four */
INLINE void LEVEL(weights_of_four)(VEC w[4], const VEC e[4], const VEC k[4], const bool bounded)
{
	VEC m[4];
	UNROLL
	for (int i = 0; i < 4; i++)
		m[i] = LEVEL(match)(e[i], k[i], bounded);
	VEC ab = VMUL(m[0], m[1]), cd = VMUL(m[2], m[3]), r = LEVEL(inverse)(VMUL(ab, cd));
	VEC iab = VMUL(cd, r), icd = VMUL(ab, r);
	w[0] = VMUL(m[1], iab);
	w[1] = VMUL(m[0], iab);
	w[2] = VMUL(m[3], icd);
	w[3] = VMUL(m[2], icd);
}

/* QUERIES queries from q on and COLUMNS vectors of columns, four together; columns of the arrays at
 * e, k, uk, uq and wd are e_ld, k_ld apart from row to row.  Sums over the keys stay in registers. */
struct LEVEL(block) {
	const float *e, *k, *d;
	float *uk, *uq, *wd;
	size_t e_ld, k_ld, m;
};

INLINE void LEVEL(block_back)(const struct LEVEL(block) *r, const int QUERIES, const int COLUMNS,
			      const bool bounded)
{
	VEC e[4], uq[4], wd[4], w[4];
	UNROLL
	for (int i = 0; i < 4; i++) {
		e[i] = VLOAD(r->e + (size_t)(i / COLUMNS) * r->e_ld + i % COLUMNS * LEVEL_WIDTH);
		uq[i] = VALL(0.0f);
		wd[i] = VALL(0.0f);
	}
	for (size_t key = 0; key < r->m; key++) {
		const float *k = r->k + key * r->k_ld;
		float *uk = r->uk + key * r->k_ld;
		VEC x[4], g[2], u[4];
		UNROLL
		for (int i = 0; i < COLUMNS; i++) {
			u[i] = VLOAD(uk + i * LEVEL_WIDTH);
			x[i] = VLOAD(k + i * LEVEL_WIDTH);
		}
		UNROLL
		for (int i = COLUMNS; i < 4; i++)
			x[i] = x[i % COLUMNS];
		UNROLL
		for (int i = 0; i < QUERIES; i++)
			g[i] = VALL(r->d[(size_t)i * r->m + key]);
		LEVEL(weights_of_four)(w, e, x, bounded);
		UNROLL
		for (int i = 0; i < 4; i++) {
			VEC gw = VMUL(g[i / COLUMNS], w[i]), s = VSUB(gw, VMUL(gw, w[i]));
			wd[i % COLUMNS] = VADD(wd[i % COLUMNS], gw);
			uq[i] = VADD(uq[i], s);
			u[i % COLUMNS] = VADD(u[i % COLUMNS], s);
		}
		UNROLL
		for (int i = 0; i < COLUMNS; i++)
			VSTORE(uk + i * LEVEL_WIDTH, u[i]);
	}
	UNROLL
	for (int i = 0; i < 4; i++)
		VSTORE(r->uq + (size_t)(i / COLUMNS) * r->e_ld + i % COLUMNS * LEVEL_WIDTH, uq[i]);
	UNROLL
	for (int i = 0; i < COLUMNS; i++)
		VSTORE(r->wd + i * LEVEL_WIDTH, VADD(VLOAD(r->wd + i * LEVEL_WIDTH), wd[i]));
}

/* The columns that make no whole block, one after another. */
INLINE void LEVEL(column_back)(const struct scores_back *r, size_t q, size_t j)
{
	float uq = 0;
	for (size_t i = 0; i < r->m; i++) {
		float x = 1 + r->eq[q * r->n + j] * r->ekeys[i * r->n + j];
		float w = 1 / (x > SCORES_MOST ? SCORES_MOST : x), g = r->d[q * r->m + i] * w;
		r->wd[j] += g;
		uq += g - g * w;
		r->ukeys[i * r->n + j] += g - g * w;
	}
	r->uq[q * r->n + j] = uq;
}

INLINE void LEVEL(rows_back)(const struct scores_back *r, size_t q, const int QUERIES,
			     const bool bounded)
{
	const int COLUMNS = 4 / QUERIES;
	const size_t step = (size_t)COLUMNS * LEVEL_WIDTH;
	size_t j = 0;
	for (; j + step <= r->n; j += step) {
		const struct LEVEL(block) b = {.e = r->eq + q * r->n + j, .k = r->ekeys + j,
					       .d = r->d + q * r->m, .uk = r->ukeys + j,
					       .uq = r->uq + q * r->n + j, .wd = r->wd + j,
					       .e_ld = r->n, .k_ld = r->n, .m = r->m};
		LEVEL(block_back)(&b, QUERIES, COLUMNS, bounded);
	}
	for (; j < r->n; j++)
		for (int i = 0; i < QUERIES; i++)
			LEVEL(column_back)(r, q + (size_t)i, j);
}

INLINE void LEVEL(back_all)(const struct scores_back *r, const bool bounded)
{
	size_t q = 0;
	for (; q + 2 <= r->rows; q += 2)
		LEVEL(rows_back)(r, q, 2, bounded);
	for (; q < r->rows; q++)
		LEVEL(rows_back)(r, q, 1, bounded);
}

static void LEVEL(scores_back)(const struct scores_back *r)
{
	if (r->bounded)
		LEVEL(back_all)(r, true);
	else
		LEVEL(back_all)(r, false);
}

#undef UNROLL
#undef INLINE
