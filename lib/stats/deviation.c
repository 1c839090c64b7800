/* deviation.c - chi squared. */
#include "stats/deviation.h"

#include <math.h>

enum { HALVES = 80, TERMS = 10000 };

/* P(chi squared <= x). */
static double chi2_below(uint32_t freedom, double x)
{
	double a = freedom / 2.0, y = x / 2, term = 1 / a, sum = term;
	if (!(y > 0))
		return 0;
	for (int i = 1; i < TERMS && term > 1e-17 * sum; i++) {
		term *= y / (a + i);
		sum += term;
	}
	return exp(a * log(y) - y - lgamma(a)) * sum;
}

double chi2_quantile(uint32_t freedom, double q)
{
	double lo = 0, hi = freedom;
	while (chi2_below(freedom, hi) < q)
		hi *= 2;
	for (int i = 0; i < HALVES; i++) {
		double mid = (lo + hi) / 2;
		*(chi2_below(freedom, mid) < q ? &lo : &hi) = mid;
	}
	return (lo + hi) / 2;
}

struct interval interval_deviation(double squares, uint32_t freedom)
{
	if (freedom == 0)
		return (struct interval){0, 0, INFINITY};
	return (struct interval){sqrt(squares / freedom),
				 sqrt(squares / chi2_quantile(freedom, 0.975)),
				 sqrt(squares / chi2_quantile(freedom, 0.025))};
}
