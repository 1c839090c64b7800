/* regress.h - linear least squares of a few variables. */
#ifndef HSDAG_STATS_REGRESS_H
#define HSDAG_STATS_REGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum { REGRESS_MAX = 8 };

/* Normal equations a b = c of k variables, sums over observations. */
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

#endif
