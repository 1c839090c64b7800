/* verdict.c - candidates against the best single device. */
#include "measure/verdict.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "measure/error_limit.h"
#include "measure/latency_limit.h"
#include "measure/load.h"
#include "measure/verdict_outputs.h"
#include "race/contest_race.h"
#include "sched/slowed.h"
#include "sched/turns.h"

/* Of the seconds of a race, those that its runs have in any case, whatever preparing took. */
static const double LEAST_RACE = 0.5;
/* Of these seconds, those for plans; the first ones are made in any case. */
enum { PLANS_LEAST = 4 };

/* Plans share memory with earlier ones that need as much; when all of them together could need no
 * more than one part of so many of what there is, they are not planned twice to find the largest. */
enum { SMALL_SHARE = 16 };

/* Who takes part: devices 0 .. k-1 alone, then the candidates. */
struct participants {
	struct session *s;
	struct arena *a;
	uint32_t k, n;
	struct trial **trial; /* (k + n) */
	int *like;         /* (k + n) the participant before it that is the same placement, or -1 */
	struct plan *plan; /* (k + n) zeros: none */
	bool *planned;     /* (k + n) false: cannot run, or a candidate on one device */
	bool *in;          /* (k + n) planned, and it takes part */
	struct plan_run *run; /* (k + n) */
	struct slowed *slowed;
	uint16_t *step_device; /* (steps) room */
	uint32_t *order;       /* (k + n) participants as they are planned while there is time */
};

/* ---- plans ---- */

static void plan_one(struct participants *p, uint32_t i)
{
	struct trial *t = p->trial[i];
	struct err e = ERR_INIT;
	p->planned[i] = session_plan(p->s, t, &p->plan[i], &e) == 0;
	t->ok = p->planned[i];
	if (t->ok)
		session_note_plan(p->s, t, &p->plan[i], p->a);
	else
		memcpy(t->reason, e.msg, sizeof t->reason);
}

/* The tensors of most plans take no more on a device than twice those of everything on one device:
 * reserve that, which costs nothing until it is written to.  False: the devices have memory of their
 * own, or all plans together could need too much, as those do that take more and lie by themselves. */
static bool reserve_guess(struct participants *p)
{
	struct planner *planner = &p->s->planner;
	uint64_t *most = ARENA_NEWN(p->a, uint64_t, p->k), all = 0;
	struct err e = ERR_INIT;
	struct plan x;
	for (uint32_t d = 0; d < p->k; d++)
		if (!p->s->devices.dev[d].class->host)
			return false;
	bool done = false;
	/* Under limits no single device may be able to run the model. */
	for (uint32_t i = 0; i < p->n && !done; i++) {
		err_clear(&e);
		done = !p->trial[i]->left && session_make(p->s, p->trial[i], &x, &e) == 0;
	}
	if (done) {
		for (uint32_t d = 0; d < p->k; d++)
			all = all > x.tensor_bytes[d] ? all : x.tensor_bytes[d];
		plan_release(&x);
		for (uint32_t d = 0; d < p->k; d++)
			most[d] = 2 * all;
		done = all < mem_available() / SMALL_SHARE / p->n &&
		       planner_reserve(planner, most, &e) == 0;
	}
	err_clear(&e);
	return done;
}

/* Is the time over in which a race plans its participants, before the one at this place of the order?  Where all its seconds are, one
 * candidate is enough. */
static bool too_late(const struct participants *p, uint32_t place)
{
	return (place >= p->k + PLANS_LEAST && session_is_late(p->s, PLANS_SHARE)) ||
	       (place > p->k && session_is_late(p->s, 1));
}

/* Memory for the largest plan, so that all of them share it: plans once without keeping any. */
static void reserve(struct participants *p)
{
	struct planner *planner = &p->s->planner;
	uint64_t *most = ARENA_NEWN(p->a, uint64_t, p->k);
	struct err e = ERR_INIT;
	for (uint32_t place = 0; place < p->n; place++) {
		struct plan x;
		uint32_t i = p->order[place];
		if (p->like[i] >= 0 || p->trial[i]->left || too_late(p, place))
			continue;
		if (session_make(p->s, p->trial[i], &x, &e) == 0) {
			for (uint32_t d = 0; d < p->k; d++)
				most[d] = most[d] > x.tensor_bytes[d] ? most[d] : x.tensor_bytes[d];
			plan_release(&x);
		}
		err_clear(&e);
	}
	/* Without it each plan has memory of its own, or says that there is none. */
	if (planner_reserve(planner, most, &e) < 0)
		err_clear(&e);
}

