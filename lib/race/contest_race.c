/* contest_race.c - contestants as arms of a race. */
#include "race/contest_race.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "race/contest_impl.h"
#include "stats/quantile.h"

/* Of the seconds of a race, those to choose the reference in. */
static const double CHOICE_SHARE = 0.08;

/* Parts of the reference stand in for it where so many runs of each take no more than that of a race. */
enum { PARTS_RUNS = 20 };
static const double PARTS_SHARE = 0.5;

static int burst_of(struct racers *r, uint32_t i, uint32_t n, double *run_s, struct err *e)
{
	struct contestant *c = &r->x->c[i];
	for (uint32_t j = 0; j < n; j++) {
		int rc = reference_run(c, &run_s[j], e);
		if (rc <= 0)
			return rc;
		if (j > 0 || n == 1)
			racers_keep(r, i, run_s[j]);
	}
	return 1;
}

/* All of the pool in turn, run by run the geometric mean. */
static int burst_of_pool(struct racers *r, uint32_t block, uint32_t n, double *run_s, struct err *e)
{
	double *log_s = MEM_NEWN(double, r->x->k), mean = 0;
	bool *ran = MEM_NEWN(bool, r->x->k);
	uint32_t members = 0;
	int rc = 0;
	for (uint32_t j = 0; j < n; j++)
		run_s[j] = 0;
	for (uint32_t i = 0; i < r->x->k && rc >= 0; i++) {
		double own[RACE_MOST_BURST];
		rc = in_pool(r, i) ? burst_of(r, i, n, own, e) : 0;
		if (rc <= 0)
			continue;
		for (uint32_t j = 0; j < n; j++)
			run_s[j] += log(own[j]);
		log_s[i] = racers_burst_log(own, n);
		as_ran_add(&r->ran, i, block, log_s[i]);
		mean += log_s[i];
		ran[i] = true;
		members++;
	}
	for (uint32_t j = 0; j < n && members; j++)
		run_s[j] = exp(run_s[j] / members);
	for (uint32_t i = 0; i < r->x->k && members; i++)
		log_s[i] = ran[i] ? log_s[i] - mean / members : 0;
	if (rc >= 0 && members && r->drift)
		drift_add(r->drift, block, log_s);
	mem_free(ran);
	mem_free(log_s);
	return rc < 0 ? -1 : members > 0;
}

static double median_so_far(const struct measurement *m)
{
	double *s = MEM_NEWN(double, (size_t)m->n + 1), median;
	memcpy(s, m->sample_s, m->n * sizeof *s);
	order_values(s, m->n);
	median = quantile(s, m->n, 0.5);
	mem_free(s);
	return median;
}

/* By all that ran so far: the fastest, beside the fastest single device. */
static void tell_standing(const struct racers *r)
{
	uint32_t n = 0;
	double best_s = INFINITY, single_s = INFINITY;
	const double *busy_s = NULL;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct measurement *m = &r->x->c[r->who[i]].m;
		if (m->n == 0)
			continue;
		double s = median_so_far(m);
		if (s < best_s)
			busy_s = m->busy_s;
		best_s = fmin(best_s, s);
		if (r->who[i] < r->x->k)
			single_s = fmin(single_s, s);
		n++;
	}
	if (n > 0)
		r->hear(n, best_s * r->hear_by, isfinite(single_s) ? single_s * r->hear_by : 0,
			r->x->k, busy_s);
}

static double clock_s(void *ctx)
{
	const struct racers *r = ctx;
	const struct runnable *any = &r->x->c[r->who[0]].run;
	return any->now_s(any->arg);
}

static int run_burst(void *ctx, uint32_t arm, uint32_t block, uint32_t n, double *run_s,
		     struct err *e)
{
	struct racers *r = ctx;
	int rc = arm == 0 && r->pooled ? burst_of_pool(r, block, n, run_s, e)
				       : burst_of(r, r->who[arm], n, run_s, e);
	bool own = rc > 0 && !(arm == 0 && r->pooled);
	if (own)
		as_ran_add(&r->ran, r->who[arm], block, racers_burst_log(run_s, n));
	if (own && r->drift)
		drift_busy(r->drift, arm, block, r->x->c[r->who[arm]].m.busy_s);
	if (r->hear && clock_s(r) - r->heard_s >= 1) {
		r->heard_s = clock_s(r);
		tell_standing(r);
	}
	return rc;
}

static double predict(void *ctx, uint32_t arm, const double *slow, double *log_s)
{
	const struct racers *r = ctx;
	return r->x->predict(r->x->ctx, r->who[arm], slow, log_s);
}

