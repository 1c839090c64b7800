/* cpu_attention.c - ScaledDotProductAttention: in f32 a few rows at a time (cpu_attend.h), or on packed products of
 * bf16 where the context computes those so. */
#include "kernel/dense/cpu_attend.h"
#include "kernel/gemm/cpu_pairs.h"
#include "kernel/gemm/cpu_product.h"
#include "kernel/cpu_vec.h"
#include "op/slice.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
	GRAIN = 1 << 17,   /* multiply-adds of a task */
	ROWS = 8 * GEMM_M, /* in bf16, whose scores stay in the second-level cache */
	FEW_ROWS = 4,      /* up to so many packing takes longer than products */
	FEW = 6144 /* (rows + keys) * (both widths): up to so much what is around the products takes longer */
};

struct attention_run {
	const struct kernel_call *k;
	struct operand q, key, v;
	struct tensor batch, mask_batch, sink_batch;
	int64_t n_batch, rows, n_blocks; /* rows of a block, blocks of a matrix */
	float scale;
	const struct attend_grids *grids; /* NULL: none */
	bool bf16;                        /* queries, keys, weights and values are rounded */
	bool no_mask;                     /* it hides nothing */
	const float *
		mask_rows; /* (masks, keys) where all rows of each mask are one: what it adds; NULL: they are not */
	int n_tasks;
	atomic_bool failed;
};

/* The mask of matrix i of the batch, from row y0 on, as cpu_attend.h takes it. */
static void find_mask(const struct attention_run *r, int64_t i, int64_t y0, struct attend *a)
{
	const struct op *op = r->k->op;
	const struct tensor *mask = op->n_in > 3 ? &r->k->in[3] : NULL;
	if (op->a.attention.causal) {
		a->causal = y0 + 1;
		return;
	}
	if (!mask || !mask->data || mask->rank < 2 || r->no_mask)
		return;
	int64_t rows = mask->dim[mask->rank - 2], cols = mask->dim[mask->rank - 1];
	int64_t number = operand_batch(&r->batch, &r->mask_batch, i);
	if (r->mask_rows) {
		a->mask = r->mask_rows + number * cols;
		a->mask_col = 1;
		return;
	}
	int in = op->g->in_ptr[op->v] + 3;
	a->boolean = op->g->out_elem[op->g->out_ptr[op->g->in_node[in]] + op->g->in_port[in]] ==
		     EL_BOOLEAN;
	a->mask_row = rows == 1 ? 0 : cols;
	a->mask_col = cols == 1 ? 0 : 1;
	a->mask = (const float *)mask->data + number * rows * cols + y0 * a->mask_row;
}

/* Is the mask one of several matrices, as a look at all of it is soon done, and hides nothing? */
static bool hides_nothing(const struct attention_run *r)
{
	struct attend a = {.mask = NULL};
	find_mask(r, 0, 0, &a);
	if (!a.mask || a.mask_col != 1)
		return false;
	const struct tensor *mask = &r->k->in[3];
	int64_t cols = mask->dim[mask->rank - 1], rows = cols ? tensor_elements(mask) / cols : 0;
	if (rows == 0 || rows > INT32_MAX || 2 * rows > r->n_batch * r->q.rows)
		return false;
	a.mask = mask->data;
	a.mask_row = cols;
	a.rows = (int)rows;
	return attend_sees_all(&a, 0, cols);
}

/* Where all rows of each mask are one, as those that hide the padding behind sentences, or where there is only one: these
 * rows, as numbers to add, into *out; NULL: they are not, or a look at all of it would take too long. */
static int find_rows(const struct attention_run *r, const float **out, struct err *e)
{
	struct attend a = {.mask = NULL};
	*out = NULL;
	find_mask(r, 0, 0, &a);
	if (!a.mask || a.causal || a.mask_col != 1)
		return 0;
	const struct tensor *mask = &r->k->in[3];
	int64_t cols = mask->dim[mask->rank - 1], rows = mask->dim[mask->rank - 2];
	int64_t all = cols ? tensor_elements(mask) / cols : 0, n = rows ? all / rows : 0;
	if (n == 0 || (rows > 1 && 2 * all > r->n_batch * r->q.rows))
		return 0;
	const float *data = mask->data;
	for (int64_t y = 1; y < all; y++)
		if (y % rows != 0 && memcmp(data + y * cols, data + (y - 1) * cols,
					    (size_t)cols * sizeof *data) != 0)
			return 0;
	float *p = cpu_slot_scratch(r->k->ctx, SLOT_EXTRA, (size_t)(n * cols) * sizeof *p);
	if (!p)
		return cpu_no_memory(e);
	for (int64_t i = 0; i < n; i++)
		memcpy(p + i * cols, data + i * rows * cols, (size_t)cols * sizeof *p);
	if (a.boolean)
		attend_from_boolean(p, n * cols);
	*out = p;
	return 0;
}

