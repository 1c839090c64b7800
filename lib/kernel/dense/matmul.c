/* matmul.c - MatMul on packed products; constant right-hand sides are packed once: halves
 * stay halves, bf16 and weights in few bits stay what they are. */
#include "kernel/epilogue.h"
#include "kernel/dense/dots.h"
#include "kernel/gemm/narrow.h"
#include "kernel/gemm/product.h"
#include "kernel/gemm/qpack.h"
#include "kernel/gemm/stack.h"
#include "kernel/gemm/amx_product.h"
#include "kernel/gemm/widened.h"

#include <stdatomic.h>
#include <string.h>

enum {
	GRAIN = 1 << 17,            /* multiply-adds of a task */
	PACK_GRAIN = 1 << 14,       /* elements of A */
	FEW_GRAIN = 1 << 15,        /* with few rows: reading B takes longer */
	READ_COLUMNS = 16 * GEMM_N, /* of B, with which A is not packed */
	BLOCK_TILES = 10,    /* of GEMM_M rows of a tall A: packed, then multiplied from cache */
	UNPACKED_TILES = 20, /* where every block widens B */
	TALL = 3,            /* blocks a thread */
	DOTS_UNIT = 64,      /* rows of A for one or two columns */
	DOTS_LEAST = 32      /* elements of each */
};

/* ---- preparation ---- */

struct pack_job {
	const struct operand *o;
	int64_t n_matrices;
	bool half;
};

static int64_t matrix_count(const struct operand *o)
{
	return tensor_elements(&o->batch);
}

static void fill_pack(void *arg, void *data)
{
	const struct pack_job *job = arg;
	const struct operand *o = job->o;
	size_t size = job->half ? sizeof(uint16_t) : sizeof(float);
	for (int64_t i = 0; i < job->n_matrices; i++)
		gemm_pack_b((char *)data + (size_t)(i * gemm_b_elements(o->rows, o->cols)) * size,
			    o->t->elem, operand_at(o->t, i * o->rows * o->cols), o->rows, o->cols,
			    o->row, o->col);
}

/* f32 weights that a context keeps as bf16: products with so few rows take as long as reading the
 * weights. */
enum { FEW_ROWS = GEMM_M };

static bool rounds(const struct op *op, const struct tensor *in, const struct cpu_ctx *c)
{
	struct operand a = operand_of(&in[0], op->a.matmul.transpose_a, true);
	return c->bf16_weights && in[1].elem == EL_F32 && in[1].rank == 2 && !in[1].quant &&
	       tensor_is_static(&in[0]) && a.rows * matrix_count(&a) <= FEW_ROWS;
}

/* Integers as numbers. */
static struct cpu_pack *pack_plain(const struct op *op, const struct tensor *b, struct cpu_ctx *c)
{
	struct tensor real = *b;
	if (!elem_is_real(b->elem)) {
		int64_t n = tensor_elements(b);
		real.elem = EL_F32;
		real.data = cpu_slot_scratch(c, SLOT_CONVERT, (size_t)n * sizeof(float));
		if (!real.data)
			return NULL;
		cpu_convert(EL_F32, real.data, b->elem, b->data, n);
	}
	struct operand o = operand_of(&real, op->a.matmul.transpose_b, false);
	struct pack_job job = {&o, matrix_count(&o), b->elem == EL_F16};
	uint64_t layout[6] = {OP_MATMUL,        op->a.matmul.transpose_b, b->elem,
			      (uint64_t)o.rows, (uint64_t)o.cols,         (uint64_t)job.n_matrices};
	uint64_t bytes = (uint64_t)(job.n_matrices * gemm_b_elements(o.rows, o.cols)) *
			 (job.half ? sizeof(uint16_t) : sizeof(float));
	return cpu_pack_get(c->packs, b->data, layout, bytes, fill_pack, &job);
}

