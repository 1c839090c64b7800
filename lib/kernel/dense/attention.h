/* attention.h - attention over a stack of matrices, as ScaledDotProductAttention or as several nodes describe it:
 *
 *   Y_i = softmax(factor_i Q_i K_i^T + masks_i) V_i
 *
 * in f32 a few rows at a time (attention_rows.h), or on packed products of bf16 where the context computes those so. */
#ifndef HSDAG_KERNEL_DENSE_ATTENTION_H
#define HSDAG_KERNEL_DENSE_ATTENTION_H

#include "kernel/dense/attention_rows.h"
#include "kernel/gemm/product.h"

enum { ATTENTION_MASKS = 2 };

/* Numbers for each matrix of the stack.  Scores have the leading dims `over` where they meet these, whose own are `batch`;
 * matrices are numbered alike in whatever dims. */
struct attention_stack {
	const float *data; /* NULL: none */
	struct tensor over, batch;
};

/* Matrices whose rows lie in memory at strides. */
struct attention_rows {
	float *data;
	int64_t rows, cols, ld;    /* ld: floats from one row to the next */
	struct tensor batch;       /* leading dims */
	int64_t step[TENSOR_DIMS]; /* floats from one to the next in each of these */
};
/* Those of a tensor of at least two dims, one behind the other; without data. */
struct attention_rows attention_rows_of(const struct tensor *t);

/* What is added to the scores. */
struct attention_mask {
	struct attention_stack at; /* (.., rows, cols) */
	int64_t rows, cols;        /* 1: the same for all */
	bool boolean;              /* 0: minus infinity, else 0 */
};

struct attention {
	struct attention_rows q, key, v,
		y;   /* (.., l, d), (.., len, d), (.., len, dv), (.., l, dv) */
	bool turned; /* keys are (.., d, len), contiguous */
	struct tensor batch,
		v_batch; /* leading dims of the scores, as q meets keys; and as v meets them */
	bool causal;
	float scale;
	struct attention_stack scales; /* a further factor of each matrix */
	struct attention_mask mask[ATTENTION_MASKS];
	int n_masks;
	struct attention_stack
		sink; /* (.., sink_rows): a score of each row, or of all, to which nothing belongs */
	int64_t sink_rows;
	const struct attend_grids *grids; /* NULL: none; else all rows are contiguous */
};

/* Is it at least as fast as the nodes are one by one?  In f32 queries are columns of panels, the last of which may be half
 * empty.  Without values yet these count as as wide as queries are. */
bool attention_pays(const struct attention *a, const struct cpu_ctx *ctx);
/* -1: ST_RUNTIME, no memory. */
int attention_run(const struct attention *a, struct cpu_ctx *ctx, struct err *e) MUST_CHECK;

#endif
