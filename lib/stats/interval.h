/* interval.h - estimates with 95 % intervals: medians by order statistics, means by Student's t. */
#ifndef HSDAG_STATS_INTERVAL_H
#define HSDAG_STATS_INTERVAL_H

#include <stdint.h>

struct interval {
	double mid, lo, hi;
};

/* 97.5 % quantile of Student's t with `freedom` degrees of freedom, to 1e-3; infinite for 0. */
double t_quantile(uint32_t freedom);

/* Mean of x[n], n >= 1, and its 95 % interval by Student's t; infinite for n = 1. */
struct interval interval_mean(const double *x, uint32_t n);

/* Geometric mean of x[n] > 0, n >= 1: the mean of the logarithms and its interval, exponentiated.
 * Of one value the interval is 0 to infinity. */
struct interval interval_geometric(const double *x, uint32_t n);

/* Median of x[n], n >= 1, and the order statistics between which the median lies with
 * at least 95 % (binomial; Conover, Practical Nonparametric Statistics, section 3.2).  Below six
 * values, where none do, smallest and largest. */
struct interval interval_order(const double *x, uint32_t n);

/* The same; below six values Student's t around the mean, widened to hold the median. */
struct interval interval_median(const double *x, uint32_t n);

static inline struct interval interval_scaled(struct interval x, double by)
{
	return (struct interval){by * x.mid, by * x.lo, by * x.hi};
}

/* x, of a ratio, and an error that has nothing to do with it, with 95 % of the logarithm within
 * +-half: both distances, as logarithms, by the root of the sum of their squares. */
struct interval interval_wider(struct interval x, double half);

#endif
