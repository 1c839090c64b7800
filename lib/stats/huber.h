/* huber.h - a mean that single outliers do not move, and how sure it is. */
#ifndef HSDAG_STATS_HUBER_H
#define HSDAG_STATS_HUBER_H

#include "stats/interval.h"

/* Huber's mean of x[n], n >= 1: values beyond 1.5 deviations (by the median of their distances from
 * the median) are drawn in to there.  Its 95 % interval: Student's t with Huber's variance (Huber
 * 1981, Robust Statistics, section 6.6); infinite for one value. */
struct interval huber_mean(const double *x, uint32_t n);

/* The same of values in the order of time, of which neighbours may have more in common than others:
 * the interval is wider by their autocovariances (Newey and West 1987, "A simple, positive
 * semi-definite, heteroskedasticity and autocorrelation consistent covariance matrix"), with lags up
 * to 1.5 times the cube root of n; never narrower. */
struct interval huber_mean_in_time(const double *x, uint32_t n);

#endif
