/* tape_prob.c - log-probabilities of choices, and entropy. */
#include "learn/tape/tape_kernel.h"
#include "learn/tape/tape_op.h"

#include <assert.h>
#include <math.h>

enum { LONG_ROW = 64 }; /* exponentials of so many and more are made by vectors, in f32 */

/* exp(x - shift) of a long row, 0 below e^-80, into scratch (k) */
static const float *long_row(struct tape *t, float **scratch, const float *x, double shift,
			     uint32_t k)
{
	if (!*scratch)
		*scratch = tape_buf(t, k);
	kern_exp(*scratch, x, 1, (float)shift, k);
	return *scratch;
}

static void log_softmax_back(struct tape *t, struct tape_op *o)
{
	uint32_t k = o->y->cols;
	float *gx = tape_grad_add(t, o->x[0]), *scratch = NULL;
	for (uint32_t i = 0; gx && i < o->y->rows; i++) {
		const float *g = o->y->g + (size_t)i * k, *lp = o->y->v + (size_t)i * k;
		double sum = 0;
		for (uint32_t j = 0; j < k; j++)
			if (lp[j] > -INFINITY)
				sum += g[j];
		const float *p = k < LONG_ROW ? NULL : long_row(t, &scratch, lp, 0, k);
		for (uint32_t j = 0; j < k; j++)
			if (lp[j] > -INFINITY)
				gx[(size_t)i * k + j] +=
					(float)(g[j] - (p ? (double)p[j] : exp(lp[j])) * sum);
	}
	if (scratch)
		tape_buf_release(t, scratch, k);
}

struct mat *tape_log_softmax(struct tape *t, struct mat *x, const uint8_t *mask)
{
	float *v, *scratch = NULL;
	struct tape_op *o;
	uint32_t k = x->cols;
	struct mat *y = tape_op_new(t, x->rows, k, &v, &o, log_softmax_back, TAPE_IN(x));
	for (uint32_t i = 0; i < x->rows; i++) {
		const float *a = x->v + (size_t)i * k;
		const uint8_t *m = mask ? mask + (size_t)i * k : NULL;
		double top = -INFINITY, sum = 0;
		for (uint32_t j = 0; j < k; j++)
			if ((!m || m[j]) && a[j] > top)
				top = a[j];
		const float *p = k < LONG_ROW ? NULL : long_row(t, &scratch, a, top, k);
		for (uint32_t j = 0; j < k; j++)
			if (!m || m[j])
				sum += p ? (double)p[j] : exp(a[j] - top);
		double log_sum = top + log(sum);
		for (uint32_t j = 0; j < k; j++)
			v[(size_t)i * k + j] = !m || m[j] ? (float)(a[j] - log_sum) : -INFINITY;
	}
	if (scratch)
		tape_buf_release(t, scratch, k);
	return y;
}

double prob_pick(const float *logp, uint32_t n, uint32_t k, const uint16_t *action,
		 const double *weight)
{
	double s = 0;
	for (uint32_t i = 0; i < n; i++)
		s += (weight ? weight[i] : 1) * logp[(size_t)i * k + action[i]];
	return s;
}

double prob_entropy(const float *logp, uint32_t n, uint32_t k)
{
	double s = 0;
	for (size_t i = 0; i < (size_t)n * k; i++)
		if (logp[i] > -INFINITY)
			s -= exp(logp[i]) * logp[i];
	return s;
}

static void pick_back(struct tape *t, struct tape_op *o)
{
	const uint16_t *action = o->index[0];
	const double *weight = o->index[1];
	const struct mat *x = o->x[0];
	float *gx = tape_grad_add(t, o->x[0]);
	for (uint32_t i = 0; gx && i < x->rows; i++)
		gx[(size_t)i * x->cols + action[i]] +=
			weight ? (float)(o->y->g[0] * weight[i]) : o->y->g[0];
}

struct mat *tape_pick(struct tape *t, struct mat *logp, const uint16_t *action,
		      const double *weight)
{
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, 1, 1, &v, &o, pick_back, TAPE_IN(logp));
	o->index[0] = action;
	o->index[1] = weight;
	*v = (float)prob_pick(logp->v, logp->rows, logp->cols, action, weight);
	return y;
}

static void entropy_back(struct tape *t, struct tape_op *o)
{
	const struct mat *x = o->x[0];
	float *gx = tape_grad_add(t, o->x[0]);
	for (size_t i = 0; gx && i < (size_t)x->rows * x->cols; i++)
		if (x->v[i] > -INFINITY)
			gx[i] -= (float)(o->y->g[0] * exp(x->v[i]) * (1 + (double)x->v[i]));
}

struct mat *tape_entropy(struct tape *t, struct mat *logp)
{
	float *v;
	struct tape_op *o;
	struct mat *y = tape_op_new(t, 1, 1, &v, &o, entropy_back, TAPE_IN(logp));
	*v = (float)prob_entropy(logp->v, logp->rows, logp->cols);
	return y;
}
