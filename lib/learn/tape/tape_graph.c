/* tape_graph.c - operations along the edges and groups of a graph. */
#include "learn/tape/tape_op.h"
#include "learn/tape/tape_kernel.h"

#include <assert.h>
#include <string.h>

/* ---- GCN aggregation: y = f(Dhat^-1/2 Ahat Dhat^-1/2 x + b) ---- */

struct aggregate_job {
	const struct tape_op *o;
	float *y;
};

static void aggregate(float *y, const struct ugraph *g, const float *x, uint32_t row, uint32_t n,
		      uint32_t cols)
{
	for (uint32_t i = row; i < row + n; i++, y += cols)
		kern_gather_sum(y, x, g->adj + g->ptr[i], g->weight + g->ptr[i],
				g->ptr[i + 1] - g->ptr[i], cols);
}

static void aggregate_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct aggregate_job *j = arg;
	const struct tape_op *o = j->o;
	const struct mat *b = o->x[1];
	uint32_t cols = o->y->cols;
	float *y = j->y + (size_t)row * cols;
	aggregate(y, o->graph, o->x[0]->v, row, n, cols);
	if (b || o->relu)
		kern_bias_relu(y, b ? b->v : NULL, n, cols, o->relu);
	tape_drop_rows(o, y, row, n);
}

/* The operator is symmetric: its transpose gathers as it does. */
static void aggregate_back(struct tape *t, struct tape_op *o)
{
	uint32_t rows = o->y->rows, cols = o->y->cols;
	bool first;
	tape_after_back(o, tape_grad_add(t, o->x[1]));
	float *gx = tape_grad_of(t, o->x[0], &first);
	if (gx && first) {
		aggregate(gx, o->graph, o->y->g, 0, rows, cols);
	} else if (gx) {
		float *row = tape_buf(t, cols);
		for (uint32_t i = 0; i < rows; i++) {
			aggregate(row, o->graph, o->y->g, i, 1, cols);
			kern_add(gx + (size_t)i * cols, row, cols);
		}
		tape_buf_release(t, row, cols);
	}
}

struct mat *tape_aggregate(struct tape *t, const struct ugraph *g, struct mat *x, struct mat *b,
			   struct after f)
{
	assert(x->rows == g->n);
	struct aggregate_job j;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, x->cols, &j.y, &o, aggregate_back, TAPE_IN(x, b));
	tape_after_set(t, o, f);
	o->graph = g;
	j.o = o;
	tape_rows(t, x->rows, aggregate_rows, &j);
	return y;
}

/* ---- rows by index ---- */

static void gather_back(struct tape *t, struct tape_op *o)
{
	const uint32_t *index = o->index[0];
	size_t cols = o->y->cols;
	float *gx = tape_grad_add(t, o->x[0]);
	for (uint32_t i = 0; gx && i < o->y->rows; i++)
		kern_add(gx + index[i] * cols, o->y->g + i * cols, cols);
}

struct mat *tape_gather_unseen(struct tape *t, struct mat *x, const uint32_t *index, uint32_t n)
{
	struct tape_op *o;
	struct mat *y = tape_op_known(t, n, x->cols, NULL, &o, gather_back, TAPE_IN(x));
	o->index[0] = index;
	return y;
}

struct mat *tape_gather(struct tape *t, struct mat *x, const uint32_t *index, uint32_t n)
{
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, n, x->cols, &v, &o, gather_back, TAPE_IN(x));
	size_t cols = x->cols;
	o->index[0] = index;
	for (uint32_t i = 0; i < n; i++)
		memcpy(v + i * cols, x->v + index[i] * cols, cols * sizeof *v);
	return y;
}

static void add_rows_back(struct tape *t, struct tape_op *o)
{
	const uint32_t *to = o->index[0], *from = o->index[1];
	size_t cols = o->y->cols;
	float *gfrom = tape_grad_add(t, o->x[1]);
	for (uint32_t i = 0; gfrom && i < o->number; i++)
		kern_add(gfrom + from[i] * cols, o->y->g + to[i] * cols, cols);
	tape_grad_pass(t, o->x[0], o->y->g);
}

struct mat *tape_add_rows(struct tape *t, struct mat *x, const uint32_t *to, struct mat *rows,
			  const uint32_t *from, uint32_t n)
{
	assert(x->cols == rows->cols);
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, x->cols, &v, &o, add_rows_back, TAPE_IN(x, rows));
	size_t cols = x->cols;
	o->index[0] = to;
	o->index[1] = from;
	o->number = n;
	memcpy(v, x->v, x->rows * cols * sizeof *v);
	for (uint32_t i = 0; i < n; i++)
		kern_add(v + to[i] * cols, rows->v + from[i] * cols, cols);
	return y;
}

struct product_job {
	const float *x;
	const uint32_t *u, *v;
	float *y;
	size_t cols;
};

static void edge_product_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct product_job *j = arg;
	for (size_t i = row; i < (size_t)row + n; i++)
		kern_mul(j->y + i * j->cols, j->x + j->u[i] * j->cols, j->x + j->v[i] * j->cols,
			 j->cols);
}

