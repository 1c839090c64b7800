/* case_value.h - what counts of a model with several lists of shapes: the mean of what each takes, a percentile or the worst. */
#ifndef HSDAG_GRAPH_CASE_VALUE_H
#define HSDAG_GRAPH_CASE_VALUE_H

#include <stdint.h>

#include "base/err.h"

/* 0: the sum by weights (the mean, where they are shares of 1); above: that percentile, by weights; this one: the worst. */
#define CASES_WORST 100.0

/* "mean", "worst", or "p95" and the like, from p1 to below p100.  ST_USAGE: it is none. */
int cases_over_parse(const char *text, double *over, struct err *e) MUST_CHECK;

enum { CASES_OVER_CAP = 32 };
/* As it is parsed, into dst; returns dst. */
char *cases_over_name(double over, char dst[CASES_OVER_CAP]);

/* Of x (n), with weights (n) of which some are above 0; those with 0 do not count.  A percentile is the least of x that so much
 * of the weights is not above. */
double cases_value(double over, const double *weight, const double *x, uint32_t n);

#endif
