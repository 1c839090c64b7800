/* gemm_loops.h - the inner kernels of gemm.c, one level (isa_dispatch.h): tiles of
 * T_M rows by T_V vectors in registers. */

/* Loops below macros are indented as the loops that they are. */
/* clang-format off */
#include "kernel/gemm/block_epilogue_loops.h"

#if LEVEL_WIDTH == 16
#define T_M 12
#elif LEVEL_WIDTH == 8
#define T_M 6
#else
#define T_M 4
#endif
#define T_V 2
#define T_N (T_V * LEVEL_WIDTH)

#define UNROLL _Pragma("GCC unroll 16")
/* Counting takes a fifth of the instructions of a tile of 6 rows by 2 vectors, a tenth of one of 12. */
#if LEVEL_WIDTH == 8
#define UNROLL_K _Pragma("GCC unroll 4")
#else
#define UNROLL_K
#endif
#define INLINE static inline __attribute__((always_inline))

/* v, a vector of sums of row i from column j on, as struct gemm_post has it; LOAD reads as much of the others. */
#define POST(p, v, i, j, LOAD) do { \
	if ((p)->before) \
		v = VADD(v, LOAD((p)->before + (j))); \
	if ((p)->scale) \
		v = VMUL(v, LOAD((p)->scale + (j))); \
	v = VADD(v, VALL((p)->bias[i])); \
	if ((p)->residual) \
		v = VADD(v, LOAD((p)->residual + (i) * (p)->ld + (j))); \
	if ((p)->more) \
		v = VADD(v, LOAD((p)->more + (i) * (p)->more_ld + (j))); \
	v = LEVEL(post_limits)(p, v); \
	} while (0)

/* The same of one sum. */
INLINE float LEVEL(posted)(const struct gemm_post *p, float v, int i, int64_t j)
{
	v += p->before ? p->before[j] : 0;
	v *= p->scale ? p->scale[j] : 1;
	v += p->bias[i];
	v += p->residual ? p->residual[i * p->ld + j] : 0;
	v += p->more ? p->more[i * p->more_ld + j] : 0;
	if (p->hswish)
		v *= (v < -3 ? 0 : v > 3 ? 6 : v + 3) * (1 / 6.0f);
	return v < p->lo ? p->lo : v > p->hi ? p->hi : v;
}

/* C's vectors of one tile row by row, as gemm.h describes them: sums, then the post. */
INLINE void LEVEL(put)(const int mr, const int nv, VEC acc[T_M][T_V], const struct gemm_block *g)
{
	const struct gemm_post *p = g->post;
	UNROLL
	for (int i = 0; i < mr; i++) {
		float *c = g->c + i * g->ldc;
		UNROLL
		for (int j = 0; j < nv; j++) {
			VEC v = acc[i][j];
			if (g->add)
				v = VADD(VLOAD(c + j * LEVEL_WIDTH), v);
			if (p)
				POST(p, v, i, j * LEVEL_WIDTH, VLOAD);
			VSTORE(c + j * LEVEL_WIDTH, v);
		}
	}
	if (p && p->swish != 0)
		LEVEL(sigmoid_rows)(p->swish, true, g->c, g->c, g->ldc, mr, nv * LEVEL_WIDTH);
}

/* mr, nv, half, widen and rows (A's, in place) are constants where this is inlined, so acc lives in
 * registers, and so do the pointers to every third row. */
