/* rank.h - Spearman's rank correlation, and its bootstrap interval. */
#ifndef HSDAG_STATS_RANK_H
#define HSDAG_STATS_RANK_H

#include <stdint.h>

#include "stats/interval.h"

/* Spearman's coefficient of x[n] and y[n] (Spearman 1904), where value i counts times[i] >= 0
 * times; times NULL: once.  Ranks of equal values are their mean.  by_x, by_y (n): the indices
 * 0 .. n - 1 in ascending order of x and of y (order_by).  0 where all that count are equal. */
double spearman(const double *x, const uint32_t *by_x, const double *y, const uint32_t *by_y,
		const uint32_t *times, uint32_t n);

/* The state of the generator that draws samples: Park and Miller's, "Random number generators: good
 * ones are hard to find", CACM 31 (1988), as judgements have always been drawn with it. */
struct minstd {
	uint32_t state; /* 1 .. 2^31 - 2 */
};
/* Uniform integer in 0 .. k - 1. */
uint32_t minstd_below(struct minstd *g, uint32_t k);

/* Spearman's coefficient of x[n] and y[n], n >= 1, and the 95 % interval between the percentiles of
 * `samples` bootstrap samples of pairs (Efron 1979). */
struct interval spearman_interval(const double *x, const double *y, uint32_t n, uint32_t samples,
				  struct minstd *g);

/* Median of x[n], n >= 1, by `quantile`, and the interval likewise. */
struct interval bootstrap_median(const double *x, uint32_t n, uint32_t samples, struct minstd *g);

#endif
