/* tape_dense.c - products with weights, and layer normalisation. */
#include "learn/tape/tape_op.h"
#include "learn/tape/tape_kernel.h"

#include <assert.h>
#include <string.h>

/* ---- linear: y = f(x w + b) ---- */

/* Inputs of a product by position; those of the LayerNorm behind it, if any. */
enum { X, W, B, GAIN, BIAS, RESIDUAL };

/* Weights of so few columns are taken column by column: panels of a product would be empty for the most part. */
enum { NARROW = 4 };

struct linear_job {
	const struct tape_op *o;
	struct packed w;        /* of more columns than NARROW; else: */
	float *column;          /* (out,in) */
	float *y, *xhat, *rstd; /* xhat: NULL when no gradient will flow */
};

/* y (n,out) = x (n,in) w */
static void multiply_rows(const struct linear_job *j, const float *x, float *y, uint32_t n)
{
	const struct mat *w = j->o->x[W];
	const struct rows left = {x, n, w->rows, 1};
	if (w->cols > NARROW) {
		product_rows(y, w->cols, &left, &j->w, false);
		return;
	}
	for (size_t i = 0; i < n; i++, x += w->rows, y += w->cols)
		for (size_t c = 0; c < w->cols; c++)
			y[c] = kern_dot(x, j->column + c * w->rows, w->rows);
}

/* The columns of w, one behind the other, until columns_done. */
static float *columns_of(struct tape *t, const struct mat *w)
{
	float *column = tape_buf(t, (size_t)w->rows * w->cols);
	for (size_t i = 0; i < w->rows; i++)
		for (size_t c = 0; c < w->cols; c++)
			column[c * w->rows + i] = w->v[i * w->cols + c];
	return column;
}

static void columns_done(struct tape *t, float *column, const struct mat *w)
{
	if (column)
		tape_buf_release(t, column, (size_t)w->rows * w->cols);
}

/* What multiply_rows needs, made before there are threads; columns_done behind it. */
static void pack_weights(struct tape *t, struct linear_job *j, const struct mat *w)
{
	if (w->cols > NARROW)
		j->w = tape_packed(t, w, false, j->o->rounded);
	else
		j->column = columns_of(t, w);
}

static const float *value_at(const struct mat *m, size_t at)
{
	return m ? m->v + at : NULL;
}

static void linear_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct linear_job *j = arg;
	const struct tape_op *o = j->o;
	const struct mat *w = o->x[W];
	float *y = j->y + (size_t)row * w->cols;
	multiply_rows(j, o->x[X]->v + (size_t)row * w->rows, y, n);
	if (o->x[B] || o->relu)
		kern_bias_relu(y, value_at(o->x[B], 0), n, w->cols, o->relu);
	tape_drop_rows(o, y, row, n);
}

/* gx (n,in) += or = g (n,out) w^T, of few columns */
static void narrow_back_x(struct tape *t, const struct tape_op *o, float *gx, bool first)
{
	const struct mat *w = o->x[W];
	const float *g = o->y->g;
	float *column = columns_of(t, w);
	for (size_t r = 0; r < o->y->rows; r++, gx += w->rows, g += w->cols) {
		if (first)
			memset(gx, 0, w->rows * sizeof *gx);
		for (size_t c = 0; c < w->cols; c++)
			kern_axpy(gx, g[c], column + c * w->rows, w->rows);
	}
	columns_done(t, column, w);
}

/* gw (in,out) += x^T g, of few columns */
static void narrow_back_w(struct tape *t, const struct tape_op *o, float *gw)
{
	const struct mat *x = o->x[X];
	size_t in = x->cols, out = o->y->cols;
	const float *g = o->y->g;
	float *column = tape_buf(t, in * out); /* of gw */
	memset(column, 0, in * out * sizeof *column);
	for (size_t r = 0; r < x->rows; r++, g += out)
		for (size_t c = 0; c < out; c++)
			kern_axpy(column + c * in, g[c], x->v + r * in, in);
	for (size_t i = 0; i < in; i++)
		for (size_t c = 0; c < out; c++)
			gw[i * out + c] += column[c * in + i];
	tape_buf_release(t, column, in * out);
}

