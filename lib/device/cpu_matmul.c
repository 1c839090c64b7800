/* cpu_matmul.c - MatMul and ScaledDotProductAttention on packed products.
 *
 * Constant right-hand sides are packed once (halves stay halves). */
#include "device/cpu_gemm.h"
#include "device/cpu_impl.h"
#include "device/cpu_vec.h"

#include <math.h>
#include <string.h>

enum {
	GRAIN = 1 << 17,
	ROWS = 20 * GEMM_M
}; /* multiply-adds of a task; rows of A that stay in cache */

/* One operand as a stack of matrices (rows, cols) with element strides. */
struct operand {
	const struct tensor *t;
	int64_t rows, cols, row, col;
	struct tensor batch;         /* the leading dims */
};

static struct operand operand_of(const struct tensor *t, bool transpose, bool left)
{
	struct operand o = {.t = t};
	uint32_t matrix = t->rank < 2 ? t->rank : 2;
	o.batch = *t;
	o.batch.rank = t->rank - matrix;
	if (t->rank == 1) {
		o.rows = left ? 1 : t->dim[0];
		o.cols = left ? t->dim[0] : 1;
		o.row = left ? t->dim[0] : 1;
		o.col = 1;
		return o;
	}
	int64_t p = t->dim[t->rank - 2], q = t->dim[t->rank - 1];
	o.rows = transpose ? q : p;
	o.cols = transpose ? p : q;
	o.row = transpose ? 1 : q;
	o.col = transpose ? q : 1;
	return o;
}

static const void *at(const struct tensor *t, int64_t element)
{
	return (const char *)t->data + (size_t)element * cpu_elem_size(t->elem);
}

/* Number of the matrix of operand o that meets number i of the output's batch. */
static int64_t batch_index(const struct tensor *out, const struct tensor *o, int64_t i)
{
	int64_t at_o = 0, step = 1;
	for (uint32_t d = 0; d < out->rank; d++) {         /* from the innermost dim */
		int64_t size = out->dim[out->rank - 1 - d];
		if (d < o->rank) {
			int64_t n = o->dim[o->rank - 1 - d];
			at_o += (n == 1 ? 0 : i % size) * step;
			step *= n;
		}
		i /= size;
	}
	return at_o;
}

/* ---- one product, C (m,n) = A (m,k) B (k,n), panels of B from first to last ---- */

struct product {
	int64_t m, n, k;
	const float *a;              /* packed; with m = 1 the row itself */
	const void *b;               /* packed */
	bool b_half;
	float *c;
	int64_t ldc;
};

/* unpacked: GEMM_K * GEMM_N floats of scratch. */
static void product_panels(const struct product *p, int64_t first, int64_t last, float *unpacked)
{
	size_t size = p->b_half ? sizeof(uint16_t) : sizeof(float);
	if (p->m == 1) {
		for (int64_t j = first; j < last; j++) {
			int64_t n = p->n - j * GEMM_N;
			gemm_row(n < GEMM_N ? (int)n : GEMM_N, p->k, p->a,
				 (const char *)p->b + (size_t)(j * GEMM_N * p->k) * size, p->b_half,
				 p->c + j * GEMM_N, false);
		}
		return;
	}
	for (int64_t i0 = 0; i0 < p->m; i0 += ROWS) {
		int64_t i1 = p->m - i0 < ROWS ? p->m : i0 + ROWS;
		for (int64_t k0 = 0; k0 < p->k; k0 += GEMM_K) {
			int64_t kc = p->k - k0 < GEMM_K ? p->k - k0 : GEMM_K;
			for (int64_t j = first; j < last; j++) {
				int64_t n = p->n - j * GEMM_N;
				const void *b = (const char *)p->b +
						(size_t)((j * p->k + k0) * GEMM_N) * size;
				bool half = p->b_half;
				if (half && i1 - i0 > 2 * GEMM_M) {
					vec_from_half(b, unpacked, kc * GEMM_N);
					b = unpacked;
					half = false;
				}
				for (int64_t i = i0; i < i1; i += GEMM_M)
					gemm_tile(i1 - i < GEMM_M ? (int)(i1 - i) : GEMM_M,
						  n < GEMM_N ? (int)n : GEMM_N, kc,
						  p->a + i * p->k + k0 * GEMM_M, b, half,
						  p->c + i * p->ldc + j * GEMM_N, p->ldc, k0 > 0);
			}
		}
	}
}

