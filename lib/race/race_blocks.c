/* race_blocks.c - blocks of bursts: which arms come in, and who runs next. */
#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "race/race_impl.h"
#include "stats/quantile.h"
#include "timing/burst.h"

enum { DRAW_STREAM = 1, ORDER_STREAM = 2 };
enum { REFIT_SHARE = 50 }; /* refit when the blocks have grown by one part of so many */
enum { FIRST_BURSTS = 2 }; /* before an arm runs no more than draws say */
enum { LEAST_ARMS = 3 };   /* that run, however little time there is */
enum { BURSTS = 400 };     /* a burst takes about one part of so many of the budget */
/* A block is to be over before the machine is another one. */
static const double MOST_BURST_S = 0.04;
/* New arms come in while all have time for FIRST_BURSTS in so much of the race. */
static const double ADMIT_SHARE = 0.75;

static double uniform(struct race *x, uint32_t stream)
{
	const struct rng_addr a = {x->o.seed, stream, 0, RNG_SEARCH};
	return rng_uniform(&a, x->draws++);
}

static double normal(struct race *x)
{
	double r = sqrt(-2 * log1p(-uniform(x, DRAW_STREAM)));
	return r * cos(2 * M_PI * uniform(x, DRAW_STREAM));
}

/* What a run of arm i takes, as far as is known: of one that nobody predicted, the least that one
 * took. */
static double run_seconds(const struct race *x, uint32_t i)
{
	double least = INFINITY;
	if (x->run_s[i] > 0 || x->arm[i].predicted_s > 0)
		return x->run_s[i] > 0 ? x->run_s[i] : x->arm[i].predicted_s;
	for (uint32_t j = 0; j < x->n; j++)
		least = x->run_s[j] > 0 ? fmin(least, x->run_s[j]) : least;
	return isinf(least) ? 0 : least;
}

/* Of long runs one is a burst (burst.h). */
static uint32_t burst_runs(const struct race *x, uint32_t i)
{
	double one = run_seconds(x, i);
	if (!burst_is_short(one))
		return 1;
	double n = one > 0 ? fmin(x->o.budget_s / BURSTS, MOST_BURST_S) / one : 1;
	return 1 + (n < 1 ? 1 : n < RACE_MOST_BURST - 1 ? (uint32_t)n : RACE_MOST_BURST - 1);
}

static double burst_seconds(const struct race *x, uint32_t i)
{
	return burst_runs(x, i) * run_seconds(x, i);
}

/* Bursts for which there is time, as long as those of the leader; at most `most`. */
static uint32_t bursts_left(const struct race *x, uint32_t most)
{
	int best = race_best(x, false);
	double one = burst_seconds(x, best < 0 ? 0 : (uint32_t)best);
	double n = one > 0 ? (x->o.budget_s - race_spent(x)) / one : most;
	return n < most ? (uint32_t)fmax(n, 0) : most;
}

/* The waiting arm that comes in next: the reference, by which all others are told, starts, then by
 * predictions; -1: none waits. */
static int next_waiting(const struct race *x)
{
	int best = -1;
	if (x->n > 0 && x->arm[0].state == RACE_WAITING)
		return 0;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct race_arm *a = &x->arm[i], *b = best < 0 ? NULL : &x->arm[best];
		double t = a->predicted_s > 0 ? a->predicted_s : INFINITY;
		if (a->state == RACE_WAITING &&
		    (!b ||
		     (a->start != b->start ? a->start
					   : t < (b->predicted_s > 0 ? b->predicted_s : INFINITY))))
			best = (int)i;
	}
	return best;
}

/* Let arms in as long as all that are new have time for their first bursts; starts, with the fastest
 * by predictions first, and whatever is to be explored, as long as each has time for one, and LEAST_ARMS of them in any
 * case. */
