/* cholesky.h - symmetric positive definite systems of a few dozen unknowns. */
#ifndef HSDAG_STATS_CHOLESKY_H
#define HSDAG_STATS_CHOLESKY_H

#include <stdbool.h>
#include <stdint.h>

/* a (n,n), of which the lower triangle counts, becomes L with a = L L'.  False, and a spoilt: it is
 * not positive definite. */
bool cholesky(double *a, uint32_t n);
/* b (n) becomes x of L L' x = b. */
void cholesky_solve(const double *l, uint32_t n, double *b);
/* b (n) becomes x of L' x = b: of standard normal b, x has the covariance (L L')^-1. */
void cholesky_back(const double *l, uint32_t n, double *b);

#endif
