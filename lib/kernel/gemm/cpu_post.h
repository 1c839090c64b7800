/* cpu_post.h - epilogues (cpu_epilogue.h) of the kernels that compute blocks by cpu_gemm.h.
 *
 * The usual ones - factors of columns, a bias of rows, up to two other summands, then limits, HSwish or Swish - are
 * simple: they are applied in registers (struct gemm_post).  Others are interpreted over finished
 * pieces of the output.  Rows and columns are the epilogue's. */
#ifndef HSDAG_KERNEL_GEMM_CPU_POST_H
#define HSDAG_KERNEL_GEMM_CPU_POST_H

#include "kernel/cpu_epilogue.h"
#include "kernel/gemm/cpu_gemm.h"

struct cpu_post {
	const struct epilogue *whole; /* NULL: nothing to do */
	bool simple;
	bool scales; /* whoever applies a simple one multiplies, too */
	const struct epi_operand *scale,
		*before; /* of a simple one; may be NULL, as the next three */
	const struct epi_operand *bias, *residual, *more;
	float lo, hi;
	bool hswish;
	float swish;
};

/* e may be NULL; borrowed.  scales: factors of columns may be part of a simple one. */
void cpu_post_init(struct cpu_post *p, const struct epilogue *e, bool scales);

/* A simple epilogue for a block of n <= GEMM_M rows from (row, col) on, in *to; else NULL. */
struct cpu_post_rows {
	struct gemm_post post;
	float bias[GEMM_M];
};
const struct gemm_post *cpu_post_rows(const struct cpu_post *p, int64_t row, int n, int64_t col,
				      struct cpu_post_rows *to);
/* An epilogue that is not simple, on a finished piece of the output; else nothing happens. */
void cpu_post_tile(const struct cpu_post *p, float *c, int64_t ldc, int64_t row, int64_t n_rows,
		   int64_t col, int64_t n);

#endif