int prepare_matmul(const struct op *op, const struct tensor *in, const struct tensor *out,
		   struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	const struct tensor *b = &in[1];
	bool transpose = op->a.matmul.transpose_b;
	if (!b->data || tensor_elements(b) == 0 || b->elem == EL_F64 ||
	    (!b->quant && !cpu_elem_size(b->elem)))
		return 0;
	struct operand left = operand_of(&in[0], op->a.matmul.transpose_a, true);
	struct operand right = operand_of(b, transpose, false);
	/* Stacks of one or two columns: panels would be mostly nothing. */
	if (b->elem == EL_F32 && !b->quant && right.cols <= DOTS_STEPS && matrix_count(&right) > 1)
		return 0;
	bool tiled = tiled_fits(c, &left, &right) && (!out || out[0].elem == EL_F32);
	bool few = (b->quant || b->elem == EL_BF16) && qpanels_fit(b, transpose);
	struct cpu_pack *pack = tiled               ? tiled_pack(&right, c)
				: few               ? qpack_quant(b, transpose, c)
				: rounds(op, in, c) ? qpack_rounded(b, transpose, c)
						    : pack_plain(op, b, c);
	if (!pack)
		return err_set(e, ST_RUNTIME, "out of memory for packed weights");
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->pack = pack;
	(*prep)->owns = 1u << 1;
	(*prep)->run = tiled ? tiled_run : NULL;
	return 0;
}

/* ---- running ---- */

struct matmul_run {
	struct operand a, b;
	struct tensor batch; /* of the output */
	int64_t m, n, k, n_batch;
	const struct epilogue *post;
	const void *packed_b; /* all matrices of b, or NULL: packed as they come */
	bool b_half;
	const struct qpanels *q; /* b in few bits, or NULL */
	float *c;
	struct cpu_ctx *ctx;
	/* Cut by columns and rows: one product at a time, operands packed before. */
	struct product whole;
	const float *source; /* A's elements */
	int row_parts;
	int n_tasks;
	atomic_bool failed;
};

static int64_t a_floats(const struct matmul_run *r)
{
	return (product_a_floats(r->m, r->k) + 15) / 16 * 16;
}

/* Rows of A that lie together are multiplied from where they lie, unless many panels of B make up for
 * packing them, or the last panel is so narrow that its product has A's rows in a vector. */
static bool reads_rows(const struct matmul_run *r)
{
	return r->a.col == 1 && r->m > GEMM_M && !r->b_half && !r->q && r->n <= READ_COLUMNS &&
	       !gemm_is_thin((int)((r->n - 1) % GEMM_N % 16 + 1));
}

/* Are matrices of b packed as they lie? */
static bool is_panel(const struct operand *b)
{
	return b->t->elem == EL_F32 && b->cols == GEMM_N && b->col == 1 && b->row == GEMM_N;
}

static const float *source_of(const struct matmul_run *r, int64_t i)
{
	return (const float *)r->a.t->data + operand_batch(&r->batch, &r->a.batch, i) * r->m * r->k;
}

/* Operands of matrix i of the batch; a B that is not packed yet goes to b, A is to be packed into a
 * (a_floats) where it is not one row that lies together. */
static struct product product_at(const struct matmul_run *r, int64_t i, float *a, float *b)
{
	int64_t ib = operand_batch(&r->batch, &r->b.batch, i);
	struct product p = {.m = r->m,
			    .n = r->n,
			    .k = r->k,
			    .a = a,
			    .b = b,
			    .b_half = r->b_half,
			    .c = r->c + i * r->m * r->n,
			    .ldc = r->n,
			    .post = r->post,
			    .row = i * r->m,
			    .q = r->q,
			    .lda = reads_rows(r) ? r->a.row : 0};
	if ((r->m == 1 && r->a.col == 1) || p.lda)
		p.a = source_of(r, i);
	if (r->q)
		p.b = r->packed_b;
	else if (r->packed_b)
		p.b = (const char *)r->packed_b +
		      (size_t)(ib * gemm_b_elements(r->k, r->n)) *
			      (r->b_half ? sizeof(uint16_t) : sizeof(float));
	else if (is_panel(&r->b))
		p.b = operand_at(r->b.t, ib * r->k * r->n);
	else if (r->b.t->elem == EL_F32)
		product_pack_b(b, operand_at(r->b.t, ib * r->k * r->n), r->k, r->n, r->b.row,
			       r->b.col);
	else
		gemm_pack_b(b, r->b.t->elem, operand_at(r->b.t, ib * r->k * r->n), r->k, r->n,
			    r->b.row, r->b.col);
	return p;
}

static void columns_task(void *arg, int task, int thread)
{
	struct matmul_run *r = arg;
	int64_t lo, hi;
	float *unpacked = cpu_thread_scratch(r->ctx, thread, PRODUCT_SCRATCH * sizeof *unpacked);
	if (!unpacked) {
		r->failed = true;
		return;
	}
	struct product p = r->whole;
	int64_t row, end, tiles = (r->m + GEMM_M - 1) / GEMM_M;
	cpu_range(tiles, r->row_parts, task % r->row_parts, &row, &end);
	row *= GEMM_M;
	p.m = end * GEMM_M < r->m ? end * GEMM_M - row : r->m - row;
	p.a += r->m == 1 ? 0 : row * (p.lda ? p.lda : r->k);
	p.c += row * p.ldc;
	p.row += row;
	cpu_range(product_n_panels(r->n), r->n_tasks / r->row_parts, task / r->row_parts, &lo, &hi);
	product_panels(&p, lo, hi, unpacked);
}

