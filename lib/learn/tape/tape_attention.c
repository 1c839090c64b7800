/* tape_attention.c - content attention without a matrix of weights for all rows: of each row only the
 * logarithm of the sum of its scores' exponentials is kept, and the way back makes the weights from it. */
#include "learn/tape/tape_op.h"
#include "learn/tape/tape_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { Q, KEYS, VALUES, V };

/* exp(2 x) of a matrix */
static float *exponentials(struct tape *t, const struct mat *x)
{
	size_t n = (size_t)x->rows * x->cols;
	float *e = tape_buf(t, n);
	kern_exp(e, x->v, 2, 0, n);
	return e;
}

/* y (rows,n) = x (rows,m) w (m,n), or with `across` x (m,rows) transposed; y is added to. */
static void add_product(float *y, const float *x, bool across, const float *w, size_t rows,
			size_t m, size_t n)
{
	enum { SOME = 8 }; /* rows of y, which stay in the cache */
	for (size_t i = 0; i < rows; i += SOME) {
		const struct few_rows p = {rows - i < SOME ? rows - i : SOME,
					   m,
					   n,
					   x + (across ? i : i * m),
					   across ? 1 : m,
					   across ? rows : 1,
					   w,
					   y + i * n,
					   n};
		kern_few_rows(&p);
	}
}

/* ---- forward ---- */

struct attend_job {
	struct mat *const *x; /* inputs of the operation */
	const float *ekeys;   /* (m,h) */
	float *y, *log_sum;   /* (n,a), (n): log of the sum of exp(score) */
	float *scratch;       /* (blocks) of these sizes: */
	size_t n_weights, n_block;
};

static void attend_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct attend_job *j = arg;
	const struct mat *keys = j->x[KEYS], *values = j->x[VALUES];
	size_t m = keys->rows, h = keys->cols, a = values->cols;
	float *weights = j->scratch + row / TAPE_BLOCK_ROWS * j->n_block,
	      *eq = weights + j->n_weights;
	for (uint32_t i = 0; i < n; i++) {
		float *p = weights + i * m, top = -INFINITY;
		double sum = 0;
		kern_exp(eq, j->x[Q]->v + (row + i) * h, 2, 0, h);
		kern_scores(p, eq, j->ekeys, j->x[V]->v, m, h);
		for (size_t k = 0; k < m; k++)
			top = p[k] > top ? p[k] : top;
		kern_exp(p, p, 1, top, m);
		for (size_t k = 0; k < m; k++)
			sum += p[k];
		float inverse = (float)(1 / sum);
		for (size_t k = 0; k < m; k++)
			p[k] *= inverse;
		j->log_sum[row + i] = (float)(top + log(sum));
	}
	memset(j->y + row * a, 0, n * a * sizeof *j->y);
	add_product(j->y + row * a, weights, false, values->v, n, m, a);
}

/* ---- back ---- */

/* What all rows share on the way back. */
struct attend_back {
	const struct tape_op *o;
	const float *ekeys, *across; /* (m,h); the values transposed (a,m) */
	float *ukeys, *wd;           /* (m,h), (h): see struct scores_back */
	double sum_d;
	float *gq, *gvalues; /* NULL: not wanted */
	float *eq, *uq;      /* (h) scratch */
	float *p, *d;        /* (block,m) scratch */
};

/* The gradient of score k of a row is p_k (g . values_k - g . y). */
static void score_gradients(struct attend_back *b, size_t row, size_t n)
{
	const struct mat *y = b->o->y, *v = b->o->x[V];
	size_t m = b->o->x[KEYS]->rows, h = v->cols, a = y->cols;
	const float *g = y->g + row * a;
	memset(b->d, 0, n * m * sizeof *b->d);
	add_product(b->d, g, false, b->across, n, a, m);
	for (size_t i = 0; i < n; i++) {
		float *p = b->p + i * m, *d = b->d + i * m;
		float gy = kern_dot(g + i * a, y->v + (row + i) * a, a);
		kern_exp(b->eq, b->o->x[Q]->v + (row + i) * h, 2, 0, h);
		kern_scores(p, b->eq, b->ekeys, v->v, m, h);
		kern_exp(p, p, 1, b->o->saved[0][row + i], m);
		for (size_t k = 0; k < m; k++) {
			d[k] = p[k] * (d[k] - gy);
			b->sum_d += d[k];
		}
		const struct scores_back r = {b->eq, b->ekeys, d, b->uq, b->ukeys, b->wd, m, h};
		kern_scores_back(&r);
		for (size_t j = 0; b->gq && j < h; j++)
			b->gq[(row + i) * h + j] += 4 * v->v[j] * b->uq[j];
	}
}

