/* tape_lstm.c - a recurrent layer over sequences, as one operation: the walk through time and
 * back, and one product for the gradient of the weights. */
#include "learn/tape/tape_op.h"
#include "learn/tape/tape_kernel.h"
#include "learn/tape/tape_lstm_cell.h"

#include <assert.h>
#include <string.h>

enum { X, W, START };

/* The layer's shape, and where its rows are. */
struct lstm {
	const struct tape_op *o;
	uint32_t steps;
	const uint32_t *first; /* (steps + 1), as in struct sequences */
	size_t h;
	bool back;
};

static struct lstm lstm_of(const struct tape_op *o)
{
	return (struct lstm){.o = o,
			     .steps = o->number,
			     .first = o->index[0],
			     .h = o->x[W]->rows,
			     .back = o->backwards};
}

struct sequences tape_sequences(struct tape *t, const uint32_t *length, uint32_t n)
{
	uint32_t steps = n ? length[0] : 0, left = n;
	uint32_t *first = arena_raw(tape_arena(t), (size_t)steps + 1, sizeof *first);
	first[0] = 0;
	for (uint32_t s = 0; s < steps; s++) {
		while (length[left - 1] <= s)
			left--;
		first[s + 1] = first[s] + left;
	}
	return (struct sequences){steps, first};
}

/* ---- rows ---- */

/* One step of the walk: its rows [row, row + n), of which the first `old` go on from the rows `before`
 * and on of the step that was walked last.  The others begin. */
struct step {
	size_t row, n, old, before;
};

static struct step step_of(const struct lstm *l, uint32_t walked)
{
	uint32_t s = l->back ? l->steps - 1 - walked : walked;
	struct step p = {.row = l->first[s], .n = l->first[s + 1] - l->first[s]};
	if (walked == 0)
		return p;
	uint32_t last = l->back ? s + 1 : s - 1, n = l->first[last + 1] - l->first[last];
	p.before = l->first[last];
	p.old = n < p.n ? n : p.n;
	return p;
}

/* [h | c] before row b of a step; NULL: zeros. */
static const float *state_before(const struct lstm *l, const struct step *p, const float *y,
				 size_t b)
{
	const struct mat *start = l->o->x[START];
	size_t row = 2 * l->h;
	return b < p->old ? y + (p->before + b) * row : start ? start->v + b * row : NULL;
}

/* y (m,n) = a (m,k), rows a_row apart, w */
static void multiply(struct tape *t, float *y, const float *a, size_t m, size_t a_row,
		     const struct packed *w)
{
	const struct rows left = {a, m, a_row, 1};
	tape_few(t, y, w->n, &left, w);
}

/* ---- the walk and the way back ---- */

/* Keeps the gates of all rows at gates (rows,4h), or with `keep` false of one step.  sum (most
 * sequences, 4h) is scratch. */
static void walk(struct tape *t, const struct lstm *l, const struct packed *w, float *y,
		 float *gates, float *sum, bool keep)
{
	size_t h = l->h;
	for (uint32_t s = 0; s < l->steps; s++) {
		const struct step p = step_of(l, s);
		if (p.old)
			multiply(t, sum, y + p.before * 2 * h, p.old, 2 * h, w);
		if (p.old < p.n && l->o->x[START])
			multiply(t, sum + p.old * 4 * h, state_before(l, &p, y, p.old), p.n - p.old,
				 2 * h, w);
		for (size_t b = 0; b < p.n; b++) {
			const float *state = state_before(l, &p, y, b);
			float *yb = y + (p.row + b) * 2 * h;
			kern_lstm(
				&(struct lstm_cell){.gates = gates + (keep ? p.row + b : b) * 4 * h,
						    .x = l->o->x[X]->v + (p.row + b) * 4 * h,
						    .more = state ? sum + b * 4 * h : NULL,
						    .c_before = state ? state + h : NULL,
						    .h = yb,
						    .c = yb + h,
						    .n = h});
		}
	}
}

/* pre (rows,4h) = the gradients of the gates' sums; dh, dc (most sequences, h) leave with those of
 * the start. */
static void walk_back(struct tape *t, const struct lstm *l, const struct packed *wt, float *pre,
		      float *dh, float *dc)
{
	size_t h = l->h;
	const float *y = l->o->y->v, *gy = l->o->y->g;
	const float *kept = l->o->handed ? l->o->handed : l->o->saved[0];
	for (uint32_t s = l->steps; s-- > 0;) {
		const struct step p = step_of(l, s);
		size_t with_state = l->o->x[START] ? p.n : p.old;
		for (size_t b = 0; b < p.n; b++) {
			const float *state = state_before(l, &p, y, b);
			size_t at = (p.row + b) * 2 * h;
			kern_lstm_back(
				&(struct lstm_cell_back){.pre = pre + (p.row + b) * 4 * h,
							 .dc = dc + b * h,
							 .dh = dh + b * h,
							 .gh = gy + at,
							 .gc = gy + at + h,
							 .gates = kept + (p.row + b) * 4 * h,
							 .c_before = state ? state + h : NULL,
							 .c = y + at + h,
							 .n = h});
		}
		multiply(t, dh, pre + p.row * 4 * h, with_state, 4 * h, wt);
	}
}