/* Rows first .. first + n - 1 of A in panels. */
static void pack_rows(const struct matmul_run *r, int64_t first, int64_t n, float *dst)
{
	const float *src = r->source + first * r->a.row;
	if (n == 1 && r->m > 1) /* a panel all the same */
		gemm_pack_a(dst, EL_F32, src, 1, r->k, r->a.row, r->a.col);
	else
		product_pack_a(dst, src, n, r->k, r->a.row, r->a.col);
}

/* A's panels of GEMM_M rows. */
static void pack_task(void *arg, int task, int thread)
{
	struct matmul_run *r = arg;
	int64_t lo, hi;
	(void)thread;
	cpu_range((r->m + GEMM_M - 1) / GEMM_M, r->n_tasks, task, &lo, &hi);
	lo *= GEMM_M;
	hi = hi * GEMM_M < r->m ? hi * GEMM_M : r->m;
	pack_rows(r, lo, hi - lo, (float *)(uintptr_t)r->whole.a + lo * r->k);
}

static int64_t block_tiles(const struct matmul_run *r)
{
	return r->q || r->b_half ? UNPACKED_TILES : BLOCK_TILES;
}

static int64_t tiles_of(const struct matmul_run *r)
{
	return (r->m + GEMM_M - 1) / GEMM_M;
}

/* Is A so tall that every thread has several blocks of its rows? */
static bool is_tall(const struct matmul_run *r)
{
	return tiles_of(r) >= TALL * block_tiles(r) * r->ctx->n_threads;
}

/* A block of rows of a tall A, packed here: it stays in the second-level cache.  All blocks have
 * several tiles, so that none of them is a product with few rows, which sums in another order. */
static void rows_task(void *arg, int task, int thread)
{
	struct matmul_run *r = arg;
	struct product p = r->whole;
	int64_t lo, hi;
	size_t floats = (size_t)(PRODUCT_SCRATCH + block_tiles(r) * GEMM_M * r->k);
	float *unpacked = cpu_thread_scratch(r->ctx, thread, floats * sizeof *unpacked);
	if (!unpacked) {
		r->failed = true;
		return;
	}
	float *a = unpacked + PRODUCT_SCRATCH;
	cpu_range(tiles_of(r), r->n_tasks, task, &lo, &hi);
	lo *= GEMM_M;
	hi = hi * GEMM_M < r->m ? hi * GEMM_M : r->m;
	p.m = hi - lo;
	p.a = p.lda ? r->source + lo * p.lda : a;
	if (!p.lda)
		pack_rows(r, lo, hi - lo, a);
	p.c += lo * p.ldc;
	p.row += lo;
	product_panels(&p, 0, product_n_panels(r->n), unpacked);
}

/* Matrix i of the batch on all threads. */
static void run_whole(struct matmul_run *r, int64_t i, float *p)
{
	int64_t panels = product_n_panels(r->n), tiles = tiles_of(r);
	int wanted = cpu_tasks(r->m * r->n * r->k, r->m > GEMM_M ? GRAIN : FEW_GRAIN);
	int most = 4 * r->ctx->n_threads;
	r->source = source_of(r, i);
	if (is_tall(r)) {
		int64_t blocks = (tiles + block_tiles(r) - 1) / block_tiles(r),
			n = r->ctx->n_threads;
		r->whole = product_at(r, i, NULL, p);
		r->n_tasks = (int)((blocks + n - 1) / n * n);
		cpu_parallel(r->ctx, r->n_tasks, rows_task, r);
		return;
	}
	r->whole = product_at(r, i, p, p + a_floats(r));
	if (r->whole.a != r->source) {
		r->n_tasks = cpu_tasks(r->m * r->k, PACK_GRAIN);
		r->n_tasks = r->n_tasks > tiles ? (int)tiles : r->n_tasks;
		cpu_parallel(r->ctx, r->n_tasks, pack_task, r);
	}
	/* Columns first; rows too where there are few panels, and what is left of A is tall. */
	int columns = wanted > panels ? (int)panels : wanted;
	r->row_parts = 1;
	if (columns < most && columns < wanted && r->ctx->n_threads > 1 && tiles >= 8) {
		r->row_parts = (most + columns - 1) / columns;
		r->row_parts = r->row_parts * 4 > tiles ? (int)(tiles / 4) : r->row_parts;
		r->row_parts = r->row_parts * columns > wanted ? wanted / columns : r->row_parts;
	}
	r->n_tasks = columns * r->row_parts;
	cpu_parallel(r->ctx, r->n_tasks, columns_task, r);
}

