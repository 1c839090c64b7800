/* product.c - one matrix product on packed operands, blocked for the caches.
 *
 * A panel of PRODUCT_K rows of B stays in the second-level cache while the panels of A pass by, and
 * the next one is fetched meanwhile; blocks of C of ROWS x GROUP panels stay there until the
 * last product is added and the epilogue has run over them. */
#include "kernel/gemm/product.h"
#include "kernel/isa_level.h"
#include "kernel/gemm/block_epilogue.h"
#include "kernel/gemm/qpanel.h"
#include "kernel/gemm/thin.h"
#include "kernel/vec.h"

#include <string.h>

enum { ROWS = 20 * GEMM_M, GROUP = 8 };
enum { PACK_ROWS = 16 };

struct operand operand_of(const struct tensor *t, bool transpose, bool left)
{
	struct operand o = {.t = t};
	uint32_t matrix = t->rank < 2 ? t->rank : 2;
	o.batch = *t;
	o.batch.rank = t->rank - matrix;
	if (t->rank == 1) {
		o.rows = left ? 1 : t->dim[0];
		o.cols = left ? t->dim[0] : 1;
		o.row = left ? t->dim[0] : 1;
		o.col = 1;
		return o;
	}
	int64_t p = t->dim[t->rank - 2], q = t->dim[t->rank - 1];
	o.rows = transpose ? q : p;
	o.cols = transpose ? p : q;
	o.row = transpose ? 1 : q;
	o.col = transpose ? q : 1;
	return o;
}

const void *operand_at(const struct tensor *t, int64_t element)
{
	return (const char *)t->data + (size_t)element * cpu_elem_size(t->elem);
}

int64_t operand_batch(const struct tensor *out, const struct tensor *o, int64_t i)
{
	int64_t at_o = 0, step = 1;
	for (uint32_t d = 0; d < out->rank; d++) { /* from the innermost dim */
		int64_t size = out->dim[out->rank - 1 - d];
		if (d < o->rank) {
			int64_t n = o->dim[o->rank - 1 - d];
			at_o += (n == 1 ? 0 : i % size) * step;
			step *= n;
		}
		i /= size;
	}
	return at_o;
}

/* ---- packing ---- */

int64_t product_n_panels(int64_t n)
{
	return (n + GEMM_N - 1) / GEMM_N;
}

int64_t product_a_floats(int64_t m, int64_t k)
{
	return m == 1 ? k : gemm_a_elements(m, k);
}

#define INTERLEAVE_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define INTERLEAVE_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)

/* Four runs of four floats, `step` apart, to four columns of dst (`width` floats a row). */
static inline void transpose4(const float *src, int64_t step, float *dst, int64_t width)
{
	vec4 r[4], t[4];
	for (int i = 0; i < 4; i++)
		r[i] = *(const vec4 *)(const void *)(src + i * step);
	t[0] = INTERLEAVE_LOW(r[0], r[2]);
	t[1] = INTERLEAVE_LOW(r[1], r[3]);
	t[2] = INTERLEAVE_HIGH(r[0], r[2]);
	t[3] = INTERLEAVE_HIGH(r[1], r[3]);
	*(vec4 *)(void *)(dst) = INTERLEAVE_LOW(t[0], t[1]);
	*(vec4 *)(void *)(dst + width) = INTERLEAVE_HIGH(t[0], t[1]);
	*(vec4 *)(void *)(dst + 2 * width) = INTERLEAVE_LOW(t[2], t[3]);
	*(vec4 *)(void *)(dst + 3 * width) = INTERLEAVE_HIGH(t[2], t[3]);
}

/* Runs of k floats, n of them `step` apart, to panels of `width` runs (a multiple of 4), k
 * outermost inside a panel, zeros behind the last. */
