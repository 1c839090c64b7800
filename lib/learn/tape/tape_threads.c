/* tape_threads.c - work of one operation on all threads of a tape: rows in blocks, pieces, products. */
#include "learn/tape/tape_op.h"

#include <assert.h>

/* ---- rows in blocks ---- */

struct block_job {
	uint32_t rows;
	void (*fn)(void *, uint32_t, uint32_t);
	void *arg;
};

static void run_block(void *arg, int task, int thread)
{
	(void)thread;
	const struct block_job *j = arg;
	uint32_t row = (uint32_t)task * TAPE_BLOCK_ROWS;
	uint32_t n = j->rows - row < TAPE_BLOCK_ROWS ? j->rows - row : TAPE_BLOCK_ROWS;
	j->fn(j->arg, row, n);
}

void tape_rows(struct tape *t, uint32_t rows, void (*fn)(void *, uint32_t, uint32_t), void *arg)
{
	struct block_job j = {rows, fn, arg};
	int n_blocks = (int)((rows + TAPE_BLOCK_ROWS - 1) / TAPE_BLOCK_ROWS);
	struct pool *pool = tape_pool(t);
	if (pool && n_blocks > 1)
		pool_run(pool, n_blocks, run_block, &j);
	else
		for (int b = 0; b < n_blocks; b++)
			run_block(&j, b, 0);
}

/* ---- pieces ---- */

struct piece_job {
	size_t all, units, unit, pieces;
	void (*fn)(void *, size_t, size_t, size_t);
	void *arg;
};

static void run_piece(void *arg, int task, int thread)
{
	(void)thread;
	const struct piece_job *j = arg;
	size_t i = (size_t)task, first = j->units * i / j->pieces * j->unit;
	size_t end = j->units * (i + 1) / j->pieces * j->unit;
	j->fn(j->arg, i, first, (end < j->all ? end : j->all) - first);
}

size_t tape_most_pieces(const struct tape *t)
{
	struct pool *pool = tape_pool(t);
	return pool ? (size_t)pool_size(pool) : 1;
}

void tape_pieces(struct tape *t, size_t all, size_t unit,
		 void (*fn)(void *arg, size_t piece, size_t first, size_t n), void *arg)
{
	size_t units = (all + unit - 1) / unit, most = tape_most_pieces(t);
	struct piece_job j = {all, units, unit, units < most ? units : most, fn, arg};
	if (j.pieces > 1)
		pool_run(tape_pool(t), (int)j.pieces, run_piece, &j);
	else if (all > 0)
		fn(arg, 0, 0, all);
}

/* ---- products ---- */

/* Products of which a thread computes some rows or some panels. */
struct product_job {
	float *c;
	size_t ldc;
	struct rows a;
	const struct packed *b;
	bool add, rounded;
	const float *right; /* of an outer product, (k,n) */
	size_t k, n, n_scratch;
	float *scratch;
};

/* Multiplications that are worth the threads' meeting, which takes a microsecond or two. */
enum { WORTH = 1 << 20 };

static void few_panels(void *arg, size_t piece, size_t first, size_t n)
{
	(void)piece;
	const struct product_job *j = arg;
	const struct packed some = product_columns(j->b, first, n);
	for (size_t i = 0; i < j->a.m; i += PRODUCT_FEW) {
		size_t m = j->a.m - i < PRODUCT_FEW ? j->a.m - i : PRODUCT_FEW;
		const struct rows left = {j->a.v + i * j->a.row, m, j->a.row, j->a.col};
		product_few(j->c + i * j->ldc + first, j->ldc, &left, &some);
	}
}

void tape_few(struct tape *t, float *c, size_t ldc, const struct rows *a, const struct packed *b)
{
	struct product_job j = {.c = c, .ldc = ldc, .a = *a, .b = b};
	if (a->m * b->k * b->n < WORTH)
		few_panels(&j, 0, 0, b->n);
	else
		tape_pieces(t, b->n, product_unit(PRODUCT_PANEL, b->n), few_panels, &j);
}

static void product_piece(void *arg, size_t piece, size_t first, size_t n)
{
	(void)piece;
	const struct product_job *j = arg;
	const struct rows left = {j->a.v + first * j->a.row, n, j->a.row, j->a.col};
	product_rows(j->c + first * j->ldc, j->ldc, &left, j->b, j->add);
}

void tape_product(struct tape *t, float *c, size_t ldc, const struct rows *a,
		  const struct packed *b, bool add)
{
	struct product_job j = {.c = c, .ldc = ldc, .a = *a, .b = b, .add = add};
	tape_pieces(t, a->m, product_unit(PRODUCT_ROWS, a->m), product_piece, &j);
}

static void outer_panels(void *arg, size_t piece, size_t first, size_t n)
{
	const struct product_job *j = arg;
	product_outer(j->c + first, j->ldc, &j->a, j->right + first, j->n, j->k, n, j->rounded,
		      j->scratch + piece * j->n_scratch);
}

void tape_outer(struct tape *t, float *y, size_t ldc, const struct rows *a, const float *b,
		size_t k, size_t n, bool rounded)
{
	struct product_job j = {
		.c = y, .ldc = ldc, .a = *a, .rounded = rounded, .right = b, .k = k, .n = n};
	j.n_scratch = product_outer_floats(k, n);
	size_t all = tape_most_pieces(t) * j.n_scratch;
	j.scratch = tape_buf(t, all);
	tape_pieces(t, n, product_unit(PRODUCT_PANEL, n), outer_panels, &j);
	tape_buf_release(t, j.scratch, all);
}
