/* cpu_attention.c - ScaledDotProductAttention on packed products: f32, or bf16 where the context computes those so. */
#include "kernel/gemm/cpu_pairs.h"
#include "kernel/gemm/cpu_product.h"
#include "kernel/cpu_vec.h"
#include "op/slice.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
	GRAIN = 1 << 17,   /* multiply-adds of a task */
	ROWS = 8 * GEMM_M, /* whose scores stay in the second-level cache */
	FEW_ROWS = 4       /* below, packing takes longer than products */
};

struct attention_run {
	const struct kernel_call *k;
	struct operand q, key, v;
	struct tensor batch, mask_batch, sink_batch;
	int64_t n_batch, rows, n_blocks; /* rows of a block, blocks of a matrix */
	float scale;
	bool bf16; /* queries, keys, weights and values are rounded */
	int n_tasks;
	atomic_bool failed;
};

/* Add the mask to scores s (y1 - y0, len) of rows y0 .. y1 - 1: f32 added, boolean false is minus
 * infinity. */
static void add_mask(const struct attention_run *r, int64_t i, float *s, int64_t y0, int64_t y1,
		     int64_t len)
{
	const struct op *op = r->k->op;
	const struct tensor *mask = op->n_in > 3 ? &r->k->in[3] : NULL;
	if (op->a.attention.causal) {
		for (int64_t y = y0; y < y1; y++)
			for (int64_t x = y + 1; x < len; x++)
				s[(y - y0) * len + x] = -INFINITY;
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
	for (int64_t y = y0; y < y1; y++, s += len) {
		const float *row = m + (rows == 1 ? 0 : y) * cols;
		if (cols == len && !boolean)
			vec_axpy(1, row, s, len);
		else
			for (int64_t x = 0; x < len; x++) {
				float v = row[cols == 1 ? 0 : x];
				s[x] += boolean ? (v != 0 ? 0 : -INFINITY) : v;
			}
	}
}

/* sink: a score of each row (`step` apart) to which nothing belongs, or NULL.  Weights in place of the scores, or
 * rounded into rows of `narrow`. */
static void softmax_rows(float *s, int64_t rows, int64_t n, const float *sink, int64_t step,
			 uint16_t *narrow)
{
	for (int64_t y = 0; y < rows; y++, s += n) {
		float top = vec_max(s, n);
		if (sink && sink[y * step] > top)
			top = sink[y * step];
		float sum = 1;
		if (top == -INFINITY) /* nothing to attend to */
			memset(s, 0, (size_t)n * sizeof *s);
		else
			sum = vec_exp_sum(s, top, s, n);
		if (sink && top != -INFINITY)
			sum += expf(sink[y * step] - top);
		if (narrow)
			pairs_pack_a(narrow + y * pairs_row(n), s, 1, n, 1 / sum);
		else
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

/* Floats of a task's scratch: scores of a block of rows, A packed, keys and values packed. */
struct attention_room {
	int64_t scores, a, key, value;
};

static struct attention_room room_of(const struct attention_run *r)
{
	int64_t d = r->q.cols, len = r->key.rows, dv = r->v.cols, most = d > len ? d : len;
	struct attention_room x = {r->rows * len, gemm_a_elements(r->rows, most),
				   gemm_b_elements(d, len), gemm_b_elements(len, dv)};
	if (r->bf16) {
		x.a = r->rows * pairs_row(most) / 2;
		x.key = pairs_b_elements(d, len) / 2;
		x.value = pairs_b_elements(len, dv) / 2;
	}
	return (struct attention_room){(x.scores + 15) / 16 * 16, (x.a + 15) / 16 * 16,
				       (x.key + 15) / 16 * 16, (x.value + 15) / 16 * 16};
}

static void pack_keys(const struct attention_run *r, int64_t i, float *key, float *value)
{
	int64_t d = r->q.cols, len = r->key.rows, dv = r->v.cols;
	const float *k = (const float *)r->key.t->data +
			 operand_batch(&r->batch, &r->key.batch, i) * len * d;
	const float *v =
		(const float *)r->v.t->data + operand_batch(&r->batch, &r->v.batch, i) * len * dv;
	if (r->bf16) {
		pairs_pack_b((uint16_t *)(void *)key, k, d, len, true);
		pairs_pack_b((uint16_t *)(void *)value, v, len, dv, false);
	} else {
		product_pack_b(key, k, d, len, 1, d);
		product_pack_b(value, v, len, dv, dv, 1);
	}
}

/* Rows y0 .. y1 - 1 of matrix i; keys and values are packed. */
static void attend(const struct attention_run *r, int64_t i, int64_t y0, int64_t y1, float *s,
		   float *a, const float *key, const float *value)
{
	int64_t d = r->q.cols, len = r->key.rows, dv = r->v.cols, l = y1 - y0, step = 0;
	const float *q = (const float *)r->q.t->data +
			 (operand_batch(&r->batch, &r->q.batch, i) * r->q.rows + y0) * d;
	float *y = (float *)r->k->out[0].data + (i * r->q.rows + y0) * dv;
	uint16_t *narrow = r->bf16 ? (uint16_t *)(void *)a : NULL;
	if (narrow) {
		pairs_pack_a(narrow, q, l, d, r->scale);
		pairs_multiply(narrow, (const uint16_t *)(const void *)key, l, len, d, s, len);
	} else {
		product_pack_a(a, q, l, d, d, 1);
		struct product scores = {l, len, d, a, key, false, s, len, NULL, 0, NULL};
		product_panels(&scores, 0, product_n_panels(len), NULL);
		vec_scale_shift(s, r->scale, 0, s, l * len);
	}
	add_mask(r, i, s, y0, y1, len);
	const float *sink = sink_rows(r, i, &step);
	softmax_rows(s, l, len, sink ? sink + y0 * step : NULL, step, narrow);
	if (narrow) {
		pairs_multiply(narrow, (const uint16_t *)(const void *)value, l, dv, len, y, dv);
		return;
	}
	product_pack_a(a, s, l, len, len, 1);
	struct product mix = {l, dv, len, a, value, false, y, dv, NULL, 0, NULL};
	product_panels(&mix, 0, product_n_panels(dv), NULL);
}

/* Blocks of rows of all matrices; those of one matrix that meet in a task share what is packed. */
static void attention_task(void *arg, int task, int thread)
{
	struct attention_run *r = arg;
	int64_t lo, hi, packed = -1;
	struct attention_room room = room_of(r);
	float *s = cpu_thread_scratch(r->k->ctx, thread,
				      (size_t)(room.scores + room.a + room.key + room.value) *
					      sizeof *s);
	if (!s) {
		r->failed = true;
		return;
	}
	float *a = s + room.scores, *key = a + room.a, *value = key + room.key;
	cpu_range(r->n_batch * r->n_blocks, r->n_tasks, task, &lo, &hi);
	for (int64_t t = lo; t < hi; t++) {
		int64_t i = t / r->n_blocks, y0 = t % r->n_blocks * r->rows, y1 = y0 + r->rows;
		if (i != packed) {
			pack_keys(r, i, key, value);
			packed = i;
		}
		attend(r, i, y0, y1 < r->q.rows ? y1 : r->q.rows, s, a, key, value);
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
	r.bf16 = k->ctx->bf16_products && pairs_there() && r.q.rows > FEW_ROWS;
	r.n_batch = tensor_elements(&r.batch);
	r.rows = r.q.rows < ROWS ? r.q.rows : ROWS;
	r.n_blocks = r.rows ? (r.q.rows + r.rows - 1) / r.rows : 0;
	r.n_tasks = cpu_tasks(r.n_batch * r.q.rows * r.key.rows * r.q.cols, GRAIN);
	if (r.n_tasks > r.n_batch * r.n_blocks)
		r.n_tasks = (int)(r.n_batch * r.n_blocks);
	if (r.n_tasks > 4 * k->ctx->n_threads && r.n_tasks > r.n_batch)
		r.n_tasks =
			r.n_batch > 4 * k->ctx->n_threads ? (int)r.n_batch : 4 * k->ctx->n_threads;
	cpu_parallel(k->ctx, r.n_tasks, attention_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}
