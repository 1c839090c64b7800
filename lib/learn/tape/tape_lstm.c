/* tape_lstm.c - a recurrent layer over a sequence, as one operation: the walk through time and
 * back, and one product for the gradient of the weights. */
#include "learn/tape/tape_op.h"
#include "learn/tape/tape_kernel.h"

#include <assert.h>
#include <string.h>

enum { X, W, START };

/* The layer's shape, and where its rows are. */
struct lstm {
	const struct tape_op *o;
	uint32_t steps, batch;
	size_t h;
	bool back;
};

static struct lstm lstm_of(const struct tape_op *o)
{
	return (struct lstm){.o = o,
			     .steps = o->y->rows / o->number,
			     .batch = o->number,
			     .h = o->x[W]->rows,
			     .back = o->backwards};
}

/* First row of the s-th step that is walked. */
static size_t row_of(const struct lstm *l, uint32_t s)
{
	return (size_t)(l->back ? l->steps - 1 - s : s) * l->batch;
}

/* [h | c] (batch,2h) before the s-th step, or NULL: zeros. */
static const float *state_before(const struct lstm *l, const float *y, uint32_t s)
{
	const struct mat *start = l->o->x[START];
	return s ? y + row_of(l, s - 1) * 2 * l->h : start ? start->v : NULL;
}

/* y (batch,n) = a (batch,k), rows a_row apart, w */
static void multiply(const struct lstm *l, float *y, const float *a, size_t a_row,
		     const struct packed *w)
{
	for (size_t i = 0; i < l->batch; i += PRODUCT_FEW) {
		const struct rows left = {a + i * a_row,
					  l->batch - i < PRODUCT_FEW ? l->batch - i : PRODUCT_FEW,
					  a_row, 1};
		product_few(y + i * w->n, w->n, &left, w);
	}
}

/* Keeps the gates of all steps at gates (steps * batch, 4h), or with `keep` false of one.  sum
 * (batch,4h) is scratch. */
static void walk(const struct lstm *l, const struct packed *w, float *y, float *gates, float *sum,
		 bool keep)
{
	size_t h = l->h;
	for (uint32_t s = 0; s < l->steps; s++) {
		size_t row = row_of(l, s);
		const float *state = state_before(l, y, s), *x = l->o->x[X]->v + row * 4 * h;
		float *g = gates + (keep ? row * 4 * h : 0);
		if (state)
			multiply(l, sum, state, 2 * h, w);
		for (size_t b = 0; b < l->batch; b++) {
			float *yb = y + (row + b) * 2 * h;
			kern_lstm(g + b * 4 * h, x + b * 4 * h, state ? sum + b * 4 * h : NULL,
				  state ? state + b * 2 * h + h : NULL, yb, yb + h, h);
		}
	}
}

/* pre (steps * batch, 4h) = the gradients of the gates' sums; dh, dc (batch,h) leave with those of
 * the start. */
static void walk_back(const struct lstm *l, const struct packed *wt, float *pre, float *dh,
		      float *dc)
{
	size_t h = l->h;
	const float *y = l->o->y->v, *gy = l->o->y->g;
	for (uint32_t s = l->steps; s-- > 0;) {
		size_t row = row_of(l, s);
		const float *state = state_before(l, y, s);
		for (size_t b = 0; b < l->batch; b++) {
			size_t at = (row + b) * 2 * h;
			kern_add(dh + b * h, gy + at, h);
			kern_add(dc + b * h, gy + at + h, h);
			kern_lstm_back(pre + (row + b) * 4 * h, dc + b * h, dh + b * h,
				       l->o->saved[0] + (row + b) * 4 * h,
				       state ? state + b * 2 * h + h : NULL, y + at + h, h);
		}
		multiply(l, dh, pre + row * 4 * h, 4 * h, wt);
	}
}

/* gw (h,4h) += sum over the steps of h_{s-1}^T pre_s; h is the first half of a row of y */
static void weights_back(struct tape *t, const struct lstm *l, const float *pre, float *gw)
{
	size_t h = l->h, n = (l->steps - 1) * (size_t)l->batch;
	size_t floats = product_outer_floats(n > l->batch ? n : l->batch, 4 * h);
	float *scratch = tape_buf(t, floats);
	/* Backwards the state before row r is that of row r + batch. */
	const struct rows before = {l->o->y->v + (l->back ? l->batch * 2 * h : 0), h, 1, 2 * h};
	product_outer(gw, 4 * h, &before, pre + (l->back ? 0 : l->batch * 4 * h), n, 4 * h,
		      scratch);
	if (l->o->x[START]) {
		const struct rows start = {l->o->x[START]->v, h, 1, 2 * h};
		product_outer(gw, 4 * h, &start, pre + row_of(l, 0) * 4 * h, l->batch, 4 * h,
			      scratch);
	}
	tape_buf_release(t, scratch, floats);
}

static void lstm_back(struct tape *t, struct tape_op *o)
{
	const struct lstm l = lstm_of(o);
	size_t n = l.batch * l.h, n_pre = (size_t)o->y->rows * 4 * l.h;
	float *pre = tape_buf(t, n_pre), *d = tape_buf(t, 2 * n);
	memset(d, 0, 2 * n * sizeof *d);
	const struct packed wt = tape_packed(t, o->x[W], true);
	walk_back(&l, &wt, pre, d, d + n);
	float *gw = tape_grad_add(t, o->x[W]);
	if (gw)
		weights_back(t, &l, pre, gw);
	tape_grad_pass(t, o->x[X], pre);
	float *gs = tape_grad_add(t, o->x[START]);
	for (size_t b = 0; gs && b < l.batch; b++) {
		kern_add(gs + b * 2 * l.h, d + b * l.h, l.h);
		kern_add(gs + b * 2 * l.h + l.h, d + n + b * l.h, l.h);
	}
	tape_buf_release(t, d, 2 * n);
	tape_buf_release(t, pre, n_pre);
}

struct mat *tape_lstm(struct tape *t, struct mat *x, struct mat *w, struct mat *start,
		      uint32_t batch, bool back)
{
	uint32_t h = w->rows;
	assert(w->cols == 4 * h && x->cols == 4 * h && batch > 0 && x->rows % batch == 0);
	assert(!start || (start->rows == batch && start->cols == 2 * h));
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, 2 * h, &v, &o, lstm_back, TAPE_IN(x, w, start));
	bool keep = y->wants;
	size_t n_sum = (size_t)batch * 4 * h, n = keep ? (size_t)x->rows * 4 * h : n_sum;
	float *gates = tape_buf(t, n), *sum = tape_buf(t, n_sum);
	const struct packed packed = tape_packed(t, w, false);
	o->number = batch;
	o->backwards = back;
	const struct lstm l = lstm_of(o);
	walk(&l, &packed, v, gates, sum, keep);
	tape_buf_release(t, sum, n_sum);
	if (keep) {
		o->saved[0] = gates;
		o->n_saved = n;
	} else {
		tape_buf_release(t, gates, n);
	}
	return y;
}