static void admit(struct race *x)
{
	double need = 0, race_s = x->o.budget_s * (1 - x->o.final_share);
	double left = ADMIT_SHARE * race_s - race_spent(x);
	double all_left = FIRST_BURSTS * (x->o.budget_s - race_spent(x));
	uint32_t n_in = 0;
	/* The leader, the best start and the reference run in all blocks. */
	double beside = (double)x->o.block / fmax(1, x->o.block - 3.0);
	for (uint32_t i = 0; i < x->n; i++) {
		n_in += x->arm[i].state != RACE_WAITING;
		if (x->arm[i].state == RACE_LIVE && x->arm[i].n_bursts < FIRST_BURSTS)
			need += (FIRST_BURSTS - x->arm[i].n_bursts) * burst_seconds(x, i);
	}
	for (int i; (i = next_waiting(x)) >= 0; n_in++) {
		double one = run_seconds(x, (uint32_t)i);
		need += FIRST_BURSTS * burst_runs(x, (uint32_t)i) * one;
		if (x->arm[i].start || x->o.explore ? n_in >= LEAST_ARMS && need * beside > all_left
						    : one == 0 || need * beside > left)
			return;
		x->arm[i].state = RACE_LIVE;
	}
}

struct members {
	uint32_t n, most;
	uint32_t *arm; /* (most) */
};

static void add_member(const struct race *x, struct members *m, int i)
{
	for (uint32_t j = 0; j < m->n; j++)
		if ((int)m->arm[j] == i)
			return;
	if (i >= 0 && x->arm[i].state == RACE_LIVE && m->n < m->most)
		m->arm[m->n++] = (uint32_t)i;
}

/* Live arms in the order of key, into the block as long as it has room. */
static void add_by(const struct race *x, struct members *m, const double *key)
{
	uint32_t *by = MEM_NEWN(uint32_t, (size_t)x->n + 1);
	for (uint32_t i = 0; i < x->n; i++)
		by[i] = i;
	order_by(by, key, x->n);
	for (uint32_t i = 0; i < x->n && key[by[i]] < INFINITY; i++)
		add_member(x, m, (int)by[i]);
	mem_free(by);
}

/* Which arms (n) are worth their first bursts: as many as can have RACE_LEAST of them in the time that is left, those that may be the
 * fastest.  The others are dropped: two bursts of each tell nothing of any. */
static void find_hopeful(const struct race *x, bool *hopeful)
{
	uint32_t *by = MEM_NEWN(uint32_t, (size_t)x->n + 1), few;
	double *key = MEM_NEWN(double, (size_t)x->n + 1);
	few = bursts_left(x, x->n * RACE_LEAST * x->o.block) / RACE_LEAST;
	few = few * (x->o.block > 3 ? x->o.block - 3 : 1) / x->o.block;
	few = few < LEAST_ARMS - 1 ? LEAST_ARMS - 1 : few;
	for (uint32_t i = 0; i < x->n; i++) {
		const struct race_arm *a = &x->arm[i];
		by[i] = i;
		key[i] = a->state == RACE_LIVE ? a->shrunk - a->shrunk_se : INFINITY;
		hopeful[i] = false;
	}
	order_by(by, key, x->n);
	for (uint32_t i = 0; i < x->n && i < few; i++)
		hopeful[by[i]] = true;
	mem_free(key);
	mem_free(by);
}

/* One that has run the least: what seems slow may have met a lost core in all its bursts. */
static void add_neglected(const struct race *x, const bool *hopeful, struct members *m)
{
	int least = -1;
	for (uint32_t i = 0; i < x->n; i++)
		if (x->arm[i].state == RACE_LIVE && hopeful[i] &&
		    (least < 0 || x->arm[i].n_clean < x->arm[least].n_clean))
			least = (int)i;
	add_member(x, m, least);
}

static void add_challengers(struct race *x, struct members *m)
{
	double *key = MEM_NEWN(double, (size_t)x->n + 1);
	bool *hopeful = MEM_NEWN(bool, (size_t)x->n + 1);
	find_hopeful(x, hopeful);
	for (uint32_t i = 0; i < x->n; i++)
		key[i] = x->arm[i].n_bursts < FIRST_BURSTS && hopeful[i] ? x->arm[i].n_bursts
									 : INFINITY;
	add_by(x, m, key);
	for (uint32_t i = 0; i < x->n; i++)
		key[i] = x->arm[i].start && !race_ripe(&x->arm[i]) && hopeful[i]
				 ? x->arm[i].n_bursts
				 : INFINITY;
	add_by(x, m, key);
	add_neglected(x, hopeful, m);
	mem_free(hopeful);
	for (uint32_t i = 0; i < x->n; i++)
		key[i] = x->arm[i].shrunk + x->arm[i].shrunk_se * normal(x);
	add_by(x, m, key);
	mem_free(key);
}

