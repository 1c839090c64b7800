/* test_race.c - lib/race on a virtual machine whose truth is known.
 * `test_race 200` prints the table in lib/race/README.md instead. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "race/block_effects.h"
#include "race/race_impl.h"
#include "stats/quantile.h"
#include "tap.h"

enum { N_STARTS = 5, N_ARMS = 24 };

/* A machine of two cores, virtual time: a run takes its true time, times run noise, now and then a
 * spike, the slower of the cores' drifts, more in the first run after another arm, and while the
 * second core is lost much more, except on core 0 alone. */
struct machine {
	double true_s[N_ARMS], lost_share[N_ARMS];
	bool both[N_ARMS]; /* arm uses both cores */
	double now_s, drift[2], lost_until, next_lost;
	double run_sigma, drift_sigma, lost_every_s;
	uint32_t last, fails;
	struct rng_addr a;
	uint32_t draws, runs;
};

static double draw(struct machine *m)
{
	return rng_uniform(&m->a, m->draws++);
}

static double gauss(struct machine *m)
{
	double r = sqrt(-2 * log1p(-draw(m)));
	return r * cos(2 * M_PI * draw(m));
}

static double wait_for(struct machine *m, double mean_s)
{
	return -mean_s * log1p(-draw(m));
}

static double one_run(struct machine *m, uint32_t arm)
{
	double s = m->true_s[arm] * exp(m->run_sigma * gauss(m));
	double keep = exp(-m->true_s[arm] / 20);
	for (int c = 0; c < 2; c++)
		m->drift[c] =
			keep * m->drift[c] + m->drift_sigma * sqrt(1 - keep * keep) * gauss(m);
	double d = m->both[arm] ? fmax(m->drift[0], m->drift[1]) : m->drift[0];
	s *= exp(fmax(0, d));
	if (draw(m) < 0.02)
		s *= 1 + draw(m);
	if (arm != m->last)
		s *= 1.15;
	if (m->now_s > m->next_lost) {
		m->lost_until = m->now_s + wait_for(m, 1.5);
		m->next_lost = m->lost_until + wait_for(m, m->lost_every_s);
	}
	if (m->now_s < m->lost_until && m->both[arm])
		s *= 1 + m->lost_share[arm];
	m->last = arm;
	m->now_s += s;
	m->runs++;
	return s;
}

static int burst(void *ctx, uint32_t arm, uint32_t block, uint32_t n, double *run_s, struct err *e)
{
	(void)block;
	struct machine *m = ctx;
	(void)e;
	if (arm == m->fails)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		run_s[i] = one_run(m, arm);
	return 1;
}

static double spent_s(void *ctx)
{
	return ((struct machine *)ctx)->now_s;
}

/* Arm 0 is one core alone, 1 .. N_STARTS-1 are starts, the rest what a search found; predicted[]
 * is wrong in favour of what was found. */
static void machine_init(struct machine *m, uint64_t seed, double level, double *predicted)
{
	*m = (struct machine){
		.a = {seed, 17, 0, RNG_INPUT}, .last = UINT32_MAX, .fails = UINT32_MAX};
	m->run_sigma = 0.03 * level;
	m->drift_sigma = 0.12 * level;
	m->lost_every_s = 10 / level;
	m->next_lost = wait_for(m, m->lost_every_s);
	double best = 0.01;
	for (uint32_t i = 0; i < N_ARMS; i++) {
		double t = i == 0 ? log(1.8) : fabs(0.12 * gauss(m));
		if (i >= N_STARTS)
			t = -0.02 + 0.05 * gauss(m);
		m->true_s[i] = best * exp(t);
		m->both[i] = i > 0;
		m->lost_share[i] = 0.3 + 0.5 * draw(m);
		predicted[i] = m->true_s[i] * exp(0.05 * gauss(m) - (i >= N_STARTS ? 0.05 : 0));
	}
}

static double least(const double *x, uint32_t n)
{
	double y = INFINITY;
	for (uint32_t i = 0; i < n; i++)
		y = fmin(y, x[i]);
	return y;
}

struct tally {
	double regret[400], below[400];
	uint32_t n;
};

