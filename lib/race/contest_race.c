/* contest_race.c - contestants as arms of a race. */
#include "race/contest_race.h"

#include <math.h>
#include <string.h>

#include "race/drift.h"
#include "race/race.h"
#include "race/reference.h"
#include "stats/quantile.h"

/* Of the seconds of a race, those to choose the reference in. */
static const double CHOICE_SHARE = 0.08;

/* Parts of the reference stand in for it where so many runs of each take no more than that of a race. */
enum { PARTS_RUNS = 20 };
static const double PARTS_SHARE = 0.5;

static const double QUANTILE = 1.96; /* of a normal, for 95 % */

struct racers {
	struct contest *x;
	uint32_t n;    /* arms */
	uint32_t *who; /* (n) the contestant of each arm, the first of those that are alike */
	bool pooled;   /* arm 0 is all single devices like this one */
	/* The arm that ratios are to: 0, or a single device that proved to be faster. */
	uint32_t base;
	struct drift *drift; /* NULL: there is no pool, or nothing is predicted */
	size_t *cap;         /* (x->n) room for samples */
	void (*hear)(uint32_t n, double best_s, double reference_s); /* hear_standing, or NULL */
	double heard_s; /* by the runs' clock, when it was called last */
};

static int burst_of(struct racers *r, uint32_t i, uint32_t n, double *run_s, struct err *e)
{
	struct contestant *c = &r->x->c[i];
	for (uint32_t j = 0; j < n; j++) {
		int rc = reference_run(c, &run_s[j], e);
		if (rc <= 0)
			return rc;
		c->m.sample_s =
			mem_grow(c->m.sample_s, &r->cap[i], c->m.n + 1, sizeof *c->m.sample_s);
		if (j > 0)
			c->m.sample_s[c->m.n++] = run_s[j];
	}
	return 1;
}

static bool in_pool(const struct racers *r, uint32_t i)
{
	const struct contestant *c = &r->x->c[i];
	return i < r->x->k && c->alike == r->x->c[r->who[0]].alike && c->takes_part && !c->failed;
}

static uint32_t count_pool(const struct racers *r)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < r->x->k && r->pooled; i++)
		n += in_pool(r, i);
	return n;
}

