/* onednn_product.h - a product whose right-hand side stays, by oneDNN, in pieces of rows or of columns.
 *
 * A piece's operands and results stay in the second-level cache until what follows has run over them; every thread gets as many
 * pieces.  Where rows are few, reading the right-hand side is what takes the time, so threads share its columns.  What multiplies bf16 (onednn_matmul.c) and what multiplies codes (onednn_codes_matmul.c) share it. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_PRODUCT_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_PRODUCT_H

#include "kernel/gemm/product.h"
#include "kernel/onednn/onednn_api.h"

struct onednn_product {
	struct onednn_primitive whole, rest; /* of `rows` rows, and of the last piece */
	struct onednn_primitive part; /* of all rows and n / parts columns, where there are parts */
	int64_t m, n, k, rows, pieces;
	int parts; /* of columns, one a piece; 1: pieces are of rows */
	size_t part_bytes; /* from one part's weights to the next one's, in the layout that whole.weights says */
};
/* A piece: rows first .. first + rows - 1, columns col .. col + cols - 1 of the result. */
struct onednn_piece {
	const struct onednn_primitive *p;
	int64_t first, rows, col, cols;
	size_t weights; /* where its weights begin, in bytes */
};
struct onednn_piece onednn_product_piece(const struct onednn_product *p, int64_t i);
/* (m,k) of type src x (k,n) to (m,n) of type dst, both row-major; b: the layout of the right-hand side, or of type
 * `weights` whatever whole.weights says.  Results have rows of n wherever they go.  False: the library has no good primitive; to be released in either case. */
bool onednn_product_new(struct onednn_product *p, dnnl_data_type_t src, dnnl_data_type_t weights,
			dnnl_data_type_t dst, const onednn_md *b, int n_threads);
void onednn_product_release(struct onednn_product *p);
/* The matrix (rows,cols) with these strides; NULL: the library says no. */
onednn_md *onednn_matrix(int64_t rows, int64_t cols, int64_t row, int64_t col,
			 dnnl_data_type_t type);
static inline size_t onednn_whole_lines(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

#endif
