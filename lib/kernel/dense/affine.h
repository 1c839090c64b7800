/* affine.h - products of a recurrent cell: constant weights, vectors of one step or of many. */
#ifndef HSDAG_KERNEL_DENSE_AFFINE_H
#define HSDAG_KERNEL_DENSE_AFFINE_H

#include "kernel/gemm/qpack.h"

/* In which order a sum is added up: as suits a call's number of steps, or the same for any number. */
enum affine_order {
	ORDER_OF_CALL,
	ORDER_OF_MANY, /* as in a product of matrices; what packed weights need */
	ORDER_OF_ONE   /* each step by itself */
};

/* Weights (rows, n), as they are, packed or rounded to bf16; with `pairs` vectors are rounded, too. */
struct affine_weights {
	int64_t rows, n;
	const float *f32;
	const float *packed;           /* the same, by cpu_affine_pack; NULL: not */
	const struct qpanels *rounded; /* in place of f32; NULL: none */
	const uint16_t *pairs; /* in place of f32, turned panels of vnni_gemm.h; NULL: none */
	enum affine_order order;
};

/* From AFFINE_MANY steps on a product is one of matrices, and packs its weights where they are not. */
enum { AFFINE_MANY = 8 };
int64_t cpu_affine_packed_floats(const struct affine_weights *w);
/* Into `packed`, which w refers to from then on. */
void cpu_affine_pack(struct affine_weights *w, float *packed);

/* y[t][j] = w_j x_t + b_j for rows j of w and x (steps, n); b may be NULL.  ctx NULL: this
 * thread alone.  room: 64-byte aligned, of cpu_affine_floats or more.  A sum's order depends on n,
 * on steps where the order is that of the call, and on how w is rounded, not on the threads. */
void cpu_affine(struct cpu_ctx *ctx, const struct affine_weights *w, const float *x, const float *b,
		int64_t steps, float *y, float *room);
int64_t cpu_affine_floats(const struct cpu_ctx *ctx, const struct affine_weights *w, int64_t steps);

#endif