/* gw (h,4h) += sum over the rows of h before a row transposed, times its row of pre */
static void weights_back(struct tape *t, const struct lstm *l, const float *pre, float *gw)
{
	enum { SOME = 256 };
	size_t h = l->h, n = 0;
	float *before = tape_buf(t, SOME * h);
	size_t all = l->first[l->steps];
	/* Rows follow each other the way in which the layer walks, or the other way round. */
	for (uint32_t s = 0; s < l->steps; s++) {
		const struct step p = step_of(l, l->back ? l->steps - 1 - s : s);
		for (size_t b = 0; b < p.n; b++) {
			const float *state = state_before(l, &p, l->o->y->v, b);
			if (state)
				memcpy(before + n * h, state, h * sizeof *before);
			else
				memset(before + n * h, 0, h * sizeof *before);
			size_t end = p.row + b + 1;
			if (++n < SOME && end < all)
				continue;
			const struct rows left = {before, h, 1, h};
			tape_outer(t, gw, 4 * h, &left, pre + (end - n) * 4 * h, n, 4 * h, false);
			n = 0;
		}
	}
	tape_buf_release(t, before, SOME * h);
}

static void lstm_back(struct tape *t, struct tape_op *o)
{
	const struct lstm l = lstm_of(o);
	const struct packed wt = tape_packed(t, o->x[W], true, false);
	size_t batch = l.first[1], n = batch * l.h, n_pre = (size_t)o->y->rows * 4 * l.h;
	float *pre = tape_buf(t, n_pre), *d = tape_buf(t, 2 * n);
	memset(d, 0, 2 * n * sizeof *d);
	walk_back(t, &l, &wt, pre, d, d + n);
	float *gw = tape_grad_add(t, o->x[W]);
	if (gw)
		weights_back(t, &l, pre, gw);
	tape_grad_give(t, o->x[X], pre);
	float *gs = tape_grad_add(t, o->x[START]);
	for (size_t b = 0; gs && b < batch; b++) {
		kern_add(gs + b * 2 * l.h, d + b * l.h, l.h);
		kern_add(gs + b * 2 * l.h + l.h, d + n + b * l.h, l.h);
	}
	tape_buf_release(t, d, 2 * n);
}

/* Its result and its gates are known. */
static struct mat *lstm_known(struct tape *t, struct mat *x, struct mat *w, struct mat *start,
			      const struct sequences *q, bool back, const float *v,
			      const float *gates)
{
	struct tape_op *o;
	struct mat *y =
		tape_op_known(t, x->rows, 2 * w->rows, v, &o, lstm_back, TAPE_IN(x, w, start));
	o->number = q->steps;
	o->index[0] = q->first;
	o->backwards = back;
	o->handed = gates;
	return y;
}

struct mat *tape_lstm(struct tape *t, struct mat *x, struct mat *w, struct mat *start,
		      const struct sequences *q, bool back)
{
	const struct tape_handed none = {NULL, false};
	return tape_lstm_handed(t, x, w, start, q, back, &none, &none);
}

struct mat *tape_lstm_handed(struct tape *t, struct mat *x, struct mat *w, struct mat *start,
			     const struct sequences *q, bool back, const struct tape_handed *known,
			     const struct tape_handed *to)
{
	uint32_t h = w->rows;
	assert(w->cols == 4 * h && x->cols == 4 * h && q->steps > 0);
	assert(x->rows == q->first[q->steps]);
	assert(!start || (start->rows >= q->first[1] && start->cols == 2 * h));
	float *v = known->v;
	struct tape_op *o;
	if (v && known->known)
		return lstm_known(t, x, w, start, q, back, v, to->v);
	struct mat *y = v ? tape_op_known(t, x->rows, 2 * h, v, &o, lstm_back, TAPE_IN(x, w, start))
			  : tape_op_new(t, x->rows, 2 * h, &v, &o, lstm_back, TAPE_IN(x, w, start));
	bool keep = y->wants || to->v;
	size_t n_sum = (size_t)q->first[1] * 4 * h, n = keep ? (size_t)x->rows * 4 * h : n_sum;
	float *gates = to->v ? to->v : tape_buf(t, n), *sum = tape_buf(t, n_sum);
	const struct packed packed = tape_packed(t, w, false, false);
	o->number = q->steps;
	o->index[0] = q->first;
	o->backwards = back;
	const struct lstm l = lstm_of(o);
	walk(t, &l, &packed, v, gates, sum, keep);
	tape_buf_release(t, sum, n_sum);
	if (to->v) {
		o->handed = gates;
	} else if (keep) {
		o->saved[0] = gates;
		o->n_saved = n;
	} else {
		tape_buf_release(t, gates, n);
	}
	return y;
}