/* Add the mask to scores s (y1 - y0, len), ld apart, of rows y0 .. y1 - 1: f32 added, boolean false is minus
 * infinity. */
static void add_mask(const struct attention_run *r, int64_t i, float *s, int64_t y0, int64_t y1,
		     int64_t len, int64_t ld)
{
	struct attend a = {.mask = NULL};
	find_mask(r, i, y0, &a);
	for (int64_t y = 0; y < y1 - y0; y++, s += ld) {
		for (int64_t x = a.causal + y; a.causal && x < len; x++)
			s[x] = -INFINITY;
		struct attend one = a;
		one.rows = 1;
		one.mask = a.mask ? a.mask + y * a.mask_row : NULL;
		if (!one.mask || attend_sees_all(&one, 0, len))
			continue;
		const float *row = one.mask;
		if (a.mask_col && a.boolean)
			attend_hide(row, s, len);
		else if (a.mask_col)
			vec_axpy(1, row, s, len);
		else
			for (int64_t x = 0; x < len; x++) {
				s[x] += a.boolean ? (*row != 0 ? 0 : -INFINITY) : *row;
			}
	}
}

/* e^(s - greatest) of scores s (rows, n), ld apart, rounded into rows of `narrow`; by[y]: one over the sum of row y,
 * before rounding.  sink: a score of each row (`step` apart) to which nothing belongs, or NULL. */
