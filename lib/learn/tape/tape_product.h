/* tape_product.h - products with a packed right-hand side: by the kernels of kernel/gemm, which
 * choose their instructions by the processor, or by OpenBLAS (tape_choose_products).  For tape*.c by
 * way of tape_op.h, not for others.
 *
 * Of the kernels an element of a product is summed in one order of k that depends on neither the
 * number of rows nor on threads; product_few has an order of its own for each number of rows.
 * OpenBLAS's order depends on how many rows and columns a call has. */
#ifndef HSDAG_LEARN_TAPE_TAPE_PRODUCT_H
#define HSDAG_LEARN_TAPE_TAPE_PRODUCT_H

#include <stdbool.h>
#include <stddef.h>

/* Columns of a panel of packed right-hand sides, and rows that product_rows packs at a time: multiples of them are
 * where products are cut among threads without more work. */
enum { PRODUCT_PANEL = 32, PRODUCT_ROWS = 48 };

/* A right-hand side (k,n). */
struct packed {
	const float *v;
	size_t k, n;
	bool rounded; /* products with it are of operands that are rounded to bf16, with sums in f32 */
	/* Of OpenBLAS element (i,j) is at v[i * row + j * col]; of the kernels row is 0, and from column j on, a
	 * multiple of PRODUCT_PANEL, it begins at v + j * col, unless it is rounded. */
	size_t row, col;
};

/* Where products are cut among threads: at multiples of `unit` of all rows or columns, or, where that would change
 * bits, not at all. */
size_t product_unit(size_t unit, size_t all);
/* The n columns from the first on, a multiple of PRODUCT_PANEL, of a right-hand side that is not rounded. */
struct packed product_columns(const struct packed *b, size_t first, size_t n);

/* Floats that a packed (k,n) takes, rounded or not. */
size_t packed_floats(size_t k, size_t n);
/* dst, 64-byte aligned, = (k,n) whose element (i,j) is src[i * row + j * col]; one of row and col
 * is 1.  dst is borrowed by the result. */
struct packed product_pack(float *dst, const float *src, size_t k, size_t n, size_t row, size_t col,
			   bool rounded);

/* Rows (m,k): element (i,j) is at v[i * row + j * col]; for OpenBLAS one of row and col is 1. */
struct rows {
	const float *v;
	size_t m, row, col;
};

/* c (m,n), rows ldc apart, = or with `add` += a b; of a rounded b a's rows are contiguous. */
void product_rows(float *c, size_t ldc, const struct rows *a, const struct packed *b, bool add);

/* c = a b for few rows, not rounded, at most PRODUCT_FEW: the time goes into reading b. */
enum { PRODUCT_FEW = 12 };
void product_few(float *c, size_t ldc, const struct rows *a, const struct packed *b);

/* y (m,n), rows ldc apart, += a (m,k) b (k,n), rows ldb apart, which is packed on the way, some rows at a time, into
 * scratch of product_outer_floats(k, n), 64-byte aligned; rounded, a's columns are contiguous. */
size_t product_outer_floats(size_t k, size_t n);
void product_outer(float *y, size_t ldc, const struct rows *a, const float *b, size_t ldb, size_t k,
		   size_t n, bool rounded, float *scratch);

#endif