/* What has not run yet, beside the reference; false: all have. */
static bool add_new(const struct race *x, struct members *m)
{
	add_member(x, m, 0);
	for (uint32_t i = 1; i < x->n; i++)
		if (x->arm[i].n_bursts == 0)
			add_member(x, m, (int)i);
	return m->n > 1;
}

static void choose_members(struct race *x, bool final, struct members *m)
{
	int best = race_best(x, false), start = race_best(x, true);
	bool duel = final && best >= 0 && start >= 0 && best != start && race_ripe(&x->arm[best]);
	m->n = 0;
	if (x->o.explore && add_new(x, m))
		return;
	m->n = 0;
	add_member(x, m, best);
	add_member(x, m, start);
	if (x->n_blocks % 2 == 0)
		add_member(x, m, 0);
	if (!duel)
		add_challengers(x, m);
}

static int run_burst(struct race *x, uint32_t i, double *value, struct err *e)
{
	double s[RACE_MOST_BURST];
	uint32_t n = burst_runs(x, i);
	double begin_s = race_spent(x);
	int rc = x->source->burst(x->source->ctx, i, x->n_blocks, n, s, e);
	if (rc < 0)
		return -1;
	for (uint32_t j = 0; j < n && rc; j++)
		rc = s[j] > 0 && isfinite(s[j]);
	if (rc == 0) {
		x->arm[i].state = RACE_FAILED;
		return 0;
	}
	uint32_t first = n > 1; /* that counts */
	order_values(s + first, n - first);
	x->run_s[i] = quantile(s + first, n - first, 0.5);
	*value = log(x->run_s[i]);
	x->arm[i].first_s = x->arm[i].n_bursts ? x->arm[i].first_s : begin_s;
	x->arm[i].last_s = begin_s;
	x->arm[i].n_bursts++;
	x->arm[i].n_runs += n - first;
	return 1;
}

void race_seen(struct race *x, uint32_t i, uint32_t block, double log_s)
{
	struct race_arm *a = &x->arm[i];
	a->state = RACE_LIVE;
	a->n_bursts++;
	a->n_runs++;
	x->run_s[i] = exp(log_s);
	block_effects_add(&x->fx, i, block, log_s);
	x->n_blocks = x->n_seen = x->fx.n_blocks;
}

static int run_block(struct race *x, struct members *m, struct err *e)
{
	for (uint32_t i = m->n; i > 1; i--) {
		uint32_t j = (uint32_t)(uniform(x, ORDER_STREAM) * i), t = m->arm[i - 1];
		m->arm[i - 1] = m->arm[j];
		m->arm[j] = t;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		double y;
		if (i >= 2 && x->n_blocks > 0 && race_spent(x) >= x->o.budget_s)
			break;
		int rc = run_burst(x, m->arm[i], &y, e);
		if (rc < 0)
			return -1;
		if (rc)
			block_effects_add(&x->fx, m->arm[i], x->n_blocks, y);
	}
	/* A block whose arms all failed has no number. */
	x->n_blocks = x->fx.n_blocks;
	if (x->n_blocks - x->fitted > x->n_blocks / REFIT_SHARE)
		race_learn(x);
	return 0;
}

int race_blocks(struct race *x, double until_s, bool final, struct err *e)
{
	struct members m = {0, x->o.block, MEM_NEWN(uint32_t, x->o.block)};
	int rc = 0;
	if (x->n_blocks > x->fitted)
		race_learn(x);
	while (rc == 0 && (race_spent(x) < until_s || x->n_blocks == x->n_seen)) {
		admit(x);
		m.most = bursts_left(x, x->o.block);
		m.most = m.most < LEAST_ARMS ? LEAST_ARMS : m.most;
		choose_members(x, final, &m);
		rc = m.n == 0 || race_settled(x) ? 1 : run_block(x, &m, e);
	}
	mem_free(m.arm);
	return rc;
}
