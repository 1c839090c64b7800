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

/* gates (batch,4h) += h w, h the first half of the rows of `state` */
static void add_product(const struct lstm *l, const float *state, float *gates)
{
	size_t h = l->h;
	const struct few_rows p = {l->batch,      h,     4 * h, state, 2 * h, 1,
				   l->o->x[W]->v, gates, 4 * h};
	kern_few_rows(&p);
}

/* Keeps the gates of all steps at gates (steps * batch, 4h), or with `keep` false of one. */
static void walk(const struct lstm *l, float *y, float *gates, bool keep)
{
	size_t h = l->h;
	for (uint32_t s = 0; s < l->steps; s++) {
		size_t row = row_of(l, s);
		float *g = gates + (keep ? row * 4 * h : 0);
		const float *state = state_before(l, y, s);
		memcpy(g, l->o->x[X]->v + row * 4 * h, l->batch * 4 * h * sizeof *g);
		if (state)
			add_product(l, state, g);
		for (size_t b = 0; b < l->batch; b++) {
			float *yb = y + (row + b) * 2 * h;
			kern_lstm(g + b * 4 * h, state ? state + b * 2 * h + h : NULL, yb, yb + h,
				  h);
		}
	}
}

/* d (batch,h) = pre (batch,4h) wt (4h,h) */
static void product_back(const struct lstm *l, const float *pre, const float *wt, float *d)
{
	size_t h = l->h;
	const struct few_rows p = {l->batch, 4 * h, h, pre, 4 * h, 1, wt, d, h};
	memset(d, 0, l->batch * h * sizeof *d);
	kern_few_rows(&p);
}

/* pre (steps * batch, 4h) = the gradients of the gates' sums; dh, dc (batch,h) leave with those of
 * the start. */
static void walk_back(const struct lstm *l, const float *wt, float *pre, float *dh, float *dc)
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
		product_back(l, pre + row * 4 * h, wt, dh);
	}
}

/* gw (h,4h) += the first half of the rows of state (n,2h) transposed, times pre (n,4h) */
static void add_outer(const struct lstm *l, const float *state, const float *pre, size_t n,
		      float *gw)
{
	enum { ROWS = 8 }; /* of gw, which stay in the cache */
	size_t h = l->h;
	for (size_t i = 0; i < h; i += ROWS) {
		const struct few_rows p = {h - i < ROWS ? h - i : ROWS,
					   n,
					   4 * h,
					   state + i,
					   1,
					   2 * h,
					   pre,
					   gw + i * 4 * h,
					   4 * h};
		kern_few_rows(&p);
	}
}

/* gw += sum over the steps of h_{s-1}^T pre_s */
static void weights_back(const struct lstm *l, const float *pre, float *gw)
{
	size_t h = l->h, n = (l->steps - 1) * (size_t)l->batch;
	const float *y = l->o->y->v, *after = pre;
	if (l->back) /* the state before row r is that of row r + batch */
		y += l->batch * 2 * h;
	else
		after += l->batch * 4 * h;
	add_outer(l, y, after, n, gw);
	if (l->o->x[START])
		add_outer(l, l->o->x[START]->v, pre + row_of(l, 0) * 4 * h, l->batch, gw);
}

static void lstm_back(struct tape *t, struct tape_op *o)
{
	const struct lstm l = lstm_of(o);
	size_t n = l.batch * l.h, n_pre = (size_t)o->y->rows * 4 * l.h;
	float *pre = tape_buf(t, n_pre), *d = tape_buf(t, 2 * n);
	memset(d, 0, 2 * n * sizeof *d);
	walk_back(&l, tape_transposed(t, o->x[W]), pre, d, d + n);
	float *gw = tape_grad_add(t, o->x[W]);
	if (gw)
		weights_back(&l, pre, gw);
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
	size_t n = (size_t)(keep ? x->rows : batch) * 4 * h;
	float *gates = tape_buf(t, n);
	o->number = batch;
	o->backwards = back;
	const struct lstm l = lstm_of(o);
	walk(&l, v, gates, keep);
	if (keep) {
		o->saved[0] = gates;
		o->n_saved = n;
	} else {
		tape_buf_release(t, gates, n);
	}
	return y;
}
