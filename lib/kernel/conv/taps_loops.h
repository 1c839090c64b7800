/* taps_loops.h - the inner loops of taps.c, one level (isa_dispatch.h). */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#include "kernel/partial_loops.h"
#include "kernel/gemm/block_epilogue_loops.h"

#define UNROLL _Pragma("GCC unroll 24")
#define INLINE static inline __attribute__((always_inline))

INLINE VEC LEVEL(join)(const bool max, VEC weight, VEC in, VEC sum)
{
	if (max)
		return VMAX(in, sum);
	return VFMA(weight, in, sum);
}

/* n results at y + at. */
INLINE void LEVEL(finish)(VEC v, int n, int64_t at, float *y, const struct gemm_post *p, VEC bias)
{
	v = VADD(v, bias);
	if (p->residual)
		v = VADD(v, LEVEL(load_some)(p->residual + at, n));
	if (p->more)
		v = VADD(v, LEVEL(load_some)(p->more + at, n));
	LEVEL(store_some)(y + at, LEVEL(post_limits)(p, v), n);
}

/* ---- by rows ---- */

/* The vector of input at x, or every other float from there on; in place bits say which are inside
 * the row. */
INLINE VEC LEVEL(columns)(const int s, const bool max, const float *x, uint32_t bits)
{
#if LEVEL_WIDTH == 16
	const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
						30);
	const VEC outside = VALL(max ? -__FLT_MAX__ : 0.0f);
	VEC v = _mm512_mask_loadu_ps(outside, (__mmask16)bits, x);
	if (s == 1)
		return v;
	return _mm512_permutex2var_ps(
		v, evens, _mm512_mask_loadu_ps(outside, (__mmask16)(bits >> 16), x + 16));
#else
	(void)s, (void)max, (void)bits;
	return VLOAD(x);
#endif
}

/* Output rows y0 .. y0 + r - 1 from input rows row[0] and on; `ahead`, unless NULL, are the input rows that
 * come next.  k, s, r and max are constants where this is inlined, so that sums stay in registers. */
INLINE void LEVEL(rows_of)(const int k, const int s, const int r, const bool max,
			   const struct taps *t, const float *const *row, const float *ahead,
			   const float *w, int64_t y0, float *y, const struct gemm_post *post)
{
	const int64_t width = t->g->out[2], step = LEVEL_WIDTH * (t->in_place ? s : 1);
	const int64_t across = t->across;
	const int rows = t->g->out[1] - y0 < r ? (int)(t->g->out[1] - y0) : r;
	const VEC bias = VALL(*post->bias), lo = VALL(post->lo), hi = VALL(post->hi);
	const bool plain = !post->residual && !post->more && !post->hswish;
	for (int64_t v = 0; v < across; v++) {
		int64_t left = width - v * LEVEL_WIDTH, to = y0 * width + v * LEVEL_WIDTH;
		int n = left < LEVEL_WIDTH ? (int)left : LEVEL_WIDTH;
		VEC acc[TAPS_ROWS];
		UNROLL
		for (int i = 0; i < r; i++)
			acc[i] = VALL(max ? -__FLT_MAX__ : 0.0f);
		for (int x = 0; x < k; x++) {
			uint32_t bits = t->in_place ? t->bits[v * k + x] : 0;
			int64_t at = t->column[x] + v * step;
			VEC weight[TAPS_ACROSS];
			UNROLL
			for (int j = 0; j < k; j++)
				weight[j] = VALL(max ? 0.0f : w[j * k + x]);
			UNROLL
			for (int i = 0; i < (r - 1) * s + k; i++) {
				VEC in = LEVEL(columns)(s, max, row[i] + at, bits);
				UNROLL
				for (int j = 0; j < k; j++) {
					int o = i - j;
					if (o < 0 || o % s || o / s >= r)
						continue;
					acc[o / s] = LEVEL(join)(max, weight[j], in, acc[o / s]);
				}
			}
		}
		for (int i = 0; ahead && i < r * s; i++)
			__builtin_prefetch(ahead + i * t->g->in[2] + v * step);
		UNROLL
		for (int i = 0; i < r; i++, to += width) {
			if (i >= rows)
				break;
			if (plain)
				LEVEL(store_some)(y + to, VMIN(hi, VMAX(lo, VADD(acc[i], bias))), n);
			else
				LEVEL(finish)(acc[i], n, to, y, post, bias);
		}
	}
}