static void product_back(struct tape *t, struct tape_op *o)
{
	const struct mat *x = o->x[0];
	const uint32_t *u = o->index[0], *v = o->index[1];
	size_t cols = o->y->cols;
	float *gx = tape_grad_add(t, o->x[0]);
	for (uint32_t i = 0; gx && i < o->y->rows; i++) {
		const float *g = o->y->g + i * cols;
		kern_mul_add(gx + u[i] * cols, g, x->v + v[i] * cols, cols);
		kern_mul_add(gx + v[i] * cols, g, x->v + u[i] * cols, cols);
	}
}

struct mat *tape_edge_product(struct tape *t, struct mat *x, const uint32_t *u, const uint32_t *v,
			      uint32_t n)
{
	struct product_job j = {.x = x->v, .u = u, .v = v, .cols = x->cols};
	struct tape_op *o;
	struct mat *y = tape_op_new(t, n, x->cols, &j.y, &o, product_back, TAPE_IN(x));
	o->index[0] = u;
	o->index[1] = v;
	tape_rows(t, n, edge_product_rows, &j);
	return y;
}

/* ---- segments ---- */

/* saved[0], when there is one: 1 / size of every segment, for the mean. */
static void segment_back(struct tape *t, struct tape_op *o)
{
	const uint32_t *segment = o->index[0];
	const struct mat *x = o->x[0];
	size_t cols = x->cols;
	float *gx = tape_grad_add(t, o->x[0]);
	for (uint32_t i = 0; gx && i < x->rows; i++)
		if (segment[i] != UINT32_MAX)
			kern_axpy(gx + i * cols, o->saved[0] ? o->saved[0][segment[i]] : 1,
				  o->y->g + segment[i] * cols, cols);
}

static struct mat *segment(struct tape *t, struct mat *x, const uint32_t *seg, uint32_t n,
			   float empty, bool mean)
{
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, n, x->cols, &v, &o, segment_back, TAPE_IN(x));
	size_t cols = x->cols;
	uint32_t *count = ARENA_NEWN(tape_arena(t), uint32_t, n);
	o->index[0] = seg;
	memset(v, 0, n * cols * sizeof *v);
	for (uint32_t i = 0; i < x->rows; i++)
		if (seg[i] != UINT32_MAX) {
			kern_add(v + seg[i] * cols, x->v + i * cols, cols);
			count[seg[i]]++;
		}
	float *inverse = mean ? tape_buf(t, n) : NULL;
	o->saved[0] = inverse;
	o->n_saved = n;
	for (uint32_t s = 0; s < n; s++) {
		if (mean)
			inverse[s] = count[s] ? 1.0f / (float)count[s] : 0;
		for (size_t j = 0; j < cols && (mean || count[s] == 0); j++)
			v[s * cols + j] = count[s] ? v[s * cols + j] * inverse[s] : empty;
	}
	return y;
}

struct mat *tape_segment_sum(struct tape *t, struct mat *x, const uint32_t *segment_of,
			     uint32_t n_segments, float empty)
{
	return segment(t, x, segment_of, n_segments, empty, false);
}

struct mat *tape_segment_mean(struct tape *t, struct mat *x, const uint32_t *segment_of,
			      uint32_t n_segments, float empty)
{
	return segment(t, x, segment_of, n_segments, empty, true);
}

/* ---- messages ---- */

/* y (rows of as many graphs, c) += or = sums of the rows of x that are heard. */
struct hear_job {
	const struct hearing *h;
	int way;
	const float *x;
	float *y;
	size_t cols;
	bool add;
};

static void hear_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct hear_job *j = arg;
	const uint32_t *ptr = j->h->ptr[j->way], *node = j->h->node[j->way];
	for (size_t r = row; r < (size_t)row + n; r++) {
		size_t i = r % j->h->n, first = r - i;
		float *y = j->y + r * j->cols;
		if (!j->add)
			memset(y, 0, j->cols * sizeof *y);
		for (uint32_t e = ptr[i]; e < ptr[i + 1]; e++)
			kern_add(y, j->x + (first + node[e]) * j->cols, j->cols);
	}
}

static void hear_back(struct tape *t, struct tape_op *o)
{
	bool first;
	float *gx = tape_grad_of(t, o->x[0], &first);
	struct hear_job j = {o->index[0], !o->backwards, o->y->g, gx, o->y->cols, !first};
	if (gx)
		hear_rows(&j, 0, o->y->rows);
}

struct mat *tape_hear(struct tape *t, struct mat *x, const struct hearing *h, bool turned)
{
	assert(x->rows % h->n == 0);
	struct hear_job j = {.h = h, .way = turned, .x = x->v, .cols = x->cols};
	struct tape_op *o;
	struct mat *y = tape_op_new(t, x->rows, x->cols, &j.y, &o, hear_back, TAPE_IN(x));
	o->index[0] = h;
	o->backwards = turned;
	tape_rows(t, x->rows, hear_rows, &j);
	return y;
}
