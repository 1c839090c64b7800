/* measurement.c - repeated runs and intervals. */
#include "timing/measurement.h"

#include <math.h>

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

static enum run_status run_once(const struct runnable *r, struct measurement *m, struct err *e)
{
	struct run_sample s = {.busy_s = m->busy_s};
	enum run_status status = runnable_run(r, &s, e);
	if (status == RUN_OK)
		m->sample_s[m->n++] = s.lat_s;
	return status;
}

static void start(struct measurement *m, const struct measure_options *o, uint32_t k,
		  struct arena *a)
{
	int64_t room = o->max_runs > PAPER_RUNS ? o->max_runs : PAPER_RUNS;
	*m = (struct measurement){.sample_s = ARENA_NEWN(a, double, (size_t)room + 1),
				  .busy_s = ARENA_NEWN(a, double, k)};
}

static enum run_status measure_paper(const struct runnable *r, struct measurement *out,
				     struct err *e)
{
	while (out->n < PAPER_RUNS) {
		enum run_status status = run_once(r, out, e);
		if (status != RUN_OK)
			return status;
	}
	out->lat =
		interval_clip(interval_mean(out->sample_s + PAPER_RUNS - PAPER_LAST, PAPER_LAST));
	return RUN_OK;
}

enum run_status measure_runs(const struct runnable *r, uint32_t k, const struct measure_options *o,
			     struct arena *a, struct measurement *out, struct err *e)
{
	double end = r->now_s(r->arg) + o->max_s;
	enum run_status status = RUN_OK;
	start(out, o, k, a);
	if (o->paper)
		return measure_paper(r, out, e);
	for (int64_t i = 0; i < o->warmup && status == RUN_OK && !measure_interrupted(o); i++)
		status = runnable_run(r, &(struct run_sample){0}, e);
	while (status == RUN_OK && out->n < o->max_runs) {
		status = run_once(r, out, e);
		if (measure_cut_short(o, status, out->n, e))
			status = RUN_OK;
		if (status != RUN_OK)
			break;
		out->lat = interval_median(out->sample_s, out->n);
		if (measure_interrupted(o) ||
		    (out->n >= o->min_runs && (narrow(out->lat, o->ci) || r->now_s(r->arg) > end)))
			break;
	}
	if (status == RUN_OK)
		out->lat = interval_clip(out->lat);
	return status;
}
