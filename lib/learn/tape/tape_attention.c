/* tape_attention.c - content attention.  Where the weights of all rows are few they are kept; else of each
 * row only the logarithm of the sum of its scores' exponentials is, and the way back makes the weights
 * from it. */
#include "learn/tape/tape_op.h"
#include "learn/tape/tape_kernel.h"
#include "learn/tape/tape_scores.h"

#include <assert.h>
#include <math.h>
#include <string.h>

enum { Q, KEYS, VALUES, V };

enum { KEPT = 4 << 20 };                 /* floats of weights that are kept of a call */
enum { BACK = 1 << 18 };                 /* gradients of scores that are made at once */
enum { AT_ONCE = 16 * TAPE_BLOCK_ROWS }; /* rows whose weights are made, where they are not kept */

struct attended {
	struct mat *keys, *values;
	const float *ekeys;     /* (m,h): exp(2 keys) */
	float most_ekey;        /* the largest of them */
	struct packed by_place; /* the values (m,a) as a right-hand side */
};

struct attended *tape_attended(struct tape *t, struct mat *keys, struct mat *values)
{
	assert(values->rows == keys->rows && keys->rows > 0);
	size_t n = (size_t)keys->rows * keys->cols;
	struct attended *to = ARENA_NEWN(tape_arena(t), struct attended, 1);
	float *e = arena_raw(tape_arena(t), n, sizeof *e);
	kern_exp(e, keys->v, 2, 0, n);
	*to = (struct attended){keys, values, e, scores_largest(e, n),
				tape_packed(t, values, false, false)};
	return to;
}

enum { QUERIES = 4 }; /* whose scores are made at once */

/* eq (n,h) = exp(2 q) of n queries at q, score (n,m) their scores. */
static void scores_of(const struct attended *to, const float *v, const float *q, size_t n,
		      float *eq, float *score)
{
	size_t m = to->keys->rows, h = to->keys->cols;
	kern_exp(eq, q, 2, 0, n * h);
	kern_scores(&(struct scores){score, eq, to->ekeys, v, n, m, h,
				     scores_bounded(eq, n * h, to->most_ekey)});
}

/* ---- forward ---- */

struct attend_job {
	struct mat *const *x; /* inputs of the operation */
	const struct attended *to;
	uint32_t first;       /* of the rows that are made at once */
	float *y, *log_sum;   /* (n,a), (n): log of the sum of exp(score) */
	const float *weights; /* (rows at once, m): scratch, or known */
	float *scratch;
	float *eq; /* (blocks at once, QUERIES, h) scratch */
};

/* p (m) = the softmax of the scores of one row.  Returns the logarithm of their sum. */
static float softmax(float *p, size_t m)
{
	float top = scores_largest(p, m);
	kern_exp(p, p, 1, top, m);
	double sum = kern_sum(p, m);
	float inverse = (float)(1 / sum);
	for (size_t k = 0; k < m; k++)
		p[k] *= inverse;
	return (float)(top + log(sum));
}

/* y of rows [row, row + n) from their weights. */
static void sum_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct attend_job *j = arg;
	size_t a = j->to->values->cols;
	float *y = j->y + (j->first + row) * a;
	const struct rows left = {j->weights + row * j->to->keys->rows, n, j->to->keys->rows, 1};
	if (n <= PRODUCT_FEW)
		product_few(y, a, &left, &j->to->by_place);
	else
		product_rows(y, a, &left, &j->to->by_place, false);
}

static void attend_rows(void *arg, uint32_t row, uint32_t n)
{
	const struct attend_job *j = arg;
	size_t m = j->to->keys->rows, h = j->to->keys->cols;
	float *weights = j->scratch + row * m, *eq = j->eq + row / TAPE_BLOCK_ROWS * QUERIES * h;
	const float *q = j->x[Q]->v + (j->first + row) * h;
	for (uint32_t i = 0; i < n; i += QUERIES) {
		size_t some = n - i < QUERIES ? n - i : QUERIES;
		scores_of(j->to, j->x[V]->v, q + i * h, some, eq, weights + i * m);
	}
	for (uint32_t i = 0; i < n; i++)
		j->log_sum[j->first + row + i] = softmax(weights + i * m, m);
	sum_rows(arg, row, n);
}

/* ---- back ---- */

