/* tape_op.h - for the files that define operations of the tape, tape*.c; not for others. */
#ifndef HSDAG_LEARN_TAPE_TAPE_OP_H
#define HSDAG_LEARN_TAPE_TAPE_OP_H

#include "learn/tape/tape.h"
#include "learn/tape/tape_product.h"

enum { TAPE_MAX_IN = 6 };

struct tape_op {
	/* Add to the gradients of the inputs, given that of y (which it may overwrite). */
	void (*back)(struct tape *t, struct tape_op *o);
	struct mat *y;              /* the result */
	struct mat *x[TAPE_MAX_IN]; /* inputs, by position; some NULL */
	float *saved[2];            /* kept from the forward pass; NULL: nothing */
	size_t n_saved;             /* floats in saved[0] */
	const struct ugraph *graph;
	const void *index[2]; /* index arrays, borrowed */
	const float *handed;  /* saved[0] or saved[1] of another forward pass, borrowed */
	uint32_t number;      /* of the operation's own: first column, batch, segments */
	bool backwards;       /* over a sequence: from its end */
	float scale;          /* of dropout; 1 without */
	bool relu;
	bool rounded;         /* the operands of its products are (tape_round) */
	struct rng_addr mask; /* of dropout */
	uint32_t first_row;   /* of y in the whole that it is a part of */
	uint8_t threshold;    /* random bytes below it drop; 0: none */
};

/* Rows in a block: what product_rows packs at a time. */
enum { TAPE_BLOCK_ROWS = PRODUCT_ROWS };
/* Rows in a part of tape_by_parts: whole blocks, few enough for a cache. */
enum { TAPE_PART_ROWS = 85 * TAPE_BLOCK_ROWS };

/* Result (rows,cols) of a new operation on these inputs, to be filled in at *v.  The
 * operation is recorded when the tape trains and an input wants a gradient;
 * otherwise *rec is scratch that nobody reads. */
struct mat *tape_op_new(struct tape *t, uint32_t rows, uint32_t cols, float **v,
			struct tape_op **rec, void (*back)(struct tape *, struct tape_op *),
			struct mat *const x[TAPE_MAX_IN]);
/* The same whose result is there already, at v. */
struct mat *tape_op_known(struct tape *t, uint32_t rows, uint32_t cols, const float *v,
			  struct tape_op **rec, void (*back)(struct tape *, struct tape_op *),
			  struct mat *const x[TAPE_MAX_IN]);
#define TAPE_IN(...) \
	(struct mat *const[TAPE_MAX_IN]) \
	{ \
		__VA_ARGS__ \
	}

/* What tape_new or tape_share was given. */
struct pool *tape_pool(const struct tape *t);

/* n floats until the end of the step, or until tape_buf_release. */
float *tape_buf(struct tape *t, size_t n);
void tape_buf_release(struct tape *t, float *p, size_t n);

/* Where the gradient of x is to be added; *first: there was none, so set it instead.
 * NULL when x wants none. */
float *tape_grad_of(struct tape *t, struct mat *x, bool *first);
/* The same, zeroed when it is the first. */
float *tape_grad_add(struct tape *t, struct mat *x);

/* fn(arg, first row, rows) over all blocks of rows, on all threads. */
void tape_rows(struct tape *t, uint32_t rows, void (*fn)(void *arg, uint32_t row, uint32_t n),
	       void *arg);

/* fn(arg, piece, first, n) over pieces [first, first + n) of 0 .. all - 1 that begin at multiples of `unit`, side by
 * side: at most tape_most_pieces of them, as many as there are threads.  What they compute must not depend on the cut. */
void tape_pieces(struct tape *t, size_t all, size_t unit,
		 void (*fn)(void *arg, size_t piece, size_t first, size_t n), void *arg);
size_t tape_most_pieces(const struct tape *t);

/* Of products that are recorded now: what tape_round said. */
bool tape_rounds(const struct tape *t);

/* Note what follows within o; dropout takes the next mask. */
void tape_after_set(struct tape *t, struct tape_op *o, struct after f);
/* Dropout of rows [row, row + n) of the result, which stand at y. */
void tape_drop_rows(const struct tape_op *o, float *y, uint32_t row, uint32_t n);
/* Turn the gradient of o->y into that of what stood before o's relu and dropout; sum (cols), unless NULL, += its rows. */
void tape_after_back(struct tape_op *o, float *sum);

/* A tape beside t, of the same threads; its steps are begun by who uses it. */
struct tape *tape_inner(struct tape *t);

/* The walk back from y (rows,cols) alone, whose gradient is g. */
void tape_back_from(struct tape *t, struct mat *y, const float *g);

/* gradient of x += g */
void tape_grad_pass(struct tape *t, struct mat *x, const float *g);
/* The same; g, of tape_buf and as large as x, is given away. */
void tape_grad_give(struct tape *t, struct mat *x, float *g);

/* Products of tape_product.h on all threads, with the bits that they have on one.  tape_few takes any number of rows,
 * and what is not rounded. */
void tape_few(struct tape *t, float *c, size_t ldc, const struct rows *a, const struct packed *b);
void tape_product(struct tape *t, float *c, size_t ldc, const struct rows *a,
		  const struct packed *b, bool add);
void tape_outer(struct tape *t, float *y, size_t ldc, const struct rows *a, const float *b,
		size_t k, size_t n, bool rounded);

/* w (rows,cols), or its transpose, as the right-hand side of products; of what is no result of the
 * tape, such as weights, made once in a step, or once in all between two calls of tape_fix. */
struct packed tape_packed(struct tape *t, const struct mat *w, bool transposed, bool rounded);

#endif