static void tally_add(struct tally *t, const struct machine *m, int winner)
{
	double start = least(m->true_s, N_STARTS), best = least(m->true_s, N_ARMS);
	t->regret[t->n] = m->true_s[winner] / best - 1;
	t->below[t->n] = m->true_s[winner] / start - 1;
	t->n++;
}

/* The control: each arm gets an equal share of the budget, in runs in a row; the least median. */
static int best_of(struct machine *m, double budget_s)
{
	double least_s = INFINITY, *s = MEM_NEWN(double, 100000);
	int best = -1;
	for (uint32_t i = 0; i < N_ARMS; i++) {
		uint32_t n = 0;
		while (m->now_s < budget_s * (i + 1) / N_ARMS)
			s[n++] = one_run(m, i);
		if (n == 0)
			continue;
		order_values(s, n);
		double x = quantile(s, n, 0.5);
		best = x < least_s ? (int)i : best;
		least_s = fmin(x, least_s);
	}
	mem_free(s);
	return best;
}

static double mean(const double *x, uint32_t n)
{
	double s = 0;
	for (uint32_t i = 0; i < n; i++)
		s += x[i] / n;
	return s;
}

static struct race *new_race(struct race_source *source, const double *predicted, double budget_s,
			     uint64_t seed)
{
	struct race_options o = RACE_OPTIONS_INIT;
	o.budget_s = budget_s;
	o.seed = seed;
	struct race *x = race_new(&o, source);
	for (uint32_t i = 0; i < N_ARMS; i++)
		race_add(x, &(struct race_entry){i<N_STARTS, i> 0, predicted ? predicted[i] : 0});
	return x;
}

/* 200 machines as restless as those that were seen: what is handed over, and what it is worth. */
static void trials(double budget_s, bool predicts, double most_regret)
{
	enum { TRIALS = 200 };
	static struct tally race, best;
	uint32_t beyond = 0, below = 0, late = 0;
	race.n = best.n = 0;
	for (uint32_t seed = 0; seed < TRIALS; seed++) {
		double predicted[N_ARMS];
		struct machine m;
		struct race_source source = {&m, burst, NULL, spent_s, 0};
		struct race_result r;
		struct err e = ERR_INIT;
		machine_init(&m, seed, 1, predicted);
		tally_add(&best, &m, best_of(&m, budget_s));
		machine_init(&m, seed, 1, predicted);
		struct race *x = new_race(&source, predicts ? predicted : NULL, budget_s, seed);
		if (race_finish(x, &r, &e) < 0 || r.winner < 0) {
			tap(false, "race %u: %s", seed, e.msg);
			race_free(x);
			continue;
		}
		tally_add(&race, &m, r.winner);
		int start = 0;
		for (int i = 1; i < N_STARTS; i++)
			start = m.true_s[i] < m.true_s[start] ? i : start;
		struct interval pair = {1, 0, INFINITY};
		if (!race_ratio(x, (uint32_t)r.winner, (uint32_t)start, &pair))
			pair.hi = INFINITY;
		double truth = m.true_s[r.winner] / m.true_s[start];
		beyond += truth > 1 && truth > pair.hi;
		below += truth > 1.01;
		late += m.now_s > budget_s + 1;
		race_free(x);
	}
	double got = mean(race.regret, race.n), without = mean(best.regret, best.n);
	tap(beyond == 0, "%g s: never below the best start beyond the interval (%u)", budget_s,
	    beyond);
	tap(below == 0, "%g s: never below the best start by a hundredth (%u)", budget_s, below);
	tap(late == 0, "%g s: the budget is kept", budget_s);
	tap(got < most_regret && got < 0.7 * without, "%g s: mean regret %.4f, best of all %.4f",
	    budget_s, got, without);
}

