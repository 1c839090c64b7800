/* cpu_affine.h - products of a recurrent cell: constant weights, vectors of one step or of many. */
#ifndef HSDAG_KERNEL_DENSE_CPU_AFFINE_H
#define HSDAG_KERNEL_DENSE_CPU_AFFINE_H

#include "kernel/gemm/cpu_qpack.h"

/* Weights (rows, n), as they are or rounded to bf16. */
struct affine_weights {
	const float *f32;
	const struct qpanels *rounded; /* in place of f32; NULL: none */
};

/* y[t][j] = w_j x_t + b_j for rows j of w (rows, n) and x (steps, n); b may be NULL.  ctx NULL: this
 * thread alone.  room: 64-byte aligned, of cpu_affine_floats or more.  A sum's order depends on n, steps, and whether w is
 * rounded, not on the threads. */
void cpu_affine(struct cpu_ctx *ctx, const struct affine_weights *w, const float *x, const float *b,
		int64_t rows, int64_t n, int64_t steps, float *y, float *room);
int64_t cpu_affine_floats(const struct cpu_ctx *ctx, const struct affine_weights *w, int64_t steps,
			  int64_t n);

#endif
