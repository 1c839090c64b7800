/* rounds.c - rounds of bursts, and ratios within them. */
#include "timing/rounds.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "timing/burst.h"

/* After so many rounds, participants leave that are slower than the best of them by so much. */
enum { DROP_AFTER = 4 };
static const double DROP_RATIO = 1.1;

static bool takes_part(const struct participant *t)
{
	return !t->failed && !t->dropped;
}

/* What became of a run of t.  -1 only when the program is to end. */
static int heed(struct participant *t, enum run_status status, struct err *e)
{
	if (status != RUN_FAILED)
		return status == RUN_OK ? 0 : -1;
	memcpy(t->reason, e->msg, sizeof t->reason);
	err_clear(e);
	t->failed = true;
	return 0;
}

/* Seconds that a round takes, from the last warm-up run of each. */
static int warm_up(struct participant *t, uint32_t n, int64_t runs, double *round_s, struct err *e)
{
	*round_s = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct run_sample s = {0};
		for (int64_t r = 0; r < (runs > 1 ? runs : 1) && !t[i].failed; r++)
			if (heed(&t[i], runnable_run(&t[i].run, &s, e), e) < 0)
				return -1;
		*round_s += t[i].failed ? 0 : burst_makes(s.lat_s, BURST_RUNS) * s.lat_s;
	}
	return 0;
}

static uint32_t clamp(double x, uint32_t lo, uint32_t hi)
{
	return !(x > lo) ? lo : x < hi ? (uint32_t)x : hi;
}

static uint32_t how_many(const struct rounds_options *o, double round_s)
{
	if (round_s * o->enough > o->max_s)
		return clamp(o->max_s / round_s, o->least, o->enough);
	return clamp(o->quick_s / round_s, o->enough, o->most);
}

static void drop_slow(struct participant *t, uint32_t n)
{
	double best = INFINITY;
	for (uint32_t i = 0; i < n; i++)
		if (t[i].may_drop && takes_part(&t[i]))
			best = fmin(best, interval_median(t[i].m.sample_s, t[i].m.n).mid);
	for (uint32_t i = 0; i < n; i++)
		if (t[i].may_drop && takes_part(&t[i]))
			t[i].dropped =
				interval_median(t[i].m.sample_s, t[i].m.n).mid > DROP_RATIO * best;
}

static void samples_new(struct run_sample *s, struct arena *a, uint32_t k, uint32_t n_pulses)
{
	for (uint32_t i = 0; i < BURST_RUNS; i++)
		s[i] = (struct run_sample){INFINITY, ARENA_NEWN(a, double, k),
					   n_pulses ? ARENA_NEWN(a, double, (size_t)k *n_pulses)
						    : NULL};
}

/* The median run of a burst; busy times are those of the fastest of these. */
static void note_run(struct participant *t, const struct run_sample *s, uint32_t k,
		     uint32_t n_pulses, double *least_s)
{
	size_t cells = (size_t)k * n_pulses;
	if (t->m.pulse_s)
		memcpy(&t->m.pulse_s[t->m.n * cells], s->pulse_s, cells * sizeof *s->pulse_s);
	t->m.sample_s[t->m.n++] = s->lat_s;
	if (s->lat_s < *least_s)
		memcpy(t->m.busy_s, s->busy_s, k * sizeof *s->busy_s);
	*least_s = fmin(*least_s, s->lat_s);
}

/* The participants' order in round r. */
static void round_order(uint32_t *order, uint32_t n, uint32_t r, const struct rounds_options *o)
{
	struct rng_addr at = {.seed = o->seed, .step = r, .stream = RNG_SEARCH};
	for (uint32_t i = 0; i < n; i++)
		order[i] = r % 2 ? n - 1 - i : i;
	for (uint32_t i = n; o->shuffle && i-- > 1;) {
		uint32_t j = rng_below(&at, i, i + 1), t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
}

int measure_rounds(struct participant *t, uint32_t n, uint32_t k, const struct rounds_options *o,
		   struct arena *a, struct err *e)
{
	double round_s, *least_s = ARENA_NEWN(a, double, n);
	struct run_sample burst[BURST_RUNS];
	uint32_t *order = ARENA_NEWN(a, uint32_t, n);
	samples_new(burst, a, k, o->n_pulses);
	for (uint32_t i = 0; i < n; i++) {
		t[i].m.busy_s = ARENA_NEWN(a, double, k);
		least_s[i] = INFINITY;
	}
	if (warm_up(t, n, o->warmup, &round_s, e) < 0)
		return -1;
	uint32_t rounds = how_many(o, round_s);
	for (uint32_t i = 0; i < n; i++) {
		t[i].m.sample_s = ARENA_NEWN(a, double, rounds);
		if (o->n_pulses)
			t[i].m.pulse_s = ARENA_NEWN(a, double, (size_t)rounds *k * o->n_pulses);
	}
	for (uint32_t r = 0; r < rounds; r++) {
		round_order(order, n, r, o);
		for (uint32_t j = 0; j < n; j++) {
			struct participant *p = &t[order[j]];
			if (!takes_part(p))
				continue;
			uint32_t n_runs;
			enum run_status status =
				burst_run(&p->run, BURST_RUNS, false, burst, &n_runs, e);
			if (heed(p, status, e) < 0)
				return -1;
			if (!p->failed)
				note_run(p, &burst[burst_middle(burst, n_runs)], k, o->n_pulses,
					 &least_s[p - t]);
		}
		if (r + 1 == DROP_AFTER)
			drop_slow(t, n);
	}
	for (uint32_t i = 0; i < n; i++)
		if (!t[i].failed)
			t[i].m.lat = interval_clip(interval_median(t[i].m.sample_s, t[i].m.n));
	return 0;
}

struct interval rounds_ratio(const struct measurement *p, const struct measurement *ref)
{
	uint32_t n = p->n < ref->n ? p->n : ref->n;
	double *x = MEM_NEWN(double, n);
	for (uint32_t i = 0; i < n; i++)
		x[i] = log(p->sample_s[i] / ref->sample_s[i]);
	struct interval r = interval_median(x, n);
	mem_free(x);
	return interval_clip((struct interval){exp(r.mid), exp(r.lo), exp(r.hi)});
}
