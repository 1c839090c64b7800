/* contest.c - qualifying and final rounds. */
#include "timing/contest.h"

#include <math.h>
#include <string.h>

const char contest_no_time[] = "there was no time to run it";
const char contest_beyond[] = "beyond the limit: ";
const char contest_inexact[] = "beyond the limit of error: ";
const char contest_left[] = "it was slower in an earlier race";
const char *const contest_why_names[N_CONTEST_WHY] = {
	[CONTEST_WHY_FEW] = "few",           [CONTEST_WHY_INTERVAL] = "interval",
	[CONTEST_WHY_RESTLESS] = "restless", [CONTEST_WHY_SURPRISE] = "surprise",
	[CONTEST_WHY_SELDOM] = "seldom",     [CONTEST_WHY_ANOTHER] = "another"};

/* Half an interval of 95 %, and half as much again: about 99.7 % of a normal. */
static const double SURE = 1.5;
const double contest_alike = 1.01;

double contest_margin(const struct interval *ratio)
{
	double down = ratio->lo > 0 ? log(ratio->mid / ratio->lo) : INFINITY;
	return SURE * fmax(down, log(ratio->hi / ratio->mid));
}

bool contest_below(const struct interval *ratio, double limit)
{
	return ratio->lo > 0 && log(ratio->mid / limit) + SURE * log(ratio->hi / ratio->mid) < 0;
}

enum { LEAST_ROUNDS = 8, ENOUGH_ROUNDS = 20 };
/* Of max_s, the seconds for one placement: what enough rounds may take, and more than enough. */
enum { ENOUGH_EFFORT = 20, MORE_EFFORT = 5 };

static struct rounds_options options(const struct measure_options *m, bool qualifying)
{
	uint32_t most = (uint32_t)m->max_runs, least = (uint32_t)m->min_runs;
	struct rounds_options o = {.warmup = m->warmup,
				   .max_s = ENOUGH_EFFORT * m->max_s,
				   .quick_s = MORE_EFFORT * m->max_s};
	o.enough = most < ENOUGH_ROUNDS ? most : ENOUGH_ROUNDS;
	o.least = least > LEAST_ROUNDS ? least : LEAST_ROUNDS;
	o.enough = o.enough < least ? least : o.enough;
	o.least = o.least < o.enough ? o.least : o.enough;
	o.most = qualifying || most < o.enough ? o.enough : most;
	return o;
}

static bool can_run(const struct contestant *c)
{
	return c->takes_part && !c->failed;
}

/* Rounds of those for whom `in` holds. */
static int run_rounds(struct contest *x, const bool *in, bool qualifying,
		      const struct measure_options *m, struct arena *a, struct err *e)
{
	struct participant *t = MEM_NEWN(struct participant, x->n);
	uint32_t *who = MEM_NEWN(uint32_t, x->n), n = 0;
	struct rounds_options o = options(m, qualifying);
	for (uint32_t i = 0; i < x->n; i++)
		if (in[i] && can_run(&x->c[i])) {
			t[n] = (struct participant){.run = x->c[i].run, .may_drop = i >= x->k};
			who[n++] = i;
		}
	int rc = measure_rounds(t, n, x->k, &o, a, e);
	for (uint32_t j = 0; j < n && rc == 0; j++) {
		struct contestant *c = &x->c[who[j]];
		c->failed = t[j].failed;
		c->m = t[j].m;
		memcpy(c->reason, t[j].reason, sizeof c->reason);
	}
	mem_free(t);
	mem_free(who);
	return rc;
}

/* The fastest single device that runs; -1: none does. */
static int fastest_single(const struct contest *x)
{
	int best = -1;
	for (uint32_t d = 0; d < x->k; d++)
		if (can_run(&x->c[d]) && (best < 0 || x->c[d].m.lat.mid < x->c[best].m.lat.mid))
			best = (int)d;
	return best;
}

