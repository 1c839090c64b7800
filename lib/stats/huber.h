/* huber.h - a mean that single outliers do not move, and how sure it is. */
#ifndef HSDAG_STATS_HUBER_H
#define HSDAG_STATS_HUBER_H

#include "stats/interval.h"

/* Huber's mean of x[n], n >= 1: values beyond 1.5 deviations (by the median of their distances from
 * the median) are drawn in to there.  Its 95 % interval: Student's t with Huber's variance (Huber
 * 1981, Robust Statistics, section 6.6); infinite for one value. */
struct interval huber_mean(const double *x, uint32_t n);

#endif
