/* quantile.c - heap sort, quantiles, trimmed means. */
#include "stats/quantile.h"

#include <stdlib.h>

/* The heap index[0..n) has its largest key at 0, all but `at` in place. */
static void sift_down(uint32_t *index, const double *key, uint32_t at, uint32_t n)
{
	uint32_t moved = index[at];
	for (uint32_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && key[index[child + 1]] > key[index[child]])
			child++;
		if (key[index[child]] <= key[moved])
			break;
		index[at] = index[child];
	}
	index[at] = moved;
}

void order_by(uint32_t *index, const double *key, uint32_t n)
{
	for (uint32_t i = n / 2; i-- > 0;)
		sift_down(index, key, i, n);
	for (uint32_t i = n; i-- > 1;) {
		uint32_t largest = index[0];
		index[0] = index[i];
		index[i] = largest;
		sift_down(index, key, 0, i);
	}
}

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

void order_values(double *x, uint32_t n)
{
	if (n > 1)
		qsort(x, n, sizeof *x, by_value);
}

double quantile(const double *ascending, uint32_t n, double q)
{
	double at = q * (n - 1);
	uint32_t below = (uint32_t)at;
	if (below + 1 >= n)
		return ascending[n - 1];
	return ascending[below] + (at - below) * (ascending[below + 1] - ascending[below]);
}

double lower_median(double *x, uint32_t n)
{
	order_values(x, n);
	return x[(n - 1) / 2];
}

double trimmed_mean(double *x, uint32_t n, double low, double high)
{
	order_values(x, n);
	uint32_t first = (uint32_t)(n * low), end = n - (uint32_t)(n * high);
	double sum = 0;
	for (uint32_t i = first; i < end; i++)
		sum += x[i];
	return sum / (end - first);
}

double expected_least(double *x, uint32_t n, uint32_t m)
{
	order_values(x, n);
	double sum = 0, p = (double)m / n;
	for (uint32_t i = 1; i <= n - m + 1; i++) {
		sum += p * x[i - 1];
		if (i < n)
			p *= (double)(n - i - m + 1) / (n - i);
	}
	return sum;
}
