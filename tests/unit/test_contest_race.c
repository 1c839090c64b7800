/* test_contest_race.c - races of placements, and the reference that they choose. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "race/contest_race.h"
#include "race/reference.h"
#include "tap.h"

/* Two devices that are alike; for the whole contest one is twice as fast as the other. */
struct part {
	double work_s[2]; /* one after the other, when nothing drifts */
	double *now_s;
	uint32_t runs, fails_after; /* fails_after 0: never */
};

static enum run_status part_run(void *arg, struct run_sample *out, struct err *e)
{
	static const double slow[2] = {1.4, 0.7};
	struct part *p = arg;
	if (p->fails_after && p->runs >= p->fails_after) {
		err_set(e, ST_RUNTIME, "it broke");
		return RUN_FAILED;
	}
	out->lat_s = 0;
	for (int d = 0; d < 2; d++) {
		double s = p->work_s[d] * slow[d] * (1 + 2e-3 * (p->runs * 7 % 5 - 2.0));
		out->lat_s += s;
		if (out->busy_s)
			out->busy_s[d] = s;
	}
	p->runs++;
	*p->now_s += out->lat_s;
	return RUN_OK;
}

static double part_now(void *arg)
{
	return *((struct part *)arg)->now_s;
}

/* As contest.predict, of parts. */
static double part_predict(void *ctx, uint32_t i, const double *slow, double *log_s)
{
	const struct part *p = &((const struct part *)ctx)[i];
	(void)log_s;
	return p->work_s[0] * (slow ? slow[0] : 1) + p->work_s[1] * (slow ? slow[1] : 1);
}

static void contest_of(struct part *p, struct contestant *c, uint32_t n, double *now_s)
{
	for (uint32_t i = 0; i < n; i++) {
		p[i].now_s = now_s;
		c[i] = (struct contestant){.run = {&p[i], part_run, part_now},
					   .group = i < 2 ? 1 + i : 3,
					   .takes_part = true};
	}
}

static void contests(void)
{
	struct arena *a = arena_new();
	struct measure_options o = MEASURE_DEFAULT;
	struct contestant c[4];
	struct contest x = {.k = 2, .n = 4, .c = c, .predict = part_predict};
	struct err e = ERR_INIT;
	double now_s = 5;
	struct part p[4] = {{{0.02, 0}, 0, 0, 0},
			    {{0, 0.02}, 0, 0, 0},
			    {{0.0015, 0.012}, 0, 0, 0},
			    {{0.006, 0.006}, 0, 0, 0}};
	x.ctx = p;
	o.race_s = 5;
	contest_of(p, c, 4, &now_s);
	int rc = contest_race(&x, &o, a, &e);
	tap(rc == 0 && x.winner == 3 && x.reference == 1,
	    "what is best when devices are as they are made");
	tap(fabs(c[3].ratio.mid / (0.012 / 0.0198) - 1) < 0.02 && c[0].ratio.mid == 1,
	    "its gain: %.3f", c[3].ratio.mid);
	tap(now_s < 5 + 5.5 && c[3].m.n >= 8 && fabs(c[3].m.sample_s[0] / 0.0126 - 1) < 0.01 &&
		    fabs(c[3].m.lat.mid / (c[3].ratio.mid * c[3].ref_s) - 1) < 1e-9,
	    "what it takes while the reference takes %.4f: %.4f, in %u runs", c[3].ref_s,
	    c[3].m.lat.mid, c[3].m.n);
	/* The better one breaks, then a single device, then all. */
	p[3].runs = 0;
	p[3].fails_after = 15;
	contest_of(p, c, 4, &now_s);
	rc = contest_race(&x, &o, a, &e);
	tap(rc == 0 && x.winner == 2 && c[3].failed && strcmp(c[3].reason, "it broke") == 0,
	    "one breaks");
	p[0].fails_after = 1;
	contest_of(p, c, 4, &now_s);
	rc = contest_race(&x, &o, a, &e);
	tap(rc == 0 && x.reference == 1 && c[0].failed && !c[0].has_ratio,
	    "a single device is broken");
	for (int i = 1; i < 4; i++)
		p[i].fails_after = 1;
	contest_of(p, c, 4, &now_s);
	rc = contest_race(&x, &o, a, &e);
	tap(rc == 0 && x.reference == -1 && x.winner == -1, "all are broken");
	arena_free(a);
}