/* The table of docs: mean regret and its 95th percentile. */
static void table_row(double level, double budget_s, uint32_t n)
{
	static struct tally race, best;
	uint32_t below[2] = {0, 0};
	race.n = best.n = 0;
	for (uint32_t seed = 0; seed < n; seed++) {
		double predicted[N_ARMS];
		struct machine m;
		struct race_source source = {&m, burst, NULL, spent_s, 0};
		struct race_result r;
		struct err e = ERR_INIT;
		machine_init(&m, seed, level, predicted);
		tally_add(&best, &m, best_of(&m, budget_s));
		below[0] += best.below[best.n - 1] > 0.005;
		machine_init(&m, seed, level, predicted);
		struct race *x = new_race(&source, predicted, budget_s, seed);
		if (race_finish(x, &r, &e) == 0 && r.winner >= 0) {
			tally_add(&race, &m, r.winner);
			below[1] += race.below[race.n - 1] > 0.005;
		}
		race_free(x);
	}
	order_values(race.regret, race.n);
	order_values(best.regret, best.n);
	printf("| %.1f | %g s | %.2f %% | %.2f %% | %u | %.2f %% | %.2f %% | %u |\n", level,
	       budget_s, 100 * mean(best.regret, best.n), 100 * quantile(best.regret, best.n, 0.95),
	       below[0], 100 * mean(race.regret, race.n), 100 * quantile(race.regret, race.n, 0.95),
	       below[1]);
}

static void table(uint32_t n)
{
	static const double levels[] = {0.5, 1, 2}, budgets[] = {1, 2, 5, 15, 40};
	for (int l = 0; l < 3; l++)
		for (int b = 0; b < 5; b++)
			table_row(levels[l], budgets[b], n);
}

/* ---- a source that is told what to say ---- */

enum { TOLD_ARMS = 20 };

struct told {
	double s[TOLD_ARMS];      /* of each arm */
	uint32_t runs[TOLD_ARMS]; /* so far */
	uint32_t odd, odd_burst;  /* this arm's burst of that number, from 0, is wrong */
	double odd_times;
	uint32_t bursts[TOLD_ARMS], fails, fails_after;
	bool ends;
	double now_s;
};

static int told_burst(void *ctx, uint32_t arm, uint32_t block, uint32_t n, double *run_s,
		      struct err *e)
{
	(void)block;
	struct told *t = ctx;
	uint32_t b = t->bursts[arm]++;
	if (t->ends)
		return err_set(e, ST_RUNTIME, "the end");
	if ((arm == t->fails || t->fails == 4) && b >= t->fails_after)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		/* One part of a thousand up and down, for arms that are equal. */
		run_s[i] = t->s[arm] * (1 + 1e-3 * ((t->runs[arm] * 7 + arm * 3) % 5 - 2.0));
		if (arm == t->odd && b == t->odd_burst)
			run_s[i] *= t->odd_times;
		t->runs[arm]++;
		t->now_s += run_s[i];
	}
	return 1;
}

static double told_spent(void *ctx)
{
	return ((struct told *)ctx)->now_s;
}

static struct race_result told_race(struct told *t, bool *ok)
{
	struct race_source source = {t, told_burst, NULL, told_spent, 0};
	struct race_options o = RACE_OPTIONS_INIT;
	struct race_result r;
	struct err e = ERR_INIT;
	o.budget_s = 5;
	struct race *x = race_new(&o, &source);
	for (uint32_t i = 0; i < 4; i++)
		race_add(x, &(struct race_entry){.start = i<2, .group = i> 0});
	*ok = race_finish(x, &r, &e) == 0;
	race_free(x);
	return r;
}

/* In the time of one burst of each of 20 slow arms: all run, or only some, more often. */
static uint32_t count_explored(bool explore, uint32_t *most)
{
	enum { N = TOLD_ARMS };
	struct told t = {.odd = N, .fails = N + 1};
	struct race_source source = {&t, told_burst, NULL, told_spent, 0};
	struct race_options o = RACE_OPTIONS_INIT;
	struct race_result r;
	struct err e = ERR_INIT;
	uint32_t n = 0;
	o.budget_s = N * 0.1 * 1.8;
	o.explore = explore;
	for (uint32_t i = 0; i < N; i++)
		t.s[i] = 0.1 + 0.001 * i;
	struct race *x = race_new(&o, &source);
	for (uint32_t i = 0; i < N; i++)
		race_add(x, &(struct race_entry){.start = i<1, .group = i> 0, .predicted_s = 0.1});
	tap(race_finish(x, &r, &e) == 0, "a race of slow arms");
	*most = 0;
	for (uint32_t i = 0; i < N; i++) {
		uint32_t b = race_arm(x, i)->n_bursts;
		n += b > 0;
		*most = i && b > *most ? b : *most;
	}
	race_free(x);
	return n;
}

