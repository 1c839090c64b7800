/* regress.c - normal equations, by Cholesky's factors. */
#include "linear/regress.h"

#include <math.h>
#include <string.h>

#include "linear/blas.h"

static const double RIDGE = 1e-4;

void normal_add(struct normal *m, const double *x, double y)
{
	blas()->cblas_dsyr(CblasRowMajor, CblasLower, (int)m->k, 1, x, 1, m->a[0], REGRESS_MAX);
	blas()->cblas_daxpy((int)m->k, y, x, 1, m->c, 1);
}

bool normal_solve(const struct normal *m, double *b)
{
	struct normal t = *m;
	double trace = 0;
	for (uint32_t i = 0; i < t.k; i++)
		trace += t.a[i][i];
	if (trace == 0)
		return false;
	for (uint32_t i = 0; i < t.k; i++)
		t.a[i][i] += RIDGE * trace / t.k;
	if (!positive_solve(t.a[0], t.k, REGRESS_MAX, t.c))
		return false;
	memcpy(b, t.c, t.k * sizeof *b);
	return true;
}

bool positive_solve(double *a, uint32_t n, uint32_t row, double *b)
{
	char lower[] = "U"; /* of a row-major matrix */
	blasint size = (blasint)n, apart = (blasint)row, one = 1, info;
	blas()->dpotrf_(lower, &size, a, &apart, &info);
	if (info == 0)
		blas()->dpotrs_(lower, &size, &one, a, &apart, b, &size, &info);
	for (uint32_t i = 0; i < n && info == 0; i++)
		info = !isfinite(b[i]);
	return info == 0;
}

void positive_draw(const double *l, uint32_t n, uint32_t row, double *b)
{
	blas()->cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)n, l,
			    (int)row, b, 1);
}
