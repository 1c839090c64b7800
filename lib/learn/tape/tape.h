/* tape.h - reverse-mode differentiation over row-major f32 matrices.
 *
 * Every operation computes its result at once and is written down; tape_back walks
 * the list from the end and adds up gradients.  One tape serves one step after
 * another: tape_begin forgets the last step and keeps its memory.
 *
 * Rows are worked on in blocks of a fixed height, which the threads of the
 * tape's pool share out, so that results do not depend on their number. */
#ifndef HSDAG_LEARN_TAPE_TAPE_H
#define HSDAG_LEARN_TAPE_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/pool.h"
#include "base/rng.h"
#include "learn/tape/hearing.h"
#include "learn/tape/ugraph.h"

struct tape;

struct mat {
	uint32_t rows, cols;
	const float *v; /* (rows,cols) value */
	float *own;     /* v when its memory is the tape's, else NULL */
	float *g;       /* (rows,cols) gradient; NULL until something flows here */
	bool wants;     /* does a gradient flow here? */
	bool given_g;   /* g belongs to the caller and is added to */
};

/* Who multiplies, for all tapes of the process from now on: HSDAG_PRODUCTS in the environment, "own" (kernel/gemm) or
 * "openblas"; without it own.  With either the bits of results do not depend on the number of threads; with openblas
 * those of a row depend on how many rows are beside it.  -1: ST_USAGE, another value; ST_RUNTIME, OpenBLAS cannot be
 * loaded. */
int tape_choose_products(struct err *e) MUST_CHECK;

struct tape *tape_new(struct pool *pool); /* pool borrowed; NULL: one thread */
void tape_free(struct tape *t);
size_t tape_bytes(const struct tape *t);

/* From now on the tape has these threads: between steps, while no run of the pool is under way. */
void tape_share(struct tape *t, struct pool *pool);

/* A new step; matrices of the last one are gone.  train: record what tape_back
 * needs.  rng: address of the dropout masks, NULL: no dropout. */
void tape_begin(struct tape *t, bool train, const struct rng_addr *rng);

/* From now on, up to the next call, parameters that want a gradient keep their values over all steps: what is
 * made of one of them, its packed form, is made once. */
void tape_fix(struct tape *t);

/* From now on, up to the next step, operands of products with weights (tape_linear, tape_matmul, tape_linear_norm), on the
 * way back, too, are rounded to bf16 if `yes`, but for products with few columns (tape_dense.c), and their sums stay f32 (Kalamkar et al. 2019, "A Study of BFLOAT16 for Deep Learning
 * Training").  Processors with instructions for it multiply them twice as fast; the others round first.  Not within
 * tape_again. */
void tape_round(struct tape *t, bool yes);

/* Number of the next dropout mask (the low 24 bits of its stream): fixed by the
 * place in the network, so that two walks that differ elsewhere draw alike. */
void tape_mask_from(struct tape *t, uint32_t number);

/* Memory of this step. */
struct arena *tape_arena(struct tape *t);

/* A borrowed value without gradient, and a parameter whose gradient is added to
 * g (NULL: not wanted). */
struct mat *tape_input(struct tape *t, const float *v, uint32_t rows, uint32_t cols);
struct mat *tape_param(struct tape *t, const float *v, float *g, uint32_t rows, uint32_t cols);

/* The value of x is not needed by anybody any more: its memory may be reused. */
void tape_forget(struct tape *t, struct mat *x);
/* The same when the tape does not train; a training one needs x on the way back. */
void tape_done(struct tape *t, struct mat *x);

/* What follows is smaller than what was: unless the tape trains, memory that is free now is cut up
 * for it. */
void tape_cut_free(struct tape *t);

/* Operations that make the rows [first, first + n) of a matrix. */
typedef struct mat *tape_part(struct tape *t, const void *arg, uint32_t first, uint32_t n);

/* A matrix (rows,cols) whose rows do not need each other.  A tape that trains makes all rows at
 * once.  Another one makes them in parts of some thousand, so that what a part needs on the way is
 * small.  Both have the same values: a part draws the dropout masks of its rows in the whole. */
struct mat *tape_by_parts(struct tape *t, uint32_t rows, uint32_t cols, tape_part *part,
			  const void *arg);

/* The same where a tape that trains must be small, too: rows in parts of at most `most`, each made on
 * a tape of its own.  Nothing of a part is kept; the way back makes it again.  A part makes its rows
 * from the matrices x (n) of this tape, which it finds as `in`, and nothing else that wants a gradient;
 * it drops nothing.  x is borrowed until the next step. */
