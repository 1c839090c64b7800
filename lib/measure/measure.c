/* measure.c - repeated runs and intervals. */
#include "measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PAPER_RUNS = 10, PAPER_LAST = 5 };

static int by_value(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;
	return (a > b) - (a < b);
}

/* 97.5 % quantile of Student's t. */
static double t_quantile(uint32_t freedom)
{
	static const double t[] = {INFINITY, 12.706, 4.303, 3.182, 2.776, 2.571,
				   2.447,    2.365,  2.306, 2.262, 2.228, 2.201,
				   2.179,    2.160,  2.145, 2.131, 2.120};
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

struct interval interval_median(const double *x, uint32_t n)
{
	double *s = mem_copy(x, n, sizeof *x);
	qsort(s, n, sizeof *s, by_value);
	struct interval r = {.mid = n % 2 ? s[n / 2] : (s[n / 2 - 1] + s[n / 2]) / 2};
	uint32_t j = n < 1000 ? order_rank(n) : (uint32_t)(n / 2.0 - 0.98 * sqrt(n));
	if (j >= 1) {
		r.lo = s[j - 1];
		r.hi = s[n - j];
	} else {
		struct interval t = interval_mean(x, n);
		r.lo = fmin(t.lo, r.mid);
		r.hi = fmax(t.hi, r.mid);
	}
	mem_free(s);
	return r;
}

static bool narrow(struct interval i, double ci)
{
	return (i.hi - i.lo) / 2 <= ci * fabs(i.mid);
}

struct interval interval_clip(struct interval i)
{
	if (!(i.lo > 0))
		i.lo = 0;
	if (!(i.hi < 100 * i.mid))
		i.hi = 100 * i.mid;
	return i;
}

static int run_once(struct executor *x, struct plan *p, struct measurement *m, struct err *e)
{
	struct exec_sample s = {.busy_s = m->busy_s};
	if (executor_run(x, p, &s, e) < 0)
		return -1;
	m->sample_s[m->n++] = s.lat_s;
	return 0;
}

static void start(struct measurement *m, const struct measure_options *o, uint32_t k,
		  struct arena *a)
{
	int64_t room = o->max_runs > PAPER_RUNS ? o->max_runs : PAPER_RUNS;
	*m = (struct measurement){.sample_s = ARENA_NEWN(a, double, (size_t)room + 1),
				  .busy_s = ARENA_NEWN(a, double, k)};
}

static int warm_up(struct executor *x, struct plan *p, const struct measure_options *o,
		   struct err *e)
{
	struct exec_sample s = {0};
	for (int64_t i = 0; i < o->warmup; i++)
		if (executor_run(x, p, &s, e) < 0)
			return -1;
	return 0;
}

int measure_plan(struct executor *x, struct plan *p, uint32_t k, const struct measure_options *o,
		 struct arena *a, struct measurement *out, struct err *e)
{
	double end = clock_s() + o->max_s;
	start(out, o, k, a);
	if (o->paper) {
		while (out->n < PAPER_RUNS)
			if (run_once(x, p, out, e) < 0)
				return -1;
		out->lat = interval_clip(
			interval_mean(out->sample_s + PAPER_RUNS - PAPER_LAST, PAPER_LAST));
		return 0;
	}
	if (warm_up(x, p, o, e) < 0)
		return -1;
	while (out->n < o->max_runs) {
		if (run_once(x, p, out, e) < 0)
			return -1;
		out->lat = interval_median(out->sample_s, out->n);
		if (out->n >= o->min_runs && (narrow(out->lat, o->ci) || clock_s() > end))
			break;
	}
	out->lat = interval_clip(out->lat);
	return 0;
}
