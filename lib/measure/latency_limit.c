/* latency_limit.c - short runs before, a look at all runs behind. */
#include "measure/latency_limit.h"

#include <stdio.h>
#include <string.h>

#include "text/quantity.h"
#include "timing/contest.h"

/* Of the seconds of a race, those in which numbers are chosen, preparing included; the first ones are tried in any case. */
static const double CHOICE_SHARE = 0.75;
enum { TRIED_LEAST = 3 };
/* A try counts so many requests, or a part of what a run counts, if that is more. */
enum { TRY_REQUESTS = 40, TRY_PART = 4 };

/* ---- how many at once ---- */

struct choice {
	const struct limited *x;
	struct plan_run *run;
	struct in_flight flight;
	struct served *served;
};

static int try_number(void *ctx, uint32_t n, double *p95_s, struct err *e)
{
	struct choice *c = ctx;
	double run_s;
	*c->served = (struct served){.n = n};
	if (in_flight_run(&c->flight, c->run->x, c->run->plan, c->served, &run_s, NULL, e) < 0)
		return -1;
	*p95_s = served_quantile(c->served, 0.95);
	return 0;
}

static uint32_t rows(const struct limited *x, uint32_t i)
{
	return 1 + x->trial[i]->n_more;
}

/* *n: that participant i has at once, 0 where no number keeps the limit; then the latency is told.  -1: it failed. */
static int choose_number(const struct limited *x, uint32_t i, uint32_t *n, double *p95_s,
			 struct err *e)
{
	struct choice c = {.x = x, .run = &x->run[i], .flight = x->s->flight};
	uint64_t part = c.flight.window / TRY_PART;
	c.flight.window = part > TRY_REQUESTS ? part : TRY_REQUESTS;
	c.served = MEM_NEW(struct served);
	const struct requests_within all = {.least = rows(x, i),
					    .most = x->s->flight.n,
					    .limit_s = x->s->flight.limit_s,
					    .try = try_number,
					    .ctx = &c};
	int rc = requests_within(&all, n, p95_s, e);
	mem_free(c.served);
	return rc;
}

static void leave(const struct limited *x, uint32_t i, const char *why)
{
	struct trial *t = x->trial[i];
	x->in[i] = false;
	t->ok = false;
	snprintf(t->reason, sizeof t->reason, "%s", why);
}

static void leave_beyond(const struct limited *x, uint32_t i, double p95_s)
{
	char why[200], takes[QUANTITY_CAP];
	snprintf(why, sizeof why, "%s95 %% of its requests take up to %s, %s", contest_beyond,
		 quantity_seconds(p95_s, takes),
		 rows(x, i) > 1 ? "one on each replica" : "one at a time");
	leave(x, i, why);
}

int limited_open(const struct limited *x, struct err *e)
{
	double *p95_s =
		MEM_NEWN(double, (size_t)x->n + 1); /* of those that keep it with no number */
	uint32_t n, tried = 0, keep = 0;
	int rc = 0;
	for (uint32_t place = 0; place < x->n && rc == 0; place++) {
		uint32_t i = x->order[place];
		if (!x->in[i])
			continue;
		if (tried++ >= TRIED_LEAST && session_is_late(x->s, CHOICE_SHARE)) {
			leave(x, i, contest_no_time);
		} else if (choose_number(x, i, &n, &p95_s[i], e) == 0) {
			x->trial[i]->served->n = n ? n : rows(x, i);
			p95_s[i] = n ? 0 : p95_s[i];
			keep += n > 0;
		} else if (executor_alive(x->s->x)) {
			leave(x, i, e->msg);
			err_clear(e);
		} else {
			rc = -1;
		}
	}
	for (uint32_t i = 0; i < x->n && rc == 0; i++)
		if (x->in[i] && p95_s[i] > 0 && (keep > 0 || rows(x, i) > 1))
			leave_beyond(x, i, p95_s[i]);
	mem_free(p95_s);
	return rc;
}

/* ---- who is handed over ---- */

static double p95_of(const struct limited *x, uint32_t i)
{
	const struct trial *t = x->trial[i];
	return t->ok && t->served ? served_quantile(t->served, 0.95) : 0;
}

bool limited_keeps(const struct limited *x, uint32_t i)
{
	double s = p95_of(x, i);
	return s > 0 && s <= x->s->flight.limit_s;
}

/* Of places first .. end-1 the fastest that keeps the limit; -1: none does. */
static int fastest(const struct limited *x, uint32_t first, uint32_t end)
{
	int best = -1;
	for (uint32_t i = first; i < end; i++)
		if (limited_keeps(x, i) &&
		    (best < 0 || x->trial[i]->m.lat.mid < x->trial[best]->m.lat.mid))
			best = (int)i;
	return best;
}

static int least_latency(const struct limited *x)
{
	int best = -1;
	for (uint32_t i = 0; i < x->n; i++)
		if (p95_of(x, i) > 0 && (best < 0 || p95_of(x, i) < p95_of(x, (uint32_t)best)))
			best = (int)i;
	return best;
}

bool limited_settle(const struct limited *x, int *reference, int *winner)
{
	int handed = *winner >= 0 ? *winner : *reference, single = fastest(x, 0, x->k);
	bool keeps = handed >= 0 && limited_keeps(x, (uint32_t)handed);
	if (keeps && (*reference < 0 || limited_keeps(x, (uint32_t)*reference)))
		return true;
	if (!keeps)
		handed = single >= 0 ? single : fastest(x, x->k, x->n);
	if (handed < 0)
		handed = least_latency(x);
	*winner = handed >= (int)x->k ? handed : -1;
	*reference = handed >= 0 && handed < (int)x->k ? handed : single;
	for (uint32_t i = 0; i < x->n; i++) {
		x->trial[i]->has_ratio = false;
		x->trial[i]->ref_s = *reference < 0 ? 0 : x->trial[*reference]->m.lat.mid;
	}
	return false;
}

bool limited_fewer(const struct limited *x)
{
	bool fewer = false;
	for (uint32_t i = 0; i < x->n; i++)
		if (limited_keeps(x, i))
			return false;
	for (uint32_t i = 0; i < x->n; i++) {
		struct served *v = x->trial[i]->served;
		double p95_s = p95_of(x, i);
		if (!x->in[i] || !(p95_s > 0) || v->n <= rows(x, i))
			continue;
		uint32_t n = requests_guess(v->n, p95_s, x->s->flight.limit_s);
		n = n < v->n ? n : v->n - 1;
		v->n = n > rows(x, i) ? n : rows(x, i);
		fewer = true;
	}
	for (uint32_t i = 0; i < x->n && fewer; i++)
		if (x->in[i])
			*x->trial[i]->served = (struct served){.n = x->trial[i]->served->n};
	return fewer;
}