/* gx (n,in) += or = g (n,out) w^T */
static void linear_back_x(struct tape *t, struct tape_op *o, float *gx, bool first)
{
	const struct mat *w = o->x[W];
	if (w->cols <= NARROW) {
		narrow_back_x(t, o, gx, first);
		return;
	}
	const struct rows left = {o->y->g, o->y->rows, w->cols, 1};
	const struct packed wt = tape_packed(t, w, true, o->rounded);
	tape_product(t, gx, w->rows, &left, &wt, !first);
}

/* gw (in,out) += x^T g */
static void linear_back_w(struct tape *t, struct tape_op *o, float *gw)
{
	const struct mat *x = o->x[X];
	const struct rows across = {x->v, x->cols, 1, x->cols};
	if (o->y->cols <= NARROW)
		narrow_back_w(t, o, gw);
	else
		tape_outer(t, gw, o->y->cols, &across, o->y->g, x->rows, o->y->cols, o->rounded);
}

/* Gradients of x and w from the one of x w in o->y->g. */
static void product_back(struct tape *t, struct tape_op *o)
{
	bool first;
	float *gw = tape_grad_add(t, o->x[W]);
	if (gw)
		linear_back_w(t, o, gw);
	float *gx = tape_grad_of(t, o->x[X], &first);
	if (gx)
		linear_back_x(t, o, gx, first);
}

static void linear_back(struct tape *t, struct tape_op *o)
{
	tape_after_back(o, tape_grad_add(t, o->x[B]));
	product_back(t, o);
}

/* The result is written to `at`; NULL: to memory of the tape. */
static struct mat *linear_at(struct tape *t, struct mat *x, struct mat *w, struct mat *b,
			     struct after f, float *at)
{
	assert(x->cols == w->rows && (!b || (b->rows == 1 && b->cols == w->cols)));
	struct linear_job j = {.y = at};
	struct tape_op *o;
	struct mat *y =
		at ? tape_op_known(t, x->rows, w->cols, at, &o, linear_back, TAPE_IN(x, w, b))
		   : tape_op_new(t, x->rows, w->cols, &j.y, &o, linear_back, TAPE_IN(x, w, b));
	tape_after_set(t, o, f);
	o->rounded = tape_rounds(t);
	j.o = o;
	pack_weights(t, &j, w);
	tape_rows(t, x->rows, linear_rows, &j);
	columns_done(t, j.column, w);
	return y;
}

struct mat *tape_linear(struct tape *t, struct mat *x, struct mat *w, struct mat *b, struct after f)
{
	return linear_at(t, x, w, b, f, NULL);
}

struct mat *tape_matmul(struct tape *t, struct mat *x, struct mat *w)
{
	return tape_linear(t, x, w, NULL, (struct after){0});
}

struct mat *tape_linear_handed(struct tape *t, struct mat *x, struct mat *w, struct mat *b,
			       const struct tape_handed *y)
{
	struct tape_op *o;
	assert(x->cols == w->rows);
	if (y->known) {
		struct mat *known =
			tape_op_known(t, x->rows, w->cols, y->v, &o, linear_back, TAPE_IN(x, w, b));
		o->rounded = tape_rounds(t);
		return known;
	}
	return linear_at(t, x, w, b, (struct after){0}, y->v);
}

/* ---- layer normalisation, alone or behind a product ---- */

/* LayerNorm of the rows at a (n,cols), which may be those of y or of xhat. */
static void norm_block(const struct linear_job *j, const float *a, const float *b, uint32_t row,
		       uint32_t n)
{
	const struct tape_op *o = j->o;
	size_t at = (size_t)row * o->y->cols;
	struct norm_row p = {b, o->x[GAIN]->v, o->x[BIAS]->v, o->y->cols, o->relu};
	kern_norm(j->y + at, j->xhat ? j->xhat + at : NULL, j->rstd + row, a,
		  value_at(o->x[RESIDUAL], at), n, &p);
	tape_drop_rows(o, j->y + at, row, n);
}