typedef struct mat *tape_again_part(struct tape *t, const void *arg, struct mat *const *in,
				    uint32_t first, uint32_t n);
struct mat *tape_again(struct tape *t, uint32_t rows, uint32_t cols, uint32_t most,
		       tape_again_part *part, const void *arg, uint32_t n, struct mat *const *x);

/* Gradients of sum_i coef[i] * y[i], y[i] (1,1), into everything that wants one.  The
 * values of results are gone afterwards. */
void tape_back(struct tape *t, uint32_t n, struct mat *const *y, const double *coef);

/* What may follow an operation within the same pass over its rows. */
struct after {
	bool relu;   /* max(0, .) */
	double drop; /* then zero with this probability, rounded to 1/256, and scale
	                          the rest to keep the mean; only after relu */
};

/* Values of an operation that one forward pass hands over to another with the same inputs: the first
 * writes them, the second reads them and computes nothing.  They are borrowed until the next step. */
struct tape_handed {
	float *v; /* NULL: they are not handed over */
	bool known;
};

/* ---- dense (tape_dense.c) ---- */

/* x (n,a) * w (a,b) */
struct mat *tape_matmul(struct tape *t, struct mat *x, struct mat *w);
/* x (n,a) * w (a,c) + b (1,c), then f */
struct mat *tape_linear(struct tape *t, struct mat *x, struct mat *w, struct mat *b,
			struct after f);
/* x (n,a) * w (a,c) + b (1,c; may be NULL), a result that is handed over.  Known and NULL: nobody looks at it. */
struct mat *tape_linear_handed(struct tape *t, struct mat *x, struct mat *w, struct mat *b,
			       const struct tape_handed *y);
/* LayerNorm of the rows of x + r (r NULL: of x), then f (Ba et al. 2016, eq. 4) */
struct mat *tape_norm(struct tape *t, struct mat *x, struct mat *r, struct mat *gain,
		      struct mat *bias, struct after f);

/* LayerNorm of the rows of x w + b + r (b, r may be NULL), then f: tape_linear and tape_norm
 * in one pass */
struct mat *tape_linear_norm(struct tape *t, struct mat *x, struct mat *w, struct mat *b,
			     struct mat *r, struct mat *gain, struct mat *bias, struct after f);

/* ---- elementwise (tape_elem.c) ---- */

/* ReLU and dropout have no operation of their own: see struct after. */
struct mat *tape_add(struct tape *t, struct mat *x, struct mat *y);
struct mat *tape_sigmoid(struct tape *t, struct mat *x);
struct mat *tape_tanh(struct tape *t, struct mat *x);
/* row i of x (n,a) times s[i], s (n,1) */
struct mat *tape_scale_rows(struct tape *t, struct mat *x, struct mat *s);
struct mat *tape_scale(struct tape *t, struct mat *x, double s);
/* the columns of x and behind them those of y */
struct mat *tape_beside(struct tape *t, struct mat *x, struct mat *y);
/* the rows of n matrices of one width, where row r of them all, the first one's first, becomes row to[r]: an order of
 * the rows; x and `to` are borrowed until the next step */
struct mat *tape_stack(struct tape *t, uint32_t n, struct mat *const *x, const uint32_t *to);
/* columns [first, first + n) of x */
struct mat *tape_columns(struct tape *t, struct mat *x, uint32_t first, uint32_t n);

/* ---- over a graph (tape_graph.c); indices and graphs are borrowed until the next step ---- */

/* Dhat^-1/2 Ahat Dhat^-1/2 x + b, then f: with x = H W one GCN layer */
struct mat *tape_aggregate(struct tape *t, const struct ugraph *g, struct mat *x, struct mat *b,
			   struct after f);
/* rows index[i] of x, i < n */
struct mat *tape_gather(struct tape *t, struct mat *x, const uint32_t *index, uint32_t n);
/* The same for its gradient alone: nobody looks at the rows, because what comes of them is known. */
struct mat *tape_gather_unseen(struct tape *t, struct mat *x, const uint32_t *index, uint32_t n);
/* x, with row from[i] of `rows` added to its row to[i], i < n */
struct mat *tape_add_rows(struct tape *t, struct mat *x, const uint32_t *to, struct mat *rows,
			  const uint32_t *from, uint32_t n);
