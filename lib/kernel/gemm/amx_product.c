/* amx_product.c - see amx_product.h.  Tasks are pieces of rows, which are packed first and stay in the second-level cache
 * while they meet all panels, or with few rows pieces of columns. */
#include "kernel/gemm/amx_product.h"
#include "kernel/epilogue.h"
#include "kernel/vec.h"
#include "kernel/gemm/amx_epilogue.h"
#include "kernel/gemm/vnni_gemm.h"
#include "kernel/tiles/amx_panel.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
	GRAIN = 1 << 18,   /* multiply-adds of a task */
	A_BYTES = 1 << 20, /* of a piece's rows, packed */
	B_BYTES =
		384 << 10, /* of weights that stay in the second-level cache while pieces pass by */
	PIECE_BYTES = 256 << 10, /* which then have so much, with their results */
	ROWS = 32,               /* that tiles take at once: pieces are multiples */
	PANELS = 8,              /* multiplied before the epilogue runs over their columns */
	FEW_ROWS = 1             /* with which reading the weights is what takes the time */
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

static int64_t steps_of(int64_t k)
{
	return (k + PAIRS_K - 1) / PAIRS_K;
}

static int64_t panels_of(int64_t n)
{
	return (n + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
}

static int64_t panel_elements(int64_t k)
{
	return steps_of(k) * PAIRS_K * PANEL_COLUMNS;
}

/* Of layout[0]: not a pack of matmul.c. */
static const uint64_t TILED_PACK = (uint64_t)1 << 32;

struct pack_job {
	const float *x;
	int64_t k, n;
	bool turned;
};

/* (panels, steps, 2, PAIRS_K / 2, TILES_N, 2): of each step the two tiles, which panels of pairs have side by side. */
static void fill_pack(void *arg, void *data)
{
	enum { ROW = 2 * TILES_N, ROWS_OF_STEP = PAIRS_K / 2, STEP = PAIRS_K * PANEL_COLUMNS };
	const struct pack_job *job = arg;
	uint16_t beside[STEP], *to = data;
	pairs_pack_b(to, job->x, job->k, job->n, job->turned);
	for (int64_t i = 0; i < panels_of(job->n) * steps_of(job->k); i++, to += STEP) {
		memcpy(beside, to, sizeof beside);
		for (int r = 0; r < 2 * ROWS_OF_STEP; r++)
			memcpy(to + (r % 2 * ROWS_OF_STEP + r / 2) * ROW, beside + r * ROW,
			       ROW * sizeof *to);
	}
}

struct cpu_pack *tiled_pack(const struct operand *b, struct cpu_ctx *c)
{
	struct pack_job job = {b->t->data, b->rows, b->cols, b->col != 1};
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
	layout[0] |= TILED_PACK;
	uint64_t bytes =
		(uint64_t)(panels_of(b->cols) * panel_elements(b->rows)) * sizeof(uint16_t);
	struct cpu_pack *p = cpu_pack_get(c->packs, b->t->data, layout, bytes, fill_pack, &job);
	mem_free(wide);
	return p;
}

bool tiled_made(const struct cpu_pack *p)
{
	return p->layout[0] & TILED_PACK;
}

/* ---- running ---- */

struct tiled {
	const struct kernel_call *k;
	struct ending ending;
	const struct epilogue *post; /* that is no such ending; NULL: none */
	const float *a;
	const uint16_t *b;
	int64_t m, n, depth; /* A (m,depth), C (m,n) */
	int row_parts, column_parts;
	atomic_bool failed;
};

/* Some rows of C, from packed rows of A. */
struct piece {
	const struct tiled *r;
	const uint16_t *rows;
	int64_t first, m, panel;
	const int64_t *at, *tile; /* where steps of a row, and tiles of rows, begin */
};

static void finish_rows(const void *arg, int64_t i, const float *sums)
{
	static const float zeros[PANEL_COLUMNS];
	const struct piece *p = arg;
	const struct ending *e = &p->r->ending;
	int64_t n = p->r->n, col = p->panel * PANEL_COLUMNS, left = p->m - i * TILES_M;
	int64_t w = n - col < PANEL_COLUMNS ? n - col : PANEL_COLUMNS;
	int64_t at = (p->first + i * TILES_M) * n + col;
	const struct tiles_to to = {.y = (float *)p->r->k->out[0].data + at,
				    .ld = n,
				    .add = e->add ? e->add + at : NULL,
				    .add_form = TILES_TO_F32,
				    .lo = -INFINITY,
				    .hi = INFINITY};
	float bias[PANEL_COLUMNS];
	if (e->bias && w < PANEL_COLUMNS)
		memcpy(bias, e->bias + col, (size_t)w * sizeof *bias);
	tiles_finish(&e->post, sums, (int)(left < TILES_M ? left : TILES_M), w,
		     !e->bias            ? zeros
		     : w < PANEL_COLUMNS ? bias
					 : e->bias + col,
		     NULL, &to);
}

static void multiply_panel(const struct piece *p, float *sums)
{
	const struct tiled *r = p->r;
	const struct tile_panel t = {
		.type = TILES_BF16,
		.a = (const char *)p->rows,
		.n_tiles = (p->m + TILES_M - 1) / TILES_M,
		.tile = p->tile,
		.a_step = PAIRS_K * 2,
		.at = p->at,
		.steps = steps_of(r->depth),
		.step = PAIRS_K * 2,
		.b = (const char *)(r->b + p->panel * panel_elements(r->depth)),
		.columns = r->n - p->panel * PANEL_COLUMNS > TILES_N ? 2 : 1,
		.sums = sums,
		.last = true,
		.finish = finish_rows,
		.arg = p};
	int64_t pairs = (t.n_tiles + 1) / 2;
	for (int64_t i = 0; i < pairs; i += PANEL_PAIRS)
		tile_panel_run(&t, i, i + PANEL_PAIRS < pairs ? i + PANEL_PAIRS : pairs);
}

/* Panels lo .. hi - 1 of a piece. */
static void multiply(struct piece *p, int64_t lo, int64_t hi, float *sums)
{
	const struct tiled *r = p->r;
	tiles_begin(p->m < TILES_M ? (int)p->m : TILES_M, PAIRS_K * 2);
	for (int64_t j = lo; j < hi; j += PANELS) {
		int64_t last = j + PANELS < hi ? j + PANELS : hi, col = j * PANEL_COLUMNS;
		int64_t w = (last * PANEL_COLUMNS < r->n ? last * PANEL_COLUMNS : r->n) - col;
		for (p->panel = j; p->panel < last; p->panel++)
			multiply_panel(p, sums);
		if (r->post)
			cpu_epilogue_tile(r->post,
					  (float *)r->k->out[0].data + p->first * r->n + col, r->n,
					  p->first, p->m, col, w);
	}
	tiles_end();
}

static void tiled_task(void *arg, int task, int thread)
{
	struct tiled *r = arg;
	struct piece p = {.r = r};
	int64_t end, lo, hi, blocks = (r->m + ROWS - 1) / ROWS, steps = steps_of(r->depth);
	cpu_range(blocks, r->row_parts, task / r->column_parts, &p.first, &end);
	cpu_range(panels_of(r->n), r->column_parts, task % r->column_parts, &lo, &hi);
	p.first *= ROWS;
	p.m = (end * ROWS < r->m ? end * ROWS : r->m) - p.first;
	size_t sums = (size_t)PANEL_PAIRS * PANEL_SUMS * sizeof(float);
	size_t packed = (size_t)pairs_a_elements(p.m, r->depth) * sizeof(uint16_t);
	int64_t tiles = (p.m + TILES_M - 1) / TILES_M;
	char *room = cpu_thread_scratch(r->k->ctx, thread,
					sums + packed + (size_t)(steps + tiles) * sizeof(int64_t));
	if (!room) {
		r->failed = true;
		return;
	}
	uint16_t *rows = (uint16_t *)(void *)(room + sums);
	int64_t *at = (int64_t *)(void *)(room + sums + packed);
	for (int64_t i = 0; i < steps; i++)
		at[i] = i * PAIRS_M * PAIRS_K * 2;
	for (int64_t i = 0; i < tiles; i++)
		at[steps + i] = i * pairs_a_elements(TILES_M, r->depth) * 2;
	pairs_pack_a(rows, r->a + p.first * r->depth, p.m, r->depth, 1);
	p.rows = rows;
	p.at = at;
	p.tile = at + steps;
	multiply(&p, lo, hi, (float *)(void *)room);
}

/* Pieces whose packed rows fit a cache, and work for all threads: rows first, then columns. */
static void cut(struct tiled *r)
{
	int64_t blocks = (r->m + ROWS - 1) / ROWS, threads = r->k->ctx->n_threads;
	int64_t weights = panels_of(r->n) * panel_elements(r->depth) * 2;
	int64_t row = 2 * pairs_a_elements(ROWS, r->depth);
	int64_t most = weights > B_BYTES ? A_BYTES / row : PIECE_BYTES / (row + 4 * ROWS * r->n);
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
	if (!ending_of(k->post, &r.ending)) {
		r.post = k->post;
		(void)ending_of(NULL, &r.ending);
	}
	cut(&r);
	cpu_parallel(k->ctx, r.row_parts * r.column_parts, tiled_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}