/* What was run before counts. */
static void second_race(void)
{
	struct arena *a = arena_new();
	struct measure_options o = MEASURE_DEFAULT;
	struct contestant c[4], before[4];
	struct contest x = {.k = 2, .n = 4, .c = c, .predict = part_predict};
	struct err e = ERR_INIT;
	double now_s = 5;
	struct part p[4] = {{{0.02, 0}, 0, 0, 0},
			    {{0, 0.02}, 0, 0, 0},
			    {{0.0015, 0.012}, 0, 0, 0},
			    {{0.006, 0.006}, 0, 0, 0}};
	x.ctx = p;
	o.race_s = 5;
	contest_of(p, c, 4, &now_s);
	int rc = contest_race(&x, &o, a, &e);
	memcpy(before, c, sizeof c);
	o.race_s = 0.2;
	contest_of(p, c, 4, &now_s);
	rc |= contest_race(&x, &o, a, &e);
	tap(rc == 0 && x.winner == -1, "a short race tells nothing by itself");
	contest_of(p, c, 4, &now_s);
	for (int i = 0; i < 4; i++)
		c[i].past = (struct contest_past){before[i].bursts, before[i].m.n,
						  before[i].m.sample_s};
	rc = contest_race(&x, &o, a, &e);
	tap(rc == 0 && x.winner == 3 && fabs(c[3].ratio.mid / (0.012 / 0.0198) - 1) < 0.02,
	    "behind a long one it does");
	const struct contest_bursts *all = &c[3].bursts, *then = &before[3].bursts;
	bool kept = all->n >= then->n && then->n > 4 && c[3].turns.n_bursts == all->n &&
		    c[3].m.n >= before[3].m.n;
	for (uint32_t i = 0; kept && i < then->n; i++)
		kept = fabs(all->lat_s[i] / then->lat_s[i] - 1) < 1e-12;
	for (uint32_t i = 1; kept && i < all->n; i++)
		kept = all->block[i] > all->block[i - 1];
	tap(kept, "all bursts of both: %u and %u", then->n, all->n);
	/* Of one that is alone in its blocks nothing is told, and of nobody else either. */
	contest_of(p, c, 4, &now_s);
	c[3].past = (struct contest_past){before[3].bursts, before[3].m.n, before[3].m.sample_s};
	rc = contest_race(&x, &o, a, &e);
	tap(rc == 0 && x.winner == -1 && c[3].bursts.n < then->n, "bursts beside nobody's");
	arena_free(a);
}

/* A single device whose runs vary by a tenth. */
struct noisy {
	double mean_s, *now_s;
	uint64_t seed;
	uint32_t runs, slow_runs; /* its first ones take three times as long */
};

static enum run_status noisy_run(void *arg, struct run_sample *out, struct err *e)
{
	struct noisy *x = arg;
	const struct rng_addr at = {x->seed, 0, x->runs++, RNG_INPUT};
	(void)e;
	out->lat_s = x->mean_s * exp(0.1 * rng_normal(&at, 0)) * (x->runs <= x->slow_runs ? 3 : 1);
	*x->now_s += out->lat_s;
	return RUN_OK;
}

static double noisy_now(void *arg)
{
	return *((struct noisy *)arg)->now_s;
}

/* Each in a group of its own; the third is not made like the first two. */
static void noisy_contestants(struct contestant *c, struct noisy *x, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		c[i] = (struct contestant){.run = {&x[i], noisy_run, noisy_now},
					   .group = i,
					   .alike = i == 2 ? 2 : 0,
					   .takes_part = true};
}

/* Of these two, which is chosen, in so many runs. */
static int choose_of(uint64_t seed, double a_s, double b_s, double most_s, uint32_t *runs)
{
	double now_s = 0;
	struct noisy n[2] = {{a_s, &now_s, 2 * seed, 0, 0}, {b_s, &now_s, 2 * seed + 1, 0, 0}};
	struct contestant c[2] = {
		{.run = {&n[0], noisy_run, noisy_now}, .takes_part = true},
		{.run = {&n[1], noisy_run, noisy_now}, .takes_part = true, .alike = 1}};
	struct contest x = {.k = 2, .n = 2, .c = c};
	struct err e = ERR_INIT;
	struct reference_rounds rounds;
	int out, rc = reference_choose(&x, most_s, &rounds, &out, &e);
	mem_free(rounds.log_s);
	*runs = n[0].runs + n[1].runs;
	return rc < 0 ? -1 : out;
}

static void references(void)
{
	enum { TRIALS = 100 };
	uint32_t wrong = 0, runs, near = 0, far = 0, least = 0;
	for (uint64_t s = 0; s < TRIALS; s++) {
		wrong += choose_of(s, 0.01, 0.009, 1, &runs) != 1;
		near += runs;
		wrong += choose_of(s, 0.02, 0.009, 1, &runs) != 1;
		far += runs;
		choose_of(s, 0.01, 0.009, 1e-6, &runs);
		least += runs;
	}
	tap(wrong <= 4, "a reference that is a tenth faster is found (%u of %d wrong)", wrong,
	    2 * TRIALS);
	tap(far < near * 2 / 3 && least == 4 * TRIALS,
	    "in few runs where devices are far apart, or time is short");
}

/* Two devices that are alike are the reference, as the third was slow for a while, which is twice as fast: it becomes
 * the reference, and is handed over, or what is surely faster than it. */
