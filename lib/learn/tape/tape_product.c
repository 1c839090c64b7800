/* tape_product.c - the blocks of a product: some rows of the left side are packed at a time, and
 * pass by the panels of the right side, which was packed before; or OpenBLAS. */
#include "learn/tape/tape.h"
#include "learn/tape/tape_product.h"
#include "kernel/isa_level.h"
#include "kernel/vec.h"
#include "kernel/gemm/vnni_gemm.h"
#include "kernel/gemm/product.h"
#include "kernel/gemm/thin.h"
#include "linear/blas.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_K = 256 }; /* of the left side, packed at a time */
enum { FEW_K = 1024 };  /* the same of few rows */
enum { TILES = PRODUCT_ROWS / GEMM_M };

_Static_assert((int)PRODUCT_PANEL == (int)GEMM_N && PRODUCT_ROWS % GEMM_M == 0,
	       "panels, whole tiles");

/* ---- OpenBLAS ---- */

static bool by_blas;

int tape_choose_products(struct err *e)
{
	const char *by = getenv("HSDAG_PRODUCTS");
	by_blas = by && strcmp(by, "openblas") == 0;
	if (!by_blas && by && *by && strcmp(by, "own") != 0)
		return err_set(e, ST_USAGE, "HSDAG_PRODUCTS is '%s'; it can be 'own' or 'openblas'",
			       by);
	return !by_blas || blas_open(e) ? 0 : -1;
}

size_t product_unit(size_t unit, size_t all)
{
	return by_blas && all ? all : unit;
}

/* A copy, by rows or by columns as src is. */
static struct packed blas_pack(float *dst, const float *src, size_t k, size_t n, size_t row,
			       size_t col)
{
	bool lies = col == 1;
	size_t lines = lies ? k : n, length = lies ? n : k, apart = lies ? row : col;
	for (size_t i = 0; i < lines; i++)
		memcpy(dst + i * length, src + i * apart, length * sizeof *dst);
	return (struct packed){dst, k, n, false, lies ? n : 1, lies ? 1 : k};
}

static void blas_rows(float *c, size_t ldc, const struct rows *a, const struct packed *b, bool add)
{
	bool lies = b->col == 1, by_rows = a->col == 1;
	int m = (int)a->m, k = (int)b->k, n = (int)b->n, ldb = (int)(lies ? b->row : b->col);
	assert(by_rows || a->row == 1);
	if (m == 1)
		blas()->cblas_sgemv(CblasRowMajor, lies ? CblasTrans : CblasNoTrans, lies ? k : n,
				    lies ? n : k, 1, b->v, ldb, a->v, (int)a->col, add, c, 1);
	else
		blas()->cblas_sgemm(CblasRowMajor, by_rows ? CblasNoTrans : CblasTrans,
				    lies ? CblasNoTrans : CblasTrans, m, n, k, 1, a->v,
				    (int)(by_rows ? a->row : a->col), b->v, ldb, add, c, (int)ldc);
}

/* ---- the kernels of kernel/gemm ---- */

/* Rounded to bf16, as f32. */
static void round_floats(float *v, size_t n)
{
	uint16_t some[512];
	for (size_t i = 0; i < n; i += 512) {
		int64_t m = (int64_t)(n - i < 512 ? n - i : 512);
		vec_to_bf16(v + i, some, m);
		vec_from_bf16(some, v + i, m);
	}
}

/* Floats from the first column on to column j, where a panel begins. */
static size_t pairs_at(size_t k, size_t j)
{
	return (size_t)pairs_b_elements((int64_t)k, (int64_t)j) / 2;
}

size_t packed_floats(size_t k, size_t n)
{
	size_t whole = (size_t)gemm_b_elements((int64_t)k, (int64_t)n), pairs = pairs_at(k, n);
	return whole > pairs ? whole : pairs;
}

struct packed product_pack(float *dst, const float *src, size_t k, size_t n, size_t row, size_t col,
			   bool rounded)
{
	if (by_blas && !rounded)
		return blas_pack(dst, src, k, n, row, col);
	if (rounded && pairs_there()) {
		pairs_pack_b_of((uint16_t *)(void *)dst, src, (int64_t)(row == 1 ? col : row),
				(int64_t)k, (int64_t)n, row == 1 && col != 1);
	} else {
		product_pack_b(dst, src, (int64_t)k, (int64_t)n, (int64_t)row, (int64_t)col);
		if (rounded)
			round_floats(dst, (size_t)gemm_b_elements((int64_t)k, (int64_t)n));
	}
	return (struct packed){dst, k, n, rounded, 0, k};
}

enum { PACK_COLUMNS = 16 };

/* n columns of m <= GEMM_M rows beside each other at v, `col` apart. */
static void pack_columns(float *dst, const float *v, size_t m, size_t n, size_t col)
{
	for (size_t k = 0; k < n; k++, dst += GEMM_M)
		if (m < GEMM_M) {
			memset(dst, 0, GEMM_M * sizeof *dst);
			memcpy(dst, v + k * col, m * sizeof *dst);
		} else {
			memcpy(dst, v + k * col, GEMM_M * sizeof *dst);
		}
}