/* row u[i] of x times row v[i] of x, i < n */
struct mat *tape_edge_product(struct tape *t, struct mat *x, const uint32_t *u, const uint32_t *v,
			      uint32_t n);
/* row s of the result = sum (mean) of the rows i of x with segment[i] = s; rows with segment[i] =
 * UINT32_MAX count nowhere.  An empty segment gives `empty` in every column. */
struct mat *tape_segment_sum(struct tape *t, struct mat *x, const uint32_t *segment,
			     uint32_t n_segments, float empty);
struct mat *tape_segment_mean(struct tape *t, struct mat *x, const uint32_t *segment,
			      uint32_t n_segments, float empty);

/* Of so many of these graphs side by side, x (graphs * n, c): row i of a graph becomes the sum of its rows
 * that node i hears; turned: of those that hear it. */
struct mat *tape_hear(struct tape *t, struct mat *x, const struct hearing *h, bool turned);

/* ---- sequences (tape_lstm.c, tape_attention.c) ---- */

/* Sequences side by side, the longest first.  The rows of step s are first[s] up to first[s + 1], one
 * for each sequence that is so long. */
struct sequences {
	uint32_t steps;
	const uint32_t *first; /* (steps + 1) */
};
/* n sequences, length[0] >= length[1] >= .. > 0, in memory of the tape. */
struct sequences tape_sequences(struct tape *t, const uint32_t *length, uint32_t n);

/* An LSTM (Hochreiter and Schmidhuber 1997, with the forget gate of Gers et al. 2000) over each of the
 * sequences:
 *
 *   i, f, g, o = sigmoid, sigmoid(. + 1), tanh, sigmoid of the quarters of x_s + h_{s-1} w
 *   c_s = i g + f c_{s-1},   h_s = o tanh(c_s)
 *
 * x (rows,4h), w (h,4h), start (at least sequences, 2h) = [h | c] before the first step, NULL: 0.
 * Result (rows,2h) = [h | c] of every step.  back: from each sequence's last step to its first. */
struct mat *tape_lstm(struct tape *t, struct mat *x, struct mat *w, struct mat *start,
		      const struct sequences *q, bool back);

/* The same where values are handed over (struct tape_handed): y (rows,2h) the result, gates (rows,4h). */
struct tape_handed;
struct mat *tape_lstm_handed(struct tape *t, struct mat *x, struct mat *w, struct mat *start,
			     const struct sequences *q, bool back, const struct tape_handed *y,
			     const struct tape_handed *gates);

/* Content attention (Bahdanau et al. 2015, appendix A.1.2) of the rows of q (n,h) over m places:
 *
 *   p_i = softmax over j of v . tanh(q_i + keys_j),   y_i = sum over j of p_ij values_j
 *
 * keys (m,h), values (m,a), v (1,h); y (n,a).  Of many rows over many places the weights p are not
 * kept: the way back computes them again.  What rows attend to is made once for all calls. */
struct attended;
struct attended *tape_attended(struct tape *t, struct mat *keys, struct mat *values);
struct mat *tape_attend(struct tape *t, struct mat *q, struct attended *to, struct mat *v);
/* The same where the weights p (n,m) are handed over, if tape_keeps_weights(n, m). */
struct mat *tape_attend_handed(struct tape *t, struct mat *q, struct attended *to, struct mat *v,
			       const struct tape_handed *weights);
bool tape_keeps_weights(size_t n, size_t m);

/* ---- probabilities (tape_prob.c) ---- */

/* log softmax over each row of x (n,k) among the columns where mask (n,k; NULL:
 * all) is not 0; -INFINITY elsewhere.  Every row has an allowed column. */
struct mat *tape_log_softmax(struct tape *t, struct mat *x, const uint8_t *mask);
/* sum over rows i of weight[i] x[i, action[i]] as (1,1); weight NULL: 1 */
struct mat *tape_pick(struct tape *t, struct mat *logp, const uint16_t *action,
		      const double *weight);
/* - sum over all entries of exp(logp) * logp as (1,1) */
struct mat *tape_entropy(struct tape *t, struct mat *logp);

/* The two sums in double precision, in order of rows; logp (n,k). */
double prob_pick(const float *logp, uint32_t n, uint32_t k, const uint16_t *action,
		 const double *weight);
double prob_entropy(const float *logp, uint32_t n, uint32_t k);

#endif