static void pack_runs(float *dst, const float *src, int64_t n, int64_t k, int64_t width,
		      int64_t step)
{
	for (int64_t x0 = 0; x0 < n; x0 += width, dst += k * width) {
		int64_t w = n - x0 < width ? n - x0 : width, whole = w / 4 * 4, k4 = k / 4 * 4;
		const float *s = src + x0 * step;
		/* A cache line of each run at a time: long strides meet in few sets. */
		for (int64_t j0 = 0; j0 < k4; j0 += 16)
			for (int64_t x = 0; x < whole; x += 4) {
				int64_t j1 = k4 - j0 < 16 ? k4 : j0 + 16;
				for (int64_t y = x; y < x + 4 && x0 + width + y < n; y++)
					__builtin_prefetch(s + (width + y) * step + j0);
				for (int64_t j = j0; j < j1; j += 4)
					transpose4(s + x * step + j, step, dst + j * width + x,
						   width);
			}
		for (int64_t x = 0; x < width; x++)
			for (int64_t i = x < whole ? k4 : 0; i < k; i++)
				dst[i * width + x] = x < w ? s[x * step + i] : 0;
	}
}

void product_pack_a(float *dst, const float *src, int64_t m, int64_t k, int64_t row, int64_t col)
{
	if (m == 1)
		for (int64_t j = 0; j < k; j++)
			dst[j] = src[j * col];
	else if (col == 1)
		pack_runs(dst, src, m, k, GEMM_M, row);
	else
		gemm_pack_a(dst, EL_F32, src, m, k, row, col);
}

void product_pack_few(float *dst, const float *src, int64_t m, int64_t k, int64_t row)
{
	int64_t k4 = m < 4 ? 0 : k / 4 * 4;
	for (int64_t i = 0; i < m && k4 > 0; i += 4) {
		int64_t x = i + 4 <= m ? i : m - 4; /* the last four may be there already */
		for (int64_t j = 0; j < k4; j += 4)
			transpose4(src + x * row + j, row, dst + j * GEMM_M + x, GEMM_M);
	}
	for (int64_t j = k4; j < k; j++)
		for (int64_t i = 0; i < m; i++)
			dst[j * GEMM_M + i] = src[i * row + j];
}

void product_pack_b(float *dst, const float *src, int64_t k, int64_t n, int64_t row, int64_t col)
{
	int64_t whole = col == 1 ? n / GEMM_N * GEMM_N : 0;
	if (row == 1 && col != 1) {
		pack_runs(dst, src, n, k, GEMM_N, col);
		return;
	}
	/* Some rows at a time: all of them would be a walk through as many pages for each panel. */
	for (int64_t i0 = 0; i0 < k && whole > 0; i0 += PACK_ROWS) {
		int64_t end = k - i0 < PACK_ROWS ? k : i0 + PACK_ROWS;
		for (int64_t j = 0; j < whole; j += GEMM_N) {
			float *to = dst + j * k + i0 * GEMM_N;
			for (int64_t i = i0; i < end; i++, to += GEMM_N)
				memcpy(to, src + i * row + j, GEMM_N * sizeof *to);
		}
	}
	if (whole < n)
		gemm_pack_b(dst + whole * k, EL_F32, src + whole * col, k, n - whole, row, col);
}

/* ---- products ---- */

static int columns_of(const struct product *p, int64_t panel)
{
	int64_t n = p->n - panel * GEMM_N;
	return n < GEMM_N ? (int)n : GEMM_N;
}

static const void *panel_of(const struct product *p, int64_t panel, int64_t k0)
{
	size_t size = p->b_half ? sizeof(uint16_t) : sizeof(float);
	if (p->q)
		return p->q->data;
	return (const char *)p->b + (size_t)((panel * p->k + k0) * GEMM_N) * size;
}

/* One block of PRODUCT_K rows of panel j, kc of them from k0 on, times rows i0 .. i1 - 1 of A.
 * Each tile fetches its share of the next block, so that memory is read evenly. */