/* Rows i0 .. i0 + m - 1, columns k0 .. k0 + kc - 1. */
static void pack_block(float *dst, const struct rows *a, size_t i0, size_t m, size_t k0, size_t kc)
{
	const float *v = a->v + i0 * a->row + k0 * a->col;
	if (a->row != 1 && m > 1) { /* a single row would stay one */
		product_pack_a(dst, v, (int64_t)m, (int64_t)kc, (int64_t)a->row, (int64_t)a->col);
		return;
	}
	for (size_t k = 0; k < kc; k += PACK_COLUMNS) /* these stay in the first cache */
		for (size_t i = 0; i < m; i += GEMM_M)
			pack_columns(dst + i * kc + k * GEMM_M, v + i + k * a->col,
				     m - i < GEMM_M ? m - i : GEMM_M,
				     kc - k < PACK_COLUMNS ? kc - k : PACK_COLUMNS, a->col);
}

/* Some rows of a left side: packed, with row and col 0, or in place, with one of them. */
struct left {
	const float *v;
	size_t row, col;
};

/* m rows times all panels. */
static void multiply_block(float *c, size_t ldc, const struct left *a, size_t m, size_t k0,
			   size_t kc, const struct packed *b, bool add)
{
	size_t step = a->row ? a->row : a->col ? 1 : kc;
	for (size_t j = 0; j < b->n; j += GEMM_N) {
		const float *panel = b->v + j * b->k + k0 * GEMM_N;
		struct gemm_block g = {.nr = b->n - j < GEMM_N ? (int)(b->n - j) : GEMM_N,
				       .kc = (int64_t)kc,
				       .b = panel,
				       .a_row = (int64_t)a->row,
				       .a_col = (int64_t)a->col,
				       .ldb = GEMM_N,
				       .ldc = (int64_t)ldc,
				       .add = add,
				       .ahead = panel + b->k * GEMM_N,
				       .ahead_step = GEMM_N * sizeof(float) / TILES};
		for (size_t i = 0; i < m; i += GEMM_M) {
			g.mr = m - i < GEMM_M ? (int)(m - i) : GEMM_M;
			g.a = a->v + i * step;
			g.c = c + i * ldc + j;
			gemm_multiply(&g);
			g.ahead = (const char *)g.ahead + (int64_t)kc * g.ahead_step;
		}
	}
}

/* Tiles of AVX-512 read the left side where it is, which costs them nothing; smaller ones read it more often.  Thin
 * ends of rows, behind whole vectors, are summed in an order of their own, but only beside a packed left side. */
static bool stays_in_place(const struct rows *a, const struct packed *b)
{
	enum { VECTOR = GEMM_N / 2 };
	return cpu_level >= 4 && !b->rounded && (a->col == 1) != (a->row == 1) &&
	       !gemm_is_thin((int)((b->n - 1) % VECTOR) + 1);
}

/* m rows times all panels of pairs. */
static void multiply_pairs(float *c, size_t ldc, const uint16_t *a, size_t m, size_t k0, size_t kc,
			   const struct packed *b, bool add)
{
	for (size_t j = 0; j < b->n; j += PAIRS_N) {
		const float *panel = b->v + pairs_at(b->k, j) + k0 / 2 * PAIRS_N;
		const uint16_t *right = (const uint16_t *)(const void *)panel;
		size_t n = b->n - j < PAIRS_N ? b->n - j : PAIRS_N;
		pairs_panel(a, right, (int64_t)m, (int64_t)n, (int64_t)kc, c + j, (int64_t)ldc,
			    add);
	}
}

static void rounded_rows(float *c, size_t ldc, const struct rows *a, const struct packed *b,
			 bool add)
{
	uint16_t pa[PRODUCT_ROWS * BLOCK_K] __attribute__((aligned(64)));
	assert(a->col == 1);
	for (size_t i0 = 0; i0 < a->m; i0 += PRODUCT_ROWS) {
		size_t m = a->m - i0 < PRODUCT_ROWS ? a->m - i0 : PRODUCT_ROWS;
		for (size_t k0 = 0; k0 < b->k; k0 += BLOCK_K) {
			size_t kc = b->k - k0 < BLOCK_K ? b->k - k0 : BLOCK_K;
			pairs_pack_a_of(pa, a->v + i0 * a->row + k0, (int64_t)a->row, (int64_t)m,
					(int64_t)kc, 1);
			multiply_pairs(c + i0 * ldc, ldc, pa, m, k0, kc, b, add || k0 > 0);
		}
	}
}