INLINE void LEVEL(tile_of)(const int mr, const int nv, const bool half, const bool widen,
			   const bool rows, const struct gemm_block *g)
{
	VEC acc[T_M][T_V];
	const int64_t lda = g->a_row, step_a = g->a_col ? g->a_col : GEMM_M;
	const float *a = g->a, *bf = g->b, *third[(T_M + 2) / 3];
	const uint16_t *bh = g->b;
	const char *ahead = g->ahead;
	const int64_t kc = g->kc, ldb = g->ldb, step = g->ahead_step;
	UNROLL
	for (int i = 0; rows && i < mr; i += 3)
		third[i / 3] = a + i * lda;
	UNROLL
	for (int i = 0; i < mr; i++) {
		for (int j = 0; j < nv; j++) {
			acc[i][j] = VALL(0.0f);
			__builtin_prefetch(g->c + i * g->ldc + j * 16, 1);
		}
	}
	UNROLL_K
	for (int64_t k = 0; k < kc; k++) {
		VEC row[T_V];
		UNROLL
		for (int j = 0; j < nv; j++)
			row[j] = half ? VHALF(bh + k * ldb + j * LEVEL_WIDTH)
				      : VLOAD(bf + k * ldb + j * LEVEL_WIDTH);
		UNROLL
		for (int j = 0; widen && j < nv; j++)
			VSTORE(g->widened + k * ldb + j * LEVEL_WIDTH, row[j]);
		UNROLL
		for (int i = 0; i < mr; i++) {
			VEC x = VALL(rows ? third[i / 3][i % 3 * lda + k] : a[i]);
			UNROLL
			for (int j = 0; j < nv; j++)
				acc[i][j] = VFMA(x, row[j], acc[i][j]);
		}
		__builtin_prefetch(ahead, 0, 2);
		ahead += step;
		a += step_a;
	}
	LEVEL(put)(mr, nv, acc, g);
}

#define CASE(m) case m: LEVEL(tile_of)(m, nv, half, false, rows, g); break;
INLINE void LEVEL(tile_rows)(int mr, const int nv, const bool half, const bool rows,
			     const struct gemm_block *g)
{
	switch (mr) {
	CASE(1) CASE(2) CASE(3) CASE(4)
#if T_M >= 6
	CASE(5) CASE(6)
#endif
#if T_M >= 12
	CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#endif
	}
}
#undef CASE

static void LEVEL(tile_f32)(int mr, const struct gemm_block *g)
{
	LEVEL(tile_rows)(mr, T_V, false, false, g);
}

static void LEVEL(tile_f32_narrow)(int mr, const struct gemm_block *g)
{
	LEVEL(tile_rows)(mr, 1, false, false, g);
}

static void LEVEL(tile_in_place)(int mr, const struct gemm_block *g)
{
	LEVEL(tile_rows)(mr, T_V, false, true, g);
}

static void LEVEL(tile_in_place_narrow)(int mr, const struct gemm_block *g)
{
	LEVEL(tile_rows)(mr, 1, false, true, g);
}

static void LEVEL(tile_half)(int mr, const struct gemm_block *g)
{
	LEVEL(tile_rows)(mr, T_V, true, false, g);
}

static void LEVEL(tile_widen)(const struct gemm_block *g)
{
	LEVEL(tile_of)(T_M, T_V, true, true, false, g);
}

/* rows x cols sums in edge (ld: T_N) to C. */
static void LEVEL(put_edge)(int rows, int cols, const float *edge, const struct gemm_block *g)
{
	const struct gemm_post *p = g->post;
	for (int i = 0; i < rows; i++, edge += T_N) {
		float *c = g->c + i * g->ldc;
		for (int j = 0; j < cols; j++) {
			float v = g->add ? c[j] + edge[j] : edge[j];
			c[j] = p ? LEVEL(posted)(p, v, i, j) : v;
		}
	}
	if (p && p->swish != 0)
		LEVEL(sigmoid_rows)(p->swish, true, g->c, g->c, g->ldc, rows, cols);
}

#if LEVEL_WIDTH == 16
/* The same of sums that were stored as vectors; of single ones a vector would wait for each. */
#define SOME(p) _mm512_maskz_loadu_ps(some, p)
static void LEVEL(put_edge_vectors)(int rows, int cols, const float *edge, const struct gemm_block *g)
{
	const struct gemm_post *p = g->post;
	for (int i = 0; i < rows; i++, edge += T_N) {
		float *c = g->c + i * g->ldc;
		for (int j = 0; j < cols; j += 16) {
			__mmask16 some = (__mmask16)(cols - j < 16 ? (1 << (cols - j)) - 1 : 0xffff);
			VEC v = VLOAD(edge + j);
			if (g->add)
				v = VADD(SOME(c + j), v);
			if (p)
				POST(p, v, i, j, SOME);
			_mm512_mask_storeu_ps(c + j, some, v);
		}
	}
	if (p && p->swish != 0)
		LEVEL(sigmoid_rows)(p->swish, true, g->c, g->c, g->ldc, rows, cols);
}
#undef SOME
#endif