/* ---- preparation ---- */

struct pack_job { const struct operand *o; int64_t n_matrices; bool half; };

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
			    o->t->elem, at(o->t, i * o->rows * o->cols), o->rows, o->cols, o->row,
			    o->col);
}

int prepare_matmul(const struct op *op, const struct tensor *in, const struct tensor *out,
		   struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	const struct tensor *b = &in[1];
	(void)out;
	if (!b->data || tensor_elements(b) == 0 ||
	    (b->elem != EL_F32 && b->elem != EL_F16 && b->elem != EL_BF16))
		return 0;
	struct operand o = operand_of(b, op->a.matmul.transpose_b, false);
	struct pack_job job = {&o, matrix_count(&o), b->elem == EL_F16};
	uint64_t layout[6] = {OP_MATMUL,	op->a.matmul.transpose_b, b->elem,
			      (uint64_t)o.rows, (uint64_t)o.cols,	  (uint64_t)job.n_matrices};
	uint64_t bytes = (uint64_t)(job.n_matrices * gemm_b_elements(o.rows, o.cols)) *
			 (job.half ? sizeof(uint16_t) : sizeof(float));
	struct cpu_pack *pack = cpu_pack_get(c->packs, b->data, layout, bytes, fill_pack, &job);
	if (!pack)
		return err_set(e, ST_RUNTIME, "out of memory for packed weights");
	*prep = MEM_NEW(struct cpu_prep);
	(*prep)->pack = pack;
	(*prep)->owns = 1u << 1;
	return 0;
}

/* ---- running ---- */

struct matmul_run {
	struct operand a, b;
	struct tensor batch;         /* of the output */
	int64_t m, n, k, n_batch;
	const void *packed_b;        /* all matrices of b, or NULL: packed as they come */
	bool b_half;
	float *c;
	struct cpu_ctx *ctx;
	/* Cut by columns: one product at a time, operands packed before. */
	struct product whole;
	int n_tasks;
	bool failed;
};

static int64_t a_floats(const struct matmul_run *r)
{
	return r->m == 1 ? r->k : gemm_a_elements(r->m, r->k);
}

/* Operands of matrix i of the batch; what is not packed yet goes to a (a_floats) and b. */
static struct product product_at(const struct matmul_run *r, int64_t i, float *a, float *b)
{
	int64_t ia = batch_index(&r->batch, &r->a.batch, i),
		ib = batch_index(&r->batch, &r->b.batch, i);
	const float *src = (const float *)r->a.t->data + ia * r->m * r->k;
	struct product p = {r->m, r->n, r->k, a, b, r->b_half, r->c + i * r->m * r->n, r->n};
	if (r->m == 1 && r->a.col == 1)
		p.a = src;
	else if (r->m == 1)
		for (int64_t j = 0; j < r->k; j++)
			a[j] = src[j * r->a.col];
	else
		gemm_pack_a(a, EL_F32, src, r->m, r->k, r->a.row, r->a.col);
	if (r->packed_b)
		p.b = (const char *)r->packed_b + (size_t)(ib * gemm_b_elements(r->k, r->n)) *
		      (r->b_half ? sizeof(uint16_t) : sizeof(float));
	else
		gemm_pack_b(b, r->b.t->elem, at(r->b.t, ib * r->k * r->n), r->k, r->n, r->b.row,
			    r->b.col);
	return p;
}

static void columns_task(void *arg, int task, int thread)
{
	struct matmul_run *r = arg;
	int64_t lo, hi;
	float *unpacked = cpu_thread_scratch(r->ctx, thread, GEMM_K * GEMM_N * sizeof *unpacked);
	if (!unpacked) {
		r->failed = true;
		return;
	}
	cpu_range((r->n + GEMM_N - 1) / GEMM_N, r->n_tasks, task, &lo, &hi);
	product_panels(&r->whole, lo, hi, unpacked);
}

static int64_t scratch_floats(const struct matmul_run *r)
{
	return a_floats(r) + (r->packed_b ? 0 : gemm_b_elements(r->k, r->n)) + 32;
}