static void multiply_panel(const struct product *p, const struct cpu_post *post, int64_t i0,
			   int64_t i1, int64_t j, int64_t k0, int64_t kc, const void *next,
			   float *unpacked)
{
	int64_t tiles = (i1 - i0 + GEMM_M - 1) / GEMM_M, line = GEMM_N * (p->b_half ? 2 : 4);
	struct cpu_post_rows rows;
	struct gemm_block g = {.nr = columns_of(p, j),
			       .kc = kc,
			       .b = panel_of(p, j, k0),
			       .a_row = p->lda,
			       .b_half = p->b_half,
			       .ldb = GEMM_N,
			       .ldc = p->ldc,
			       .add = k0 > 0,
			       .ahead = next,
			       .ahead_step = (line + tiles - 1) / tiles};
	if (p->q) {
		qpanel_unpack(p->q, j, k0, kc, unpacked);
		g.b = g.ahead = unpacked;
		g.ahead_step = 0;
	}
	/* Halves are widened once for many rows: by the first tile, in passing. */
	bool widen = p->b_half && i1 - i0 > 2 * GEMM_M;
	if (widen && g.nr < GEMM_N) {
		vec_from_half(g.b, unpacked, kc * GEMM_N);
		g.b = unpacked;
		g.b_half = widen = false;
	}
	g.widened = widen ? unpacked : NULL;
	for (int64_t i = i0; i < i1; i += GEMM_M) {
		g.mr = i1 - i < GEMM_M ? (int)(i1 - i) : GEMM_M;
		g.a = p->lda ? p->a + i * p->lda + k0 : p->a + i * p->k + k0 * GEMM_M;
		g.c = p->c + i * p->ldc + j * GEMM_N;
		if (k0 + kc == p->k)
			g.post = cpu_post_rows(post, p->row + i, g.mr, j * GEMM_N, &rows);
		gemm_multiply(&g);
		g.ahead = (const char *)g.ahead + kc * g.ahead_step;
		if (!widen)
			continue;
		g.b = unpacked;
		g.b_half = false;
		g.widened = NULL;
	}
}

/* Rows i0 .. i1 - 1 of panels first .. last - 1. */
static void multiply_block(const struct product *p, const struct cpu_post *post, int64_t i0,
			   int64_t i1, int64_t first, int64_t last, float *unpacked)
{
	for (int64_t k0 = 0; k0 < p->k; k0 += PRODUCT_K) {
		int64_t kc = p->k - k0 < PRODUCT_K ? p->k - k0 : PRODUCT_K;
		for (int64_t j = first; j < last; j++) {
			const void *next = panel_of(p, j + 1, k0);
			if (j + 1 == last && k0 + kc < p->k)
				next = panel_of(p, first, k0 + kc);
			multiply_panel(p, post, i0, i1, j, k0, kc, next, unpacked);
		}
	}
}

/* Sums of nothing: rows i0 .. i1 - 1, n columns from col on. */
static void multiply_nothing(const struct product *p, int64_t i0, int64_t i1, int64_t col,
			     int64_t n)
{
	float *c = p->c + i0 * p->ldc + col;
	for (int64_t i = 0; i < i1 - i0; i++)
		memset(c + i * p->ldc, 0, (size_t)n * sizeof *c);
	if (p->post)
		cpu_epilogue_tile(p->post, c, p->ldc, p->row + i0, i1 - i0, col, n);
}

/* Panel j of a product with few rows. */
static void multiply_thin(const struct product *p, int64_t j)
{
	float *c = p->c + j * GEMM_N;
	if (p->q)
		qpanel_thin(p->q, j, (int)p->m, columns_of(p, j), p->a, c, p->ldc);
	else
		thin_panel((int)p->m, columns_of(p, j), p->k, p->a, panel_of(p, j, 0), p->b_half, c,
			   p->ldc);
}

void product_panels(const struct product *p, int64_t first, int64_t last, float *unpacked)
{
	struct cpu_post post;
	cpu_post_init(&post, p->post, true);
	for (int64_t j0 = first; j0 < last; j0 += GROUP) {
		int64_t j1 = last - j0 < GROUP ? last : j0 + GROUP, col = j0 * GEMM_N;
		int64_t n = (j1 * GEMM_N < p->n ? j1 * GEMM_N : p->n) - col;
		for (int64_t i0 = 0; i0 < p->m; i0 += ROWS) {
			int64_t i1 = p->m - i0 < ROWS ? p->m : i0 + ROWS;
			if (p->k == 0) {
				multiply_nothing(p, i0, i1, col, n);
				continue;
			}
			if (p->m > GEMM_M || p->as_many) {
				multiply_block(p, &post, i0, i1, j0, j1, unpacked);
				cpu_post_tile(&post, p->c + i0 * p->ldc + col, p->ldc, p->row + i0,
					      i1 - i0, col, n);
				continue;
			}
			for (int64_t j = j0; j < j1; j++)
				multiply_thin(p, j);
			if (p->post)
				cpu_epilogue_tile(p->post, p->c + col, p->ldc, p->row, p->m, col,
						  n);
		}
	}
}
