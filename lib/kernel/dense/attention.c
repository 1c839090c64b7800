/* attention.c - see attention.h. */
#include "kernel/dense/attention.h"
#include "kernel/transpose.h"
#include "kernel/vec.h"
#include "kernel/gemm/vnni_gemm.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
	GRAIN = 1 << 17,   /* multiply-adds of a task */
	ROWS = 8 * GEMM_M, /* in bf16, whose scores stay in the second-level cache */
	FEW_ROWS = 4,      /* up to so many packing takes longer than products */
	FEW = 6144 /* (rows + keys) * (both widths): up to so much what is around the products takes longer */
};

struct attention_work {
	const struct attention *a;
	struct cpu_ctx *ctx;
	int64_t n_batch, rows, n_blocks; /* rows of a block, blocks of a matrix */
	bool bf16;                       /* queries, keys, weights and values are rounded */
	bool no_mask;                    /* it hides nothing */
	const float *
		mask_rows; /* (masks, keys) where all rows of each mask are one: what it adds; NULL: they are not */
	int n_tasks;
	atomic_bool failed;
};

struct attention_rows attention_rows_of(const struct tensor *t)
{
	struct attention_rows x = {.rows = t->dim[t->rank - 2], .cols = t->dim[t->rank - 1]};
	int64_t step = x.rows * x.cols;
	x.ld = x.cols;
	x.batch = *t;
	x.batch.rank = t->rank - 2;
	for (uint32_t d = x.batch.rank; d-- > 0; step *= x.batch.dim[d])
		x.step[d] = step;
	return x;
}

/* Row y of the matrix that meets number i of those that have the leading dims `over`. */
static float *row_of(const struct attention_rows *x, const struct tensor *over, int64_t i,
		     int64_t y)
{
	float *p = x->data + y * x->ld;
	for (uint32_t d = 0; d < over->rank && d < x->batch.rank;
	     d++) { /* from the innermost dim */
		uint32_t own = x->batch.rank - 1 - d;
		int64_t size = over->dim[over->rank - 1 - d];
		if (x->batch.dim[own] != 1)
			p += i % size * x->step[own];
		i /= size;
	}
	return p;
}

/* Keys and their width. */
static int64_t n_keys(const struct attention *a)
{
	return a->turned ? a->key.cols : a->key.rows;
}

/* Which of the stack's own matrices belongs to matrix i. */
static int64_t stack_matrix(const struct attention_stack *x, int64_t i)
{
	return operand_batch(&x->over, &x->batch, i);
}

/* A mask of matrix i of the batch, from row y0 on, as attention_rows.h takes it. */
static void see_mask(const struct attention_mask *m, int64_t i, int64_t y0, struct attend *a)
{
	a->boolean = m->boolean;
	a->mask_row = m->rows == 1 ? 0 : m->cols;
	a->mask_col = m->cols == 1 ? 0 : 1;
	a->mask = m->at.data + stack_matrix(&m->at, i) * m->rows * m->cols + y0 * a->mask_row;
}

/* The one mask, or that of causal attention; several are added up elsewhere (add_masks). */
static void find_mask(const struct attention_work *r, int64_t i, int64_t y0, struct attend *a)
{
	const struct attention_mask *m = &r->a->mask[0];
	if (r->a->causal) {
		a->causal = y0 + 1;
		return;
	}
	if (r->a->n_masks != 1 || r->no_mask)
		return;
	if (r->mask_rows) {
		a->mask = r->mask_rows + stack_matrix(&m->at, i) * m->cols;
		a->mask_col = 1;
		return;
	}
	see_mask(m, i, y0, a);
}

/* Is the mask one of several matrices, as a look at all of it is soon done, and hides nothing? */
static bool hides_nothing(const struct attention_work *r)
{
	struct attend a = {.mask = NULL};
	const struct attention_mask *m = &r->a->mask[0];
	find_mask(r, 0, 0, &a);
	if (!a.mask || a.mask_col != 1)
		return false;
	int64_t cols = m->cols, rows = tensor_elements(&m->at.batch) * m->rows;
	if (rows == 0 || rows > INT32_MAX || 2 * rows > r->n_batch * r->a->q.rows)
		return false;
	a.mask = m->at.data;
	a.mask_row = cols;
	a.rows = (int)rows;
	return attend_sees_all(&a, 0, cols);
}

