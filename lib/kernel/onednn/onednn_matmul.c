/* onednn_matmul.c - MatMul in bf16.  Constant weights are converted once into the library's layout.
 * With one matrix on the right the rows of the left, or where these are few its columns, are shared out between threads, in
 * pieces whose sums still lie in a cache when the epilogue runs over them; otherwise whole matrices are. */
#include "kernel/epilogue.h"
#include "kernel/vec.h"
#include "kernel/gemm/narrow.h"
#include "kernel/gemm/block_epilogue.h"
#include "kernel/gemm/stack.h"
#include "kernel/gemm/amx_product.h"
#include "kernel/onednn/onednn_layout.h"
#include "kernel/onednn/onednn_product.h"

#include <string.h>

enum { GRAIN = 1 << 15 }; /* multiply-adds below which the f32 kernels are as fast */

struct bf16_matmul {
	struct onednn_product p; /* of one matrix on the left */
	int64_t n_batch;
	bool constant; /* the right-hand side is: the pack has it */
	struct cpu_pack *pack;
};

struct weights_job {
	const struct operand *b;
	const onednn_md *to;
	float *f32; /* room for the operand */
	struct err err;
	int rc;
};

static void fill_weights(void *arg, void *data)
{
	struct weights_job *job = arg;
	const struct operand *b = job->b;
	onednn_md *from = onednn_matrix(b->rows, b->cols, b->row, b->col, dnnl_f32);
	const void *src = b->t->data;
	if (b->t->elem != EL_F32) {
		cpu_convert(EL_F32, job->f32, b->t->elem, src, b->rows * b->cols);
		src = job->f32;
	}
	job->rc = onednn_reorder(from, src, job->to, data, &job->err);
	onednn_md_free(from);
}

static int pack_weights(struct bf16_matmul *m, const struct operand *b, struct cpu_ctx *c,
			struct err *e)
{
	const onednn_md *to = m->p.whole.weights;
	struct weights_job job = {.b = b, .to = to};
	uint64_t layout[6] = {OP_MATMUL | ONEDNN_PACK |
			      (uint64_t)(b->row == 1 && b->col != 1) << 33};
	onednn_layout_key(to, layout + 1);
	if (b->t->elem != EL_F32 &&
	    !(job.f32 = mem_try((size_t)(b->rows * b->cols) * sizeof *job.f32)))
		return cpu_no_memory(e);
	m->pack =
		cpu_pack_get(c->packs, b->t->data, layout, onednn_md_bytes(to), fill_weights, &job);
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
	onednn_product_release(&m->p);
	cpu_pack_drop(m->pack);
	mem_free(m);
}

/* ---- running ---- */

struct matmul_run {
	const struct bf16_matmul *m;
	const struct kernel_call *k;
	struct operand a, b;
	struct tensor batch;
	struct cpu_post post;
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

/* A piece of matrix `i`: tasks are numbered piece first. */
static void matmul_task(void *arg, int task, int thread)
{
	struct matmul_run *r = arg;
	const struct bf16_matmul *m = r->m;
	const struct onednn_product *all = &m->p;
	int64_t i = task / all->pieces;
	const struct onednn_piece piece = onednn_product_piece(all, task % all->pieces);
	int64_t first = piece.first, rows = piece.rows;
	const struct onednn_primitive *p = piece.p;
	size_t a_bytes = onednn_whole_lines((size_t)(rows * all->k) * 2);
	size_t b_bytes = m->constant ? 0 : onednn_whole_lines((size_t)(all->k * all->n) * 2);
	struct err e = ERR_INIT;
	char *at = cpu_thread_scratch(r->k->ctx, thread, a_bytes + b_bytes + p->scratch + 64);
	if (!at) {
		(void)cpu_no_memory(&e);
		fail(r, &e);
		return;
	}
	const float *a = (const float *)r->k->in[0].data +
			 operand_batch(&r->batch, &r->a.batch, i) * all->m * all->k;
	convert_rows(a + first * r->a.row, rows, all->k, r->a.row, r->a.col,
		     (uint16_t *)(void *)at);
	const void *b = m->constant ? (const char *)m->pack->data + piece.weights : at + a_bytes;
	if (!m->constant)
		vec_to_bf16((const float *)r->k->in[1].data +
				    operand_batch(&r->batch, &r->b.batch, i) * all->k * all->n,
			    (uint16_t *)(void *)(at + a_bytes), all->k * all->n);
	float *c = (float *)r->k->out[0].data + (i * all->m + first) * all->n + piece.col;
	const struct onednn_arg args[] = {{DNNL_ARG_SRC, p->src, at},
					  {DNNL_ARG_WEIGHTS, p->weights, b},
					  {DNNL_ARG_DST, p->dst, c}};
	if (onednn_primitive_run(p, args, 3, at + a_bytes + b_bytes, &e) < 0)
		fail(r, &e);
	else
		cpu_post_sums(&r->post, c, all->n, i * all->m + first, rows, piece.col, piece.cols);
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
	cpu_post_init(&r.post, k->post, true);
	cpu_parallel(k->ctx, (int)(r.m->n_batch * r.m->p.pieces), matmul_task, &r);
	if (atomic_flag_test_and_set(&r.failed))
		return err_set(e, ST_RUNTIME, "%s", r.err.msg);
	return 0;
}

/* ---- preparation ---- */

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
	struct onednn_product *p = &m->p;
	*m = (struct bf16_matmul){.p = {.m = a.rows, .n = b.cols, .k = a.cols},
				  .n_batch = tensor_elements(&batch),
				  .constant = in[1].data && tensor_elements(&b.batch) == 1};
	if (m->constant && (!turned || in[0].rank < 2)) {
		p->m *= m->n_batch;
		m->n_batch = 1;
	}
	int rc = 0;
	/* Other constants are converted by every run, as they come.  With few rows reading the weights is
	 * what takes the time: matmul.c. */
	bool taken = (m->constant ? m->n_batch == 1 && p->m > GEMM_M : in[1].elem == EL_F32) &&
		     p->m * p->n * p->k >= GRAIN &&
		     !(m->n_batch == 1 && a.col == 1 && narrow_fits(p->m, p->n, p->k)) &&
		     m->n_batch < INT32_MAX >> 12;
	if (taken) {
		int threads = (int)((c->n_threads + m->n_batch - 1) / m->n_batch);
		onednn_md *plain =
			m->constant ? NULL : onednn_matrix(p->k, p->n, b.row, b.col, dnnl_bf16);
		taken = (m->constant || plain) &&
			onednn_product_new(p, dnnl_bf16, dnnl_bf16, dnnl_f32, plain, threads);
		onednn_md_free(plain);
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