/* A function for each variant: the compiler takes much longer for all of them in one. */
#define ROWS_NAME(k, s, r, max) LEVEL(rows_##k##_##s##_##r##_##max)
#define CASES(k, s, max) CASE(k, s, 8, max) CASE(k, s, 4, max)
#define ALL_CASES CASE(3, 1, TAPS_ROWS, 0) CASE(5, 1, TAPS_ROWS, 0) \
	CASES(2, 2, 0) CASES(3, 1, 0) CASES(3, 2, 0) CASES(5, 1, 0) CASES(5, 2, 0) \
	CASES(7, 1, 0) CASES(7, 2, 0) CASES(2, 2, 1) CASES(3, 1, 1) CASES(3, 2, 1)
#define CASE(k, s, r, max) static __attribute__((noinline)) void ROWS_NAME(k, s, r, max)( \
	const struct taps *t, const float *const *row, const float *ahead, const float *w, int64_t y0, \
	float *y, const struct gemm_post *post) \
{ LEVEL(rows_of)(k, s, r, max, t, row, ahead, w, y0, y, post); }
ALL_CASES
#undef CASE

static void LEVEL(rows)(const struct taps *t, const float *const *row, const float *ahead,
			const float *w, int64_t y0, float *y, const struct gemm_post *post)
{
	switch (t->variant) {
#define CASE(k, s, r, max) case TAPS_VARIANT(k, s, r, max): \
		ROWS_NAME(k, s, r, max)(t, row, ahead, w, y0, y, post); break;
	ALL_CASES
#undef CASE
#undef CASES
	}
}

/* ---- any window ---- */

/* n vectors from `first` on; n and max are constants where this is inlined. */
INLINE void LEVEL(vectors)(const int n, const bool max, const struct taps *t, int64_t first,
			   const float *x, const float *w, float *y, const struct gemm_post *post)
{
	const struct taps_vector *v = t->vector + first;
	const int64_t taps = t->g->taps;
	const VEC bias = VALL(*post->bias);
	VEC acc[8];
	UNROLL
	for (int i = 0; i < n; i++)
		acc[i] = VALL(max ? -__FLT_MAX__ : 0.0f);
	for (int64_t k = 0; k < taps; k++) {
		const float *at = x + t->offset[k];
		VEC weight = VALL(max ? 0.0f : w[k]);
		UNROLL
		for (int i = 0; i < n; i++) {
			VEC in = VLOAD(at + v[i].from);
			acc[i] = LEVEL(join)(max, weight, in, acc[i]);
		}
	}
	UNROLL
	for (int i = 0; i < n; i++)
		LEVEL(finish)(acc[i], v[i].n, v[i].to, y, post, bias);
}

INLINE void LEVEL(plane_of)(const bool max, const struct taps *t, const float *x, const float *w,
			    float *y, const struct gemm_post *post)
{
	int64_t i = 0;
	for (; i + 8 <= t->n_vectors; i += 8)
		LEVEL(vectors)(8, max, t, i, x, w, y, post);
	for (; i + 4 <= t->n_vectors; i += 4)
		LEVEL(vectors)(4, max, t, i, x, w, y, post);
	for (; i < t->n_vectors; i++)
		LEVEL(vectors)(1, max, t, i, x, w, y, post);
}

static void LEVEL(plane)(const struct taps *t, const float *x, const float *w, float *y,
			 const struct gemm_post *post)
{
	if (t->max)
		LEVEL(plane_of)(true, t, x, w, y, post);
	else
		LEVEL(plane_of)(false, t, x, w, y, post);
}

#undef UNROLL
#undef INLINE