/* Where all rows of each mask are one, as those that hide the padding behind sentences, or where there is only one: these
 * rows, as numbers to add, into *out; NULL: they are not, or a look at all of it would take too long. */
static int find_rows(const struct attention_work *r, const float **out, struct err *e)
{
	struct attend a = {.mask = NULL};
	const struct attention_mask *m = &r->a->mask[0];
	*out = NULL;
	find_mask(r, 0, 0, &a);
	if (!a.mask || a.causal || a.mask_col != 1)
		return 0;
	int64_t cols = m->cols, rows = m->rows, n = tensor_elements(&m->at.batch), all = n * rows;
	if (cols == 0 || all == 0 || (rows > 1 && 2 * all > r->n_batch * r->a->q.rows))
		return 0;
	const float *data = m->at.data;
	for (int64_t y = 1; y < all; y++)
		if (y % rows != 0 && memcmp(data + y * cols, data + (y - 1) * cols,
					    (size_t)cols * sizeof *data) != 0)
			return 0;
	float *p = cpu_slot_scratch(r->ctx, SLOT_EXTRA, (size_t)(n * cols) * sizeof *p);
	if (!p)
		return cpu_no_memory(e);
	for (int64_t i = 0; i < n; i++)
		memcpy(p + i * cols, data + i * rows * cols, (size_t)cols * sizeof *p);
	if (a.boolean)
		attend_from_boolean(p, n * cols);
	*out = p;
	return 0;
}

/* Add one mask to n scores s of a row. */
static void add_row(const struct attend *a, const float *row, float *s, int64_t n)
{
	if (a->mask_col && a->boolean)
		attend_hide(row, s, n);
	else if (a->mask_col)
		vec_axpy(1, row, s, n);
	else
		for (int64_t x = 0; x < n; x++)
			s[x] += a->boolean ? (*row != 0 ? 0 : -INFINITY) : *row;
}

/* Add all masks to numbers s (y1 - y0, len), ld apart, of rows y0 .. y1 - 1: f32 added, boolean false is minus
 * infinity. */
static void add_masks(const struct attention_work *r, int64_t i, float *s, int64_t y0, int64_t y1,
		      int64_t len, int64_t ld)
{
	for (int64_t y = y0; y < y1 && r->a->causal; y++)
		for (int64_t x = y + 1; x < len; x++)
			s[(y - y0) * ld + x] = -INFINITY;
	for (int m = 0; m < r->a->n_masks && !r->a->causal; m++) {
		struct attend a = {.mask = NULL};
		if (r->a->n_masks == 1)
			find_mask(r, i, y0, &a);
		else
			see_mask(&r->a->mask[m], i, y0, &a);
		for (int64_t y = 0; y < y1 - y0 && a.mask; y++, a.mask += a.mask_row)
			add_row(&a, a.mask, s + y * ld, len);
	}
}

/* Masks that are rows of numbers to add, from row y0 of matrix i on: how many, into at and step; -1: some are not. */
static int plain_masks(const struct attention_work *r, int64_t i, int64_t y0, const float **at,
		       int64_t *step)
{
	int n = 0;
	for (int m = 0; m < r->a->n_masks && !r->a->causal && !r->no_mask; m++) {
		struct attend a = {.mask = NULL};
		if (r->a->n_masks == 1)
			find_mask(r, i, y0, &a);
		else
			see_mask(&r->a->mask[m], i, y0, &a);
		if (a.boolean || a.mask_col != 1)
			return -1;
		at[n] = a.mask;
		step[n++] = a.mask_row;
	}
	return r->a->causal ? -1 : n;
}

/* Scores s (rows y0 .. y1 - 1, len), ld apart, of matrix i become weights, rounded, in rows of `narrow`; by[y]: one over the
 * sum of row y, before rounding. */
static void weigh_rows(const struct attention_work *r, int64_t i, int64_t y0, int64_t y1, float *s,
		       int64_t ld, const struct attend *a, uint16_t *narrow, float *by)
{
	struct pairs_scores x = {.x = s,
				 .ld = ld,
				 .rows = y1 - y0,
				 .k = a->len,
				 .least = a->sink,
				 .least_step = a->sink_step};
	float top[ROWS];
	x.n_add = plain_masks(r, i, y0, x.add, x.add_step);
	if (x.n_add < 0) {
		add_masks(r, i, s, y0, y1, a->len, ld);
		x.n_add = 0;
	}
	pairs_weights(narrow, &x, top, by);
	for (int64_t y = 0; y < x.rows; y++)
		by[y] = by[y] > 0 ? 1 / by[y] : 1; /* 0: nothing to attend to */
}