#if LEVEL_WIDTH == 16
/* A few columns: the rows of A make the vector.  u sums for each column, to hide the latency. */
INLINE void LEVEL(thin_of)(const int nr, const int u, const bool half, const struct gemm_block *g,
			   float *to, int64_t ld)
{
	const __mmask16 rows = (1u << GEMM_M) - 1;
	const float *af = g->a, *b = g->b;
	const uint16_t *ah = g->a;
	VEC acc[8][8];
	int64_t k = 0;
	UNROLL
	for (int j = 0; j < nr; j++)
		UNROLL
		for (int i = 0; i < u; i++)
			acc[j][i] = VALL(0.0f);
#define A_ROW(k) (half ? _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(rows, ah + (k) * GEMM_M)) \
		       : _mm512_maskz_loadu_ps(rows, af + (k) * GEMM_M))
	for (; k + u <= g->kc; k += u)
		UNROLL
		for (int i = 0; i < u; i++) {
			VEC a = A_ROW(k + i);
			UNROLL
			for (int j = 0; j < nr; j++)
				acc[j][i] = VFMA(a, VALL(b[(k + i) * g->ldb + j]), acc[j][i]);
		}
	for (; k < g->kc; k++) {
		VEC a = A_ROW(k);
		UNROLL
		for (int j = 0; j < nr; j++)
			acc[j][0] = VFMA(a, VALL(b[k * g->ldb + j]), acc[j][0]);
	}
#undef A_ROW
	UNROLL
	for (int j = 0; j < nr; j++) {
		float sums[LEVEL_WIDTH];
		UNROLL
		for (int i = 1; i < u; i++)
			acc[j][0] = VADD(acc[j][0], acc[j][i]);
		VSTORE(sums, acc[j][0]);
		for (int i = 0; i < g->mr; i++)
			to[i * ld + j] = sums[i];
	}
}

#define CASE(nr, u) case nr: LEVEL(thin_of)(nr, u, half, g, to, ld); break;
INLINE void LEVEL(thin_columns)(const bool half, const struct gemm_block *g, float *to, int64_t ld)
{
	switch (g->nr) {
	CASE(1, 8) CASE(2, 4) CASE(3, 3) CASE(4, 2) CASE(5, 2) CASE(6, 2) CASE(7, 2) CASE(8, 2)
	}
}
#undef CASE

static void LEVEL(thin)(const struct gemm_block *g)
{
	float edge[GEMM_M * T_N];
	bool plain = !g->add && !g->post; /* sums are what there is to write */
	float *to = plain ? g->c : edge;
	int64_t ld = plain ? g->ldc : T_N;
	if (g->a_half)
		LEVEL(thin_columns)(true, g, to, ld);
	else
		LEVEL(thin_columns)(false, g, to, ld);
	if (g->post)
		LEVEL(put_edge_vectors)(g->mr, g->nr, edge, g);
	else if (g->add)
		LEVEL(put_edge)(g->mr, g->nr, edge, g);
}
#endif

static void LEVEL(finish)(const struct gemm_post *p, float *c, int64_t ldc, int rows, int64_t n)
{
	for (int i = 0; i < rows; i++) {
		float *y = c + i * ldc;
		int64_t j = 0;
		for (; j + LEVEL_WIDTH <= n; j += LEVEL_WIDTH) {
			VEC v = VLOAD(y + j);
			POST(p, v, i, j, VLOAD);
			VSTORE(y + j, v);
		}
		for (; j < n; j++)
			y[j] = LEVEL(posted)(p, y[j], i, j);
	}
	if (p->swish != 0)
		LEVEL(sigmoid_rows)(p->swish, true, c, c, ldc, rows, n);
}

