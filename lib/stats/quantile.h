/* quantile.h - sorting, and statistics of ordered values.
 *
 * Values are finite.  A function that "sorts x" leaves x ascending. */
#ifndef HSDAG_STATS_QUANTILE_H
#define HSDAG_STATS_QUANTILE_H

#include <stdint.h>

/* Sort index[0..n) so that key[index[]] ascends.  A heap sort of our own, so that equal keys come
 * out in the same order with every C library. */
void order_by(uint32_t *index, const double *key, uint32_t n);

/* Sort x[n]. */
void order_values(double *x, uint32_t n);

/* Quantile q, 0 <= q <= 1, of ascending x[n], n >= 1: linear between neighbours (Hyndman and Fan
 * 1996, type 7; numpy's default). */
double quantile(const double *ascending, uint32_t n, double q);

/* The lower median of x[n], n >= 1: of an even number the smaller one in the middle.  Sorts x. */
double lower_median(double *x, uint32_t n);

/* Mean of x[n], n >= 1, without the smallest floor(low * n) and the largest floor(high * n) of the
 * values; low + high < 1.  Sorts x. */
double trimmed_mean(double *x, uint32_t n, double low, double high);

/* Expected least of m values that are drawn from x[n], 1 <= m <= n, without putting them back: the
 * i-th in order is it with the probability C(n - i, m - 1) / C(n, m), i = 1 ... .  Sorts x. */
double expected_least(double *x, uint32_t n, uint32_t m);

#endif
