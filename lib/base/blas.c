/* blas.c - OpenBLAS behind blas.h. */
#include "base/blas.h"

#include <cblas.h>

void blas_init(void)
{
	openblas_set_num_threads(1);
}

void blas_gemm(bool ta, bool tb, int m, int n, int k, float alpha, const float *A, int lda,
	       const float *B, int ldb, float beta, float *C, int ldc)
{
	if (m == 0 || n == 0)
		return;
	cblas_sgemm(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans,
		    m, n, k, alpha, A, lda, B, ldb, beta, C, ldc);
}

void blas_gemv(bool ta, int m, int n, float alpha, const float *A, int lda, const float *x,
	       float beta, float *y)
{
	if (m == 0)
		return;
	cblas_sgemv(CblasRowMajor, ta ? CblasTrans : CblasNoTrans, ta ? n : m, ta ? m : n, alpha, A,
		    lda, x, 1, beta, y, 1);
}
