/* tape_op.h - for the files that define operations of the tape. */
#ifndef HSDAG_LEARN_TAPE_TAPE_OP_H
#define HSDAG_LEARN_TAPE_TAPE_OP_H

#include "learn/tape/tape.h"

enum { MAX_IN = 6 };

struct op {
	/* Add to the gradients of the inputs, given that of y (which it may overwrite). */
	void (*back)(struct tape *t, struct op *o);
	struct mat *y;         /* the result */
	struct mat *x[MAX_IN]; /* inputs, by position; some NULL */
	float *saved[2];       /* kept from the forward pass; NULL: nothing */
	size_t n_saved;        /* floats in saved[0] */
	const struct ugraph *graph;
	const void *index[2]; /* index arrays, borrowed */
	float scale;          /* of dropout; 1 without */
	bool relu;
	struct rng_addr mask; /* of dropout */
	uint8_t threshold;    /* random bytes below it drop; 0: none */
};

/* Rows in a block: the product of a block of 128 columns is one that OpenBLAS
 * computes without packing. */
enum { BLOCK_ROWS = 32 };

/* Result (rows,cols) of a new operation on these inputs, to be filled in at *v.  The
 * operation is recorded when the tape trains and an input wants a gradient;
 * otherwise *rec is scratch that nobody reads. */
struct mat *op_new(struct tape *t, uint32_t rows, uint32_t cols, float **v, struct op **rec,
		   void (*back)(struct tape *, struct op *), struct mat *const x[MAX_IN]);
#define INPUTS(...) \
	(struct mat *const[MAX_IN]) \
	{ \
		__VA_ARGS__ \
	}

/* n floats until the end of the step, or until buf_release. */
float *buf_get(struct tape *t, size_t n);
void buf_release(struct tape *t, float *p, size_t n);

/* Where the gradient of x is to be added; *first: there was none, so set it instead.
 * NULL when x wants none. */
float *grad_of(struct tape *t, struct mat *x, bool *first);
/* The same, zeroed when it is the first. */
float *grad_add(struct tape *t, struct mat *x);

/* fn(arg, first row, rows) over all blocks of rows, on all threads. */
void rows_run(struct tape *t, uint32_t rows, void (*fn)(void *arg, uint32_t row, uint32_t n),
	      void *arg);

/* Give o the next dropout mask. */
void mask_set(struct tape *t, struct op *o, double p);
/* Note what follows within o. */
void after_set(struct tape *t, struct op *o, struct after f);
/* Dropout of rows [row, row + n) of the result, which stand at y. */
void drop_rows(const struct op *o, float *y, uint32_t row, uint32_t n);
/* Turn the gradient of o->y into that of what stood before o's relu and dropout. */
void after_back(struct op *o);

/* gradient of x += g */
void grad_pass(struct tape *t, struct mat *x, const float *g);

/* Transpose of a weight matrix w (rows,cols), made once in a step. */
const float *transposed(struct tape *t, const struct mat *w);

#endif
