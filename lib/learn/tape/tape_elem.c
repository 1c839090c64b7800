/* tape_elem.c - operations on single elements and rows. */
#include "learn/tape/tape_op.h"
#include "learn/tape/tape_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static size_t size_of(const struct mat *m)
{
	return (size_t)m->rows * m->cols;
}

static void add_back(struct tape *t, struct tape_op *o)
{
	tape_grad_pass(t, o->x[0], o->y->g);
	tape_grad_pass(t, o->x[1], o->y->g);
}

struct mat *tape_add(struct tape *t, struct mat *x, struct mat *y)
{
	assert(x->rows == y->rows && x->cols == y->cols);
	float *v;
	struct tape_op *o;
	struct mat *z = tape_op_new(t, x->rows, x->cols, &v, &o, add_back, TAPE_IN(x, y));
	memcpy(v, x->v, size_of(x) * sizeof *v);
	kern_add(v, y->v, size_of(x));
	return z;
}

static void sigmoid_back(struct tape *t, struct tape_op *o)
{
	for (size_t i = 0; i < size_of(o->y); i++)
		o->y->g[i] *= o->y->v[i] * (1 - o->y->v[i]);
	tape_grad_pass(t, o->x[0], o->y->g);
}

struct mat *tape_sigmoid(struct tape *t, struct mat *x)
{
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, x->cols, &v, &o, sigmoid_back, TAPE_IN(x));
	for (size_t i = 0; i < size_of(x); i++)
		v[i] = 1 / (1 + expf(-x->v[i]));
	return y;
}

static void tanh_back(struct tape *t, struct tape_op *o)
{
	for (size_t i = 0; i < size_of(o->y); i++)
		o->y->g[i] *= 1 - o->y->v[i] * o->y->v[i];
	tape_grad_pass(t, o->x[0], o->y->g);
}

struct mat *tape_tanh(struct tape *t, struct mat *x)
{
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, x->cols, &v, &o, tanh_back, TAPE_IN(x));
	kern_tanh(v, x->v, size_of(x));
	return y;
}

static void scale_rows_back(struct tape *t, struct tape_op *o)
{
	const struct mat *x = o->x[0], *s = o->x[1];
	float *gx = tape_grad_add(t, o->x[0]), *gs = tape_grad_add(t, o->x[1]);
	for (uint32_t i = 0; i < x->rows; i++) {
		size_t at = (size_t)i * x->cols;
		if (gx)
			kern_axpy(gx + at, s->v[i], o->y->g + at, x->cols);
		if (gs)
			gs[i] += kern_dot(o->y->g + at, x->v + at, x->cols);
	}
}

struct mat *tape_scale_rows(struct tape *t, struct mat *x, struct mat *s)
{
	assert(s->rows == x->rows && s->cols == 1);
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, x->cols, &v, &o, scale_rows_back, TAPE_IN(x, s));
	for (uint32_t i = 0; i < x->rows; i++)
		for (uint32_t j = 0; j < x->cols; j++)
			v[(size_t)i * x->cols + j] = s->v[i] * x->v[(size_t)i * x->cols + j];
	return y;
}

static void scale_back(struct tape *t, struct tape_op *o)
{
	float *gx = tape_grad_add(t, o->x[0]);
	if (gx)
		kern_axpy(gx, o->scale, o->y->g, size_of(o->y));
}

struct mat *tape_scale(struct tape *t, struct mat *x, double s)
{
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, x->cols, &v, &o, scale_back, TAPE_IN(x));
	o->scale = (float)s;
	for (size_t i = 0; i < size_of(x); i++)
		v[i] = o->scale * x->v[i];
	return y;
}

/* The gradient of x += columns [from, from + n) of g, rows g_cols apart; they are columns [to, to + n) of x's. */
static void pass_columns(struct tape *t, struct mat *x, size_t to, const float *g, size_t g_cols,
			 size_t from, size_t n)
{
	bool first;
	size_t cols = x->cols;
	float *gx = tape_grad_of(t, x, &first);
	for (size_t i = 0; gx && i < x->rows; i++, gx += cols, g += g_cols)
		if (first) {
			memset(gx, 0, to * sizeof *gx);
			memcpy(gx + to, g + from, n * sizeof *gx);
			memset(gx + to + n, 0, (cols - to - n) * sizeof *gx);
		} else {
			kern_add(gx + to, g + from, n);
		}
}

static void beside_back(struct tape *t, struct tape_op *o)
{
	const struct mat *z = o->y;
	pass_columns(t, o->x[0], 0, z->g, z->cols, 0, o->x[0]->cols);
	pass_columns(t, o->x[1], 0, z->g, z->cols, o->x[0]->cols, o->x[1]->cols);
}

struct mat *tape_beside(struct tape *t, struct mat *x, struct mat *y)
{
	assert(x->rows == y->rows);
	float *v;
	struct tape_op *o;
	struct mat *z =
		tape_op_new(t, x->rows, x->cols + y->cols, &v, &o, beside_back, TAPE_IN(x, y));
	for (size_t i = 0; i < x->rows; i++, v += z->cols) {
		memcpy(v, x->v + i * x->cols, x->cols * sizeof *v);
		memcpy(v + x->cols, y->v + i * y->cols, y->cols * sizeof *v);
	}
	return z;
}

static void stack_back(struct tape *t, struct tape_op *o)
{
	struct mat *const *x = o->index[0];
	const uint32_t *to = o->index[1];
	size_t cols = o->y->cols;
	for (uint32_t i = 0; i < o->number; to += x[i++]->rows) {
		bool first;
		float *gx = tape_grad_of(t, x[i], &first);
		for (uint32_t r = 0; gx && r < x[i]->rows; r++, gx += cols)
			if (first)
				memcpy(gx, o->y->g + to[r] * cols, cols * sizeof *gx);
			else
				kern_add(gx, o->y->g + to[r] * cols, cols);
	}
}

struct mat *tape_stack(struct tape *t, uint32_t n, struct mat *const *x, const uint32_t *to)
{
	uint32_t rows = 0;
	struct mat *wants = x[0];
	for (uint32_t i = 0; i < n; i++) {
		assert(x[i]->cols == x[0]->cols);
		rows += x[i]->rows;
		wants = x[i]->wants ? x[i] : wants;
	}
	float *v;
	size_t cols = x[0]->cols;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, rows, x[0]->cols, &v, &o, stack_back, TAPE_IN(wants));
	o->number = n;
	o->index[0] = x;
	o->index[1] = to;
	for (uint32_t i = 0; i < n; to += x[i++]->rows)
		for (uint32_t r = 0; r < x[i]->rows; r++)
			memcpy(v + to[r] * cols, x[i]->v + r * cols, cols * sizeof *v);
	return y;
}

static void columns_back(struct tape *t, struct tape_op *o)
{
	pass_columns(t, o->x[0], o->number, o->y->g, o->y->cols, 0, o->y->cols);
}

struct mat *tape_columns(struct tape *t, struct mat *x, uint32_t first, uint32_t n)
{
	assert(first + n <= x->cols);
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, n, &v, &o, columns_back, TAPE_IN(x));
	o->number = first;
	for (uint32_t i = 0; i < x->rows; i++)
		memcpy(v + (size_t)i * n, x->v + (size_t)i * x->cols + first, n * sizeof *v);
	return y;
}
