/* deviation.h - a standard deviation of normal values, and how sure it is. */
#ifndef HSDAG_STATS_DEVIATION_H
#define HSDAG_STATS_DEVIATION_H

#include "stats/interval.h"

/* Quantile q, 0 < q < 1, of chi squared with `freedom` >= 1 degrees of freedom, to 1e-9 of it: its
 * distribution is the series of the incomplete gamma function (Abramowitz and Stegun 1964,
 * 6.5.29), searched by halves. */
double chi2_quantile(uint32_t freedom, double q);

/* Standard deviation from the sum of squared distances from means with `freedom` degrees of
 * freedom, and its 95 % interval by chi squared; infinite without freedom. */
struct interval interval_deviation(double squares, uint32_t freedom);

#endif