static void norm_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct linear_job *j = arg;
	const struct mat *x = j->o->x[X];
	norm_block(j, x->v + (size_t)row * x->cols, NULL, row, n);
}

static void linear_norm_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct linear_job *j = arg;
	const struct mat *x = j->o->x[X], *w = j->o->x[W];
	float *a = (j->xhat ? j->xhat : j->y) + (size_t)row * w->cols;
	multiply_rows(j, x->v + (size_t)row * x->cols, a, n);
	norm_block(j, a, value_at(j->o->x[B], 0), row, n);
}

/* o->y->g becomes the gradient of what was normalised; the residual has its share. */
static void norm_back_rows(struct tape *t, struct tape_op *o)
{
	uint32_t rows = o->y->rows, cols = o->y->cols;
	float *scratch = tape_buf(t, 2 * (size_t)cols);
	float *ggain = tape_grad_add(t, o->x[GAIN]), *gbias = tape_grad_add(t, o->x[BIAS]);
	const struct norm_back p = {
		.y = o->relu ? o->y->v : NULL,
		.scale = o->scale,
		.xhat = o->saved[0],
		.rstd = o->saved[1],
		.gain = o->x[GAIN]->v,
		.ggain = ggain ? ggain : scratch,
		.gbias = gbias ? gbias : scratch + cols,
		.gb = tape_grad_add(t, o->x[B]),
	};
	kern_norm_back(o->y->g, &p, rows, cols);
	tape_buf_release(t, scratch, 2 * (size_t)cols);
	tape_grad_pass(t, o->x[RESIDUAL], o->y->g);
}

static void norm_back(struct tape *t, struct tape_op *o)
{
	norm_back_rows(t, o);
	tape_grad_pass(t, o->x[X], o->y->g);
}

static void linear_norm_back(struct tape *t, struct tape_op *o)
{
	norm_back_rows(t, o);
	product_back(t, o);
}

/* What both have in common: buffers, the pass over the rows, what is kept. */
static void norm_run(struct tape *t, struct tape_op *o, struct linear_job *j, struct after f,
		     void (*rows)(void *, uint32_t, uint32_t))
{
	size_t n = (size_t)o->y->rows * o->y->cols;
	tape_after_set(t, o, f);
	j->o = o;
	j->xhat = o->y->wants ? tape_buf(t, n) : NULL;
	j->rstd = tape_buf(t, o->y->rows);
	tape_rows(t, o->y->rows, rows, j);
	if (!o->y->wants) {
		tape_buf_release(t, j->rstd, o->y->rows);
		return;
	}
	o->saved[0] = j->xhat;
	o->n_saved = n;
	o->saved[1] = j->rstd;
}

struct mat *tape_norm(struct tape *t, struct mat *x, struct mat *r, struct mat *gain,
		      struct mat *bias, struct after f)
{
	assert(!r || (r->rows == x->rows && r->cols == x->cols));
	assert(gain->cols == x->cols && bias->cols == x->cols);
	struct linear_job j;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, x->cols, &j.y, &o, norm_back,
				    TAPE_IN(x, NULL, NULL, gain, bias, r));
	norm_run(t, o, &j, f, norm_rows);
	return y;
}

struct mat *tape_linear_norm(struct tape *t, struct mat *x, struct mat *w, struct mat *b,
			     struct mat *r, struct mat *gain, struct mat *bias, struct after f)
{
	assert(x->cols == w->rows && gain->cols == w->cols && bias->cols == w->cols);
	assert(!r || (r->rows == x->rows && r->cols == w->cols));
	struct linear_job j = {0};
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, w->cols, &j.y, &o, linear_norm_back,
				    TAPE_IN(x, w, b, gain, bias, r));
	o->rounded = tape_rounds(t);
	j.o = o;
	pack_weights(t, &j, w);
	norm_run(t, o, &j, f, linear_norm_rows);
	columns_done(t, j.column, w);
	return y;
}
