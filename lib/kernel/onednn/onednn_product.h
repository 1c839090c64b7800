/* onednn_product.h - a product whose right-hand side stays, by oneDNN, in pieces of rows.
 *
 * A piece's operands and results stay in the second-level cache until what follows has run over them; every thread gets
 * pieces.  What multiplies bf16 (onednn_matmul.c) and what multiplies codes (onednn_codes_matmul.c) share it. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_PRODUCT_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_PRODUCT_H

#include "kernel/gemm/cpu_product.h"
#include "kernel/onednn/onednn_api.h"

struct onednn_product {
	struct onednn_primitive whole, rest; /* of `rows` rows, and of the last piece */
	int64_t m, n, k, rows, pieces;
};
/* (m,k) of type src x (k,n) to (m,n) of type dst, both row-major; b: the layout of the right-hand side, or of type
 * `weights` whatever whole.weights says.  False: the library has no good primitive; to be released in either case. */
bool onednn_product_new(struct onednn_product *p, dnnl_data_type_t src, dnnl_data_type_t weights,
			dnnl_data_type_t dst, const dnnl_memory_desc_t *b, int n_threads);
void onednn_product_release(struct onednn_product *p);
/* The matrix (rows,cols) with these strides. */
void onednn_matrix(dnnl_memory_desc_t *d, int64_t rows, int64_t cols, int64_t row, int64_t col,
		   dnnl_data_type_t type);
static inline size_t onednn_whole_lines(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

#endif