/* The device that runs all of candidate i, or an earlier candidate that places alike; -1: neither. */
static int find_like(const struct participants *p, uint32_t i)
{
	const struct trial *t = p->trial[i];
	size_t bytes = (1 + t->n_more) * (size_t)p->s->model.g->n_sets * sizeof *t->device;
	int single = trial_single(p->s, t);
	for (uint32_t j = p->k; j < i && single < 0; j++)
		if (p->trial[j]->n_more == t->n_more &&
		    memcmp(p->trial[j]->device, t->device, bytes) == 0 &&
		    p->trial[j]->n_order == t->n_order &&
		    (!t->n_order ||
		     memcmp(p->trial[j]->order, t->order, t->n_order * sizeof *t->order) == 0))
			return p->like[j] < 0 ? (int)j : p->like[j];
	return single;
}

/* As contest.predict, by the planner's durations. */
static double predict(void *ctx, uint32_t i, const double *slow, double *log_s)
{
	struct participants *p = ctx;
	planner_steps(&p->s->planner, p->trial[i]->device, p->step_device);
	return slowed_s(p->slowed, p->step_device, slow, log_s);
}

/* As contest.predict: of a run, which of several requests in flight nobody has predicted. */
static double predict_run(void *ctx, uint32_t i, const double *slow, double *log_s)
{
	const struct participants *p = ctx;
	return p->s->flight.n == 1 && !p->s->n_more ? predict(ctx, i, slow, log_s) : 0;
}

/* As contest.share; of replicas the mean. */
static void shares(void *ctx, uint32_t i, double *share)
{
	struct participants *p = ctx;
	const struct trial *t = p->trial[i];
	double *one = MEM_NEWN(double, (size_t)p->k + 1);
	for (uint32_t d = 0; d < p->k; d++)
		share[d] = 0;
	for (uint32_t r = 0; r <= t->n_more; r++) {
		planner_steps(&p->s->planner, t->device + (size_t)r * p->s->model.g->n_sets,
			      p->step_device);
		slowed_share(p->slowed, p->step_device, one);
		for (uint32_t d = 0; d < p->k; d++)
			share[d] += one[d] / (1 + t->n_more);
	}
	mem_free(one);
}

/* Seconds a request in which the busiest device does its part of all rows of participant i; 0: there are none. */
static double predict_load(struct participants *p, uint32_t i)
{
	const struct trial *t = p->trial[i];
	const struct planner *planner = &p->s->planner;
	double *load_s = MEM_NEWN(double, (size_t)p->k + 1), most = 0;
	for (uint32_t r = 0; r <= t->n_more; r++) {
		planner_steps(planner, t->device + (size_t)r * p->s->model.g->n_sets,
			      p->step_device);
		for (uint32_t v = 0; v < p->s->model.n_steps; v++)
			load_s[p->step_device[v]] +=
				fmax(planner->step_s[(size_t)v * p->k + p->step_device[v]], 0) /
				(1 + t->n_more);
	}
	for (uint32_t d = 0; d < p->k; d++)
		most = fmax(most, load_s[d]);
	mem_free(load_s);
	return most;
}

/* Single devices, starts, the fastest by prediction first, and all others as they come. */
static void put_in_order(struct participants *p)
{
	int64_t some = p->k + p->s->opt.starts;
	uint32_t ends = some < p->n ? (uint32_t)some : p->n;
	double *s = MEM_NEWN(double, p->n);
	p->order = ARENA_NEWN(p->a, uint32_t, p->n);
	for (uint32_t i = 0; i < p->n; i++)
		p->order[i] = i;
	for (uint32_t i = p->k; i < ends; i++) {
		double x = p->like[i] >= 0       ? 0
			   : p->s->flight.n == 1 ? predict(p, i, NULL, NULL)
						 : predict_load(p, i);
		uint32_t at = i;
		s[i] = x > 0 ? x : INFINITY;
		for (; at > p->k && s[p->order[at - 1]] > s[i]; at--)
			p->order[at] = p->order[at - 1];
		p->order[at] = i;
	}
	mem_free(s);
}

