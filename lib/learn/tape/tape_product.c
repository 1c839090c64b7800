/* tape_product.c - products by the kernels: some rows of the left side are packed at a time, and pass by the
 * panels of the right side, which was packed before; by OpenBLAS; and the choice. */
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

static struct packed own_pack(float *dst, const float *src, size_t k, size_t n, size_t row,
			      size_t col, bool rounded)
{
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

static void own_rows(float *c, size_t ldc, const struct rows *a, const struct packed *b, bool add)
{
	float pa[PRODUCT_ROWS * BLOCK_K] __attribute__((aligned(64)));
	bool in_place = stays_in_place(a, b);
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

static void own_few(float *c, size_t ldc, const struct rows *a, const struct packed *b)
{
	float pa[FEW_K * GEMM_M] __attribute__((aligned(64)));
	size_t kc = b->k < FEW_K ? b->k : FEW_K;
	const float *left = a->m == 1 && a->col == 1 ? a->v : pa;
	assert(a->m <= GEMM_M);
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

static void own_outer(float *y, size_t ldc, const struct rows *a, const float *b, size_t ldb,
		      size_t k, size_t n, bool rounded, float *scratch)
{
	for (size_t k0 = 0; k0 < k; k0 += BLOCK_K) {
		size_t kc = k - k0 < BLOCK_K ? k - k0 : BLOCK_K;
		const struct packed p = own_pack(scratch, b + k0 * ldb, kc, n, ldb, 1, rounded);
		const struct rows some = {a->v + k0 * a->col, a->m, a->row, a->col};
		if (rounded && pairs_there())
			rounded_outer(y, ldc, &some, &p);
		else
			own_rows(y, ldc, &some, &p, true);
	}
}

/* ---- OpenBLAS ---- */

/* Products of rounded operands stay the kernels'. */
static struct packed blas_pack(float *dst, const float *src, size_t k, size_t n, size_t row,
			       size_t col, bool rounded)
{
	if (rounded)
		return own_pack(dst, src, k, n, row, col, true);
	size_t lines = col == 1 ? k : n, length = col == 1 ? n : k, apart = col == 1 ? row : col;
	for (size_t i = 0; i < lines; i++)
		memcpy(dst + i * length, src + i * apart, length * sizeof *dst);
	return (struct packed){dst, k, n, false, col == 1 ? n : 1, col == 1 ? 1 : k};
}

/* Distance of the lines of a matrix that are `length` long. */
static int lines_apart(size_t distance, size_t length)
{
	return (int)(distance > length ? distance : length);
}

static void blas_rows(float *c, size_t ldc, const struct rows *a, const struct packed *b, bool add)
{
	if (b->rounded) {
		own_rows(c, ldc, a, b, add);
		return;
	}
	assert(a->col == 1 || a->row == 1);
	blas()->cblas_sgemm(
		CblasRowMajor, a->col == 1 ? CblasNoTrans : CblasTrans,
		b->col == 1 ? CblasNoTrans : CblasTrans, (int)a->m, (int)b->n, (int)b->k, 1, a->v,
		a->col == 1 ? lines_apart(a->row, b->k) : lines_apart(a->col, a->m), b->v,
		b->col == 1 ? lines_apart(b->row, b->n) : lines_apart(b->col, b->k), add, c,
		(int)ldc);
}

static void blas_few(float *c, size_t ldc, const struct rows *a, const struct packed *b)
{
	bool lies = b->col == 1; /* (k,n), not (n,k) */
	if (a->m > 1)
		blas_rows(c, ldc, a, b, false);
	else
		blas()->cblas_sgemv(CblasRowMajor, lies ? CblasTrans : CblasNoTrans,
				    (int)(lies ? b->k : b->n), (int)(lies ? b->n : b->k), 1, b->v,
				    lies ? lines_apart(b->row, b->n) : lines_apart(b->col, b->k),
				    a->v, (int)a->col, 0, c, 1);
}

static void blas_outer(float *y, size_t ldc, const struct rows *a, const float *b, size_t ldb,
		       size_t k, size_t n, bool rounded, float *scratch)
{
	const struct packed right = {b, k, n, false, ldb, 1};
	if (rounded)
		own_outer(y, ldc, a, b, ldb, k, n, true, scratch);
	else
		blas_rows(y, ldc, a, &right, true);
}

/* ---- the choice ---- */

static const struct products {
	const char *name;
	const struct blas *(*open)(struct err *e); /* NULL: it is there */
	bool cut; /* an element has the same bits in some of the rows and panels as in all */
	struct packed (*pack)(float *dst, const float *src, size_t k, size_t n, size_t row,
			      size_t col, bool rounded);
	void (*rows)(float *c, size_t ldc, const struct rows *a, const struct packed *b, bool add);
	void (*few)(float *c, size_t ldc, const struct rows *a, const struct packed *b);
	void (*outer)(float *y, size_t ldc, const struct rows *a, const float *b, size_t ldb,
		      size_t k, size_t n, bool rounded, float *scratch);
} kinds[] = {
	{"own", NULL, true, own_pack, own_rows, own_few, own_outer},
	{"openblas", blas_open, false, blas_pack, blas_rows, blas_few, blas_outer},
};
static const struct products *chosen = &kinds[0];

int tape_choose_products(struct err *e)
{
	const char *name = getenv("HSDAG_PRODUCTS");
	if (!name || !*name)
		name = kinds[0].name;
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(name, kinds[i].name) == 0) {
			chosen = &kinds[i];
			return chosen->open && !chosen->open(e) ? -1 : 0;
		}
	return err_set(e, ST_USAGE, "HSDAG_PRODUCTS is '%s'; it can be '%s' or '%s'", name,
		       kinds[0].name, kinds[1].name);
}

size_t product_unit(size_t unit, size_t all)
{
	return chosen->cut || all == 0 ? unit : all;
}

struct packed product_pack(float *dst, const float *src, size_t k, size_t n, size_t row, size_t col,
			   bool rounded)
{
	return chosen->pack(dst, src, k, n, row, col, rounded);
}

struct packed product_columns(const struct packed *b, size_t first, size_t n)
{
	return (struct packed){b->v + first * b->col, b->k, n, false, b->row, b->col};
}

void product_rows(float *c, size_t ldc, const struct rows *a, const struct packed *b, bool add)
{
	chosen->rows(c, ldc, a, b, add);
}

void product_few(float *c, size_t ldc, const struct rows *a, const struct packed *b)
{
	chosen->few(c, ldc, a, b);
}

void product_outer(float *y, size_t ldc, const struct rows *a, const float *b, size_t ldb, size_t k,
		   size_t n, bool rounded, float *scratch)
{
	chosen->outer(y, ldc, a, b, ldb, k, n, rounded, scratch);
}