static void exploring(void)
{
	uint32_t all, some, most;
	some = count_explored(false, &most);
	tap(some < 15 && most > 1, "a race runs the likely ones more often");
	all = count_explored(true, &most);
	tap(all == 20 && most <= 4, "one that explores runs all");
}

static struct told told_new(void)
{
	return (struct told){.s = {0.02, 0.01, 0.011, 0.012}, .odd = 4, .fails = 5};
}

static void single_bursts(void)
{
	bool ok, good = true, bad = true;
	for (uint32_t b = 0; b < 6; b++) {
		struct told t = told_new();
		t.odd = 3;
		t.odd_burst = b;
		t.odd_times = 0.3;
		good = good && told_race(&t, &ok).winner == 1 && ok;
		t = told_new();
		t.s[2] = 0.009;
		t.odd = 2;
		t.odd_burst = b;
		t.odd_times = 4;
		bad = bad && told_race(&t, &ok).winner == 2 && ok;
	}
	tap(good, "nothing wins by a single good burst");
	tap(bad, "nothing loses by a single bad burst");
}

static void failures(void)
{
	bool ok;
	struct told t = told_new();
	t.fails = 1;
	struct race_result r = told_race(&t, &ok);
	tap(ok && r.winner == 2 && r.best_start == 0 && r.over_reference.hi < 0.56 &&
		    r.over_reference.lo > 0.54,
	    "a start that cannot run is none");
	t = told_new();
	t.fails = 1;
	t.fails_after = 2;
	r = told_race(&t, &ok);
	tap(ok && r.winner == 2, "an arm that fails late cannot win");
	t = told_new();
	t.fails = 0;
	r = told_race(&t, &ok);
	tap(ok && r.winner == 1 && r.over_reference.mid == 0, "a race without reference");
	t = told_new();
	t.fails = 4;
	r = told_race(&t, &ok);
	tap(ok && r.winner == -1, "no arm can run");
	t = told_new();
	t.ends = true;
	r = told_race(&t, &ok);
	tap(!ok, "the source ends");
	t = told_new();
	t.s[2] = t.s[3] = 0.01;
	r = told_race(&t, &ok);
	tap(ok && fabs(t.s[r.winner] / 0.01 - 1) < 1e-9 && r.over_start.hi < 1.01,
	    "arms that are equal");
}

/* What was found is a little slower than the best start, and the machine too restless to tell in this
 * time: the start is handed over. */
static void unsure(void)
{
	uint32_t kept = 0;
	for (uint32_t seed = 0; seed < 40; seed++) {
		double predicted[N_ARMS];
		struct machine m;
		struct race_source source = {&m, burst, NULL, spent_s, 0};
		struct race_result r = {.winner = -1};
		struct err e = ERR_INIT;
		machine_init(&m, seed, 2, predicted);
		for (uint32_t i = N_STARTS; i < N_ARMS; i++)
			m.true_s[i] = 1.01 * least(m.true_s, N_STARTS);
		struct race *x = new_race(&source, NULL, 5, seed);
		kept += race_finish(x, &r, &e) == 0 && r.winner >= 0 && r.winner < N_STARTS;
		race_free(x);
	}
	tap(kept >= 30, "what is not surely faster is not handed over (%u of 40)", kept);
}

/* Many arms that all need three fifths of the reference's time, three disturbed bursts of each: no pair
 * of arms tells much, all of them together do. */
