/* onednn_product.c - see onednn_product.h. */
#include "kernel/onednn/onednn_product.h"

enum {
	PIECE_FLOATS = 1 << 18, /* of a piece's operands and sums */
	FEW_ROWS = 32,
	/* of columns are parts of products with up to so many rows, each of whole blocks of so many */
	PART_ROWS = 128,
	PART_COLUMNS = 64
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
	if (p->m >= FEW_ROWS) /* as many for each thread */
		pieces = (pieces + n_threads - 1) / n_threads * n_threads;
	pieces = pieces > p->m ? p->m : pieces;
	p->rows = (p->m + pieces - 1) / pieces;
	p->pieces = (p->m + p->rows - 1) / p->rows;
}

static bool piece_new(struct onednn_primitive *x, const struct onednn_product *p, int64_t rows,
		      int64_t cols, dnnl_data_type_t src, dnnl_data_type_t dst,
		      const dnnl_memory_desc_t *b)
{
	dnnl_memory_desc_t a, c;
	dnnl_matmul_desc_t d;
	onednn_matrix(&a, rows, p->k, p->k, 1, src);
	onednn_matrix(&c, rows, cols, p->n, 1, dst);
	return onednn_api()->matmul_desc_init(&d, &a, b, NULL, &c) == dnnl_success &&
	       onednn_primitive_new(x, &d, NULL);
}

/* The layout of the first `cols` columns of those that lie as `whole` says; false: they are no whole blocks that lie one behind the
 * other.  Then bytes of them, of bf16 or s8. */
static bool first_columns(const dnnl_memory_desc_t *whole, int64_t cols, dnnl_memory_desc_t *d,
			  size_t *bytes)
{
	const dnnl_blocking_desc_t *b = &whole->format_desc.blocking;
	int64_t block = 1;
	if (whole->format_kind != dnnl_blocked || whole->extra.flags ||
	    b->strides[1] < b->strides[0])
		return false;
	for (int i = 0; i < b->inner_nblks; i++)
		block *= b->inner_idxs[i] == 1 ? b->inner_blks[i] : 1;
	*d = *whole;
	d->dims[1] = d->padded_dims[1] = cols;
	*bytes = (size_t)(cols / block * b->strides[1]) * (d->data_type == dnnl_s8 ? 1u : 2u);
	return cols % block == 0;
}

/* Parts of columns, one for each thread, of a product whose whole is there. */
static void cut_columns(struct onednn_product *p, int n_threads, dnnl_data_type_t src,
			dnnl_data_type_t dst)
{
	dnnl_memory_desc_t columns;
	int64_t cols = p->n / n_threads;
	if (first_columns(&p->whole.weights, cols, &columns, &p->part_bytes) &&
	    piece_new(&p->part, p, p->m, cols, src, dst, &columns)) {
		p->parts = n_threads;
		p->pieces = n_threads;
	}
}

bool onednn_product_new(struct onednn_product *p, dnnl_data_type_t src, dnnl_data_type_t weights,
			dnnl_data_type_t dst, const dnnl_memory_desc_t *b, int n_threads)
{
	dnnl_memory_desc_t any;
	dnnl_dims_t dims = {p->k, p->n};
	bool columns =
		!b && n_threads > 1 && p->m <= PART_ROWS && p->n % (PART_COLUMNS * n_threads) == 0;
	p->parts = 1;
	cut_rows(p, columns ? 1 : n_threads);
	if (!b)
		onednn_api()->memory_desc_init_by_tag(&any, 2, dims, weights, dnnl_format_tag_any);
	if (columns && p->pieces == 1 && piece_new(&p->whole, p, p->m, p->n, src, dst, &any)) {
		cut_columns(p, n_threads, src, dst);
		if (p->parts > 1)
			return true;
	}
	onednn_product_release(p);
	cut_rows(p, n_threads);
	int64_t last = p->m - (p->pieces - 1) * p->rows;
	return p->pieces < 1 << 12 &&
	       piece_new(&p->whole, p, p->rows, p->n, src, dst, b ? b : &any) &&
	       (last == p->rows || piece_new(&p->rest, p, last, p->n, src, dst, &p->whole.weights));
}

struct onednn_piece onednn_product_piece(const struct onednn_product *p, int64_t i)
{
	if (p->parts > 1) {
		int64_t cols = p->n / p->parts;
		return (struct onednn_piece){.p = &p->part,
					     .rows = p->m,
					     .col = i * cols,
					     .cols = cols,
					     .weights = (size_t)i * p->part_bytes};
	}
	int64_t first = i * p->rows, left = p->m - first;
	return (struct onednn_piece){.p = left < p->rows ? &p->rest : &p->whole,
				     .first = first,
				     .rows = left < p->rows ? left : p->rows,
				     .cols = p->n};
}

void onednn_product_release(struct onednn_product *p)
{
	onednn_primitive_release(&p->whole);
	onednn_primitive_release(&p->rest);
	onednn_primitive_release(&p->part);
}
