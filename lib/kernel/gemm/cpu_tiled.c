/* cpu_tiled.c - see cpu_tiled.h.  Tasks are pieces of rows, which are packed first and stay in the second-level cache
 * while they meet all panels, or with few rows pieces of columns. */
#include "kernel/gemm/cpu_tiled.h"
#include "kernel/cpu_epilogue.h"
#include "kernel/gemm/cpu_pairs.h"
#include "kernel/gemm/cpu_tiles.h"

#include <stdatomic.h>

enum {
	GRAIN = 1 << 18,   /* multiply-adds of a task */
	A_BYTES = 1 << 20, /* of a piece's rows, packed */
	ROWS = 32,         /* that tiles take at once: pieces are multiples */
	PANELS = 8,        /* multiplied before the epilogue runs over their columns */
	FEW_ROWS = GEMM_M  /* with which reading the weights is what takes the time */
};

bool tiled_fits(const struct cpu_ctx *c, const struct operand *a, const struct operand *b)
{
	bool rows = b->col == 1 && b->row == b->cols, columns = b->row == 1 && b->col == b->rows;
	return c->bf16_products && tiles_there() && a->t->elem == EL_F32 && b->t->data &&
	       !b->t->quant && tensor_elements(&b->batch) == 1 && (rows || columns) &&
	       a->cols == b->rows && a->cols > 0 && b->cols > 0 && a->col == 1 &&
	       a->row == a->cols && tensor_is_static(a->t) &&
	       a->rows * tensor_elements(&a->batch) > FEW_ROWS;
}

/* ---- weights ---- */

struct pack_job {
	const struct operand *b;
	const float *x;
};

static void fill_pack(void *arg, void *data)
{
	const struct pack_job *job = arg;
	pairs_pack_b(data, job->x, job->b->rows, job->b->cols, job->b->col != 1);
}

struct cpu_pack *tiled_pack(const struct operand *b, struct cpu_ctx *c)
{
	struct pack_job job = {b, b->t->data};
	float *wide = NULL;
	if (b->t->elem != EL_F32) {
		wide = mem_try((size_t)(b->rows * b->cols) * sizeof *wide);
		if (!wide)
			return NULL;
		cpu_convert(EL_F32, wide, b->t->elem, b->t->data, b->rows * b->cols);
		job.x = wide;
	}
	uint64_t layout[6] = {OP_MATMUL,         b->col != 1,       b->t->elem,
			      (uint64_t)b->rows, (uint64_t)b->cols, PAIRS_K};
	layout[0] |= (uint64_t)1 << 32; /* not a pack of cpu_matmul.c */
	struct cpu_pack *p = cpu_pack_get(
		c->packs, b->t->data, layout,
		(uint64_t)pairs_b_elements(b->rows, b->cols) * sizeof(uint16_t), fill_pack, &job);
	mem_free(wide);
	return p;
}

/* ---- running ---- */

struct tiled {
	const struct kernel_call *k;
	const float *a;
	const uint16_t *b;
	int64_t m, n, depth; /* A (m,depth), C (m,n) */
	int row_parts, column_parts;
	atomic_bool failed;
};

static int64_t panels_of(int64_t n)
{
	return (n + PAIRS_N - 1) / PAIRS_N;
}

/* C's rows first .. first + m - 1 of panels lo .. hi - 1, from packed rows. */
static void multiply(const struct tiled *r, const uint16_t *rows, int64_t first, int64_t m,
		     int64_t lo, int64_t hi)
{
	int64_t panel = pairs_b_elements(r->depth, PAIRS_N);
	for (int64_t p = lo; p < hi; p += PANELS) {
		int64_t col = p * PAIRS_N, end = (p + PANELS < hi ? p + PANELS : hi) * PAIRS_N;
		int64_t w = (end < r->n ? end : r->n) - col;
		float *c = (float *)r->k->out[0].data + first * r->n + col;
		pairs_multiply(rows, r->b + p * panel, m, w, r->depth, c, r->n);
		if (r->k->post)
			cpu_epilogue_tile(r->k->post, c, r->n, first, m, col, w);
	}
}

static void tiled_task(void *arg, int task, int thread)
{
	struct tiled *r = arg;
	int64_t row, row_end, lo, hi, blocks = (r->m + ROWS - 1) / ROWS;
	cpu_range(blocks, r->row_parts, task / r->column_parts, &row, &row_end);
	cpu_range(panels_of(r->n), r->column_parts, task % r->column_parts, &lo, &hi);
	row *= ROWS;
	int64_t m = (row_end * ROWS < r->m ? row_end * ROWS : r->m) - row;
	uint16_t *rows = cpu_thread_scratch(r->k->ctx, thread,
					    (size_t)pairs_a_elements(m, r->depth) * sizeof *rows);
	if (!rows) {
		r->failed = true;
		return;
	}
	pairs_pack_a(rows, r->a + row * r->depth, m, r->depth, 1);
	multiply(r, rows, row, m, lo, hi);
}

/* Pieces whose packed rows fit a cache, and work for all threads: rows first, then columns. */
static void cut(struct tiled *r)
{
	int64_t blocks = (r->m + ROWS - 1) / ROWS, threads = r->k->ctx->n_threads;
	int64_t most = A_BYTES / (2 * pairs_a_elements(ROWS, r->depth));
	int64_t wanted = cpu_tasks(r->m * r->n * r->depth, GRAIN);
	most = most < 1 ? 1 : most;
	wanted = wanted < threads ? wanted : threads;
	int64_t rows = (blocks + most - 1) / most;
	rows = rows < wanted ? wanted : (rows + threads - 1) / threads * threads;
	rows = rows < blocks ? rows : blocks;
	int64_t columns = (wanted + rows - 1) / rows, panels = panels_of(r->n);
	r->row_parts = (int)rows;
	r->column_parts = (int)(columns < panels ? columns : panels);
}

int tiled_run(const struct kernel_call *k, struct err *e)
{
	const struct operand a = operand_of(&k->in[0], k->op->a.matmul.transpose_a, true);
	struct tiled r = {.k = k, .a = k->in[0].data, .b = k->prep->pack->data};
	r.m = a.rows * tensor_elements(&a.batch);
	r.n = (int64_t)k->prep->pack->layout[4];
	r.depth = a.cols;
	cut(&r);
	cpu_parallel(k->ctx, r.row_parts * r.column_parts, tiled_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}