/* One tile of at most T_M rows and T_N columns. */
static void LEVEL(tile)(const struct gemm_block *g)
{
	float edge[T_M * T_N];
	struct gemm_block e;
	const struct gemm_block *t = g;
	bool narrow = g->nr <= LEVEL_WIDTH && !g->b_half;
#if LEVEL_WIDTH == 16
	if (g->nr <= GEMM_THIN && !g->b_half && !g->a_row && !g->a_col) {
		LEVEL(thin)(g);
		return;
	}
#endif
	if (g->nr != (narrow ? LEVEL_WIDTH : T_N)) {
		e = *g;
		e.c = edge;
		e.ldc = T_N;
		e.add = false;
		e.post = NULL;
		t = &e;
	}
	if (g->b_half && g->widened && g->mr == T_M)
		LEVEL(tile_widen)(t);
	else if (g->b_half)
		LEVEL(tile_half)(g->mr, t);
	else if (g->a_row && narrow)
		LEVEL(tile_in_place_narrow)(g->mr, t);
	else if (g->a_row)
		LEVEL(tile_in_place)(g->mr, t);
	else if (narrow)
		LEVEL(tile_f32_narrow)(g->mr, t);
	else
		LEVEL(tile_f32)(g->mr, t);
#if LEVEL_WIDTH == 16
	if (t == &e)
		LEVEL(put_edge_vectors)(g->mr, g->nr, edge, g);
#else
	if (t == &e)
		LEVEL(put_edge)(g->mr, g->nr, edge, g);
#endif
}

static void LEVEL(block)(const struct gemm_block *g)
{
	struct gemm_block t = *g;
	struct gemm_post p;
	int last = g->nr % T_N;
	bool split = last > LEVEL_WIDTH && !g->b_half;   /* a whole vector, then the rest */
	for (int j = 0; j < g->nr; j += t.nr) {
		t.nr = g->nr - j < T_N ? g->nr - j : T_N;
		if (t.nr == last && split)
			t.nr = LEVEL_WIDTH;
		t.b = g->b_half ? (const void *)((const uint16_t *)g->b + j)
				: (const void *)((const float *)g->b + j);
		t.widened = g->widened ? g->widened + j : NULL;
		for (int i = 0; i < g->mr; i += t.mr) {
			t.mr = g->mr - i < T_M ? g->mr - i : T_M;
			t.a = (const float *)g->a + i * (g->a_row ? g->a_row : 1);
			t.c = g->c + i * g->ldc + j;
			if (g->post) {
				p = *g->post;
				p.scale = p.scale ? p.scale + j : NULL;
				p.before = p.before ? p.before + j : NULL;
				p.bias += i;
				p.residual = p.residual ? p.residual + i * p.ld + j : NULL;
				p.more = p.more ? p.more + i * p.more_ld + j : NULL;
				t.post = &p;
			}
			LEVEL(tile)(&t);
		}
		t.ahead_step = 0;
	}
}

/* Rows ahead of the one that is copied, into the second-level cache. */
enum { LEVEL(ROWS_AHEAD) = 4 };
INLINE void LEVEL(fetch)(const float *const *row, int64_t k, int64_t kc, int64_t at)
{
	if (k + LEVEL(ROWS_AHEAD) < kc) {
		__builtin_prefetch(row[k + LEVEL(ROWS_AHEAD)] + at);
		__builtin_prefetch(row[k + LEVEL(ROWS_AHEAD)] + at + 16);
	}
}

static void LEVEL(gather_panels)(const float *const *row, int64_t kc, int64_t at, int64_t n,
				 float *dst)
{
	for (int64_t k = 0; k < kc; k++) {
		float *to = dst + k * GEMM_N;
		int64_t j = 0;
		for (; j + GEMM_N <= n; j += GEMM_N, to += kc * GEMM_N) {
			LEVEL(fetch)(row, k, kc, at + j);
			UNROLL
			for (int i = 0; i < GEMM_N; i += LEVEL_WIDTH)
				VSTORE(to + i, VLOAD(row[k] + at + j + i));
		}
		for (int i = 0; j < n && i < GEMM_N; i++)
			to[i] = j + i < n ? row[k][at + j + i] : 0;
	}
}

