/* beside.c - bursts of the reference and of a placement in turn. */
#include "race/beside.h"

#include <math.h>
#include <string.h>

#include "stats/quantile.h"
#include "timing/burst.h"

static double median_of(const double *x, uint32_t n)
{
	double s[BURST_RUNS];
	memcpy(s, x, n * sizeof *s);
	order_values(s, n);
	return quantile(s, n, 0.5);
}

/* The times of a burst into run_s[*n]; busy times are those of its last run. */
static enum run_status burst(const struct runnable *r, uint32_t most, bool warm, double *busy_s,
			     double *run_s, uint32_t *n, struct err *e)
{
	struct run_sample s[BURST_RUNS];
	for (uint32_t i = 0; i < BURST_RUNS; i++)
		s[i] = (struct run_sample){.busy_s = busy_s};
	enum run_status status = burst_run(r, most < BURST_RUNS ? most : BURST_RUNS, warm, s, n, e);
	for (uint32_t i = 0; i < *n; i++)
		run_s[i] = s[i].lat_s;
	return status;
}

enum run_status beside_look(struct beside *x, int *lost, struct err *e)
{
	for (uint32_t i = 0; i < x->n; i++) {
		double run_s[BURST_RUNS];
		uint32_t n;
		enum run_status status =
			burst(&x->single[i].run, BESIDE_REFERENCE_RUNS, false, NULL, run_s, &n, e);
		if (status != RUN_OK) {
			x->known = false;
			*lost = (int)i;
			return status;
		}
		x->log_s[i] = log(median_of(run_s, n));
	}
	x->known = true;
	return RUN_OK;
}

/* Bursts of parts may take so much of the seconds of a measurement. */
static const double PARTS_SHARE = 0.3;

uint32_t beside_choose(const struct beside_devices *x, uint32_t *device)
{
	uint32_t n = 0;
	double burst_s = 0;
	bool parts = x->has != NULL;
	for (uint32_t d = 0; d < x->k && parts; d++) {
		if (!x->has[(size_t)x->best * x->k + d])
			continue;
		parts = n < BESIDE_MOST && x->lat_s[d] > 0 &&
			(n == 0 || x->alike[d] == x->alike[device[0]]);
		if (parts)
			device[n++] = d;
		burst_s += burst_makes(x->lat_s[d], BESIDE_REFERENCE_RUNS) * x->lat_s[d];
	}
	if (parts && n > 1 && burst_s < PARTS_SHARE * x->max_s)
		return n;
	device[0] = x->best;
	n = 1;
	for (uint32_t d = 0; d < x->k && n < BESIDE_MOST; d++)
		if (d != x->best && x->lat_s[d] > 0 && x->alike[d] == x->alike[x->best])
			device[n++] = d;
	return n;
}

static double mean_of(const double *x, uint32_t n)
{
	double sum = 0;
	for (uint32_t i = 0; i < n; i++)
		sum += x[i] / n;
	return sum;
}

/* The logarithm of how much longer the placement takes, as the reference's devices are not equally fast between two bursts of
 * theirs (n logarithms each).  What consists of some of them is as slow as the slowest. */
static double excess(const struct beside *x, const struct beside_run *r, const double *before,
		     const double *after)
{
	if (x->n < 2 || !r->predict)
		return 0;
	double *slow = MEM_NEWN(double, (size_t)x->k + 1), found = 0;
	double mean = (mean_of(before, x->n) + mean_of(after, x->n)) / 2;
	for (uint32_t d = 0; d < x->k; d++)
		slow[d] = 1;
	for (uint32_t i = 0; i < x->n; i++)
		slow[x->single[i].device] = exp((before[i] + after[i]) / 2 - mean);
	for (uint32_t d = 0; d < x->k && x->has; d++) {
		double most = 0;
		for (uint32_t p = 0; p < x->k; p++)
			most = x->has[(size_t)d * x->k + p] ? fmax(most, slow[p]) : most;
		slow[d] = most > 0 ? most : slow[d];
	}
	double usual_s = r->predict(r->ctx, NULL), now_s = r->predict(r->ctx, slow);
	if (usual_s > 0 && now_s > 0)
		found = log(now_s / usual_s);
	mem_free(slow);
	return found;
}

/* The ratio by logarithms of runs (n) and of medians of bursts (n_bursts): what runs of one burst have in common they do not
 * tell. */