static void weigh_rows(const float *s, int64_t rows, int64_t n, int64_t ld, const float *sink,
		       int64_t step, uint16_t *narrow, float *by)
{
	for (int64_t y = 0; y < rows; y++, s += ld) {
		float top = vec_max(s, n), least = sink ? sink[y * step] : -INFINITY;
		top = least > top ? least : top;
		top = top == -INFINITY ? 0 : top; /* nothing to attend to: all are 0 */
		float sum = least == -INFINITY ? 0 : expf(least - top);
		sum += pairs_weights(narrow, y, s, n, top);
		by[y] = sum > 0 ? 1 / sum : 1;
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

/* Floats of a task's scratch in bf16: scores of a block of rows, A packed, keys and values packed. */
struct attention_room {
	int64_t scores, a, key, value;
};

/* Floats from one row of scores to the next: whole panels of keys, and an odd number of lines, as rows of any length meet
 * all sets of the first-level cache. */
static int64_t score_step(int64_t len)
{
	return (((len + PAIRS_N - 1) / PAIRS_N * PAIRS_N / 16) | 1) * 16;
}

static struct attention_room room_of(const struct attention_run *r)
{
	int64_t d = r->q.cols, len = r->key.rows, dv = r->v.cols, most = d > len ? d : len;
	struct attention_room x = {r->rows * score_step(len), pairs_a_elements(r->rows, most) / 2,
				   pairs_b_elements(d, len) / 2, pairs_b_elements(len, dv) / 2};
	return (struct attention_room){(x.scores + 15) / 16 * 16, (x.a + 15) / 16 * 16,
				       (x.key + 15) / 16 * 16, (x.value + 15) / 16 * 16};
}

static int64_t room_floats(const struct attention_run *r)
{
	struct attention_room x = room_of(r);
	return r->bf16 ? x.scores + x.a + x.key + x.value
		       : attend_floats(r->key.rows, r->q.cols, r->v.cols);
}

/* Rows y0 .. y1 - 1 of matrix i: what they attend to. */
static struct attend attend_of(const struct attention_run *r, int64_t i, int64_t y0, int64_t y1)
{
	int64_t d = r->q.cols, len = r->key.rows, dv = r->v.cols;
	struct attend a = {.len = len,
			   .d = d,
			   .dv = dv,
			   .rows = (int)(y1 - y0),
			   .scale = r->scale,
			   .grids = r->grids};
	a.q = (const float *)r->q.t->data +
	      (operand_batch(&r->batch, &r->q.batch, i) * r->q.rows + y0) * d;
	a.k = (const float *)r->key.t->data + operand_batch(&r->batch, &r->key.batch, i) * len * d;
	a.v = (const float *)r->v.t->data + operand_batch(&r->batch, &r->v.batch, i) * len * dv;
	a.y = (float *)r->k->out[0].data + (i * r->q.rows + y0) * dv;
	a.sink = sink_rows(r, i, &a.sink_step);
	if (a.sink)
		a.sink += y0 * a.sink_step;
	return a;
}

/* The same in bf16.  packed: keys and values of this matrix are. */
static void attend_narrow(const struct attention_run *r, int64_t i, int64_t y0, int64_t y1,
			  float *s, bool packed)
{
	struct attend a = attend_of(r, i, y0, y1);
	struct attention_room room = room_of(r);
	float by[ROWS];
	uint16_t *narrow = (uint16_t *)(void *)(s + room.scores);
	uint16_t *key = narrow + 2 * room.a, *value = key + 2 * room.key;
	if (!packed) {
		pairs_pack_b(key, a.k, a.d, a.len, true);
		pairs_pack_b(value, a.v, a.len, a.dv, false);
	}
	pairs_pack_a(narrow, a.q, a.rows, a.d, a.scale);
	int64_t ld = score_step(a.len);
	pairs_multiply(narrow, key, a.rows, a.len, a.d, s, ld);
	add_mask(r, i, s, y0, y1, a.len, ld);
	weigh_rows(s, a.rows, a.len, ld, a.sink, a.sink_step, narrow, by);
	pairs_multiply(narrow, value, a.rows, a.dv, a.len, a.y, a.dv);
	for (int64_t y = 0; y < a.rows; y++)
		vec_scale_shift(a.y + y * a.dv, by[y], 0, a.y + y * a.dv, a.dv);
}

/* Blocks of rows of all matrices; those of one matrix that meet in a task share what is packed. */
static void attention_task(void *arg, int task, int thread)
{
	struct attention_run *r = arg;
	int64_t lo, hi, packed = -1;
	float *s = cpu_thread_scratch(r->k->ctx, thread, (size_t)room_floats(r) * sizeof *s);
	if (!s) {
		r->failed = true;
		return;
	}
	cpu_range(r->n_batch * r->n_blocks, r->n_tasks, task, &lo, &hi);
	for (int64_t t = lo; t < hi; t++) {
		int64_t i = t / r->n_blocks, y0 = t % r->n_blocks * r->rows, y1 = y0 + r->rows;
		y1 = y1 < r->q.rows ? y1 : r->q.rows;
		if (r->bf16) {
			attend_narrow(r, i, y0, y1, s, i == packed);
			packed = i;
			continue;
		}
		struct attend a = attend_of(r, i, y0, y1);
		find_mask(r, i, y0, &a);
		a.keys_there = i == packed;
		attend(&a, s);
		packed = a.rows > ATTEND_FEW ? i : packed;
	}
}

int run_attention(const struct kernel_call *k, struct err *e)
{
	struct attention_run r = {.k = k, .grids = k->prep ? k->prep->more : NULL};
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
	r.bf16 = k->ctx->bf16_products && pairs_there() && r.q.rows > FEW_ROWS &&
		 (r.q.rows + r.key.rows) * (r.q.cols + r.v.cols) > FEW;
	r.n_batch = tensor_elements(&r.batch);
	r.rows = r.bf16 ? ROWS : ATTEND_ROWS;
	r.rows = r.q.rows < r.rows ? r.q.rows : r.rows;
	r.n_blocks = r.rows ? (r.q.rows + r.rows - 1) / r.rows : 0;
	r.n_tasks = cpu_tasks(r.n_batch * r.q.rows * r.key.rows * r.q.cols, GRAIN);
	r.no_mask = hides_nothing(&r);
	if (find_rows(&r, &r.mask_rows, e) < 0)
		return -1;
	if (r.n_tasks > r.n_batch * r.n_blocks)
		r.n_tasks = (int)(r.n_batch * r.n_blocks);
	if (r.n_tasks > 4 * k->ctx->n_threads && r.n_tasks > r.n_batch)
		r.n_tasks =
			r.n_batch > 4 * k->ctx->n_threads ? (int)r.n_batch : 4 * k->ctx->n_threads;
	cpu_parallel(k->ctx, r.n_tasks, attention_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}
