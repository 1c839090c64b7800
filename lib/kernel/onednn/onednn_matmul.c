/* onednn_matmul.c - MatMul in bf16.  Constant weights are converted once into the library's layout.
 * With one matrix on the right the rows of the left are shared out between threads, in pieces
 * whose sums still lie in a cache when the epilogue runs over them; otherwise whole matrices are. */
#include "kernel/cpu_epilogue.h"
#include "kernel/cpu_vec.h"
#include "kernel/gemm/cpu_product.h"
#include "kernel/gemm/cpu_stack.h"
#include "kernel/gemm/cpu_tiled.h"
#include "kernel/onednn/onednn_api.h"
#include "kernel/onednn/onednn_layout.h"

#include <string.h>

enum {
	GRAIN = 1 << 15,        /* multiply-adds below which the f32 kernels are as fast */
	PIECE_FLOATS = 1 << 18, /* of a piece's operands and sums */
	FEW_ROWS = 32
};

struct bf16_matmul {
	struct onednn_primitive whole, rest; /* of `rows` rows, and of the last piece */
	int64_t m, n, k, n_batch, rows, pieces;
	bool constant; /* the right-hand side is: the pack has it */
	struct cpu_pack *pack;
};

static void plain_desc(dnnl_memory_desc_t *d, int64_t rows, int64_t cols, int64_t row, int64_t col,
		       dnnl_data_type_t type)
{
	dnnl_dims_t dims = {rows, cols}, strides = {row, col};
	onednn_api()->memory_desc_init_by_strides(d, 2, dims, type, strides);
}

/* (rows,k) x (k,n); b: strides of the right-hand side, or its layout when it is known. */
static bool product_new(struct onednn_primitive *x, const struct bf16_matmul *m, int64_t rows,
			const dnnl_memory_desc_t *b)
{
	dnnl_memory_desc_t src, dst;
	dnnl_matmul_desc_t d;
	plain_desc(&src, rows, m->k, m->k, 1, dnnl_bf16);
	plain_desc(&dst, rows, m->n, m->n, 1, dnnl_f32);
	return onednn_api()->matmul_desc_init(&d, &src, b, NULL, &dst) == dnnl_success &&
	       onednn_primitive_new(x, &d, NULL);
}

struct weights_job {
	const struct operand *b;
	const dnnl_memory_desc_t *to;
	float *f32; /* room for the operand */
	struct err err;
	int rc;
};

static void fill_weights(void *arg, void *data)
{
	struct weights_job *job = arg;
	const struct operand *b = job->b;
	dnnl_memory_desc_t from;
	const void *src = b->t->data;
	plain_desc(&from, b->rows, b->cols, b->row, b->col, dnnl_f32);
	if (b->t->elem != EL_F32) {
		cpu_convert(EL_F32, job->f32, b->t->elem, src, b->rows * b->cols);
		src = job->f32;
	}
	job->rc = onednn_reorder(&from, src, job->to, data, &job->err);
}

static int pack_weights(struct bf16_matmul *m, const struct operand *b, struct cpu_ctx *c,
			struct err *e)
{
	const dnnl_memory_desc_t *to = &m->whole.weights;
	struct weights_job job = {.b = b, .to = to};
	uint64_t layout[6] = {OP_MATMUL | ONEDNN_PACK |
			      (uint64_t)(b->row == 1 && b->col != 1) << 33};
	onednn_layout_key(to, layout + 1);
	if (b->t->elem != EL_F32 &&
	    !(job.f32 = mem_try((size_t)(b->rows * b->cols) * sizeof *job.f32)))
		return cpu_no_memory(e);
	m->pack = cpu_pack_get(c->packs, b->t->data, layout, onednn_api()->memory_desc_get_size(to),
			       fill_weights, &job);
	mem_free(job.f32);
	if (!m->pack)
		return cpu_no_memory(e);
	if (job.rc < 0)
		return err_set(e, ST_RUNTIME, "%s", job.err.msg);
	return 0;
}