static struct interval ratio_of(const double *log_run, uint32_t n, const double *log_burst,
				uint32_t n_bursts)
{
	struct interval r = interval_median(log_run, n);
	if (n_bursts > 2) {
		struct interval by = interval_median(log_burst, n_bursts);
		r.mid = by.mid;
		r.lo = fmin(r.lo, by.lo);
		r.hi = fmax(r.hi, by.hi);
	}
	return (struct interval){exp(r.mid), exp(r.lo), exp(r.hi)};
}

static bool narrow(struct interval i, double ci)
{
	return (i.hi - i.lo) / 2 <= ci * i.mid;
}

/* Bursts in turn.  The reference is known. */
static enum run_status take_turns(struct beside *x, const struct beside_run *r,
				  const struct measure_options *o, struct beside_result *out,
				  struct err *e)
{
	struct measurement *m = &out->m;
	double end_s = r->run.now_s(r->run.arg) + o->max_s, sum = mean_of(x->log_s, x->n);
	double *log_run = MEM_NEWN(double, (size_t)o->max_runs + 1);
	double *log_burst = MEM_NEWN(double, (size_t)o->max_runs + 1);
	uint32_t bursts = 0;
	struct interval ratio = {0, 0, 0};
	enum run_status status = RUN_OK;
	for (int64_t i = 0; i < o->warmup && status == RUN_OK && !measure_interrupted(o); i++)
		status = runnable_run(&r->run, &(struct run_sample){0}, e);
	while (status == RUN_OK && m->n < o->max_runs) {
		double before[BESIDE_MOST];
		uint32_t n;
		memcpy(before, x->log_s, sizeof before);
		status = burst(&r->run, (uint32_t)(o->max_runs - m->n), bursts == 0, m->busy_s,
			       &m->sample_s[m->n], &n, e);
		if (status == RUN_OK && !measure_interrupted(o))
			status = beside_look(x, &out->lost, e);
		if (measure_cut_short(o, status, m->n, e))
			status = RUN_OK;
		if (status != RUN_OK || n == 0)
			break;
		sum += mean_of(x->log_s, x->n);
		double beside = (mean_of(before, x->n) + mean_of(x->log_s, x->n)) / 2 +
				excess(x, r, before, x->log_s);
		for (uint32_t i = 0; i < n; i++)
			log_run[m->n + i] = log(m->sample_s[m->n + i]) - beside;
		log_burst[bursts++] = log(median_of(&m->sample_s[m->n], n)) - beside;
		m->n += n;
		ratio = ratio_of(log_run, m->n, log_burst, bursts);
		if (measure_interrupted(o) ||
		    (m->n >= o->min_runs &&
		     (narrow(ratio, o->ci) || r->run.now_s(r->run.arg) > end_s)))
			break;
	}
	if (status == RUN_OK)
		out->lost = -1;
	m->lat = interval_clip(interval_scaled(ratio, exp(sum / (bursts + 1))));
	out->ref_s = exp(sum / (bursts + 1) + x->base_log);
	mem_free(log_run);
	mem_free(log_burst);
	return status;
}

/* All runs in a row, between two bursts of the reference where there is one. */
static enum run_status run_in_a_row(struct beside *x, const struct beside_run *r,
				    const struct measure_options *o, struct arena *a,
				    struct beside_result *out, struct err *e)
{
	double before = mean_of(x->log_s, x->n);
	enum run_status status = measure_runs(&r->run, x->k, o, a, &out->m, e);
	if (status == RUN_OK && x->n > 0 && !measure_interrupted(o)) {
		status = beside_look(x, &out->lost, e);
		out->ref_s = exp((before + mean_of(x->log_s, x->n)) / 2 + x->base_log);
	}
	return status;
}

enum run_status beside_measure(struct beside *x, const struct beside_run *r,
			       const struct measure_options *o, struct arena *a,
			       struct beside_result *out, struct err *e)
{
	*out = (struct beside_result){.lost = -1};
	if (!x->known) {
		enum run_status status = beside_look(x, &out->lost, e);
		if (status != RUN_OK)
			return status;
	}
	if (x->n == 0 || o->paper || o->keep_state)
		return run_in_a_row(x, r, o, a, out, e);
	out->m.sample_s = ARENA_NEWN(a, double, (size_t)o->max_runs + 1);
	out->m.busy_s = ARENA_NEWN(a, double, (size_t)x->k + 1);
	return take_turns(x, r, o, out, e);
}
