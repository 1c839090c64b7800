/* blas.h - dense matrix products; the only user of cblas.h.
 *
 * OpenBLAS always runs single-threaded here: its thread count is global to the
 * process and changes bits.  Parallelism is over independent products.
 * Matrices are row-major float32; ld* is the distance between rows, in
 * elements. */
#ifndef HSDAG_BASE_BLAS_H
#define HSDAG_BASE_BLAS_H

#include <stdbool.h>

/* Make OpenBLAS single-threaded.  Call once, before the first product and
 * before any thread of ours starts. */
void blas_init(void);

/* C (m,n) = alpha * op(A) (m,k) * op(B) (k,n) + beta * C; op transposes when ta/tb. */
void blas_gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *A, int lda,
	       const float *B, int ldb, float beta, float *C, int ldc);

/* y (m) = alpha * op(A) x + beta * y, where A is (m,n) as stored when !ta, (n,m) when ta. */
void blas_gemv(bool ta, int m, int n, float alpha, const float *A, int lda, const float *x,
	       float beta, float *y);

#endif
