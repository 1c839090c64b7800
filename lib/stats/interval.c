/* interval.c - Student's t, order statistics. */
#include "stats/interval.h"

#include <math.h>

#include "base/mem.h"
#include "stats/quantile.h"

enum { LEAST_FOR_ORDER = 6 };

double t_quantile(uint32_t freedom)
{
	static const double t[] = {INFINITY, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
				   2.306,    2.262,  2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
				   2.120,    2.110,  2.101, 2.093, 2.086, 2.080, 2.074, 2.069,
				   2.064,    2.060,  2.056, 2.052, 2.048, 2.045, 2.042};
	enum { N = sizeof t / sizeof *t };
	/* Beyond the table: the expansion in 1 / freedom, off by less than 1e-3. */
	return freedom < N ? t[freedom]
			   : 1.95996 + 2.3722 / freedom + 2.82 / ((double)freedom * freedom);
}

struct interval interval_mean(const double *x, uint32_t n)
{
	double mean = 0, var = 0;
	for (uint32_t i = 0; i < n; i++)
		mean += x[i] / n;
	for (uint32_t i = 0; i < n; i++)
		var += (x[i] - mean) * (x[i] - mean) / (n > 1 ? n - 1 : 1);
	double half = n > 1 ? t_quantile(n - 1) * sqrt(var / n) : INFINITY;
	return (struct interval){mean, mean - half, mean + half};
}

struct interval interval_geometric(const double *x, uint32_t n)
{
	double *logs = MEM_NEWN(double, n);
	for (uint32_t i = 0; i < n; i++)
		logs[i] = log(x[i]);
	struct interval r = interval_mean(logs, n);
	mem_free(logs);
	return (struct interval){exp(r.mid), exp(r.lo), exp(r.hi)};
}

/* The largest j with P(B(n, 1/2) < j) <= 0.025: the median lies between the j-th smallest and the
 * j-th largest of n samples with 95 %. */
static uint32_t order_rank(uint32_t n)
{
	double term = pow(0.5, n), below = 0;
	uint32_t j = 0;
	for (; below + term <= 0.025; j++) {
		below += term;
		term *= (double)(n - j) / (j + 1);
	}
	return j;
}

struct interval interval_order(const double *x, uint32_t n)
{
	double *s = mem_copy(x, n, sizeof *x);
	order_values(s, n);
	uint32_t j = n < 1000 ? order_rank(n) : (uint32_t)(n / 2.0 - 0.98 * sqrt(n));
	j = j < 1 ? 1 : j;
	struct interval r = {n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2, s[j - 1], s[n - j]};
	mem_free(s);
	return r;
}

struct interval interval_median(const double *x, uint32_t n)
{
	struct interval r = interval_order(x, n);
	if (n < LEAST_FOR_ORDER) {
		struct interval t = interval_mean(x, n);
		r.lo = fmin(t.lo, r.mid);
		r.hi = fmax(t.hi, r.mid);
	}
	return r;
}

struct interval interval_wider(struct interval x, double half)
{
	if (!(half > 0) || !(x.mid > 0))
		return x;
	double down = x.lo > 0 ? hypot(log(x.mid / x.lo), half) : INFINITY;
	double up = isfinite(x.hi) ? hypot(log(x.hi / x.mid), half) : INFINITY;
	return (struct interval){x.mid, x.mid * exp(-down), x.mid * exp(up)};
}