static void three_bursts(uint64_t seed, double share, struct interval *pairs,
			 struct interval *claim)
{
	enum { OTHERS = 8 };
	struct told t = {.fails = 9};
	struct race_source source = {&t, told_burst, NULL, told_spent, 0};
	struct race_options o = RACE_OPTIONS_INIT;
	struct race *x = race_new(&o, &source);
	for (uint32_t i = 0; i <= OTHERS; i++) {
		race_add(x, &(struct race_entry){.start = true, .group = i > 0});
		x->arm[i].state = RACE_LIVE;
	}
	for (uint32_t b = 0; b < 3; b++, x->n_blocks++)
		for (uint32_t i = 0; i <= OTHERS; i++) {
			const struct rng_addr g = {seed, b, i, RNG_INPUT};
			double y = (i ? log(share) : 0) + 0.15 * rng_normal(&g, 0);
			block_effects_add(&x->fx, i, b, y);
			x->arm[i].n_bursts++;
		}
	race_learn(x);
	if (!race_ratio(x, 1, 0, pairs) || !race_claim(x, 1, 0, claim))
		*claim = (struct interval){0, 0, 0};
	race_free(x);
}

static void few_bursts(void)
{
	enum { TRIALS = 200 };
	uint32_t sure = 0, by_pairs = 0, covered = 0;
	for (uint64_t s = 0; s < TRIALS; s++) {
		struct interval r, c;
		three_bursts(s, 0.6, &r, &c);
		sure += c.hi < 1;
		by_pairs += r.hi < 1;
		covered += c.lo <= 0.6 && c.hi >= 0.6;
	}
	tap(sure > 0.9 * TRIALS && by_pairs < 0.8 * TRIALS && covered > 0.92 * TRIALS,
	    "all arms have a say: sure in %u of %d trials, by pairs in %u; right in %u", sure,
	    TRIALS, by_pairs, covered);
}

/* What comes in when half of the budget is spent can still win. */
static void late_arms(void)
{
	uint32_t won = 0, same = 0;
	for (uint32_t seed = 0; seed < 20; seed++) {
		double predicted[N_ARMS];
		struct race_result r[2];
		for (int again = 0; again < 2; again++) {
			struct machine m;
			struct race_source source = {&m, burst, NULL, spent_s, 0};
			struct race_options o = RACE_OPTIONS_INIT;
			struct err e = ERR_INIT;
			machine_init(&m, seed, 1, predicted);
			m.true_s[N_ARMS - 1] = 0.8 * least(m.true_s, N_ARMS);
			o.budget_s = 10;
			struct race *x = race_new(&o, &source);
			for (uint32_t i = 0; i + 1 < N_ARMS; i++)
				race_add(x, &(struct race_entry){i<N_STARTS, i> 0, predicted[i]});
			int rc = race_run(x, 5, &e);
			race_add(x, &(struct race_entry){.group = 1});
			if (rc < 0 || race_finish(x, &r[again], &e) < 0)
				r[again].winner = -1;
			race_free(x);
		}
		won += r[0].winner == N_ARMS - 1;
		same += r[0].winner == r[1].winner && r[0].lat_s == r[1].lat_s;
	}
	tap(won == 20, "an arm that comes late wins (%u of 20)", won);
	tap(same == 20, "the same seed gives the same race");
}

/* Effects of arms in blocks that slow all of them, one of which lost a core. */
static void effects(void)
{
	static const double arm[5] = {0.6, 0, 0.05, 0.1, -0.04};
	struct block_effects x = {0};
	for (uint32_t b = 0; b < 12; b++)
		for (uint32_t i = 0; i < 5; i++) {
			double y = arm[i] + 0.3 * sin(b) + 1e-3 * ((7 * b + 3 * i) % 5 - 2.0);
			if ((b == 3 || b == 4) && i > 0)
				y += 0.2 + 0.1 * i;
			if (b == 7 && i == 2)
				y += 2;
			if ((b + i) % 3 || i < 2)
				block_effects_add(&x, i, b, y);
		}
	block_effects_fit(&x);
	double off = 0;
	for (uint32_t i = 0; i < 5; i++)
		off = fmax(off, fabs(x.arm[i] - x.arm[1] - arm[i]));
	tap(off < 3e-3, "effects of arms, off by %.5f", off);
	bool found = true;
	for (uint32_t b = 0; b < 12; b++)
		found = found && (x.trust[b] < 1) == (b == 3 || b == 4);
	tap(found, "blocks without a core are found");
	tap(x.scale > 1e-4 && x.scale < 1e-2, "the noise of a burst: %.5f", x.scale);
	block_effects_release(&x);
}