/* What all rows share on the way back. */
struct attend_back {
	const struct tape_op *o;
	const struct attended *to;
	struct packed across; /* the values transposed (a,m) */
	float *ukeys, *wd;    /* (m,h), (h): see struct scores_back */
	double sum_d;
	float *gq;      /* NULL: not wanted */
	float *eq, *uq; /* (block,h) scratch */
	float *p, *d;   /* (block,m) scratch */
	float *lanes;   /* (pieces,2,m,SCORES_LANES) scratch */
	struct tape *t;
	size_t row, n; /* of the block */
	bool bounded;  /* its queries: see struct scores */
};

/* The weights of all rows, if they were kept or handed over. */
static const float *kept_of(const struct tape_op *o)
{
	return o->handed ? o->handed : o->saved[1];
}

/* The weights of rows [row, row + n), kept or made again. */
static const float *weights_of(struct attend_back *b, size_t row, size_t n)
{
	size_t m = b->to->keys->rows, h = b->to->keys->cols;
	if (kept_of(b->o))
		return kept_of(b->o) + row * m;
	for (size_t i = 0; i < n; i += QUERIES)
		scores_of(b->to, b->o->x[V]->v, b->o->x[Q]->v + (row + i) * h,
			  n - i < QUERIES ? n - i : QUERIES, b->eq, b->p + i * m);
	for (size_t i = 0; i < n; i++)
		kern_exp(b->p + i * m, b->p + i * m, 1, b->o->saved[0][row + i], m);
	return b->p;
}

/* What the gradients of the scores say of columns [first, first + n) of the block's queries and of the keys. */
static void columns_back(void *arg, size_t piece, size_t first, size_t n)
{
	const struct attend_back *b = arg;
	const struct mat *v = b->o->x[V];
	size_t m = b->to->keys->rows, h = v->cols;
	kern_scores_back(&(struct scores_back){.eq = b->eq,
					       .ekeys = b->to->ekeys,
					       .d = b->d,
					       .uq = b->uq,
					       .ukeys = b->ukeys,
					       .wd = b->wd,
					       .rows = b->n,
					       .m = m,
					       .n = h,
					       .first = first,
					       .end = first + n,
					       .bounded = b->bounded,
					       .scratch = b->lanes + piece * 2 * m * SCORES_LANES});
	for (size_t i = 0; b->gq && i < b->n; i++)
		for (size_t j = first; j < first + n; j++)
			b->gq[(b->row + i) * h + j] += 4 * v->v[j] * b->uq[i * h + j];
}

/* The gradient of score k of a row is p_k (g . values_k - g . y). */
static void score_gradients(struct attend_back *b, const float *weights, size_t row, size_t n)
{
	const struct mat *y = b->o->y, *v = b->o->x[V];
	size_t m = b->to->keys->rows, h = v->cols, a = y->cols;
	const float *g = y->g + row * a;
	const struct rows left = {g, n, a, 1};
	product_rows(b->d, m, &left, &b->across, false);
	for (size_t i = 0; i < n; i++) {
		const float *p = weights + i * m;
		float *d = b->d + i * m, gy = kern_dot(g + i * a, y->v + (row + i) * a, a);
		for (size_t k = 0; k < m; k++)
			d[k] = p[k] * (d[k] - gy);
		b->sum_d += kern_sum(d, m);
	}
	kern_exp(b->eq, b->o->x[Q]->v + row * h, 2, 0, n * h);
	b->row = row;
	b->n = n;
	b->bounded = scores_bounded(b->eq, n * h, b->to->most_ekey);
	tape_pieces(b->t, h, SCORES_LANES, columns_back, b);
}