static void batch_task(void *arg, int task, int thread)
{
	struct matmul_run *r = arg;
	int64_t lo, hi, n_a = (a_floats(r) + 15) / 16 * 16;
	float *p = cpu_thread_scratch(r->ctx, thread,
				      (size_t)(scratch_floats(r) + GEMM_K * GEMM_N) * sizeof *p);
	if (!p) {
		r->failed = true;
		return;
	}
	cpu_range(r->n_batch, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		struct product prod = product_at(r, i, p + GEMM_K * GEMM_N,
						 p + GEMM_K * GEMM_N + n_a);
		product_panels(&prod, 0, (r->n + GEMM_N - 1) / GEMM_N, p);
	}
}

static int run_products(struct matmul_run *r, struct err *e)
{
	int64_t work = r->m * r->n * r->k, panels = (r->n + GEMM_N - 1) / GEMM_N;
	if (r->n_batch > 1 && (r->n_batch >= 2 * r->ctx->n_threads || work < 2 * GRAIN)) {
		r->n_tasks = cpu_tasks(r->n_batch * work, GRAIN);
		if (r->n_tasks > r->n_batch)
			r->n_tasks = (int)r->n_batch;
		cpu_parallel(r->ctx, r->n_tasks, batch_task, r);
		return r->failed ? cpu_no_memory(e) : 0;
	}
	float *p = cpu_slot_scratch(r->ctx, SLOT_WHOLE, (size_t)scratch_floats(r) * sizeof *p);
	if (!p)
		return cpu_no_memory(e);
	for (int64_t i = 0; i < r->n_batch; i++) {
		r->whole = product_at(r, i, p, p + (a_floats(r) + 15) / 16 * 16);
		r->n_tasks = cpu_tasks(work, GRAIN);
		if (r->n_tasks > panels)
			r->n_tasks = (int)panels;
		cpu_parallel(r->ctx, r->n_tasks, columns_task, r);
	}
	return r->failed ? cpu_no_memory(e) : 0;
}