static void attend_back(struct tape *t, struct tape_op *o)
{
	const struct mat *q = o->x[Q], *keys = o->x[KEYS], *values = o->x[VALUES], *v = o->x[V];
	size_t m = keys->rows, h = keys->cols, a = values->cols;
	size_t block = q->rows < TAPE_BLOCK_ROWS ? q->rows : TAPE_BLOCK_ROWS;
	size_t n_rest = m * h + 3 * h + 2 * block * m + a * m;
	float *ekeys = exponentials(t, keys), *rest = tape_buf(t, n_rest);
	float *across = rest + n_rest - a * m;
	memset(rest, 0, (n_rest - a * m) * sizeof *rest);
	for (size_t i = 0; i < m; i++)
		for (size_t j = 0; j < a; j++)
			across[j * m + i] = values->v[i * a + j];
	struct attend_back b = {.o = o,
				.ekeys = ekeys,
				.across = across,
				.ukeys = rest,
				.wd = rest + m * h,
				.gq = tape_grad_add(t, o->x[Q]),
				.gvalues = tape_grad_add(t, o->x[VALUES]),
				.eq = rest + (m + 1) * h,
				.uq = rest + (m + 2) * h,
				.p = rest + (m + 3) * h,
				.d = rest + (m + 3) * h + block * m};
	for (size_t row = 0; row < q->rows; row += block) {
		size_t n = q->rows - row < block ? q->rows - row : block;
		score_gradients(&b, row, n);
		if (b.gvalues)
			add_product(b.gvalues, b.p, true, o->y->g + row * a, m, n, a);
	}
	float *gkeys = tape_grad_add(t, o->x[KEYS]), *gv = tape_grad_add(t, o->x[V]);
	for (size_t i = 0; gkeys && i < m; i++)
		for (size_t j = 0; j < h; j++)
			gkeys[i * h + j] += 4 * v->v[j] * b.ukeys[i * h + j];
	for (size_t j = 0; gv && j < h; j++)
		gv[j] += (float)(b.sum_d - 2 * (double)b.wd[j]);
	tape_buf_release(t, rest, n_rest);
	tape_buf_release(t, ekeys, m * h);
}

struct mat *tape_attend(struct tape *t, struct mat *q, struct mat *keys, struct mat *values,
			struct mat *v)
{
	assert(q->cols == keys->cols && v->rows == 1 && v->cols == keys->cols);
	assert(values->rows == keys->rows && keys->rows > 0);
	size_t m = keys->rows, h = keys->cols;
	struct attend_job j;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, q->rows, values->cols, &j.y, &o, attend_back,
				    TAPE_IN(q, keys, values, v));
	size_t blocks = (q->rows + TAPE_BLOCK_ROWS - 1) / TAPE_BLOCK_ROWS;
	float *ekeys = exponentials(t, keys);
	j.x = o->x;
	j.ekeys = ekeys;
	j.n_weights = (q->rows < TAPE_BLOCK_ROWS ? q->rows : TAPE_BLOCK_ROWS) * m;
	j.n_block = j.n_weights + h;
	j.scratch = tape_buf(t, blocks * j.n_block);
	j.log_sum = tape_buf(t, q->rows);
	tape_rows(t, q->rows, attend_rows, &j);
	tape_buf_release(t, j.scratch, blocks * j.n_block);
	tape_buf_release(t, ekeys, m * h);
	if (y->wants) {
		o->saved[0] = j.log_sum;
		o->n_saved = q->rows;
	} else {
		tape_buf_release(t, j.log_sum, q->rows);
	}
	return y;
}
