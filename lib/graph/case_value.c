/* case_value.c - one number of several. */
#include "graph/case_value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cases_over_parse(const char *text, double *over, struct err *e)
{
	char *end;
	if (strcmp(text, "mean") == 0 || strcmp(text, "worst") == 0) {
		*over = *text == 'm' ? 0 : CASES_WORST;
		return 0;
	}
	double p = *text == 'p' ? strtod(text + 1, &end) : NAN;
	if (!(p >= 1 && p < CASES_WORST) || *end ||
	    strspn(text + 1, "0123456789.") < strlen(text + 1))
		return err_set(e, ST_USAGE,
			       "--over '%s' is not mean, worst or a percentile, as p95", text);
	*over = p;
	return 0;
}

char *cases_over_name(double over, char dst[CASES_OVER_CAP])
{
	if (over == 0 || over == CASES_WORST)
		snprintf(dst, CASES_OVER_CAP, "%s", over == 0 ? "mean" : "worst");
	else
		snprintf(dst, CASES_OVER_CAP, "p%.9g", over);
	return dst;
}

double cases_value(double over, const double *weight, const double *x, uint32_t n)
{
	/* Shares of weights are sums, rounded. */
	static const double ROUNDED = 1 - 1e-12;
	double all = 0, sum = 0, best = INFINITY;
	for (uint32_t i = 0; i < n; i++) {
		all += weight[i];
		sum += weight[i] > 0 ? weight[i] * x[i] : 0;
	}
	if (over == 0)
		return sum;
	for (uint32_t i = 0; i < n; i++) {
		double below = 0;
		for (uint32_t j = 0; j < n; j++)
			below += x[j] <= x[i] ? weight[j] : 0;
		if (weight[i] > 0 && x[i] < best && below >= over / CASES_WORST * all * ROUNDED)
			best = x[i];
	}
	return best;
}