static void participants_open(struct participants *p, struct session *s, struct trial *t,
			      uint32_t n, struct verdict *v, struct arena *a)
{
	uint32_t k = s->devices.n, n_sets = s->model.g->n_sets;
	*p = (struct participants){.s = s, .a = a, .k = k, .n = k + n};
	p->trial = ARENA_NEWN(a, struct trial *, p->n);
	p->like = ARENA_NEWN(a, int, p->n);
	p->plan = ARENA_NEWN(a, struct plan, p->n);
	p->planned = ARENA_NEWN(a, bool, p->n);
	p->in = ARENA_NEWN(a, bool, p->n);
	p->run = ARENA_NEWN(a, struct plan_run, p->n);
	p->slowed = slowed_new(&s->planner.dag, &s->planner.costs);
	p->step_device = ARENA_NEWN(a, uint16_t, (size_t)s->model.n_steps + 1);
	v->single = ARENA_NEWN(a, struct trial, k);
	for (uint32_t d = 0; d < k; d++) {
		uint16_t *device = ARENA_NEWN(a, uint16_t, n_sets);
		for (uint32_t i = 0; i < n_sets; i++)
			device[i] = (uint16_t)d;
		v->single[d].device = device;
	}
	for (uint32_t i = 0; i < p->n; i++) {
		p->trial[i] = i < k ? &v->single[i] : &t[i - k];
		p->like[i] = i < k ? -1 : find_like(p, i);
	}
	put_in_order(p);
	if (!reserve_guess(p))
		reserve(p);
	for (uint32_t place = 0; place < p->n; place++) {
		uint32_t i = p->order[place];
		if (p->trial[i]->left)
			snprintf(p->trial[i]->reason, sizeof p->trial[i]->reason, "%s",
				 contest_left);
		else if (p->like[i] < 0 && too_late(p, place))
			snprintf(p->trial[i]->reason, sizeof p->trial[i]->reason, "%s",
				 contest_no_time);
		else if (p->like[i] < 0)
			plan_one(p, i);
	}
}

static void participants_close(struct participants *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->planned[i])
			plan_release(&p->plan[i]);
	slowed_free(p->slowed);
}

/* ---- the contest ---- */

/* What runs, and who takes part. */
static void open_runs(struct participants *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		p->run[i] = (struct plan_run){.x = p->s->x,
					      .plan = &p->plan[i],
					      .flight = &p->s->flight,
					      .served = p->trial[i]->served};
		p->in[i] = p->planned[i];
	}
}

static void contest_open(struct participants *p, struct contest *x)
{
	bool *has = ARENA_NEWN(p->a, bool, (size_t)p->k * p->k + 1);
	sched_parts(p->s->planner.costs.turns, p->k, has);
	*x = (struct contest){.k = p->k,
			      .n = p->n,
			      .c = ARENA_NEWN(p->a, struct contestant, p->n),
			      .has = has,
			      .predict = predict_run,
			      .n_draws = SLOWED_DRAWS,
			      .share = shares,
			      .ctx = p};
	for (uint32_t i = 0; i < p->n; i++) {
		x->c[i].run = plan_runnable(&p->run[i]);
		x->c[i].takes_part = p->in[i];
		x->c[i].alike = i < p->k ? device_alike(&p->s->devices, i) : 0;
		x->c[i].group = contest_group(p->trial[i]->device, p->s->model.g->n_sets);
		if (p->s->flight.n == 1)
			x->c[i].past = p->trial[i]->past;
	}
}

/* What the contest says, in the trials; what is like another one is that one. */
static void store_trials(struct participants *p, const struct contest *x)
{
	for (uint32_t i = 0; i < p->n; i++) {
		const struct contestant *c = &x->c[i];
		struct trial *t = p->trial[i];
		if (!c->takes_part)
			continue;
		t->ok = !c->failed && c->m.n > 0;
		t->m = c->m;
		t->ref_s = c->ref_s;
		t->ratio = c->ratio;
		t->has_ratio = c->has_ratio;
		t->turns = c->turns;
		t->bursts = c->bursts;
		t->n_cases = plan_case_times(&p->plan[i], p->a, &t->case_s);
		memcpy(t->reason, c->reason, sizeof t->reason);
		if (!c->failed && c->m.n == 0)
			snprintf(t->reason, sizeof t->reason, "%s", contest_no_time);
	}
	for (uint32_t i = p->k; i < p->n; i++)
		if (p->like[i] >= 0 && !p->trial[i]->left) {
			const uint16_t *device = p->trial[i]->device;
			*p->trial[i] = *p->trial[p->like[i]]; /* the same rows */
			p->trial[i]->device = device;
			p->trial[i]->turns.start = i < p->k + p->s->opt.starts;
		}
}

/* The first candidate that ran; -1: none did. */
static int first_candidate(const struct participants *p)
{
	for (uint32_t i = p->k; i < p->n; i++)
		if (p->trial[i]->ok)
			return (int)i;
	return -1;
}

/* Of the answer.  A device that fails now takes the schedule with it, not the verdict. */
static int take_schedule(struct participants *p, struct verdict *v, struct err *e)
{
	uint32_t i = v->winner >= 0 ? p->k + (uint32_t)v->winner : (uint32_t)v->reference;
	while (p->like[i] >= 0)
		i = (uint32_t)p->like[i];
	if (!p->planned[i] || session_schedule(p->s, &v->final, &p->plan[i], p->a, e) == 0)
		return 0;
	if (!executor_alive(p->s->x))
		return -1;
	err_clear(e);
	return 0;
}