static void LEVEL(gather_shifted)(const float *const *row, int64_t kc, int64_t at, int64_t n,
				  const uint16_t *bits, int64_t tap0, int64_t taps, int64_t words,
				  float *dst)
{
	int64_t tap = tap0;
	for (int64_t k = 0; k < kc; k++) {
		const uint16_t *b = bits + tap * words;
		const float *x = row[k] + at;
		float *to = dst + k * GEMM_N;
		for (int64_t j = 0; j < n; j += GEMM_N, to += kc * GEMM_N) {
#if LEVEL_WIDTH == 16
			for (int i = 0; i < GEMM_N; i += 16)
				VSTORE(to + i, _mm512_maskz_loadu_ps(b[(j + i) / 16], x + j + i));
#else
			for (int i = 0; i < GEMM_N; i++)
				to[i] = b[(j + i) / 16] >> i % 16 & 1 ? x[j + i] : 0;
#endif
		}
		if (++tap == taps)
			tap = 0;
	}
}

#if LEVEL_WIDTH == 16
/* One vector of a panel, lanes from n places. */
static void LEVEL(gather_vector)(const float *const *row, int64_t kc, int n, const int64_t *from,
				 const uint16_t *lanes, float *dst)
{
	if (n == 1) {
		for (int64_t k = 0; k < kc; k++)
			VSTORE(dst + k * GEMM_N, _mm512_maskz_loadu_ps(lanes[0], row[k] + from[0]));
	} else if (n == 2) {
		for (int64_t k = 0; k < kc; k++) {
			VEC v = _mm512_maskz_loadu_ps(lanes[0], row[k] + from[0]);
			VSTORE(dst + k * GEMM_N,
			       _mm512_mask_loadu_ps(v, lanes[1], row[k] + from[1]));
		}
	} else {
		for (int64_t k = 0; k < kc; k++) {
			VEC v = VALL(0.0f);
			for (int i = 0; i < n; i++)
				v = _mm512_mask_loadu_ps(v, lanes[i], row[k] + from[i]);
			VSTORE(dst + k * GEMM_N, v);
		}
	}
}
#else
/* n <= GEMM_N floats of each row, from `from` on, to columns of one panel. */
static void LEVEL(gather_run)(const float *const *row, int64_t kc, int64_t from, int64_t n, float *dst)
{
	for (int64_t k = 0; k < kc; k++, dst += GEMM_N) {
		const float *x = row[k] + from;
		int64_t whole = n / LEVEL_WIDTH * LEVEL_WIDTH;
		for (int64_t i = 0; i < whole; i += LEVEL_WIDTH)
			VSTORE(dst + i, VLOAD(x + i));
		if (whole > 0 && whole < n) /* the last one overlaps the one before */
			VSTORE(dst + n - LEVEL_WIDTH, VLOAD(x + n - LEVEL_WIDTH));
		for (int64_t i = 0; whole == 0 && i < n; i++)
			dst[i] = x[i];
	}
}
#endif

static void LEVEL(gather_pieces)(const float *const *row, int64_t kc, int64_t n, int n_pieces,
				 const struct gemm_piece *piece, float *dst)
{
	int64_t end = (n + GEMM_N - 1) / GEMM_N * GEMM_N;
#if LEVEL_WIDTH == 16
	int i = 0;
	for (int64_t j = 0; j < end; j += 16) {
		int64_t from[16];
		uint16_t lanes[16];
		int m = 0;
		for (; i < n_pieces && piece[i].at < j + 16; i++) {
			int lo = piece[i].at > j ? (int)(piece[i].at - j) : 0;
			int64_t hi = piece[i].at + piece[i].n - j;
			from[m] = piece[i].from + j - piece[i].at;
			lanes[m++] = (uint16_t)((hi >= 16 ? 0x10000u : 1u << hi) - (1u << lo));
			if (hi > 16)
				break;
		}
		LEVEL(gather_vector)(row, kc, m, from, lanes,
				     dst + j / GEMM_N * kc * GEMM_N + j % GEMM_N);
	}
#else
	int64_t at = 0;
	for (int i = 0; i < n_pieces; i++)
		for (int64_t from = piece[i].from, left = piece[i].n; left > 0;) {
			int64_t room = GEMM_N - at % GEMM_N, run = left < room ? left : room;
			LEVEL(gather_run)(row, kc, from, run,
					  dst + at / GEMM_N * kc * GEMM_N + at % GEMM_N);
			at += run;
			from += run;
			left -= run;
		}
	for (float *to = dst + n / GEMM_N * kc * GEMM_N + n % GEMM_N; n < end; n++, to++)
		for (int64_t k = 0; k < kc; k++)
			to[k * GEMM_N] = 0;
#endif
}