static void attend_back(struct tape *t, struct tape_op *o)
{
	const struct attended *to = o->index[0];
	const struct mat *keys = to->keys, *values = to->values, *v = o->x[V];
	size_t m = keys->rows, h = keys->cols, a = values->cols;
	size_t most = BACK / m < TAPE_BLOCK_ROWS ? TAPE_BLOCK_ROWS : BACK / m;
	size_t block = o->y->rows < most ? o->y->rows : most;
	size_t n_sums = (m + 1) * h, n_lanes = tape_most_pieces(t) * 2 * m * SCORES_LANES;
	size_t n_rest = n_sums + 2 * block * (h + m) + n_lanes;
	size_t n_across = packed_floats(a, m);
	float *sums = tape_buf(t, n_rest), *across = tape_buf(t, n_across);
	memset(sums, 0, n_sums * sizeof *sums);
	struct attend_back b = {.t = t,
				.o = o,
				.to = to,
				.across = product_pack(across, values->v, a, m, 1, a, false),
				.ukeys = sums,
				.wd = sums + m * h,
				.gq = tape_grad_add(t, o->x[Q]),
				.eq = sums + n_sums,
				.uq = sums + n_sums + block * h,
				.p = sums + n_sums + 2 * block * h,
				.d = sums + n_sums + block * (2 * h + m),
				.lanes = sums + n_sums + 2 * block * (h + m)};
	float *gvalues = tape_grad_add(t, o->x[VALUES]);
	for (size_t row = 0; row < o->y->rows; row += block) {
		size_t n = o->y->rows - row < block ? o->y->rows - row : block;
		const float *weights = weights_of(&b, row, n);
		const struct rows left = {weights, m, 1, m};
		score_gradients(&b, weights, row, n);
		if (gvalues && !kept_of(o))
			tape_outer(t, gvalues, a, &left, o->y->g + row * a, n, a, false);
	}
	const struct rows kept = {kept_of(o), m, 1, m};
	if (gvalues && kept_of(o))
		tape_outer(t, gvalues, a, &kept, o->y->g, o->y->rows, a, false);
	float *gkeys = tape_grad_add(t, o->x[KEYS]), *gv = tape_grad_add(t, o->x[V]);
	for (size_t i = 0; gkeys && i < m; i++)
		for (size_t j = 0; j < h; j++)
			gkeys[i * h + j] += 4 * v->v[j] * b.ukeys[i * h + j];
	for (size_t j = 0; gv && j < h; j++)
		gv[j] += (float)(b.sum_d - 2 * (double)b.wd[j]);
	tape_buf_release(t, across, n_across);
	tape_buf_release(t, sums, n_rest);
	if (o->saved[1])
		tape_buf_release(t, o->saved[1], (size_t)o->y->rows * m);
}

bool tape_keeps_weights(size_t n, size_t m)
{
	return n <= KEPT / m;
}

struct mat *tape_attend(struct tape *t, struct mat *q, struct attended *to, struct mat *v)
{
	const struct tape_handed none = {NULL, false};
	return tape_attend_handed(t, q, to, v, &none);
}

/* The weights of all rows are known. */
static struct mat *attend_known(struct tape *t, struct mat *q, struct attended *to, struct mat *v,
				const float *weights)
{
	struct tape_op *o;
	struct attend_job j = {.to = to, .weights = weights};
	struct mat *y = tape_op_new(t, q->rows, to->values->cols, &j.y, &o, attend_back,
				    TAPE_IN(q, to->keys, to->values, v));
	o->index[0] = to;
	o->handed = weights;
	tape_rows(t, q->rows, sum_rows, &j);
	return y;
}

struct mat *tape_attend_handed(struct tape *t, struct mat *q, struct attended *to, struct mat *v,
			       const struct tape_handed *weights)
{
	if (weights->v && weights->known)
		return attend_known(t, q, to, v, weights->v);
	assert(q->cols == to->keys->cols && v->rows == 1 && v->cols == q->cols);
	size_t m = to->keys->rows, h = q->cols;
	struct tape_op *o;
	struct attend_job j = {.to = to};
	struct mat *y = tape_op_new(t, q->rows, to->values->cols, &j.y, &o, attend_back,
				    TAPE_IN(q, to->keys, to->values, v));
	bool keep = weights->v || (y->wants && tape_keeps_weights(q->rows, m));
	uint32_t at_once = keep || q->rows < AT_ONCE ? q->rows : AT_ONCE;
	size_t n_weights = (size_t)at_once * m,
	       n_eq = (at_once / TAPE_BLOCK_ROWS + 1) * QUERIES * h;
	j.x = o->x;
	j.weights = j.scratch = weights->v ? weights->v : tape_buf(t, n_weights);
	j.log_sum = tape_buf(t, q->rows);
	j.eq = tape_buf(t, n_eq);
	for (; j.first < q->rows; j.first += at_once)
		tape_rows(t, q->rows - j.first < at_once ? q->rows - j.first : at_once, attend_rows,
			  &j);
	tape_buf_release(t, j.eq, n_eq);
	o->index[0] = to;
	if (y->wants) {
		o->saved[0] = j.log_sum;
		o->n_saved = q->rows;
	} else {
		tape_buf_release(t, j.log_sum, q->rows);
	}
	if (weights->v)
		o->handed = weights->v;
	else if (keep)
		o->saved[1] = j.scratch;
	else
		tape_buf_release(t, j.scratch, n_weights);
	return y;
}