static int64_t b_floats(const struct matmul_run *r)
{
	return r->packed_b ? 0 : gemm_b_elements(r->k, r->n);
}

static int64_t scratch_floats(const struct matmul_run *r)
{
	return a_floats(r) + b_floats(r) + 32;
}

static void batch_task(void *arg, int task, int thread)
{
	struct matmul_run *r = arg;
	int64_t lo, hi, n_a = a_floats(r);
	float *p = cpu_thread_scratch(r->ctx, thread,
				      (size_t)(scratch_floats(r) + PRODUCT_SCRATCH) * sizeof *p);
	if (!p) {
		r->failed = true;
		return;
	}
	const float *packed = NULL;
	cpu_range(r->n_batch, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		const float *source = source_of(r, i);
		struct product prod =
			product_at(r, i, p + PRODUCT_SCRATCH, p + PRODUCT_SCRATCH + n_a);
		if (prod.a == p + PRODUCT_SCRATCH && source != packed) {
			product_pack_a(p + PRODUCT_SCRATCH, source, r->m, r->k, r->a.row, r->a.col);
			packed = source;
		}
		product_panels(&prod, 0, product_n_panels(r->n), p);
	}
}

static int run_products(struct matmul_run *r, struct err *e)
{
	int64_t work = r->m * r->n * r->k;
	if (r->n_batch > 1 && (r->n_batch >= 2 * r->ctx->n_threads || work < 2 * GRAIN)) {
		r->n_tasks = cpu_tasks(r->n_batch * work, GRAIN);
		if (r->n_tasks > r->n_batch)
			r->n_tasks = (int)r->n_batch;
		cpu_parallel(r->ctx, r->n_tasks, batch_task, r);
		return r->failed ? cpu_no_memory(e) : 0;
	}
	int64_t floats = is_tall(r) ? b_floats(r) : scratch_floats(r);
	float *p = cpu_slot_scratch(r->ctx, SLOT_WHOLE, (size_t)floats * sizeof *p);
	if (!p)
		return cpu_no_memory(e);
	for (int64_t i = 0; i < r->n_batch; i++)
		run_whole(r, i, p);
	return r->failed ? cpu_no_memory(e) : 0;
}

/* Many short rows with few columns. */
static int run_narrow(const struct matmul_run *r, const float *a, struct err *e)
{
	struct narrow p = {
		.m = r->m, .n = r->n, .k = r->k, .a = a, .c = r->c, .post = r->post, .col = 1};
	if (r->packed_b) {
		p.b = r->packed_b;
		p.row = GEMM_N;
	} else {
		p.b = r->b.t->data;
		p.row = r->b.row;
		p.col = r->b.col;
	}
	return narrow_run(r->ctx, &p, e);
}

/* ---- one or two columns: dot products with the rows of A as they lie ---- */

static bool few_columns(const struct matmul_run *r)
{
	return r->n <= DOTS_STEPS && r->k >= DOTS_LEAST && r->m >= DOTS_ROWS && r->a.col == 1 &&
	       !r->q && !r->b_half && r->b.t->elem != EL_BF16;
}

/* Columns of matrix i of B, one behind the other. */
static void copy_columns(const struct matmul_run *r, int64_t i, float *to)
{
	int64_t at = operand_batch(&r->batch, &r->b.batch, i), row = r->b.row, col = r->b.col;
	const float *b = operand_at(r->b.t, at * r->k * r->n);
	if (r->packed_b) {
		b = (const float *)r->packed_b + at * gemm_b_elements(r->k, r->n);
		row = GEMM_N;
		col = 1;
	}
	for (int64_t j = 0; j < r->n; j++)
		for (int64_t k = 0; k < r->k; k++)
			*to++ = b[k * row + j * col];
}

static int64_t dots_units(const struct matmul_run *r)
{
	return (r->m + DOTS_UNIT - 1) / DOTS_UNIT;
}

