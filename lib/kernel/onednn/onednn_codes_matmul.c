/* onednn_codes_matmul.c - see onednn_codes_matmul.h.  Rows of the left become codes without a sign, piece by piece, or, where
 * they lie in columns, all before; sums are exact in 32 bits, where what the grid's zero adds to each column is subtracted. */
#include "kernel/onednn/onednn_codes_matmul.h"
#include "kernel/epilogue.h"
#include "kernel/isa_level.h"
#include "kernel/transpose.h"
#include "kernel/onednn/onednn_product.h"
#include "op/quant.h"

#include <math.h>

enum {
	GRAIN = 1 << 15, /* multiply-adds below which the f32 kernels are as fast */
	MOST_DEPTH = INT32_MAX / (255 * 127 * 2) /* with which sums and what is subtracted fit */
};

struct codes_matmul {
	struct onednn_product p;
	struct code_grid grid;
	int64_t turned; /* rows of each matrix on the left, which lie in columns; 0: they do not */
	int32_t *shift; /* (n): the zero's whole part times the column's weights */
	float *scale, *rest; /* (n) */
	struct cpu_pack *pack;
};

static bool has_vnni(void)
{
#ifdef CPU_HAS_LEVELS
	return cpu_level >= 4 && __builtin_cpu_supports("avx512vnni");
#else
	return false;
#endif
}

bool onednn_codes_pay(int64_t rows, int64_t columns, int64_t depth)
{
	return has_vnni() && rows > GEMM_M && rows * columns * depth >= GRAIN &&
	       depth <= MOST_DEPTH;
}

static void matmul_free(void *arg)
{
	struct codes_matmul *m = arg;
	onednn_product_release(&m->p);
	cpu_pack_drop(m->pack);
	mem_free(m->shift);
	mem_free(m->scale);
	mem_free(m->rest);
	mem_free(m);
}

/* ---- running ---- */

struct matmul_run {
	const struct codes_matmul *m;
	const struct kernel_call *k;
	uint8_t *codes; /* (m,k) of what lies in columns; NULL: it does not */
	struct err err;
	atomic_flag failed;
};

/* Rows first .. first + n - 1 of matrix i. */
static void turn_rows(const struct matmul_run *r, int64_t i, int64_t first, int64_t n)
{
	enum { SOME = 16, MOST = 256 };
	const struct tensor *x = &r->k->in[0];
	int64_t k = r->m->p.k, rows = r->m->turned;
	uint8_t tile[SOME * MOST];
	for (int64_t at = first; at < first + n; at += MOST)
		for (int64_t l = 0; l < k; l += SOME) {
			int64_t cols = first + n - at < MOST ? first + n - at : MOST;
			int64_t some = k - l < SOME ? k - l : SOME, from = (i * k + l) * rows + at;
			uint8_t *to = r->codes + (i * rows + at) * k + l;
			if (x->elem == EL_U8) {
				cpu_turn_bytes((const uint8_t *)x->data + from, rows, some, cols,
					       to, k);
				continue;
			}
			for (int64_t j = 0; j < some; j++)
				codes_of(&r->m->grid, (const float *)x->data + from + j * rows,
					 cols, tile + j * MOST);
			cpu_turn_bytes(tile, MOST, some, cols, to, k);
		}
}

static void turn_task(void *arg, int task, int thread)
{
	const struct matmul_run *r = arg;
	int64_t rows = r->m->turned, lo, hi;
	(void)thread;
	cpu_range(r->m->p.m, r->k->ctx->n_threads, task, &lo, &hi);
	for (int64_t n; lo < hi; lo += n) {
		n = rows - lo % rows < hi - lo ? rows - lo % rows : hi - lo;
		turn_rows(r, lo / rows, lo % rows, n);
	}
}

static void piece_task(void *arg, int task, int thread)
{
	struct matmul_run *r = arg;
	const struct codes_matmul *m = r->m;
	const struct onednn_product *all = &m->p;
	const struct onednn_piece piece = onednn_product_piece(all, task);
	int64_t first = piece.first, rows = piece.rows;
	const struct onednn_primitive *p = piece.p;
	size_t bytes = onednn_whole_lines((size_t)(rows * all->k));
	struct err e = ERR_INIT;
	bool inside = !r->k->out[0].data; /* the sums stay here */
	size_t sums = inside ? onednn_whole_lines((size_t)(rows * all->n) * sizeof(float)) : 0;
	uint8_t *codes = cpu_thread_scratch(r->k->ctx, thread, sums + bytes + p->scratch + 64);
	float *c = inside ? (float *)(void *)codes : (float *)r->k->out[0].data + first * all->n;
	int rc = codes ? 0 : cpu_no_memory(&e);
	if (rc == 0) {
		c += piece.col;
		codes += sums;
		union {
			const void *from;
			void *p;
		} x = {(r->codes ? r->codes : (const uint8_t *)r->k->in[0].data) + first * all->k};
		bool there = r->codes || r->k->in[0].elem == EL_U8;
		const struct onednn_arg args[] = {
			{DNNL_ARG_SRC, p->src, there ? x.p : codes},
			{DNNL_ARG_WEIGHTS, p->weights, (const char *)m->pack->data + piece.weights},
			{DNNL_ARG_DST, p->dst, c}};
		if (!there)
			codes_of(&m->grid, (const float *)r->k->in[0].data + first * all->k,
				 rows * all->k, codes);
		rc = onednn_primitive_run(p, args, 3, codes + bytes, &e);
	}
	if (rc < 0) {
		if (!atomic_flag_test_and_set(&r->failed))
			r->err = e;
		return;
	}
	for (int64_t i = 0; i < rows; i++)
		codes_scale_sums(c + i * all->n, m->shift + piece.col, m->scale + piece.col,
				 m->rest + piece.col, piece.cols);
	if (r->k->post)
		cpu_epilogue_tile(r->k->post, c, all->n, first, rows, piece.col, piece.cols);
}

