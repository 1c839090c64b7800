/* cpu_attention.c - ScaledDotProductAttention on packed products. */
#include "kernel/dense/cpu_product.h"
#include "kernel/cpu_vec.h"
#include "op/slice.h"

#include <math.h>
#include <string.h>

enum { GRAIN = 1 << 17 }; /* multiply-adds of a task */

struct attention_run {
	const struct kernel_call *k;
	struct operand q, key, v;
	struct tensor batch, mask_batch, sink_batch;
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
	int64_t base = operand_batch(&r->batch, &r->mask_batch, i) * rows * cols;
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

/* sink: a score of each row (`step` apart) to which nothing belongs, or NULL. */
static void softmax_rows(float *s, int64_t rows, int64_t n, const float *sink, int64_t step)
{
	for (int64_t y = 0; y < rows; y++, s += n) {
		float top = vec_max(s, n);
		if (sink && sink[y * step] > top)
			top = sink[y * step];
		if (top == -INFINITY) { /* nothing to attend to */
			memset(s, 0, (size_t)n * sizeof *s);
			continue;
		}
		float sum = vec_exp_sum(s, top, s, n);
		if (sink)
			sum += expf(sink[y * step] - top);
		vec_scale_shift(s, 1 / sum, 0, s, n);
	}
}

/* The scores of the sink (.., l or 1, 1) for matrix i of the batch; *step as above. */
static const float *sink_rows(const struct attention_run *r, int64_t i, int64_t *step)
{
	const struct tensor *t = &r->k->in[5];
	if (!op_has_input(r->k->op, r->k->in, 5))
		return NULL;
	int64_t rows = t->rank > 1 ? t->dim[t->rank - 2] : 1;
	*step = rows > 1;
	return (const float *)t->data + operand_batch(&r->batch, &r->sink_batch, i) * rows;
}

static void attention_task(void *arg, int task, int thread)
{
	struct attention_run *r = arg;
	int64_t l = r->q.rows, d = r->q.cols, len = r->key.rows, dv = r->v.cols, lo, hi;
	int64_t n_s = l * len, n_a = gemm_a_elements(l, d > len ? d : len);
	int64_t n_b = gemm_b_elements(d, len) > gemm_b_elements(len, dv) ? gemm_b_elements(d, len)
									 : gemm_b_elements(len, dv);
	float *s =
		cpu_thread_scratch(r->k->ctx, thread, (size_t)(n_s + n_a + n_b + 48) * sizeof *s);
	if (!s) {
		r->failed = true;
		return;
	}
	float *a = s + (n_s + 15) / 16 * 16, *b = a + (n_a + 15) / 16 * 16;
	cpu_range(r->n_batch, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		const float *q = (const float *)r->q.t->data +
				 operand_batch(&r->batch, &r->q.batch, i) * l * d;
		const float *key = (const float *)r->key.t->data +
				   operand_batch(&r->batch, &r->key.batch, i) * len * d;
		const float *v = (const float *)r->v.t->data +
				 operand_batch(&r->batch, &r->v.batch, i) * len * dv;
		float *y = (float *)r->k->out[0].data + i * l * dv;
		product_pack_a(a, q, l, d, d, 1);
		product_pack_b(b, key, d, len, 1, d);
		struct product scores = {l, len, d, a, b, false, s, len, NULL, 0, NULL};
		product_panels(&scores, 0, product_n_panels(len), NULL);
		vec_scale_shift(s, r->scale, 0, s, n_s);
		add_mask(r, i, s, l, len);
		int64_t step = 0;
		const float *sink = sink_rows(r, i, &step);
		softmax_rows(s, l, len, sink, step);
		product_pack_a(a, s, l, len, len, 1);
		product_pack_b(b, v, len, dv, dv, 1);
		struct product mix = {l, dv, len, a, b, false, y, dv, NULL, 0, NULL};
		product_panels(&mix, 0, product_n_panels(dv), NULL);
	}
}

int run_attention(const struct kernel_call *k, struct err *e)
{
	struct attention_run r = {.k = k};
	struct tensor qk;
	r.q = operand_of(&k->in[0], false, true);
	r.key = operand_of(&k->in[1], false, false);
	r.v = operand_of(&k->in[2], false, false);
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
	if (op_has_input(k->op, k->in, 5)) {
		struct tensor rows = r.batch, both = {.elem = EL_F32};
		rows.dim[rows.rank++] = r.q.rows;
		rows.dim[rows.rank++] = 1;
		if (!op_broadcast(&rows, &k->in[5], &both) || !tensor_same_shape(&rows, &both))
			return err_set(e, ST_INPUT, "the sink does not fit");
		r.sink_batch = k->in[5];
		r.sink_batch.rank = k->in[5].rank > 2 ? k->in[5].rank - 2 : 0;
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
