/* attention_rows.h - attention of a few rows in f32: rows are columns of all products, so that nothing is
 * packed, and softmax runs down the columns.
 *
 * S^T (len, l) = K (len, d) (scale Q)^T, P^T = softmax of each column, Y^T (dv, l) = V^T (dv, len) P^T. */
#ifndef HSDAG_KERNEL_DENSE_ATTENTION_ROWS_H
#define HSDAG_KERNEL_DENSE_ATTENTION_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel/quantize.h"

enum {
	ATTEND_ROWS = 32, /* at most */
	ATTEND_FEW = 2    /* up to so many: products by vectors of one row, and no codes */
};

struct attend_grids {
	struct code_grid q, k;
};

struct attend {
	int64_t len, d, dv;
	int rows;                           /* l */
	const float *q;                     /* (l, d) */
	const float *k;                     /* (len, d) */
	const float *v;                     /* (len, dv) */
	float *y;                           /* (l, dv) */
	int64_t q_row, k_row, v_row, y_row; /* from one row to the next; with grids d, d, dv, dv */
	float scale;
	/* q and k lie on these grids, and the processor has attend_codes_there: scores are in integers.  NULL: they are not. */
	const struct attend_grids *grids;
	bool keys_there; /* with grids: the scratch has the codes of these keys, from the call before */
	/* Added to the scores: element (y, x) at mask[y * mask_row + x * mask_col]; or boolean, 0: minus infinity.
	 * NULL: none. */
	const float *mask;
	int64_t mask_row, mask_col;
	bool boolean;
	int64_t causal; /* row y sees causal + y keys, at least one; 0: all */
	const float *
		sink; /* a score of each row, sink_step apart, to which nothing belongs; NULL: none */
	int64_t sink_step;
};

/* Does the mask, which is there, leave the scores of keys x0 .. x1 - 1 as they are, so far as a quick look tells? */
bool attend_sees_all(const struct attend *a, int64_t x0, int64_t x1);
/* What a boolean mask adds, in place of its n numbers. */
void attend_from_boolean(float *mask, int64_t n);
/* Scores (n) += that. */
void attend_hide(const float *mask, float *scores, int64_t n);
/* Floats of scratch, aligned. */
int64_t attend_floats(int64_t len, int64_t d, int64_t dv);
void attend(const struct attend *a, float *scratch);

#endif