/* Two arms alike, one of which is corrected by what nobody knows: the draws of the correction are far
 * apart, so that no number of bursts makes sure of it. */
static double doubtful_excess(void *ctx, uint32_t arm, uint32_t block, double *draw)
{
	(void)ctx;
	(void)block;
	for (int d = 0; d < 4 && draw; d++)
		draw[d] = arm == 2 ? 0.02 * (d - 1.5) : 0;
	return 0;
}

static void doubtful(void)
{
	struct told t = {.s = {1, 0.5, 0.49}, .fails = 9};
	struct race_result r[2];
	for (uint32_t doubts = 0; doubts < 2; doubts++) {
		struct race_source source = {&t, told_burst, doubts ? doubtful_excess : NULL,
					     told_spent, doubts ? 4 : 0};
		struct race_options o = RACE_OPTIONS_INIT;
		struct err e = ERR_INIT;
		o.budget_s = 400;
		struct race *x = race_new(&o, &source);
		for (uint32_t i = 0; i < 3; i++)
			race_add(x, &(struct race_entry){.start = i < 2, .group = i});
		t = (struct told){.s = {1, 0.5, 0.49}, .fails = 9};
		if (race_finish(x, &r[doubts], &e) < 0)
			r[doubts].winner = -1;
		race_free(x);
	}
	tap(r[0].winner == 2 && r[1].winner == 1 && r[1].leader == 2,
	    "what only a doubtful correction says does not win (%d, %d)", r[0].winner, r[1].winner);
	tap(r[1].over_start.lo < 0.95 && r[1].over_start.hi > 1.02 && r[0].over_start.hi < 1,
	    "and its interval says so: %.3f to %.3f", r[1].over_start.lo, r[1].over_start.hi);
}

/* Four arms race for no time at all. */
static bool race_without_time(struct told *t, const struct race_entry arm[4], struct race_result *r)
{
	struct race_source source = {t, told_burst, NULL, told_spent, 0};
	struct race_options o = RACE_OPTIONS_INIT;
	struct err e = ERR_INIT;
	o.budget_s = 0;
	struct race *x = race_new(&o, &source);
	for (uint32_t i = 0; i < 4; i++)
		race_add(x, &arm[i]);
	int rc = race_finish(x, r, &e);
	race_free(x);
	return rc == 0;
}

/* However little time there is, every start has run once. */
static void no_time(void)
{
	struct told t = {.s = {4, 2, 3, 5}, .fails = 9};
	struct race_entry arm[4];
	struct race_result r;
	for (uint32_t i = 0; i < 4; i++)
		arm[i] = (struct race_entry){.start = i < 3, .group = i};
	bool ok = race_without_time(&t, arm, &r);
	tap(ok && r.winner == 1 && r.n_blocks == 1 && t.bursts[2] == 1 && t.bursts[3] == 0,
	    "without time: %u blocks, the winner is %d", r.n_blocks, r.winner);
}

/* Few of many starts have time, and the reference, slow by prediction, is one of them. */
static void no_time_for_all(void)
{
	struct told t = {.s = {9, 2, 3, 5}, .fails = 9};
	struct race_entry arm[4];
	struct race_result r;
	for (uint32_t i = 0; i < 4; i++)
		arm[i] = (struct race_entry){.start = true, .group = i, .predicted_s = i ? i : 100};
	bool ok = race_without_time(&t, arm, &r);
	tap(ok && t.bursts[0] > 0 && t.bursts[3] == 0 && r.winner == 1,
	    "the reference runs, however little time there is: %u bursts, the winner is %d",
	    t.bursts[0], r.winner);
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		table((uint32_t)atoi(argv[1]));
		return 0;
	}
	effects();
	exploring();
	single_bursts();
	failures();
	unsure();
	late_arms();
	few_bursts();
	no_time();
	doubtful();
	no_time_for_all();
	trials(5, true, 0.006);
	trials(5, false, 0.008);
	trials(15, true, 0.005);
	return tap_end();
}