/* Seconds that are left to a race of s: less what preparing took, and inferences behind it for outputs and a schedule. */
static double race_seconds(struct participants *p, double s)
{
	enum { BEHIND = 3 };
	double least = INFINITY;
	for (uint32_t d = 0; d < p->k; d++) {
		double one = p->planned[d] && !p->s->n_more ? predict(p, d, NULL, NULL) : 0;
		least = one > 0 && one < least ? one : least;
	}
	double behind = isinf(least) ? 0 : BEHIND * least;
	return fmax(s - behind - (clock_s() - p->s->began_s), LEAST_RACE * s);
}

/* Of several requests in flight a race has time for so many runs at least. */
enum { RACE_RUNS = 30 };

/* A window by what the busiest device of the fastest single one should take. */
static void expect_window(struct participants *p, double race_s)
{
	double least = INFINITY;
	for (uint32_t d = 0; d < p->k; d++) {
		double one = p->planned[d] ? predict_load(p, d) : 0;
		least = one > 0 && one < least ? one : least;
	}
	if (p->s->flight.n > 1 && p->s->flight.window == 0 && !isinf(least))
		in_flight_expect(&p->s->flight, least, race_s / RACE_RUNS);
}

/* One contest of those that take part, in so many seconds of a race (0: in rounds), and what comes of it. */
static int run_once(struct participants *p, const struct limited *within, double race_s,
		    struct contest *x, struct verdict *v, struct err *e)
{
	struct measure_options o = p->s->opt;
	contest_open(p, x);
	o.race_s = race_s;
	if (p->s->flight.window > 0)
		o.hear_by = 1 / (double)in_flight_requests(&p->s->flight);
	if ((o.race_s > 0 ? contest_race(x, &o, p->a, e) : contest_run(x, &o, p->a, e)) < 0)
		return -1;
	store_trials(p, x);
	v->reference = x->reference;
	v->race = x->race;
	v->says = x->verdict;
	if (within->s->flight.limit_s > 0 && !limited_settle(within, &v->reference, &x->winner))
		v->says = (struct contest_verdict){.rival = -1};
	return 0;
}

/* Where other runs took longer than those that chose the numbers of requests, once more with fewer, for a part of the seconds. */
static const double AGAIN_SHARE = 1.0 / 3;

static int run_contest(struct participants *p, struct verdict *v, struct err *e)
{
	struct contest x;
	struct load_watch watch;
	double race_s = p->s->opt.race_s;
	const struct limited within = {p->s, p->k, p->n, p->trial, p->run, p->in, p->order};
	load_begin(&watch);
	open_runs(p);
	if (p->s->max_error >= 0 &&
	    error_limit_open(&(struct error_limited){p->s, p->k, p->n, p->trial, p->like, p->plan,
						     p->in, p->order},
			     p->a, v->error_of, sizeof v->error_of, e) < 0)
		return -1;
	if (race_s > 0)
		expect_window(p, race_s);
	if (p->s->flight.limit_s > 0 && limited_open(&within, e) < 0)
		return -1;
	/* The seconds of a race are those of all that it takes. */
	if (run_once(p, &within, race_s > 0 ? race_seconds(p, race_s) : 0, &x, v, e) < 0 ||
	    (p->s->flight.limit_s > 0 && limited_fewer(&within) &&
	     run_once(p, &within, AGAIN_SHARE * race_s, &x, v, e) < 0))
		return -1;
	v->load = load_end(&watch);
	if (p->s->first_wins) {
		x.winner = first_candidate(p);
		v->says = (struct contest_verdict){.rival = -1};
	}
	v->winner = x.winner < 0 ? -1 : x.winner - (int)p->k;
	if (v->winner < 0 && v->reference < 0)
		return err_set(e, ST_RUNTIME, "no placement can run: %s",
			       p->k ? p->trial[0]->reason : "there is no device");
	v->final = v->winner >= 0 ? *p->trial[x.winner] : v->single[v->reference];
	v->n_pairs = v->final.m.n;
	return p->s->schedules ? take_schedule(p, v, e) : 0;
}

int verdict_reach(struct session *s, struct trial *t, uint32_t n, const struct past_singles *past,
		  struct arena *a, struct verdict *out, struct err *e)
{
	struct participants p;
	*out = (struct verdict){.winner = -1, .reference = -1, .compared = -1, .diff = {0, 1, 0}};
	/* For the durations that plans are made of, where no profile has them; in a race single devices run, too. */
	bool known = s->has_costs && s->opt.race_s > 0;
	if (!known && session_measure_singles(s, e) < 0)
		return -1;
	participants_open(&p, s, t, n, out, a);
	for (uint32_t d = 0; d < p.k && d < past->n; d++)
		out->single[d].past = past->past[d];
	int rc = run_contest(&p, out, e);
	participants_close(&p);
	return rc < 0 ? -1 : verdict_compare_outputs(s, out, a, e);
}