#if LEVEL_WIDTH == 16
/* Every other float from x on, at most 16 of them. */
INLINE VEC LEVEL(evens)(const float *x, uint32_t bits)
{
	const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28,
						30);
	return _mm512_permutex2var_ps(_mm512_maskz_loadu_ps((__mmask16)bits, x), evens,
				      _mm512_maskz_loadu_ps((__mmask16)(bits >> 16), x + 16));
}

/* One vector of a panel from n pieces, whose lane 0 is at from[]; what lies `ahead` comes next. */
enum { LEVEL(PIECES_AHEAD) = 8 };
INLINE void LEVEL(halves_vector)(const int n, const float *const *row, int64_t kc, const int64_t *from,
				 int64_t ahead, const uint32_t *bits, int n_pieces, int64_t tap,
				 int64_t taps, float *dst)
{
	const uint32_t *b = bits + tap * n_pieces;
	for (int64_t k = 0; k < kc; k++) {
		VEC v = LEVEL(evens)(row[k] + from[0], b[0]);
		for (int i = 1; i < n; i++)
			v = VADD(v, LEVEL(evens)(row[k] + from[i], b[i]));
		VSTORE(dst + k * GEMM_N, v);
		__builtin_prefetch(row[k] + ahead);
		__builtin_prefetch(row[k] + ahead + 16);
		b += n_pieces;
		if (++tap == taps) {
			tap = 0;
			b = bits;
		}
	}
}
#endif

static void LEVEL(gather_halves)(const float *const *row, int64_t kc, int64_t n, int n_pieces,
				 const struct gemm_piece *piece, const uint32_t *bits, int64_t tap0,
				 int64_t taps, float *dst)
{
	int64_t end = (n + GEMM_N - 1) / GEMM_N * GEMM_N;
#if LEVEL_WIDTH == 16
	for (int64_t j = 0, i = 0, m; j < end; j += 16, i += m) {
		float *to = dst + j / GEMM_N * kc * GEMM_N + j % GEMM_N;
		int64_t from[16];
		for (m = 0; i + m < n_pieces && piece[i + m].at < j + 16; m++)
			from[m] = piece[i + m].from - 2 * (piece[i + m].at - j);
		int64_t next = i + LEVEL(PIECES_AHEAD) < n_pieces ? i + LEVEL(PIECES_AHEAD) : n_pieces - 1;
		int64_t ahead = piece[next].from;
		if (m == 0)
			for (int64_t k = 0; k < kc; k++)
				VSTORE(to + k * GEMM_N, VALL(0.0f));
		else if (m == 1)
			LEVEL(halves_vector)(1, row, kc, from, ahead, bits + i, n_pieces, tap0,
					     taps, to);
		else if (m == 2)
			LEVEL(halves_vector)(2, row, kc, from, ahead, bits + i, n_pieces, tap0,
					     taps, to);
		else
			LEVEL(halves_vector)((int)m, row, kc, from, ahead, bits + i, n_pieces, tap0,
					     taps, to);
	}
#else
	for (int64_t k = 0; k < kc; k++) {
		const uint32_t *b = bits + (tap0 + k) % taps * n_pieces;
		float *to = dst + k * GEMM_N;
		for (int64_t j = 0; j < end; j++)
			to[j / GEMM_N * kc * GEMM_N + j % GEMM_N] = 0;
		for (int i = 0; i < n_pieces; i++)
			for (int64_t j = 0, at = piece[i].at; j < piece[i].n; j++, at++)
				if (b[i] >> 2 * (at % 16) & 1)
					to[at / GEMM_N * kc * GEMM_N + at % GEMM_N] =
						row[k][piece[i].from + 2 * j];
	}
#endif
}

#undef T_M
#undef T_V
#undef T_N
#undef INLINE
#undef UNROLL
#undef UNROLL_K