/* The scores of the sink for matrix i of the batch, from row y0 on; *step from one row to the next. */
static const float *sink_rows(const struct attention *a, int64_t i, int64_t y0, int64_t *step)
{
	if (!a->sink.data)
		return NULL;
	*step = a->sink_rows > 1;
	return a->sink.data + stack_matrix(&a->sink, i) * a->sink_rows + y0 * *step;
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

static struct attention_room room_of(const struct attention_work *r)
{
	int64_t d = r->a->q.cols, len = n_keys(r->a), dv = r->a->v.cols, most = d > len ? d : len;
	struct attention_room x = {r->rows * score_step(len), pairs_a_elements(r->rows, most) / 2,
				   pairs_b_elements(d, len) / 2, pairs_b_elements(len, dv) / 2};
	return (struct attention_room){(x.scores + 15) / 16 * 16, (x.a + 15) / 16 * 16,
				       (x.key + 15) / 16 * 16, (x.value + 15) / 16 * 16};
}

/* Floats of a task's scratch in f32: what attend needs, then keys, turned, then masks, added up. */
struct attend_room {
	int64_t attend, key, mask;
};

static struct attend_room f32_room_of(const struct attention_work *r)
{
	int64_t d = r->a->q.cols, len = n_keys(r->a);
	return (struct attend_room){(attend_floats(len, d, r->a->v.cols) + 15) / 16 * 16,
				    r->a->turned ? (len * d + 15) / 16 * 16 : 0,
				    r->a->n_masks > 1 ? r->rows * len : 0};
}

static int64_t room_floats(const struct attention_work *r)
{
	struct attention_room x = room_of(r);
	struct attend_room y = f32_room_of(r);
	return r->bf16 ? x.scores + x.a + x.key + x.value : y.attend + y.key + y.mask;
}

/* Rows y0 .. y1 - 1 of matrix i: what they attend to. */
static struct attend attend_of(const struct attention_work *r, int64_t i, int64_t y0, int64_t y1)
{
	const struct attention *s = r->a;
	struct attend a = {.len = n_keys(s),
			   .d = s->q.cols,
			   .dv = s->v.cols,
			   .rows = (int)(y1 - y0),
			   .q_row = s->q.ld,
			   .k_row = s->key.ld,
			   .v_row = s->v.ld,
			   .y_row = s->y.ld,
			   .scale = s->scale,
			   .grids = s->grids};
	if (s->scales.data)
		a.scale *= s->scales.data[stack_matrix(&s->scales, i)];
	a.q = row_of(&s->q, &s->batch, i, y0);
	a.k = row_of(&s->key, &s->batch, i, 0);
	a.v = row_of(&s->v, &s->v_batch, i, 0);
	a.y = row_of(&s->y, &s->v_batch, i, y0);
	a.sink = sink_rows(s, i, y0, &a.sink_step);
	return a;
}

/* The same in bf16.  packed: keys and values of this matrix are. */
static void attend_narrow(const struct attention_work *r, int64_t i, int64_t y0, int64_t y1,
			  float *s, bool packed)
{
	struct attend a = attend_of(r, i, y0, y1);
	struct attention_room room = room_of(r);
	float by[ROWS];
	uint16_t *narrow = (uint16_t *)(void *)(s + room.scores);
	uint16_t *key = narrow + 2 * room.a, *value = key + 2 * room.key;
	if (!packed) {
		pairs_pack_b_of(key, a.k, a.k_row, a.d, a.len, !r->a->turned);
		pairs_pack_b_of(value, a.v, a.v_row, a.len, a.dv, false);
	}
	pairs_pack_a_of(narrow, a.q, a.q_row, a.rows, a.d, a.scale);
	int64_t ld = score_step(a.len);
	pairs_multiply(narrow, key, a.rows, a.len, a.d, s, ld);
	weigh_rows(r, i, y0, y1, s, ld, &a, narrow, by);
	if (a.y_row == a.dv)
		pairs_multiply(narrow, value, a.rows, a.dv, a.len, a.y, a.dv);
	for (int64_t x = 0; a.y_row != a.dv && x < a.dv; x += PAIRS_N)
		pairs_panel(narrow, value + pairs_b_elements(a.len, x), a.rows,
			    a.dv - x < PAIRS_N ? a.dv - x : PAIRS_N, a.len, a.y + x, a.y_row,
			    false);
	for (int64_t y = 0; y < a.rows; y++)
		for (int64_t x = 0; x < a.dv; x++)
			a.y[y * a.y_row + x] *= by[y];
}

/* The same in f32. */
static void attend_rows(const struct attention_work *r, int64_t i, int64_t y0, int64_t y1, float *s,
			bool packed)
{
	struct attend a = attend_of(r, i, y0, y1);
	struct attend_room room = f32_room_of(r);
	float *key = s + room.attend, *mask = key + room.key;
	find_mask(r, i, y0, &a);
	if (r->a->turned && !packed)
		cpu_turn(a.k, a.k_row, a.d, a.len, key, a.d);
	if (r->a->turned) {
		a.k = key;
		a.k_row = a.d;
	}
	if (r->a->n_masks > 1) {
		memset(mask, 0, (size_t)(a.rows * a.len) * sizeof *mask);
		add_masks(r, i, mask, y0, y1, a.len, a.len);
		a.mask = mask;
		a.mask_row = a.len;
		a.mask_col = 1;
	}
	a.keys_there = packed && a.rows > ATTEND_FEW;
	attend(&a, s);
}

/* Blocks of rows of all matrices; those of one matrix that meet in a task share what is packed. */
static void attention_task(void *arg, int task, int thread)
{
	struct attention_work *r = arg;
	int64_t lo, hi, packed = -1, l = r->a->q.rows;
	float *s = cpu_thread_scratch(r->ctx, thread, (size_t)room_floats(r) * sizeof *s);
	if (!s) {
		r->failed = true;
		return;
	}
	cpu_range(r->n_batch * r->n_blocks, r->n_tasks, task, &lo, &hi);
	for (int64_t t = lo; t < hi; t++) {
		int64_t i = t / r->n_blocks, y0 = t % r->n_blocks * r->rows, y1 = y0 + r->rows;
		y1 = y1 < l ? y1 : l;
		(r->bf16 ? attend_narrow : attend_rows)(r, i, y0, y1, s, i == packed);
		packed = i;
	}
}

/* Are its products in bf16?  values: their width. */
static bool is_narrow(const struct attention *a, const struct cpu_ctx *ctx, int64_t values)
{
	return ctx->bf16_products && pairs_there() && a->q.rows > FEW_ROWS &&
	       (a->q.rows + n_keys(a)) * (a->q.cols + values) > FEW;
}

bool attention_pays(const struct attention *a, const struct cpu_ctx *ctx)
{
	int64_t l = a->q.rows, rest = l % ATTEND_ROWS;
	int64_t columns = l - rest + (rest > 16 ? ATTEND_ROWS : rest > 0 ? 16 : 0);
	return is_narrow(a, ctx, a->v.cols ? a->v.cols : a->q.cols) || 5 * columns <= 6 * l;
}

int attention_run(const struct attention *a, struct cpu_ctx *ctx, struct err *e)
{
	struct attention_work r = {.a = a, .ctx = ctx};
	r.bf16 = is_narrow(a, ctx, a->v.cols);
	r.n_batch = tensor_elements(&a->batch);
	r.rows = r.bf16 ? ROWS : ATTEND_ROWS;
	r.rows = a->q.rows < r.rows ? a->q.rows : r.rows;
	r.n_blocks = r.rows ? (a->q.rows + r.rows - 1) / r.rows : 0;
	r.n_tasks = cpu_tasks(r.n_batch * a->q.rows * n_keys(a) * a->q.cols, GRAIN);
	r.no_mask = hides_nothing(&r);
	if (find_rows(&r, &r.mask_rows, e) < 0)
		return -1;
	if (r.n_tasks > r.n_batch * r.n_blocks)
		r.n_tasks = (int)(r.n_batch * r.n_blocks);
	if (r.n_tasks > 4 * ctx->n_threads && r.n_tasks > r.n_batch)
		r.n_tasks = r.n_batch > 4 * ctx->n_threads ? (int)r.n_batch : 4 * ctx->n_threads;
	cpu_parallel(ctx, r.n_tasks, attention_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}