/* c += a b, whose columns of a are contiguous; not too deep. */
static void rounded_outer(float *c, size_t ldc, const struct rows *a, const struct packed *b)
{
	uint16_t pa[PAIRS_N * BLOCK_K] __attribute__((aligned(64)));
	assert(a->row == 1 && b->k <= BLOCK_K);
	for (size_t i = 0; i < a->m; i += PAIRS_N) {
		size_t m = a->m - i < PAIRS_N ? a->m - i : PAIRS_N;
		pairs_pack_b_of(pa, a->v + i, (int64_t)a->col, (int64_t)b->k, (int64_t)m, false);
		pairs_outer(pa, (const uint16_t *)(const void *)b->v, (int64_t)m, (int64_t)b->n,
			    (int64_t)b->k, c + i * ldc, (int64_t)ldc);
	}
}

void product_rows(float *c, size_t ldc, const struct rows *a, const struct packed *b, bool add)
{
	float pa[PRODUCT_ROWS * BLOCK_K] __attribute__((aligned(64)));
	bool in_place = stays_in_place(a, b);
	if (b->row) {
		blas_rows(c, ldc, a, b, add);
		return;
	}
	if (b->rounded && pairs_there()) {
		rounded_rows(c, ldc, a, b, add);
		return;
	}
	for (size_t i0 = 0; i0 < a->m; i0 += PRODUCT_ROWS) {
		size_t m = a->m - i0 < PRODUCT_ROWS ? a->m - i0 : PRODUCT_ROWS;
		for (size_t k0 = 0; k0 < b->k; k0 += BLOCK_K) {
			size_t kc = b->k - k0 < BLOCK_K ? b->k - k0 : BLOCK_K;
			struct left left = {pa, 0, 0};
			if (in_place)
				left = (struct left){a->v + i0 * a->row + k0 * a->col,
						     a->col == 1 ? a->row : 0,
						     a->row == 1 ? a->col : 0};
			else
				pack_block(pa, a, i0, m, k0, kc);
			if (b->rounded)
				round_floats(pa, (m + GEMM_M - 1) / GEMM_M * GEMM_M * kc);
			multiply_block(c + i0 * ldc, ldc, &left, m, k0, kc, b, add || k0 > 0);
		}
	}
}

void product_few(float *c, size_t ldc, const struct rows *a, const struct packed *b)
{
	float pa[FEW_K * GEMM_M] __attribute__((aligned(64)));
	size_t kc = b->k < FEW_K ? b->k : FEW_K;
	const float *left = a->m == 1 && a->col == 1 ? a->v : pa;
	assert(a->m <= GEMM_M);
	if (b->row) {
		blas_rows(c, ldc, a, b, false);
		return;
	}
	/* With AVX-512 rows packed four by four took 1.04 of an update's time (docs/results/speed/planner.md). */
	if (left == pa && a->col == 1 && cpu_level < 4)
		product_pack_few(pa, a->v, (int64_t)a->m, (int64_t)kc, (int64_t)a->row);
	else
		for (size_t k = 0; left == pa && k < kc; k++)
			for (size_t i = 0; i < a->m; i++)
				pa[a->m == 1 ? k : k * GEMM_M + i] = a->v[i * a->row + k * a->col];
	for (size_t j = 0; j < b->n; j += GEMM_N)
		thin_panel((int)a->m, b->n - j < GEMM_N ? (int)(b->n - j) : GEMM_N, (int64_t)kc,
			   left, b->v + j * b->k, false, c + j, (int64_t)ldc);
	for (size_t k0 = kc; k0 < b->k; k0 += kc) {
		kc = b->k - k0 < BLOCK_K ? b->k - k0 : BLOCK_K;
		pack_block(pa, a, 0, a->m, k0, kc);
		multiply_block(c, ldc, &(struct left){pa, 0, 0}, a->m, k0, kc, b, true);
	}
}

size_t product_outer_floats(size_t k, size_t n)
{
	return packed_floats(k < BLOCK_K ? k : BLOCK_K, n);
}

void product_outer(float *y, size_t ldc, const struct rows *a, const float *b, size_t ldb, size_t k,
		   size_t n, bool rounded, float *scratch)
{
	if (by_blas && !rounded) {
		blas_rows(y, ldc, a, &(struct packed){b, k, n, false, ldb, 1}, true);
		return;
	}
	for (size_t k0 = 0; k0 < k; k0 += BLOCK_K) {
		size_t kc = k - k0 < BLOCK_K ? k - k0 : BLOCK_K;
		const struct packed p = product_pack(scratch, b + k0 * ldb, kc, n, ldb, 1, rounded);
		const struct rows some = {a->v + k0 * a->col, a->m, a->row, a->col};
		if (rounded && pairs_there())
			rounded_outer(y, ldc, &some, &p);
		else
			product_rows(y, ldc, &some, &p, true);
	}
}

struct packed product_columns(const struct packed *b, size_t first, size_t n)
{
	return (struct packed){b->v + first * b->col, b->k, n, false, b->row, b->col};
}
