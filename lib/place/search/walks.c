/* walks.c - rounds of independent walks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "place/search/walks.h"

enum { MOST_WALKS = 8 };
static const double LEAST_ROUND_SHARE = 1.0 / 6; /* of the budget by the clock */
static const double LAST_ROUND_MOST = 1.5;       /* rounds: when fewer are left they are one */
static const double HEAT_FROM_BEST = 0.1; /* of a walk from the best; 1: from a fresh start */
static const double LEAST_HEAT = 0.002;   /* of it, however few simulations there are */
static const double FIRST_PRICE = 0.3;    /* of memory beyond a limit */

struct one {
	const struct walks *w;
	const struct search_context *s;
	struct limits limits;
	struct random_stream rng;
	double heat;
	uint16_t *device; /* (n_sets) in: the start; out: the best */
	double best;      /* INFINITY: nothing legal was seen */
	uint64_t used;
};

struct rounds {
	const struct walks *w;
	struct method_run *r;
	struct search_context s;
	struct limits all;
	struct pool *pool;
	struct one *one;               /* (n) */
	uint32_t n, round, n_left_out; /* starts that the budget left out */
	double ample; /* simulations for a unit in one walk, of AMPLE_EVALS; at most 1 */
	double best;
	uint64_t used;
};

static void run_walk(void *arg, int task, int thread)
{
	struct one *x = (struct one *)arg + task;
	struct search_state p;

	(void)thread;
	search_state_init(&p, x->s, x->rng);
	p.price = FIRST_PRICE;
	search_state_set(&p, x->device);
	x->w->walk(&p, &x->limits, x->heat);
	x->best = p.best_value;
	x->used = p.used;
	if (x->best < INFINITY)
		memcpy(x->device, p.best, x->s->m->n_sets * sizeof(*p.best));
	search_state_release(&p);
}

static void begin_walk(struct rounds *x, struct one *one, uint32_t number, struct limits limits)
{
	bool again = x->best < INFINITY && !x->w->random_starts && (x->round % 2 || x->ample < 1);

	*one = (struct one){.w = x->w,
			    .s = &x->s,
			    .limits = limits,
			    .device = one->device,
			    .rng = random_stream_new(x->r->seed, x->w->purpose, 0, number)};
	one->heat = !again ? 1 : fmax(LEAST_HEAT, HEAT_FROM_BEST * x->ample);
	if (again)
		memcpy(one->device, x->r->device, x->s.m->n_sets * sizeof(*one->device));
	else
		search_context_start(&x->s, x->r->seed,
				     x->w->random_starts ? number * N_STARTS + START_RANDOM
							 : number,
				     one->device);
}

static void run_round(struct rounds *x, struct limits limits)
{
	for (uint32_t i = 0; i < x->n; i++)
		begin_walk(x, &x->one[i], x->round * x->n + i, limits);
	pool_run(x->pool, (int)x->n, run_walk, x->one);
	for (uint32_t i = 0; i < x->n; i++) {
		struct one *one = &x->one[i];

		x->used += one->used;
		if (one->best < x->best) {
			x->best = one->best;
			memcpy(x->r->device, one->device, x->s.m->n_sets * sizeof(*x->r->device));
		}
	}
	x->round++;
}

/* Is device, repaired where it is not legal, the best so far? */
static void keep_if_better(struct rounds *x, struct evaluator *ev, uint16_t *device)
{
	uint32_t moved;
	const struct place_result *p = place_repaired(ev, &x->s.traffic, device, &moved);

	if (p->status != PLACE_OK || !(p->value < x->best))
		return;
	x->best = p->value;
	memcpy(x->r->device, device, x->s.m->n_sets * sizeof(*device));
}