int run_matmul(const struct kernel_call *k, struct err *e)
{
	const struct op *op = k->op;
	struct matmul_run r = {.c = k->out[0].data, .ctx = k->ctx};
	r.a = operand_of(&k->in[0], op->a.matmul.transpose_a, true);
	r.b = operand_of(&k->in[1], op->a.matmul.transpose_b, false);
	r.m = r.a.rows;
	r.n = r.b.cols;
	r.k = r.a.cols;
	if (r.k == 0) {
		memset(r.c, 0, (size_t)tensor_bytes(&k->out[0]));
		return 0;
	}
	if (!op_broadcast(&r.a.batch, &r.b.batch, &r.batch) || r.b.rows != r.k)
		return err_set(e, ST_INPUT, "shapes do not fit");
	if (cpu_prep_owns(k->prep, 1)) {
		r.packed_b = k->prep->pack->data;
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
	return run_products(&r, e);
}

/* ---- attention ---- */

struct attention_run {
	const struct kernel_call *k;
	struct operand q, key, v;
	struct tensor batch, mask_batch;
	int64_t n_batch;
	float scale;
	int n_tasks;
	bool failed;
};

/* Add the mask to scores s (l, len): f32 added, boolean false is minus infinity. */
static void add_mask(const struct attention_run *r, int64_t i, float *s, int64_t l, int64_t len)
{
	const struct op *op = r->k->op;
	const struct tensor *mask = op->n_in > 3 ? &r->k->in[3] : NULL;
	if (op->a.attention.causal) {
		for (int64_t y = 0; y < l; y++)
			for (int64_t x = y + 1; x < len; x++)
				s[y * len + x] = -INFINITY;
		return;
	}
	if (!mask || !mask->data || mask->rank < 2)
		return;
	int64_t rows = mask->dim[mask->rank - 2], cols = mask->dim[mask->rank - 1];
	int64_t base = batch_index(&r->batch, &r->mask_batch, i) * rows * cols;
	bool boolean =
		r->k->op->g
			->out_elem[r->k->op->g->out_ptr[op->g->in_node[op->g->in_ptr[op->v] + 3]] +
				   op->g->in_port[op->g->in_ptr[op->v] + 3]] == EL_BOOLEAN;
	const float *m = (const float *)mask->data + base;
	for (int64_t y = 0; y < l; y++)
		for (int64_t x = 0; x < len; x++) {
			float v = m[(rows == 1 ? 0 : y) * cols + (cols == 1 ? 0 : x)];
			s[y * len + x] += boolean ? (v != 0 ? 0 : -INFINITY) : v;
		}
}

static void softmax_rows(float *s, int64_t rows, int64_t n)
{
	for (int64_t y = 0; y < rows; y++, s += n) {
		float top = vec_max(s, n);
		if (top == -INFINITY) {          /* nothing to attend to */
			memset(s, 0, (size_t)n * sizeof *s);
			continue;
		}
		vec_scale_shift(s, 1 / vec_exp_sum(s, top, s, n), 0, s, n);
	}
}

static void attention_task(void *arg, int task, int thread)
{
	struct attention_run *r = arg;
	int64_t l = r->q.rows, d = r->q.cols, len = r->key.rows, dv = r->v.cols, lo, hi;
	int64_t n_s = l * len, n_a = gemm_a_elements(l, d > len ? d : len);
	int64_t n_b = gemm_b_elements(d, len) > gemm_b_elements(len, dv) ? gemm_b_elements(d, len)
									 : gemm_b_elements(len, dv);
	float *s = cpu_thread_scratch(r->k->ctx, thread,
				      (size_t)(n_s + n_a + n_b + 48) * sizeof *s);
	if (!s) {
		r->failed = true;
		return;
	}
	float *a = s + (n_s + 15) / 16 * 16, *b = a + (n_a + 15) / 16 * 16;
	cpu_range(r->n_batch, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		const float *q = (const float *)r->q.t->data +
				 batch_index(&r->batch, &r->q.batch, i) * l * d;
		const float *key = (const float *)r->key.t->data +
				   batch_index(&r->batch, &r->key.batch, i) * len * d;
		const float *v = (const float *)r->v.t->data +
				 batch_index(&r->batch, &r->v.batch, i) * len * dv;
		float *y = (float *)r->k->out[0].data + i * l * dv;
		gemm_pack_a(a, EL_F32, q, l, d, d, 1);
		if (l == 1)
			memcpy(a, q, (size_t)d * sizeof *a);
		gemm_pack_b(b, EL_F32, key, d, len, 1, d);
		struct product scores = {l, len, d, a, b, false, s, len};
		product_panels(&scores, 0, (len + GEMM_N - 1) / GEMM_N, NULL);
		vec_scale_shift(s, r->scale, 0, s, n_s);
		add_mask(r, i, s, l, len);
		softmax_rows(s, l, len);
		gemm_pack_a(a, EL_F32, s, l, len, len, 1);
		if (l == 1)
			memcpy(a, s, (size_t)len * sizeof *a);
		gemm_pack_b(b, EL_F32, v, len, dv, dv, 1);
		struct product mix = {l, dv, len, a, b, false, y, dv};
		product_panels(&mix, 0, (dv + GEMM_N - 1) / GEMM_N, NULL);
	}
}

int run_attention(const struct kernel_call *k, struct err *e)
{
	struct attention_run r = {.k = k};
	struct tensor qk;
	r.q = operand_of(&k->in[0], false, true);
	r.key = operand_of(&k->in[1], false, false);
	r.v = operand_of(&k->in[2], false, false);
	if (k->op->n_in > 5)
		return err_set(e, ST_INPUT,
			       "ScaledDotProductAttention with a sink is not supported");
	if (!op_broadcast(&r.q.batch, &r.key.batch, &qk) ||
	    !op_broadcast(&qk, &r.v.batch, &r.batch))
		return err_set(e, ST_INPUT, "shapes do not fit");
	if (k->op->n_in > 3) {
		struct tensor scores = r.batch, both = {.elem = EL_F32};
		scores.dim[scores.rank++] = r.q.rows;
		scores.dim[scores.rank++] = r.key.rows;
		if (k->in[3].rank >= 2 && (!op_broadcast(&scores, &k->in[3], &both) ||
					   !tensor_same_shape(&scores, &both)))
			return err_set(e, ST_INPUT, "the mask does not fit");
		r.mask_batch = k->in[3];
		r.mask_batch.rank = k->in[3].rank > 2 ? k->in[3].rank - 2 : 0;
	}
	r.scale = k->op->n_in > 4 && k->in[4].data ? (float)tensor_real(&k->in[4], 0)
						    : 1 / sqrtf((float)r.q.cols);
	r.n_batch = tensor_elements(&r.batch);
	r.n_tasks = cpu_tasks(r.n_batch * r.q.rows * r.key.rows * r.q.cols, GRAIN);
	if (r.n_tasks > r.n_batch)
		r.n_tasks = (int)r.n_batch;
	cpu_parallel(k->ctx, r.n_tasks, attention_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}
