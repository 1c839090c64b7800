/* attention_rows.c - see attention_rows.h. */
#include "kernel/dense/attention_rows.h"
#include "kernel/dense/attention_quantized.h"
#include "kernel/transpose.h"
#include "kernel/vec.h"
#include "kernel/gemm/gemm.h"

#include <math.h>
#include <string.h>

_Static_assert((int)ATTEND_ROWS == (int)GEMM_N && (int)CODES_ROWS == (int)GEMM_N,
	       "rows are the columns of one panel");

enum {
	KEYS = 8 * GEMM_M /* whose values and weights stay in the first-level cache */
};

#define LEVEL_FILE "kernel/dense/attention_rows_loops.h"
#include "kernel/isa_dispatch.h"

/* All (.., GEMM_N) */
struct room {
	float *q, *s, *y, *mask, *top, *sum;
	char *queries, *keys; /* as codes */
	int width;            /* the columns in use: 16, or all */
};

static int64_t code_floats(int64_t len, int64_t d)
{
	return (attend_codes_queries(d) + attend_codes_keys(len, d)) / 4;
}

int64_t attend_floats(int64_t len, int64_t d, int64_t dv)
{
	return (d + len + dv + KEYS + 2) * GEMM_N + code_floats(len, d);
}

static struct room room_at(const struct attend *a, float *p)
{
	struct room r = {.q = p, .width = a->rows > 16 ? GEMM_N : 16};
	r.s = r.q + a->d * GEMM_N;
	r.y = r.s + a->len * GEMM_N;
	r.mask = r.y + a->dv * GEMM_N;
	r.top = r.mask + KEYS * GEMM_N;
	r.sum = r.top + GEMM_N;
	r.queries = (char *)(r.sum + GEMM_N);
	r.keys = r.queries + attend_codes_queries(a->d);
	return r;
}

bool attend_sees_all(const struct attend *a, int64_t x0, int64_t x1)
{
	if (a->mask_col != 1)
		return false;
	return LEVEL_CALL(all_are, a->mask + x0, a->mask_row, a->mask_row ? a->rows : 1, x1 - x0,
			  a->boolean ? 1 : 0);
}

void attend_from_boolean(float *mask, int64_t n)
{
	LEVEL_CALL(from_boolean, mask, n);
}

void attend_hide(const float *mask, float *scores, int64_t n)
{
	LEVEL_CALL(hide, mask, scores, n);
}

/* Is the mask one row for all, which adds numbers? */
static bool is_one_row(const struct attend *a)
{
	return a->mask && !a->causal && a->mask_row == 0 && a->mask_col == 1 && !a->boolean;
}

/* Keys up to the last one that a row may see. */
static int64_t seen_keys(const struct attend *a)
{
	int64_t len = a->len, last = a->causal + a->rows - 1;
	if (a->causal && last < len)
		len = last;
	while (len > 0 && is_one_row(a) && a->mask[len - 1] == -INFINITY)
		len--;
	return len;
}

/* The mask of keys x0 .. x1 - 1, turned. */
static void fill_mask(const struct attend *a, int64_t x0, int64_t x1, float *m)
{
	const float *from = a->mask + x0 * a->mask_col;
	if (a->mask_col == 1 && a->mask_row)
		cpu_turn(from, a->mask_row, a->rows, x1 - x0, m, GEMM_N);
	else
		for (int64_t x = 0; x < x1 - x0; x++)
			for (int y = 0; y < a->rows; y++)
				m[x * GEMM_N + y] = from[y * a->mask_row + x * a->mask_col];
	if (a->boolean)
		LEVEL_CALL(from_boolean, m, (x1 - x0) * GEMM_N);
}

/* Scores of keys x0 .. x1 - 1, and the greatest so far. */
static void score(const struct attend *a, const struct room *r, int64_t x0, int64_t x1)
{
	struct gemm_block g = {.nr = r->width,
			       .kc = a->d,
			       .a_row = a->k_row,
			       .b = r->q,
			       .ldb = GEMM_N,
			       .ldc = GEMM_N,
			       .ahead_step = GEMM_M * sizeof(float)};
	if (a->grids)
		attend_codes_score(&a->grids->q, &a->grids->k, a->scale, r->queries, r->keys,
				   a->len, a->d, x0, x1, r->s + x0 * GEMM_N);
	for (int64_t x = x0; x < x1 && !a->grids; x += GEMM_M) {
		g.mr = x1 - x < GEMM_M ? (int)(x1 - x) : GEMM_M;
		g.a = a->k + x * a->k_row;
		g.ahead = a->k + (x + GEMM_M) * a->k_row;
		g.c = r->s + x * GEMM_N;
		gemm_multiply(&g);
	}
	if (a->causal) {
		for (int64_t x = x0; x < x1; x++)
			for (int64_t y = 0; y < a->rows && y + a->causal <= x; y++)
				r->s[x * GEMM_N + y] = -INFINITY;
	} else if (is_one_row(a)) {
		LEVEL_CALL(add_each, a->mask + x0, x1 - x0, r->width, r->s + x0 * GEMM_N);
	} else if (a->mask && !attend_sees_all(a, x0, x1)) {
		fill_mask(a, x0, x1, r->mask);
		LEVEL_CALL(add, r->mask, x1 - x0, r->width, r->s + x0 * GEMM_N);
	}
	LEVEL_CALL(top, r->s + x0 * GEMM_N, x1 - x0, r->width, r->top);
}

