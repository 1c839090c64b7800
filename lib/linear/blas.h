/* blas.h - OpenBLAS, loaded when it is needed first: it takes some milliseconds, and few runs need it.
 *
 * A library whose BLAS starts a thread for each core that it sees starts none here, so that a call
 * computes on the thread that makes it.
 *
 * CBLAS, and routines of LAPACK by the Fortran names that OpenBLAS exports: Debian's is built without
 * LAPACKE.  Their matrices are column-major: what is "U" to them is the lower triangle of a
 * row-major matrix. */
#ifndef HSDAG_LINEAR_BLAS_H
#define HSDAG_LINEAR_BLAS_H

#include <cblas.h>
#include <f77blas.h>

#include "base/err.h"

/* clang-format off */
#define BLAS_FUNCTIONS(X) \
	X(cblas_sgemm) X(cblas_sgemv) X(cblas_daxpy) X(cblas_dscal) X(cblas_dgemv) X(cblas_dsyr) X(cblas_dsyrk) \
	X(cblas_dtrsv) X(dgesv_) X(dpotrf_) X(dpotrs_)
/* clang-format on */

struct blas {
#define MEMBER(f) __typeof__(f) *f;
	BLAS_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* The functions of libopenblas.so.0, from any thread; NULL (ST_RUNTIME): it cannot be loaded, and
 * the message says what to install. */
const struct blas *blas_open(struct err *e) MUST_CHECK;
/* The same where blas_open has succeeded before. */
const struct blas *blas(void);

/* dlopen of a library that is or brings a BLAS; NULL: it is not there.  While it is loaded the
 * calling thread may run on one core alone, which is the one that OpenBLAS then sees. */
void *blas_dlopen(const char *name);

#endif