static void dots_task(void *arg, int task, int thread)
{
	struct matmul_run *r = arg;
	int64_t lo, hi, units = dots_units(r);
	float *b = cpu_thread_scratch(r->ctx, thread, (size_t)(r->n * r->k) * sizeof *b);
	if (!b) {
		r->failed = true;
		return;
	}
	cpu_range(r->n_batch * units, r->n_tasks, task, &lo, &hi);
	for (int64_t u = lo; u < hi; u++) {
		int64_t i = u / units, first = u % units * DOTS_UNIT,
			rows = r->m - first < DOTS_UNIT ? r->m - first : DOTS_UNIT;
		const float *a = source_of(r, i) + first * r->k;
		float *c = r->c + (i * r->m + first) * r->n, y[DOTS_STEPS * DOTS_ROWS];
		if (u == lo || first == 0)
			copy_columns(r, i, b);
		for (int64_t j = 0; j < rows; j += DOTS_ROWS) {
			int some = rows - j < DOTS_ROWS ? (int)(rows - j) : DOTS_ROWS;
			cpu_dots(a + j * r->k, some, true, b, (int)r->n, r->k, y, DOTS_ROWS);
			for (int64_t t = 0; t < some * r->n; t++)
				c[j * r->n + t] = y[t % r->n * DOTS_ROWS + t / r->n];
		}
		if (r->post)
			cpu_epilogue_tile(r->post, c, r->n, i * r->m + first, rows, 0, r->n);
	}
}

static int run_dots(struct matmul_run *r, struct err *e)
{
	r->n_tasks = cpu_tasks(r->n_batch * r->m * r->n * r->k, FEW_GRAIN);
	if (r->n_tasks > r->n_batch * dots_units(r))
		r->n_tasks = (int)(r->n_batch * dots_units(r));
	cpu_parallel(r->ctx, r->n_tasks, dots_task, r);
	return r->failed ? cpu_no_memory(e) : 0;
}

int run_matmul(const struct kernel_call *k, struct err *e)
{
	const struct op *op = k->op;
	struct matmul_run r = {.c = k->out[0].data, .ctx = k->ctx, .post = k->post};
	r.a = operand_of(&k->in[0], op->a.matmul.transpose_a, true);
	r.b = operand_of(&k->in[1], op->a.matmul.transpose_b, false);
	r.m = r.a.rows;
	r.n = r.b.cols;
	r.k = r.a.cols;
	if (r.k == 0) {
		memset(r.c, 0, (size_t)tensor_bytes(&k->out[0]));
		if (r.post)
			cpu_epilogue_run(k->ctx, r.post, r.c);
		return 0;
	}
	if (!op_broadcast(&r.a.batch, &r.b.batch, &r.batch) || r.b.rows != r.k)
		return err_set(e, ST_INPUT, "shapes do not fit");
	if (!cpu_prep_owns(k->prep, 1) && stack_fits(k->ctx, &r.a, &r.b))
		return stack_run(k, &r.a, &r.b, &r.batch, e);
	if (cpu_prep_owns(k->prep, 1)) {
		r.packed_b = k->prep->pack->data;
		r.q = qpack_panels(k->prep->pack);
		if (!r.q)
			r.b_half = k->prep->pack->layout[2] == EL_F16;
	} else if (r.b.t->elem == EL_F16) {
		return err_set(e, ST_INPUT, "f16 weights that were not prepared");
	}
	/* One matrix on the right for all of the left: one tall product. */
	if (matrix_count(&r.b) == 1 && (!op->a.matmul.transpose_a || r.a.t->rank < 2)) {
		r.m *= matrix_count(&r.a);
		r.a.rows = r.m;
		r.a.batch.rank = r.batch.rank = 0;
	}
	r.n_batch = tensor_elements(&r.batch);
	if (r.q && r.n_batch == 1 && r.a.col == 1 && widened_fits(k->ctx, r.q, r.m))
		return widened_run(k, r.q, k->in[0].data, r.m, e);
	if (!r.q && !r.b_half && r.n_batch == 1 && r.a.col == 1 && r.b.t->elem == EL_F32 &&
	    narrow_fits(r.m, r.n, r.k))
		return run_narrow(&r, k->in[0].data, e);
	return few_columns(&r) ? run_dots(&r, e) : run_products(&r, e);
}

bool matmul_takes(const struct op *op, int i, const struct tensor *t)
{
	if (i != 1)
		return false;
	if (t->quant)
		return qpanels_fit(t, op->a.matmul.transpose_b);
	return t->elem == EL_F16 || t->elem == EL_BF16;
}