/* The logarithm of the median of a burst's runs that count. */
static double burst_log(const double *run_s, uint32_t n)
{
	double s[RACE_MOST_BURST];
	memcpy(s, run_s + 1, (n - 1) * sizeof *s);
	order_values(s, n - 1);
	return log(quantile(s, n - 1, 0.5));
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
		log_s[i] = burst_log(own, n);
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
	for (uint32_t i = 0; i < r->n; i++) {
		const struct measurement *m = &r->x->c[r->who[i]].m;
		if (m->n == 0)
			continue;
		double s = median_so_far(m);
		best_s = fmin(best_s, s);
		if (r->who[i] < r->x->k)
			single_s = fmin(single_s, s);
		n++;
	}
	if (n > 0)
		r->hear(n, best_s, isfinite(single_s) ? single_s : 0);
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
	if (rc > 0 && r->drift && !(arm == 0 && r->pooled))
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
	if (count_pool(r) > 1 && x->predict)
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

/* A ratio to the pool's mean as one to the best of it, wider by so many standard errors of how much better that is. */
static struct interval beside_best(const struct racers *r, struct interval x, double errors)
{
	bool *like = MEM_NEWN(bool, r->x->k);
	for (uint32_t i = 0; i < r->x->k; i++)
		like[i] = in_pool(r, i);
	struct drift_lead lead = r->drift ? drift_lead(r->drift, like) : (struct drift_lead){0, 0};
	mem_free(like);
	return interval_clip(interval_wider(interval_scaled(x, exp(-lead.mid)), errors * lead.sd));
}

/* The fastest arm that is a single device, arm 0 unless another one has run enough and is faster: which one is the
 * fastest was found in a few runs, and the machine may have been another one then. */
static uint32_t find_base(const struct racers *r, const struct race *race)
{
	uint32_t best = 0;
	double least = 1;
	for (uint32_t i = 1; i < r->n && r->pooled; i++) {
		struct interval ratio;
		if (r->who[i] >= r->x->k || race_arm(race, i)->n_clean < RACE_LEAST ||
		    r->x->c[r->who[i]].failed || !race_claim(race, i, 0, &ratio) ||
		    beside_best(r, ratio, 0).mid >= least)
			continue;
		least = beside_best(r, ratio, 0).mid;
		best = i;
	}
	return best;
}

/* Does single device i stand for the reference? */
static bool is_base(const struct racers *r, uint32_t i)
{
	return r->base ? i == r->who[r->base] : in_pool(r, i);
}

/* The fastest of the reference's devices, by all that they ran. */
static int find_reference(const struct racers *r)
{
	int best = -1;
	for (uint32_t i = 0; i < r->x->k && r->pooled; i++) {
		const struct measurement *m = &r->x->c[i].m;
		if (is_base(r, i) && m->n > 0 && (best < 0 || m->lat.mid < r->x->c[best].m.lat.mid))
			best = (int)i;
	}
	return best;
}

static void store_results(struct racers *r, const struct race *race, struct arena *a)
{
	struct contest *x = r->x;
	double sum = 0, n = 0;
	for (uint32_t i = 0; i < x->n; i++) {
		struct measurement *m = &x->c[i].m;
		double *own = ARENA_NEWN(a, double, (size_t)m->n + 1);
		if (m->n)
			memcpy(own, m->sample_s, m->n * sizeof *own);
		mem_free(m->sample_s);
		m->sample_s = own;
		if (m->n)
			m->lat = interval_clip(interval_median(own, m->n));
	}
	r->base = find_base(r, race);
	for (uint32_t i = 0; i < x->k && r->pooled; i++)
		if (x->c[i].m.n && is_base(r, i)) {
			sum += log(x->c[i].m.lat.mid);
			n++;
		}
	x->reference = find_reference(r);
	for (uint32_t i = 0; i < x->n && n > 0; i++)
		x->c[i].ref_s = x->c[i].m.n ? exp(sum / n) : 0;
	for (uint32_t i = 0; i < r->n && x->reference >= 0; i++) {
		struct contestant *c = &x->c[r->who[i]];
		c->has_ratio = !c->failed && c->m.n > 0 && race_claim(race, i, r->base, &c->ratio);
		if (c->has_ratio && r->base == 0)
			c->ratio = beside_best(r, c->ratio, QUANTILE);
	}
	for (uint32_t i = 0; i < x->k && x->reference >= 0; i++) {
		const struct contestant *first = &x->c[r->who[0]];
		if (is_base(r, i)) {
			x->c[i].has_ratio = true;
			x->c[i].ratio = (struct interval){1, 1, 1};
		} else if (in_pool(r, i)) {
			x->c[i].has_ratio = first->has_ratio;
			x->c[i].ratio = first->ratio;
		}
	}
}

/* Each ran in blocks of its own: the latency becomes what it takes while the reference takes ref_s. */
static void align_latency(struct contestant *c)
{
	const struct interval r = c->ratio;
	if (!c->has_ratio || c->m.n == 0 || !(c->ref_s > 0))
		return;
	/* What is like the reference has a ratio without an interval: its time has one. */
	c->m.lat = interval_clip(
		r.lo < r.hi ? interval_scaled(r, c->ref_s)
			    : interval_scaled(c->m.lat, r.mid * c->ref_s / c->m.lat.mid));
}

/* How often each ran, and how the race went. */
static void store_facts(struct racers *r, const struct race *race, const struct race_result *out)
{
	struct contest *x = r->x;
	for (uint32_t i = 0; i < r->n; i++) {
		const struct race_arm *arm = race_arm(race, i);
		x->c[r->who[i]].turns = (struct contest_turns){arm->n_bursts, arm->n_clean,
							       arm->start, arm->state == RACE_OUT};
	}
	for (uint32_t i = 0; i < x->k && r->pooled; i++)
		if (in_pool(r, i))
			x->c[i].turns = x->c[r->who[0]].turns;
	for (uint32_t i = 0; i < x->n; i++)
		align_latency(&x->c[i]);
	x->race = (struct contest_race_facts){.n_blocks = out->n_blocks,
					      .n_disturbed = out->n_disturbed,
					      .noise = out->noise,
					      .drift = out->drift,
					      .settled = out->settled};
}

/* Is this arm handed over, and not the single device? */
static bool gains(const struct racers *r, const struct race *race, uint32_t arm)
{
	const struct contestant *c = &r->x->c[r->who[arm]];
	struct interval usual;
	if (r->x->reference < 0 || (c->has_ratio && c->ratio.hi < 1) ||
	    race_likely(race, arm, r->base))
		return true;
	return race_arm(race, arm)->n_clean >= RACE_ENOUGH &&
	       race_usual(race, arm, r->base, &usual) &&
	       (r->base ? usual : beside_best(r, usual, 1)).hi < 1;
}

static int race_all(struct racers *r, struct race *race, struct arena *a, struct err *e)
{
	struct race_result out;
	double begin_s = r->heard_s = clock_s(r);
	int rc = race_finish(race, &out, e);
	if (r->hear)
		tell_standing(r);
	store_results(r, race, a);
	store_facts(r, race, &out);
	r->x->race.seconds = clock_s(r) - begin_s;
	if (rc < 0 || out.winner < 0)
		return rc;
	int w = (int)r->who[out.winner];
	if (w >= (int)r->x->k && gains(r, race, (uint32_t)out.winner))
		r->x->winner = w;
	return 0;
}

int contest_race(struct contest *x, const struct measure_options *o, struct arena *a, struct err *e)
{
	struct racers r = {
		.x = x, .hear = o->hear_standing, .who = ARENA_NEWN(a, uint32_t, (size_t)x->n + 1)};
	struct race_source source = {&r, run_burst, excess, clock_s, x->n_draws};
	int reference;
	x->reference = x->winner = -1;
	r.cap = ARENA_NEWN(a, size_t, (size_t)x->n + 1);
	for (uint32_t i = 0; i < x->n; i++)
		x->c[i].m.busy_s = ARENA_NEWN(a, double, x->k);
	double begin_s = x->n ? clock_s(&r) : 0;
	if (reference_choose(x, CHOICE_SHARE * o->race_s, &reference, e) < 0)
		return -1;
	begin_s = x->n ? clock_s(&r) - begin_s : 0;
	struct race *race = new_race(&r, reference, o, &source, begin_s);
	int rc = race ? race_all(&r, race, a, e) : 0;
	race_free(race);
	drift_free(r.drift);
	return rc;
}