static void shares(void *ctx, uint32_t arm, double *share)
{
	const struct racers *r = ctx;
	r->x->share(r->x->ctx, r->who[arm], share);
}

/* The pool's members are each as slow as its device, but together they are the measure. */
static double excess(void *ctx, uint32_t arm, uint32_t block, double *draw)
{
	const struct racers *r = ctx;
	if (r->drift && !(arm == 0 && r->pooled))
		return drift_excess(r->drift, arm, block, draw);
	for (uint32_t i = 0; i < r->x->n_draws && draw; i++)
		draw[i] = 0;
	return 0;
}

/* Of a device that consists of others that are made alike the first of these, in whose stead they are the
 * reference: how fast each of them is meanwhile tells what it does to the whole, and not the other way round.
 * Where there is no time for that, and for all else, the device itself. */
static uint32_t stand_in(const struct contest *x, uint32_t reference, double race_s)
{
	uint32_t first = reference, n = 0;
	double all_s = 0;
	for (uint32_t i = 0; i < x->k && x->has && x->predict; i++) {
		if (!x->has[(size_t)reference * x->k + i])
			continue;
		if (!x->c[i].takes_part || x->c[i].failed ||
		    (n > 0 && x->c[i].alike != x->c[first].alike))
			return reference;
		first = n++ ? first : i;
		all_s += x->predict(x->ctx, i, NULL, NULL);
	}
	return n > 1 && PARTS_RUNS * all_s < PARTS_SHARE * race_s ? first : reference;
}

/* The reference first, then single devices that are not like it, then candidates. */
static struct race *new_race(struct racers *r, int reference, const struct measure_options *o,
			     const struct race_source *source, double begin_s)
{
	const struct contest *x = r->x;
	struct race_options options = RACE_OPTIONS_INIT;
	options.budget_s = fmax(o->race_s - begin_s, 0);
	options.seed = o->race_seed;
	options.explore = o->explore;
	r->pooled = reference >= 0;
	if (r->pooled)
		r->who[r->n++] = stand_in(x, (uint32_t)reference, options.budget_s);
	for (uint32_t i = 0; i < x->n; i++)
		if (x->c[i].takes_part && !x->c[i].failed && !(r->pooled && in_pool(r, i)))
			r->who[r->n++] = i;
	if (r->n == 0)
		return NULL;
	struct race *race = race_new(&options, source);
	/* One alone has nothing that it is slower than. */
	if (racers_pool(r) > 1 && x->predict)
		r->drift = drift_new(
			&(struct drift_source){r, predict, x->n_draws, x->share ? shares : NULL},
			r->n, x->k, x->has);
	for (uint32_t i = 0; i < r->n; i++)
		race_add(race, &(struct race_entry){
				       .start = r->who[i] < x->k + o->starts,
				       .group = x->c[r->who[i]].group,
				       .predicted_s = x->predict ? predict(r, i, NULL, NULL) : 0});
	return race;
}

static int race_all(struct racers *r, struct race *race, struct arena *a, struct err *e)
{
	struct race_result out;
	double begin_s = r->heard_s = clock_s(r);
	int rc = race_finish(race, &out, e);
	if (r->hear)
		tell_standing(r);
	r->x->race.seconds = clock_s(r) - begin_s;
	contest_judge(r, race, &out, a);
	return rc;
}

int contest_race(struct contest *x, const struct measure_options *o, struct arena *a, struct err *e)
{
	struct racers r = {.x = x,
			   .hear = o->hear_standing,
			   .hear_by = o->hear_by > 0 ? o->hear_by : 1,
			   .who = ARENA_NEWN(a, uint32_t, (size_t)x->n + 1)};
	struct race_source source = {&r, run_burst, excess, clock_s, x->n_draws};
	struct reference_rounds rounds;
	int reference;
	x->reference = x->winner = -1;
	x->verdict = (struct contest_verdict){.rival = -1};
	r.cap = ARENA_NEWN(a, size_t, (size_t)x->n + 1);
	for (uint32_t i = 0; i < x->n; i++)
		x->c[i].m.busy_s = ARENA_NEWN(a, double, x->k);
	double begin_s = x->n ? clock_s(&r) : 0;
	int rc = reference_choose(x, CHOICE_SHARE * o->race_s, &rounds, &reference, e);
	begin_s = x->n ? clock_s(&r) - begin_s : 0;
	struct race *race = rc < 0 ? NULL : new_race(&r, reference, o, &source, begin_s);
	if (race) {
		contest_recall(&r, race, &rounds);
		rc = race_all(&r, race, a, e);
	}
	race_free(race);
	drift_free(r.drift);
	as_ran_release(&r.ran);
	mem_free(rounds.log_s);
	return rc;
}