static int run_codes_matmul(const struct kernel_call *k, struct err *e)
{
	struct matmul_run r = {.m = k->prep->more, .k = k, .failed = ATOMIC_FLAG_INIT};
	if (r.m->turned) {
		r.codes = cpu_slot_scratch(k->ctx, SLOT_WHOLE, (size_t)(r.m->p.m * r.m->p.k));
		if (!r.codes)
			return cpu_no_memory(e);
		cpu_parallel(k->ctx, k->ctx->n_threads, turn_task, &r);
	}
	cpu_parallel(k->ctx, (int)r.m->p.pieces, piece_task, &r);
	if (atomic_flag_test_and_set(&r.failed))
		return err_set(e, ST_RUNTIME, "%s", r.err.msg);
	return 0;
}

const struct code_grid *onednn_codes_of_input(const struct cpu_prep *prep)
{
	const struct codes_matmul *m = prep && prep->run == run_codes_matmul ? prep->more : NULL;
	return m ? &m->grid : NULL;
}

/* ---- preparation ---- */

/* The product is scale (sum of codes * weights - zero * sum of weights). */
static void fill_scales(struct codes_matmul *m, const struct codes_matmul_spec *s)
{
	float whole = rintf(s->grid.zero);
	for (int64_t j = 0; j < m->p.n; j++) {
		int32_t sum = 0;
		for (int64_t i = 0; i < m->p.k; i++)
			sum += s->weights[j * m->p.k + i];
		m->shift[j] = (int32_t)whole * sum;
		m->scale[j] = s->grid.scale * s->scale[j];
		m->rest[j] = -(s->grid.zero - whole) * (float)sum * m->scale[j];
	}
}

struct weights_job {
	const struct codes_matmul *m;
	const int8_t *weights;
	struct err err;
	int rc;
};

static void fill_weights(void *arg, void *data)
{
	struct weights_job *job = arg;
	const struct onednn_product *p = &job->m->p;
	onednn_md *from = onednn_matrix(p->k, p->n, 1, p->k, dnnl_s8);
	job->rc = onednn_reorder(from, job->weights, p->whole.weights, data, &job->err);
	onednn_md_free(from);
}

/* What else than their bytes weights are made of: a file may have the same codes twice, with other zeros and scales. */
static uint64_t meaning_of(const struct tensor *w)
{
	const uint64_t mix = 0x9e3779b97f4a7c15u;
	uint64_t key = w->elem;
	if (w->quant) {
		key = key * mix + (uintptr_t)w->quant->zero.data;
		key = key * mix + (uintptr_t)w->quant->scale.data;
	}
	return key * mix;
}

static int pack_weights(struct codes_matmul *m, const struct codes_matmul_spec *s,
			struct cpu_ctx *c, struct err *e)
{
	const onednn_md *to = m->p.whole.weights;
	struct weights_job job = {.m = m, .weights = s->weights};
	uint64_t layout[6] = {OP_MATMUL | ONEDNN_PACK |
			      (uint64_t)s->op->a.matmul.transpose_b << 33};
	onednn_layout_key(to, layout + 1);
	layout[5] += meaning_of(&s->in[1]);
	m->pack = cpu_pack_get(c->packs, s->in[1].data, layout, onednn_md_bytes(to), fill_weights,
			       &job);
	if (!m->pack)
		return cpu_no_memory(e);
	return job.rc < 0 ? err_set(e, ST_RUNTIME, "%s", job.err.msg) : 0;
}

int onednn_codes_matmul(const struct codes_matmul_spec *s, struct cpu_ctx *c,
			struct cpu_prep **prep, struct err *e)
{
	struct operand b = operand_of(&s->in[1], s->op->a.matmul.transpose_b, false);
	struct codes_matmul *m = MEM_NEW(struct codes_matmul);
	m->p = (struct onednn_product){
		.m = tensor_elements(&s->in[0]) / b.rows, .n = b.cols, .k = b.rows};
	m->grid = s->grid;
	if (s->op->a.matmul.transpose_a && s->in[0].rank >= 2)
		m->turned = s->in[0].dim[s->in[0].rank - 1];
	m->shift = MEM_NEWN(int32_t, (size_t)m->p.n);
	m->scale = MEM_NEWN(float, (size_t)m->p.n);
	m->rest = MEM_NEWN(float, (size_t)m->p.n);
	fill_scales(m, s);
	bool taken = onednn_product_new(&m->p, dnnl_u8, dnnl_s8, dnnl_s32, NULL, c->n_threads);
	int rc = taken ? pack_weights(m, s, c, e) : 0;
	if (!taken || rc < 0) {
		matmul_free(m);
		return rc;
	}
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->run = run_codes_matmul;
	(*prep)->more = m;
	(*prep)->more_free = matmul_free;
	(*prep)->more_bytes = m->pack->bytes + (uint64_t)m->p.n * 3 * sizeof(float);
	(*prep)->owns = 1u << 1;
	return 1;
}
