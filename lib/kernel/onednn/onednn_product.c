/* onednn_product.c - see onednn_product.h. */
#include "kernel/onednn/onednn_product.h"

enum {
	PIECE_FLOATS = 1 << 18, /* of a piece's operands and sums */
	FEW_ROWS = 32
};

void onednn_matrix(dnnl_memory_desc_t *d, int64_t rows, int64_t cols, int64_t row, int64_t col,
		   dnnl_data_type_t type)
{
	dnnl_dims_t dims = {rows, cols}, strides = {row, col};
	onednn_api()->memory_desc_init_by_strides(d, 2, dims, type, strides);
}

/* Rows of a piece. */
static void cut_rows(struct onednn_product *p, int n_threads)
{
	int64_t most = PIECE_FLOATS / (p->n + p->k / 2 + 1);
	most = most < FEW_ROWS ? FEW_ROWS : most;
	int64_t pieces = (p->m + most - 1) / most;
	if (pieces < n_threads && p->m >= FEW_ROWS)
		pieces = n_threads;
	p->rows = (p->m + pieces - 1) / pieces;
	p->pieces = (p->m + p->rows - 1) / p->rows;
}

static bool piece_new(struct onednn_primitive *x, const struct onednn_product *p, int64_t rows,
		      dnnl_data_type_t src, dnnl_data_type_t dst, const dnnl_memory_desc_t *b)
{
	dnnl_memory_desc_t a, c;
	dnnl_matmul_desc_t d;
	onednn_matrix(&a, rows, p->k, p->k, 1, src);
	onednn_matrix(&c, rows, p->n, p->n, 1, dst);
	return onednn_api()->matmul_desc_init(&d, &a, b, NULL, &c) == dnnl_success &&
	       onednn_primitive_new(x, &d, NULL);
}

bool onednn_product_new(struct onednn_product *p, dnnl_data_type_t src, dnnl_data_type_t weights,
			dnnl_data_type_t dst, const dnnl_memory_desc_t *b, int n_threads)
{
	dnnl_memory_desc_t any;
	dnnl_dims_t dims = {p->k, p->n};
	cut_rows(p, n_threads);
	if (!b)
		onednn_api()->memory_desc_init_by_tag(&any, 2, dims, weights, dnnl_format_tag_any);
	int64_t last = p->m - (p->pieces - 1) * p->rows;
	return p->pieces < 1 << 12 && piece_new(&p->whole, p, p->rows, src, dst, b ? b : &any) &&
	       (last == p->rows || piece_new(&p->rest, p, last, src, dst, &p->whole.weights));
}

void onednn_product_release(struct onednn_product *p)
{
	onednn_primitive_release(&p->whole);
	onednn_primitive_release(&p->rest);
}
