/* blas.h - products by OpenBLAS on one thread, the yardstick of the learner's benches.  Matrices are
 * row-major f32; ld* is the distance between rows, in elements. */
#ifndef HSDAG_TESTS_BLAS_H
#define HSDAG_TESTS_BLAS_H

#include <cblas.h>
#include <stdbool.h>

/* Before the first product. */
static inline void blas_init(void)
{
	openblas_set_num_threads(1);
}

/* C (m,n) = alpha * op(A) (m,k) * op(B) (k,n) + beta * C; op transposes when ta/tb. */
static inline void blas_gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *A,
			     int lda, const float *B, int ldb, float beta, float *C, int ldc)
{
	cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
		    m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

#endif
