/* regress.h - linear least squares of a few variables, and the systems they lead to, by OpenBLAS, which
 * the caller has opened (linear/blas.h). */
#ifndef HSDAG_LINEAR_REGRESS_H
#define HSDAG_LINEAR_REGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { REGRESS_MAX = 8 };

/* Normal equations a b = c of k variables, sums over observations; of a the lower triangle. */
struct normal {
	uint32_t k;
	double a[REGRESS_MAX][REGRESS_MAX], c[REGRESS_MAX];
};

/* One more observation y of variables x[k]. */
void normal_add(struct normal *m, const double *x, double y);

/* Coefficients b[k].  1e-4 of the mean of a's diagonal is added to it (ridge regression; Hoerl and
 * Kennard 1970), so that a variable that tells nothing has no coefficient.  False, and b as it was,
 * when all variables are 0. */
bool normal_solve(const struct normal *m, double *b);

/* a (n,n), rows `row` apart, of which the lower triangle counts, becomes the Cholesky factor L, a = L L',
 * and b (n) becomes x of L L' x = b.  False, and both spoilt: a is not positive definite. */
bool positive_solve(double *a, uint32_t n, uint32_t row, double *b);
/* b (n), standard normal, becomes x of L' x = b, which has the covariance (L L')^-1. */
void positive_draw(const double *l, uint32_t n, uint32_t row, double *b);

#endif
