/* tape_attention.c - content attention without a matrix of weights: of each row only the maximum
 * and the sum of its scores' exponentials are kept, and the way back makes the weights from these. */
#include "learn/tape/tape_op.h"
#include "learn/tape/tape_kernel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { Q, KEYS, VALUES, V };

struct attend_job {
	struct mat *const *x; /* inputs of the operation */
	float *y, *log_sum;   /* (n,a), (n): log of the sum of exp(score) */
	float *scratch;       /* (blocks, m + h) */
};

/* Floats of scratch of a block. */
static size_t scratch_of(struct mat *const *x)
{
	return (size_t)x[KEYS]->rows + x[KEYS]->cols;
}

static void attend_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct attend_job *j = arg;
	const struct mat *keys = j->x[KEYS], *values = j->x[VALUES];
	size_t m = keys->rows, h = keys->cols, a = values->cols;
	float *score = j->scratch + row / TAPE_BLOCK_ROWS * scratch_of(j->x), *th = score + m;
	for (uint32_t i = row; i < row + n; i++) {
		float *y = j->y + i * a, top = -INFINITY;
		double sum = 0;
		kern_scores(score, th, j->x[Q]->v + i * h, keys->v, j->x[V]->v, m, h);
		for (size_t k = 0; k < m; k++)
			top = score[k] > top ? score[k] : top;
		for (size_t k = 0; k < m; k++)
			sum += score[k] = expf(score[k] - top);
		memset(y, 0, a * sizeof *y);
		for (size_t k = 0; k < m; k++)
			kern_axpy(y, (float)(score[k] / sum), values->v + k * a, a);
		j->log_sum[i] = (float)(top + log(sum));
	}
}

static void attend_back(struct tape *t, struct tape_op *o)
{
	const struct mat *q = o->x[Q], *keys = o->x[KEYS], *values = o->x[VALUES];
	size_t m = keys->rows, h = keys->cols, a = values->cols, n_rest = 3 * h + m * h;
	float *rest = tape_buf(t, n_rest); /* scratch, and gradients that nobody wants */
	float *gq = tape_grad_add(t, o->x[Q]), *gkeys = tape_grad_add(t, o->x[KEYS]),
	      *gv = tape_grad_add(t, o->x[V]);
	struct attend_row r = {.keys = keys->v,
			       .v = o->x[V]->v,
			       .values = values->v,
			       .th = rest,
			       .gkeys = gkeys ? gkeys : rest + 3 * h,
			       .gv = gv ? gv : rest + h,
			       .gvalues = tape_grad_add(t, o->x[VALUES]),
			       .m = m,
			       .h = h,
			       .a = a};
	for (size_t i = 0; i < q->rows; i++) {
		r.q = q->v + i * h;
		r.y = o->y->v + i * a;
		r.g = o->y->g + i * a;
		r.log_sum = o->saved[0][i];
		r.gq = gq ? gq + i * h : rest + 2 * h;
		kern_attend_back(&r);
	}
	tape_buf_release(t, rest, n_rest);
}

struct mat *tape_attend(struct tape *t, struct mat *q, struct mat *keys, struct mat *values,
			struct mat *v)
{
	assert(q->cols == keys->cols && v->rows == 1 && v->cols == keys->cols);
	assert(values->rows == keys->rows && keys->rows > 0);
	struct attend_job j;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, q->rows, values->cols, &j.y, &o, attend_back,
				    TAPE_IN(q, keys, values, v));
	size_t n_scratch = (q->rows + TAPE_BLOCK_ROWS - 1) / TAPE_BLOCK_ROWS * scratch_of(o->x);
	j.x = o->x;
	j.scratch = tape_buf(t, n_scratch);
	j.log_sum = tape_buf(t, q->rows);
	tape_rows(t, q->rows, attend_rows, &j);
	tape_buf_release(t, j.scratch, n_scratch);
	if (y->wants) {
		o->saved[0] = j.log_sum;
		o->n_saved = q->rows;
	} else {
		tape_buf_release(t, j.log_sum, q->rows);
	}
	return y;
}