/* The best before there are walks: single devices, and what is given or else HEFT's. */
static void best_without_walks(struct rounds *x, struct evaluator *ev)
{
	struct method_run *r = x->r;
	uint16_t *device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);

	x->best = INFINITY;
	for (uint32_t i = START_FILL; i <= (r->start ? START_SINGLE : START_HEFT); i++) {
		/* What is left out when the budget is over; the best single device is known. */
		if (method_is_late(x->all.deadline_s) && x->s.single >= 0 && i != START_SINGLE &&
		    (i == START_FILL || x->best < INFINITY)) {
			x->n_left_out++;
			continue;
		}
		search_context_start(&x->s, r->seed, i, device);
		if (i == START_FILL || x->best == INFINITY)
			memcpy(r->device, device, r->m->n_sets * sizeof(*device));
		keep_if_better(x, ev, device);
	}
	if (r->start) {
		memcpy(device, r->start, r->m->n_sets * sizeof(*device));
		keep_if_better(x, ev, device);
	}
}

/* Simulations that one walk may make, if it has all the time there is. */
static double evals_of_walk(const struct rounds *x, struct evaluator *ev)
{
	double evals = (double)x->all.evals / x->n;

	if (x->r->budget_s <= 0)
		return evals;
	return fmin(evals, x->r->budget_s / search_context_simulation_s(ev, x->r->device));
}

struct walks_rounds walks_rounds(double evals, uint32_t n_units)
{
	double walks = evals / (AMPLE_EVALS * (n_units + 1.0));

	return (struct walks_rounds){fmin(1, walks),
				     walks > 1 ? fmax(LEAST_ROUND_SHARE, 1 / walks) : 1};
}

/* As many walks as can be ample, at least two, whatever the number of threads. */
static uint32_t walks_for(const struct rounds *x)
{
	double n = (double)x->all.evals / ((double)AMPLE_EVALS * (x->s.u.n + 1));

	return n < 2 ? 2 : n > MOST_WALKS ? MOST_WALKS : (uint32_t)n;
}

double walks_run(const struct walks *w, struct method_run *r)
{
	struct rounds x = {.w = w,
			   .r = r,
			   .pool = pool_new(r->threads, NULL),
			   .all = limits_of(r, search_context_default_evals(
						       r->m, w->method->evals == EVALS_WHOLE))};

	search_context_init(&x.s, r);
	struct evaluator *ev = evaluators_take(x.s.ev);
	x.n = r->budget_s > 0 ? (uint32_t)r->threads : w->n ? w->n : walks_for(&x);
	x.one = ARENA_NEWN(r->a, struct one, x.n);
	for (uint32_t i = 0; i < x.n; i++)
		x.one[i].device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	best_without_walks(&x, ev);
	bool late = limits_spent(&x.all, 0) >= 1;
	struct walks_rounds rounds = walks_rounds(late ? 0 : evals_of_walk(&x, ev), x.s.u.n);

	x.ample = rounds.ample;
	x.s.few = x.ample < 1;
	bool choice = x.s.u.n > 0 && r->m->k > 1;
	while (choice && limits_spent(&x.all, x.used) < (r->budget_s > 0 ? 0.99 : 1)) {
		struct limits now = {x.all.evals / x.n + (x.all.evals % x.n != 0), clock_s(),
				     x.all.deadline_s};
		double left = x.all.deadline_s - now.start_s;

		if (r->budget_s > 0 && left > LAST_ROUND_MOST * rounds.share * r->budget_s)
			now.deadline_s = now.start_s + rounds.share * r->budget_s;
		run_round(&x, now);
		if (r->budget_s <= 0)
			break;
	}
	pool_free(x.pool);
	if (x.best == INFINITY)
		keep_if_better(&x, ev, r->device);
	evaluators_put(x.s.ev, ev);
	search_context_release(&x.s);
	int at = snprintf(r->note, sizeof(r->note), "%llu evaluations, value %.6g",
			  (unsigned long long)x.used, x.best);

	if (x.n_left_out)
		snprintf(r->note + at, sizeof(r->note) - (size_t)at,
			 "; %u of the starts left out, the budget being spent", x.n_left_out);
	return x.best;
}
