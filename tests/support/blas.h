/* blas.h - products by OpenBLAS on one thread, the yardstick of the learner's benches.  Matrices are
 * row-major f32; ld* is the distance between rows, in elements. */
#ifndef HSDAG_TESTS_BLAS_H
#define HSDAG_TESTS_BLAS_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "linear/blas.h"

/* Before the first product. */
static inline void blas_init(void)
{
	struct err e = ERR_INIT;
	if (!blas_open(&e)) {
		fprintf(stderr, "%s\n", e.msg);
		exit(e.code);
	}
}

/* C (m,n) = alpha * op(A) (m,k) * op(B) (k,n) + beta * C; op transposes when ta/tb. */
static inline void blas_gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *A,
			     int lda, const float *B, int ldb, float beta, float *C, int ldc)
{
	blas()->cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans,
			    tb ? CblasTrans : CblasNoTrans, m, n, k, alpha, A, lda, B, ldb, beta, C,
			    ldc);
}

#endif
