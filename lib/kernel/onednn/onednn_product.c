/* onednn_product.c - see onednn_product.h. */
#include "kernel/onednn/onednn_product.h"

enum {
	PIECE_FLOATS = 1 << 18, /* of a piece's operands and sums */
	FEW_ROWS = 32,
	/* of columns are parts of products with up to so many rows, each of whole blocks of so many */
	PART_ROWS = 128,
	PART_COLUMNS = 64
};

onednn_md *onednn_matrix(int64_t rows, int64_t cols, int64_t row, int64_t col,
			 dnnl_data_type_t type)
{
	return onednn_md_new(2, (const dnnl_dims_t){rows, cols}, (const dnnl_dims_t){row, col},
			     type);
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
		      int64_t cols, dnnl_data_type_t src, dnnl_data_type_t dst, const onednn_md *b)
{
	onednn_md *a = onednn_matrix(rows, p->k, p->k, 1, src);
	onednn_md *c = onednn_matrix(rows, cols, p->n, 1, dst);
	bool ok = onednn_matmul_new(x, a, b, c);
	onednn_md_free(a);
	onednn_md_free(c);
	return ok;
}

/* Parts of columns, one for each thread, of a product whose whole is there. */
static void cut_columns(struct onednn_product *p, int n_threads, dnnl_data_type_t src,
			dnnl_data_type_t dst)
{
	int64_t cols = p->n / n_threads;
	onednn_md *columns = onednn_md_columns(p->whole.weights, cols, &p->part_bytes);
	if (columns && piece_new(&p->part, p, p->m, cols, src, dst, columns)) {
		p->parts = n_threads;
		p->pieces = n_threads;
	}
	onednn_md_free(columns);
}

/* Pieces of rows, for the right-hand side b. */
static bool rows_new(struct onednn_product *p, dnnl_data_type_t src, dnnl_data_type_t dst,
		     const onednn_md *b)
{
	int64_t last = p->m - (p->pieces - 1) * p->rows;
	return p->pieces < 1 << 12 && piece_new(&p->whole, p, p->rows, p->n, src, dst, b) &&
	       (last == p->rows || piece_new(&p->rest, p, last, p->n, src, dst, p->whole.weights));
}

bool onednn_product_new(struct onednn_product *p, dnnl_data_type_t src, dnnl_data_type_t weights,
			dnnl_data_type_t dst, const onednn_md *b, int n_threads)
{
	bool columns =
		!b && n_threads > 1 && p->m <= PART_ROWS && p->n % (PART_COLUMNS * n_threads) == 0;
	onednn_md *any =
		b ? NULL : onednn_md_new(2, (const dnnl_dims_t){p->k, p->n}, NULL, weights);
	p->parts = 1;
	cut_rows(p, columns ? 1 : n_threads);
	if (columns && p->pieces == 1 && piece_new(&p->whole, p, p->m, p->n, src, dst, any))
		cut_columns(p, n_threads, src, dst);
	bool ok = p->parts > 1;
	if (!ok) {
		onednn_product_release(p);
		cut_rows(p, n_threads);
		ok = rows_new(p, src, dst, b ? b : any);
	}
	onednn_md_free(any);
	return ok;
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
