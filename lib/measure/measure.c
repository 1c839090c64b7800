/* measure.c - repeated runs and intervals. */
#include "measure/measure.h"
#include "base/clock.h"

#include <math.h>
#include <string.h>

enum { PAPER_RUNS = 10, PAPER_LAST = 5 };

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