/* The candidate for the final, -1 when there is none.  Of several, qualifying rounds choose. */
static int choose_finalist(struct contest *x, const struct measure_options *o, struct arena *a,
			   int *out, struct err *e)
{
	bool *in = ARENA_NEWN(a, bool, x->n);
	uint32_t n = 0;
	double least = INFINITY;
	*out = -1;
	for (uint32_t i = 0; i < x->n; i++) {
		in[i] = x->c[i].takes_part;
		if (i >= x->k && in[i]) {
			n++;
			*out = (int)i;
		}
	}
	if (n <= 1)
		return 0;
	if (run_rounds(x, in, true, o, a, e) < 0)
		return -1;
	int ref = fastest_single(x);
	*out = -1;
	for (uint32_t i = 0; i < x->n; i++) {
		struct contestant *c = &x->c[i];
		if (!can_run(c))
			continue;
		c->qualifying = c->m;
		double ratio = ref < 0 ? c->m.lat.mid : rounds_ratio(&c->m, &x->c[ref].m).mid;
		if (i >= x->k && ratio < least) {
			least = ratio;
			*out = (int)i;
		}
	}
	return 0;
}

static void set_ratio(struct contestant *c, const struct measurement *m,
		      const struct measurement *ref)
{
	if (!can_run(c) || m->n == 0 || ref->n == 0)
		return;
	c->ref_s = ref->lat.mid;
	c->ratio = m == ref ? (struct interval){1, 1, 1} : rounds_ratio(m, ref);
	c->has_ratio = true;
}

static void set_ratios(struct contest *x, int finalist)
{
	if (x->reference < 0)
		return;
	const struct contestant *ref = &x->c[x->reference];
	for (uint32_t i = 0; i < x->n; i++) {
		bool final = i < x->k || (int)i == finalist;
		struct contestant *c = &x->c[i];
		set_ratio(c, final ? &c->m : &c->qualifying, final ? &ref->m : &ref->qualifying);
	}
}

/* Fewer pairs have no interval of 95 % by order statistics. */
enum { LEAST_PAIRS = 6 };

static struct interval told_ratio(const struct contestant *c)
{
	bool few = c->m.n < LEAST_PAIRS;
	return (struct interval){c->ratio.mid, few ? 0 : c->ratio.lo, c->ratio.hi};
}

/* Is contestant i the one that is the harder to tell from the reference than rival? */
static bool is_closer(const struct contest *x, uint32_t i, int rival)
{
	return rival < 0 || x->c[i].ratio.mid < x->c[rival].ratio.mid;
}

/* Of the final, in which all single devices and the finalist ran. */
static void judge(struct contest *x, int finalist)
{
	struct contest_verdict *v = &x->verdict;
	if (x->reference < 0)
		return;
	v->says = CONTEST_SINGLE;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct contestant *c = &x->c[i];
		struct interval r = told_ratio(c),
				over = {1 / r.mid, 1 / r.hi, r.lo > 0 ? 1 / r.lo : INFINITY};
		if (!c->has_ratio || (int)i == x->reference || (i >= x->k && (int)i != finalist) ||
		    (r.mid >= 1 && contest_below(&over, contest_alike)))
			continue;
		v->says = CONTEST_UNDECIDED;
		if (is_closer(x, i, v->rival)) {
			v->rival = (int)i;
			v->ratio = r;
		}
	}
	if (finalist < 0 || !can_run(&x->c[finalist]))
		return;
	struct interval ratio = told_ratio(&x->c[finalist]);
	if (contest_below(&ratio, 1)) {
		x->winner = finalist;
		*v = (struct contest_verdict){.says = CONTEST_GAIN, .rival = -1};
	}
}

uint32_t contest_group(const uint16_t *device, uint32_t n_sets)
{
	uint32_t bits = 0;
	for (uint32_t i = 0; i < n_sets; i++)
		bits |= 1u << device[i] % 32;
	return bits;
}

int contest_run(struct contest *x, const struct measure_options *o, struct arena *a, struct err *e)
{
	int f;
	x->reference = x->winner = -1;
	x->verdict = (struct contest_verdict){.rival = -1};
	if (choose_finalist(x, o, a, &f, e) < 0)
		return -1;
	bool *in = ARENA_NEWN(a, bool, x->n);
	for (uint32_t i = 0; i < x->n; i++)
		in[i] = i < x->k || (int)i == f;
	if (run_rounds(x, in, false, o, a, e) < 0)
		return -1;
	x->reference = fastest_single(x);
	set_ratios(x, f);
	if (f >= 0 && can_run(&x->c[f]) && x->reference < 0)
		x->winner = f;
	judge(x, f);
	return 0;
}