static void reference_changes(void)
{
	for (int faster = 0; faster < 2; faster++) {
		struct arena *a = arena_new();
		double now_s = 0;
		struct noisy n[4] = {{0.02, &now_s, 1, 0, 0},
				     {0.02, &now_s, 2, 0, 0},
				     {0.01, &now_s, 3, 0, 12},
				     {faster ? 0.007 : 0.013, &now_s, 4, 0, 0}};
		struct contestant c[4];
		struct contest x = {.k = 3, .n = 4, .c = c};
		struct measure_options o = MEASURE_DEFAULT;
		struct err e = ERR_INIT;
		noisy_contestants(c, n, 4);
		o.race_s = 8;
		int rc = contest_race(&x, &o, a, &e);
		tap(rc == 0 && x.reference == 2 && x.winner == (faster ? 3 : -1) &&
			    c[2].ratio.mid == 1 && c[0].ratio.lo > 1.6 && c[1].ratio.hi < 2.4 &&
			    fabs(c[3].ratio.mid / (faster ? 0.7 : 1.3) - 1) < 0.06,
		    "a single device that proves to be faster becomes the reference: %.3f, %.3f",
		    c[0].ratio.mid, c[3].ratio.mid);
		arena_free(a);
	}
}

/* An earlier race says that the second device is the fastest, a later one has time for a block or two: a placement that looks
 * faster has run, but never beside that device. */
static void too_seldom(void)
{
	enum { BEFORE = 16, SEEDS = 40 };
	uint32_t block[BEFORE], seldom = 0, claimed = 0, single = 0;
	double slow_s[BEFORE], fast_s[BEFORE];
	for (uint32_t i = 0; i < BEFORE; i++) {
		block[i] = i;
		slow_s[i] = 0.02 * (1 + 1e-3 * (i * 7 % 5));
		fast_s[i] = 0.01 * (1 + 1e-3 * (i * 3 % 5));
	}
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct arena *a = arena_new();
		double now_s = 0;
		struct noisy n[3] = {{0.009, &now_s, 3 * seed, 0, 0},
				     {0.01, &now_s, 3 * seed + 1, 0, 0},
				     {0.005, &now_s, 3 * seed + 2, 0, 0}};
		struct contestant c[3];
		struct contest x = {.k = 2, .n = 3, .c = c};
		struct measure_options o = MEASURE_DEFAULT;
		struct err e = ERR_INIT;
		noisy_contestants(c, n, 3);
		c[1].alike = 1;
		c[0].past.bursts = (struct contest_bursts){BEFORE, block, slow_s};
		c[1].past.bursts = (struct contest_bursts){BEFORE, block, fast_s};
		o.race_s = 1e-3, o.starts = 1;
		o.race_seed = seed;
		if (contest_race(&x, &o, a, &e) < 0)
			tap(false, "%s", e.msg);
		bool apart = c[2].m.n > 0 && !c[2].has_ratio;
		seldom += apart;
		claimed += apart && x.verdict.says != CONTEST_UNDECIDED;
		single += x.verdict.says == CONTEST_SINGLE;
		arena_free(a);
	}
	tap(seldom > 0 && claimed == 0 && single > 0,
	    "what ran too seldom to be compared may be the fastest (%u races, %u claim)", seldom,
	    claimed);
}

/* As contest.predict: single devices alone. */
static double alone_predict(void *ctx, uint32_t i, const double *slow, double *log_s)
{
	(void)log_s;
	return ((const double *)ctx)[i] * (slow ? slow[i] : 1);
}

/* The first core is a third slower than usual for all of the race, and so is what consists of both cores, which is
 * faster than each of them otherwise. */
static void wholes(void)
{
	static const bool has[9] = {[6] = true, [7] = true};
	double usual_s[3] = {0.01, 0.01, 0.009};
	for (int told = 0; told < 2; told++) {
		struct arena *a = arena_new();
		double now_s = 0;
		struct noisy n[3] = {{0.0133, &now_s, 1, 0, 0},
				     {0.01, &now_s, 2, 0, 0},
				     {0.012, &now_s, 3, 0, 0}};
		struct contestant c[3];
		struct contest x = {.k = 3,
				    .n = 3,
				    .c = c,
				    .has = told ? has : NULL,
				    .predict = alone_predict,
				    .ctx = usual_s};
		struct measure_options o = MEASURE_DEFAULT;
		struct err e = ERR_INIT;
		noisy_contestants(c, n, 3);
		o.race_s = 8;
		int rc = contest_race(&x, &o, a, &e);
		const struct interval r = c[1].ratio;
		tap(rc == 0 && x.winner == -1 &&
			    (told ? x.reference == 2 && r.mid > 1 && r.hi > 0.01 / 0.009 &&
					     r.lo < 0.01 / 0.012 &&
					     x.verdict.says == CONTEST_UNDECIDED
				  : x.reference != 2),
		    "a device is as slow as the slowest of its parts%s: %.3f, %.3f to %.3f",
		    told ? "" : ", untold", r.mid, r.lo, r.hi);
		arena_free(a);
	}
}

int main(void)
{
	references();
	reference_changes();
	too_seldom();
	wholes();
	contests();
	second_race();
	return tap_end();
}
