/* block_epilogue.h - epilogues (epilogue.h) of the kernels that compute blocks by gemm.h.
 *
 * The usual ones - a bias of rows, up to two other summands, then limits, HSwish or Swish - are
 * simple: they are applied in registers (struct gemm_post).  Products may have factors of columns in front, and one
 * other unary operator behind, which goes over finished pieces of the output.  All that is not simple is interpreted
 * over these.  Rows and columns are the epilogue's. */
#ifndef HSDAG_KERNEL_GEMM_BLOCK_EPILOGUE_H
#define HSDAG_KERNEL_GEMM_BLOCK_EPILOGUE_H

#include "kernel/epilogue.h"
#include "kernel/gemm/gemm.h"

struct cpu_post {
	const struct epilogue *whole; /* NULL: nothing to do */
	bool simple;
	bool product;
	/* Of a simple one; NULL where there is none. */
	const struct epi_operand *scale, *before, *bias, *residual, *more;
	float lo, hi;
	bool hswish;
	float swish;
	const struct epi_code *tail; /* the unary operator behind; NULL: none */
};

/* e may be NULL; borrowed. */
void cpu_post_init(struct cpu_post *p, const struct epilogue *e, bool product);

/* A simple epilogue for a block of n <= GEMM_M rows from (row, col) on, in *to; else NULL. */
struct cpu_post_rows {
	struct gemm_post post;
	float bias[GEMM_M];
};
const struct gemm_post *cpu_post_rows(const struct cpu_post *p, int64_t row, int n, int64_t col,
				      struct cpu_post_rows *to);
/* The rest, on a finished piece of the output: the tail of a simple one, or the whole of any other. */
void cpu_post_tile(const struct cpu_post *p, float *c, int64_t ldc, int64_t row, int64_t n_rows,
		   int64_t col, int64_t n);
/* All of it, on a piece of sums. */
void cpu_post_sums(const struct cpu_post *p, float *c, int64_t ldc, int64_t row, int64_t n_rows,
		   int64_t col, int64_t n);

#endif