/* Y^T += what keys x0 .. x1 - 1 add, whose scores become weights. */
static void mix(const struct attend *a, const struct room *r, int64_t x0, int64_t x1)
{
	struct gemm_block g = {.nr = r->width,
			       .kc = x1 - x0,
			       .a_col = a->v_row,
			       .b = r->s + x0 * GEMM_N,
			       .ldb = GEMM_N,
			       .ldc = GEMM_N,
			       .add = x0 > 0,
			       .ahead = r->s + x1 * GEMM_N};
	LEVEL_CALL(weights, r->s + x0 * GEMM_N, x1 - x0, r->width, r->top, r->sum);
	for (int64_t i = 0; i < a->dv; i += GEMM_M) {
		g.mr = a->dv - i < GEMM_M ? (int)(a->dv - i) : GEMM_M;
		g.a = a->v + x0 * a->v_row + i;
		g.c = r->y + i * GEMM_N;
		gemm_multiply(&g);
	}
}

/* Before the weights: the sink's score counts, and rows that may attend to nothing get weights of 0. */
static void begin_sums(const struct attend *a, const struct room *r)
{
	for (int y = 0; y < GEMM_N; y++) {
		float sink = a->sink && y < a->rows ? a->sink[y * a->sink_step] : -INFINITY;
		r->top[y] = sink > r->top[y] ? sink : r->top[y];
		r->top[y] = r->top[y] == -INFINITY ? 0 : r->top[y];
		r->sum[y] = expf(sink - r->top[y]);
	}
}

/* One row: the same, by vectors of it. */
static void attend_row(const struct attend *a, int y, int64_t len, float *s)
{
	const float *q = a->q + y * a->q_row, *mask = a->mask ? a->mask + y * a->mask_row : NULL;
	float *to = a->y + y * a->y_row, sink = a->sink ? a->sink[y * a->sink_step] : -INFINITY;
	if (a->causal && a->causal + y < len)
		len = a->causal + y;
	for (int64_t x = 0; x < len; x++) {
		float v = !mask || a->causal ? 0 : mask[x * a->mask_col];
		v = a->boolean ? (v != 0 ? 0 : -INFINITY) : v;
		s[x] = v + a->scale * vec_dot(q, a->k + x * a->k_row, a->d);
	}
	float top = vec_max(s, len);
	top = sink > top ? sink : top;
	top = top == -INFINITY ? 0 : top;
	float sum = vec_exp_sum(s, top, s, len) + expf(sink - top);
	memset(to, 0, (size_t)a->dv * sizeof *to);
	for (int64_t x = 0; x < len; x++)
		vec_axpy(s[x], a->v + x * a->v_row, to, a->dv);
	vec_scale_shift(to, sum > 0 ? 1 / sum : 1, 0, to, a->dv);
}

void attend(const struct attend *a, float *scratch)
{
	struct room r = room_at(a, scratch);
	int64_t len = seen_keys(a);
	float by[GEMM_N];
	for (int y = 0; a->rows <= ATTEND_FEW && y < a->rows; y++)
		attend_row(a, y, len, scratch);
	if (a->rows <= ATTEND_FEW)
		return;
	if (a->rows < r.width)
		memset(r.q, 0, (size_t)(a->d * GEMM_N) * sizeof *r.q);
	for (int y = 0; y < GEMM_N; y++) {
		by[y] = a->scale;
		r.top[y] = -INFINITY;
	}
	if (len == 0)
		memset(r.y, 0, (size_t)(a->dv * GEMM_N) * sizeof *r.y);
	if (a->grids) {
		attend_codes_pack_queries(&a->grids->q, a->q, a->rows, a->d, r.queries);
		if (!a->keys_there)
			attend_codes_pack_keys(&a->grids->k, a->k, a->len, a->d, r.keys);
	} else {
		cpu_turn(a->q, a->q_row, a->rows, a->d, r.q, GEMM_N);
		LEVEL_CALL(scale, r.q, a->d, r.width, by);
	}
	for (int64_t x = 0; x < len; x += KEYS)
		score(a, &r, x, x + KEYS < len ? x + KEYS : len);
	begin_sums(a, &r);
	for (int64_t x = 0; x < len; x += KEYS)
		mix(a, &r, x, x + KEYS < len ? x + KEYS : len);
	for (int y = 0; y < GEMM_N; y++)
		by[y] = r.sum[y] > 0 ? 1 / r.sum[y] : 1;
	LEVEL_CALL(scale, r.y, a->dv, r.width, by);
	cpu_turn(r.y, GEMM_N, a->dv, a->rows, a->y, a->y_row);
}