static void matmul_free(void *p)
{
	struct bf16_matmul *m = p;
	onednn_primitive_release(&m->whole);
	onednn_primitive_release(&m->rest);
	cpu_pack_drop(m->pack);
	mem_free(m);
}

/* ---- running ---- */

struct matmul_run {
	const struct bf16_matmul *m;
	const struct kernel_call *k;
	struct operand a, b;
	struct tensor batch;
	struct err err;
	atomic_flag failed;
};

static void fail(struct matmul_run *r, const struct err *e)
{
	if (!atomic_flag_test_and_set(&r->failed))
		r->err = *e;
}

/* The m rows of an operand (m,k) from `first` on, in bf16; row by row where they do not lie together. */
static void convert_rows(const float *src, int64_t m, int64_t k, int64_t row, int64_t col,
			 uint16_t *dst)
{
	if (col == 1 && row == k)
		vec_to_bf16(src, dst, m * k);
	else
		layout_to_pixels(src, col, k, m, dst);
}

static size_t whole_lines(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

/* Rows `piece` of matrix `i`: tasks are numbered piece first. */
static void matmul_task(void *arg, int task, int thread)
{
	struct matmul_run *r = arg;
	const struct bf16_matmul *m = r->m;
	int64_t i = task / m->pieces, piece = task % m->pieces, first = piece * m->rows;
	int64_t rows = m->m - first < m->rows ? m->m - first : m->rows;
	const struct onednn_primitive *p = rows == m->rows ? &m->whole : &m->rest;
	size_t a_bytes = whole_lines((size_t)(rows * m->k) * 2);
	size_t b_bytes = m->constant ? 0 : whole_lines((size_t)(m->k * m->n) * 2);
	struct err e = ERR_INIT;
	char *at = cpu_thread_scratch(r->k->ctx, thread, a_bytes + b_bytes + p->scratch + 64);
	if (!at) {
		(void)cpu_no_memory(&e);
		fail(r, &e);
		return;
	}
	const float *a = (const float *)r->k->in[0].data +
			 operand_batch(&r->batch, &r->a.batch, i) * m->m * m->k;
	convert_rows(a + first * r->a.row, rows, m->k, r->a.row, r->a.col, (uint16_t *)(void *)at);
	const void *b = m->constant ? m->pack->data : at + a_bytes;
	if (!m->constant)
		vec_to_bf16((const float *)r->k->in[1].data +
				    operand_batch(&r->batch, &r->b.batch, i) * m->k * m->n,
			    (uint16_t *)(void *)(at + a_bytes), m->k * m->n);
	float *c = (float *)r->k->out[0].data + (i * m->m + first) * m->n;
	const struct onednn_arg args[] = {{DNNL_ARG_SRC, &p->src, at},
					  {DNNL_ARG_WEIGHTS, &p->weights, b},
					  {DNNL_ARG_DST, &p->dst, c}};
	if (onednn_primitive_run(p, args, 3, at + a_bytes + b_bytes, &e) < 0)
		fail(r, &e);
	else if (r->k->post)
		cpu_epilogue_tile(r->k->post, c, m->n, i * m->m + first, rows, 0, m->n);
}

static int run_matmul_bf16(const struct kernel_call *k, struct err *e)
{
	struct matmul_run r = {.m = k->prep->more, .k = k, .failed = ATOMIC_FLAG_INIT};
	r.a = operand_of(&k->in[0], k->op->a.matmul.transpose_a, true);
	r.b = operand_of(&k->in[1], k->op->a.matmul.transpose_b, false);
	if (!op_broadcast(&r.a.batch, &r.b.batch, &r.batch))
		return err_set(e, ST_INPUT, "shapes do not fit");
	if (r.m->constant)
		r.batch.rank = r.a.batch.rank = 0;
	cpu_parallel(k->ctx, (int)(r.m->n_batch * r.m->pieces), matmul_task, &r);
	if (atomic_flag_test_and_set(&r.failed))
		return err_set(e, ST_RUNTIME, "%s", r.err.msg);
	return 0;
}

/* ---- preparation ---- */

/* Rows of a piece: its operands and sums stay in the second-level cache, every thread gets one. */
static void cut_rows(struct bf16_matmul *m, int n_threads)
{
	int64_t most = PIECE_FLOATS / (m->n + m->k / 2 + 1);
	most = most < FEW_ROWS ? FEW_ROWS : most;
	int64_t pieces = (m->m + most - 1) / most;
	if (m->n_batch * pieces < n_threads && m->m >= FEW_ROWS)
		pieces = (n_threads + m->n_batch - 1) / m->n_batch;
	m->rows = (m->m + pieces - 1) / pieces;
	m->pieces = (m->m + m->rows - 1) / m->rows;
}

static bool fits(const struct tensor *a, const struct tensor *b)
{
	bool real = b->elem == EL_F32 || ((b->elem == EL_F16 || b->elem == EL_BF16) && b->data);
	return a->elem == EL_F32 && real && !b->quant && tensor_is_static(a) && tensor_is_static(b);
}

int onednn_matmul_prepare(const struct op *op, const struct tensor *in, const struct tensor *out,
			  struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	bool turned = op->a.matmul.transpose_a;
	struct operand a = operand_of(&in[0], turned, true);
	struct operand b = operand_of(&in[1], op->a.matmul.transpose_b, false);
	struct tensor batch;
	if (!onednn_multiplies() || tiled_fits(c, &a, &b) ||
	    (!in[1].data && stack_fits(c, &a, &b)) || !fits(&in[0], &in[1]) ||
	    out[0].elem != EL_F32 || tensor_elements(&out[0]) == 0 ||
	    !op_broadcast(&a.batch, &b.batch, &batch) || a.cols != b.rows || a.cols == 0)
		return 0;
	struct bf16_matmul *m = MEM_NEW(struct bf16_matmul);
	*m = (struct bf16_matmul){.m = a.rows,
				  .n = b.cols,
				  .k = a.cols,
				  .n_batch = tensor_elements(&batch),
				  .constant = in[1].data && tensor_elements(&b.batch) == 1};
	if (m->constant && (!turned || in[0].rank < 2)) {
		m->m *= m->n_batch;
		m->n_batch = 1;
	}
	int rc = 0;
	/* Other constants are converted by every run, as they come.  With few rows reading the weights is
	 * what takes the time: cpu_matmul.c. */
	bool taken = (m->constant ? m->n_batch == 1 && m->m > GEMM_M : in[1].elem == EL_F32) &&
		     m->m * m->n * m->k >= GRAIN && m->n_batch < INT32_MAX >> 12;
	if (taken) {
		dnnl_memory_desc_t weights;
		dnnl_dims_t dims = {m->k, m->n};
		cut_rows(m, c->n_threads);
		if (m->constant)
			onednn_api()->memory_desc_init_by_tag(&weights, 2, dims, dnnl_bf16,
							      dnnl_format_tag_any);
		else
			plain_desc(&weights, m->k, m->n, b.row, b.col, dnnl_bf16);
		int64_t last = m->m - (m->pieces - 1) * m->rows;
		taken = m->pieces < 1 << 12 && product_new(&m->whole, m, m->rows, &weights) &&
			(last == m->rows || product_new(&m->rest, m, last, &m->whole.weights));
	}
	if (taken && m->constant)
		rc = pack_weights(m, &b, c, e);
	if (!taken || rc < 0) {
		matmul_free(m);
		return rc;
	}
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->run = run_matmul_bf16;
	(*prep)->more = m;
	(*prep)->more_free = matmul_free;
	(*prep)->more_bytes = m->pack ? m->pack->bytes : 0;
	(*prep)->owns = m->constant ? 1u << 1 : 0;
	return 1;
}
