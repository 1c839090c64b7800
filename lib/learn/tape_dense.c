/* tape_dense.c - products with weights, and layer normalisation. */
#include "learn/tape_op.h"
#include "base/blas.h"
#include "learn/kernel.h"

#include <assert.h>
#include <string.h>

/* ---- linear: y = f(x w + b) ---- */

struct linear_job {
	const struct op *o;
	float *y;
};

static void linear_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct linear_job *j = arg;
	const struct op *o = j->o;
	const struct mat *w = o->x[1], *b = o->x[2];
	const float *x = o->x[0]->v + (size_t)row * w->rows;
	float *y = j->y + (size_t)row * w->cols;
	int in = (int)w->rows, out = (int)w->cols;
	if (out == 1)
		blas_gemv(false, (int)n, in, 1, x, in, w->v, 0, y);
	else
		blas_gemm(false, false, (int)n, out, in, 1, x, in, w->v, out, 0, y, out);
	if (b || o->relu)
		kern_bias_relu(y, b ? b->v : NULL, n, w->cols, o->relu);
	drop_rows(o, y, row, n);
}

/* gx (n,in) += or = g (n,out) w^T, in the same blocks of rows as forward */
static void linear_back_x(struct tape *t, struct op *o, float *gx, bool first)
{
	const struct mat *w = o->x[1];
	uint32_t rows = o->y->rows, in = w->rows, out = w->cols;
	const float *g = o->y->g;
	if (out == 1) {
		for (uint32_t i = 0; i < rows; i++) {
			float *gi = gx + (size_t)i * in;
			if (first)
				memset(gi, 0, in * sizeof *gi);
			kern_axpy(gi, g[i], w->v, in);
		}
		return;
	}
	const float *wt = transposed(t, w);
	for (uint32_t i = 0; i < rows; i += BLOCK_ROWS) {
		uint32_t n = rows - i < BLOCK_ROWS ? rows - i : BLOCK_ROWS;
		blas_gemm(false, false, (int)n, (int)in, (int)out, 1, g + (size_t)i * out, (int)out,
			  wt, (int)in, first ? 0 : 1, gx + (size_t)i * in, (int)in);
	}
}

/* gw (in,out) += x^T g */
static void linear_back_w(struct op *o, float *gw)
{
	const struct mat *x = o->x[0];
	uint32_t rows = o->y->rows, in = x->cols, out = o->y->cols;
	for (uint32_t i = 0; i < rows; i += BLOCK_ROWS) {
		uint32_t n = rows - i < BLOCK_ROWS ? rows - i : BLOCK_ROWS;
		const float *xi = x->v + (size_t)i * in, *gi = o->y->g + (size_t)i * out;
		if (out == 1)
			for (uint32_t r = 0; r < n; r++)
				kern_axpy(gw, gi[r], xi + (size_t)r * in, in);
		else
			blas_gemm(true, false, (int)in, (int)out, (int)n, 1, xi, (int)in, gi, (int)out,
				  1, gw, (int)out);
	}
}

static void linear_back(struct tape *t, struct op *o)
{
	bool first;
	after_back(o);
	float *gb = grad_add(t, o->x[2]), *gw = grad_add(t, o->x[1]);
	if (gb)
		kern_colsum(gb, o->y->g, o->y->rows, o->y->cols);
	if (gw)
		linear_back_w(o, gw);
	float *gx = grad_of(t, o->x[0], &first);
	if (gx)
		linear_back_x(t, o, gx, first);
}

struct mat *tape_linear(struct tape *t, struct mat *x, struct mat *w, struct mat *b,
			struct after f)
{
	assert(x->cols == w->rows && (!b || (b->rows == 1 && b->cols == w->cols)));
	struct linear_job j;
	struct op *o;
	struct mat *y = op_new(t, x->rows, w->cols, &j.y, &o, linear_back, x, w, b, NULL);
	after_set(t, o, f);
	j.o = o;
	rows_run(t, x->rows, linear_rows, &j);
	return y;
}

struct mat *tape_matmul(struct tape *t, struct mat *x, struct mat *w)
{
	return tape_linear(t, x, w, NULL, (struct after){0});
}

/* ---- layer normalisation: y = f(gain * xhat + bias) ---- */

struct norm_job {
	const struct op *o;
	float *y, *xhat, *rstd;
};

static void norm_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct norm_job *j = arg;
	const struct op *o = j->o;
	size_t cols = o->y->cols, at = row * cols;
	for (uint32_t i = 0; i < n; i++, at += cols)
		j->rstd[row + i] = kern_norm(j->y + at, j->xhat + at, o->x[0]->v + at,
					     o->x[1] ? o->x[1]->v + at : NULL, o->x[2]->v,
					     o->x[3]->v, cols, o->relu);
	drop_rows(o, j->y + row * cols, row, n);
}

static void norm_back(struct tape *t, struct op *o)
{
	struct mat *x = o->x[0], *r = o->x[1];
	size_t cols = o->y->cols;
	bool first_x, first_r;
	after_back(o);
	float *scratch = buf_get(t, 3 * cols), *dx = scratch + 2 * cols;
	float *gg = grad_add(t, o->x[2]), *gb = grad_add(t, o->x[3]);
	float *gx = grad_of(t, x, &first_x), *gr = grad_of(t, r, &first_r);
	gg = gg ? gg : scratch;
	gb = gb ? gb : scratch + cols;
	for (uint32_t i = 0; i < o->y->rows; i++) {
		size_t at = i * cols;
		float *to = gx ? gx + at : dx;
		if (gx && gr) {
			kern_norm_back(dx, false, gg, gb, o->y->g + at, o->saved[0] + at,
				       o->x[2]->v, o->saved[1][i], cols);
			if (first_x)
				memcpy(to, dx, cols * sizeof *dx);
			else
				kern_add(to, dx, cols);
			if (first_r)
				memcpy(gr + at, dx, cols * sizeof *dx);
			else
				kern_add(gr + at, dx, cols);
		} else {
			to = gr ? gr + at : to;
			kern_norm_back(to, (gx && !first_x) || (gr && !first_r), gg, gb,
				       o->y->g + at, o->saved[0] + at, o->x[2]->v,
				       o->saved[1][i], cols);
		}
	}
	buf_release(t, scratch, 3 * cols);
}

struct mat *tape_norm(struct tape *t, struct mat *x, struct mat *r, struct mat *gain,
		      struct mat *bias, struct after f)
{
	assert(!r || (r->rows == x->rows && r->cols == x->cols));
	assert(gain->cols == x->cols && bias->cols == x->cols);
	struct norm_job j;
	struct op *o;
	struct mat *y = op_new(t, x->rows, x->cols, &j.y, &o, norm_back, x, r, gain, bias);
	size_t n = (size_t)x->rows * x->cols;
	after_set(t, o, f);
	j.o = o;
	j.xhat = buf_get(t, n);
	j.rstd = buf_get(t, x->rows);
	rows_run(t, x->rows, norm_rows, &j);
	o->saved[0] = j.xhat;
	o->saved[1] = j.rstd;
	if (!y->wants)
		buf_release(t, j.xhat, n);
	return y;
}
