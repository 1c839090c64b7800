/* thin.h - products with few rows: the time goes into reading B.
 *
 * C (m,n) = A (m,k) B (k,n), m <= GEMM_M, B packed as in gemm.h.  The whole depth k is summed
 * in registers, halves are widened on the way, and B is fetched ahead of its use.  Summed in
 * one order for each m: products may be cut into panels freely. */
#ifndef HSDAG_KERNEL_GEMM_THIN_H
#define HSDAG_KERNEL_GEMM_THIN_H

#include "kernel/gemm/gemm.h"

/* nr <= GEMM_N columns: one panel of B.  a: packed (k, GEMM_M); with m = 1 the row itself. */
void thin_panel(int m, int nr, int64_t k, const float *a, const void *b, bool b_half, float *c,
		int64_t ldc);

#endif
