/* anneal.c - simulated annealing: Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated
 * annealing", Science 220 (1983).  Chains are independent, start from placements of different
 * kinds, or, in every other round, less hot, from the best so far; what they find does not depend on
 * how many threads run them.  The price of memory beyond a limit rises as they cool. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "place/point.h"

enum { CHAINS = 8, REPRICE = 512 };
static const double HOT = 0.05, COLD = 2e-5;       /* temperatures, of the start's energy */
static const double REHEAT = 0.1;                  /* of HOT */
static const double CHEAP = 0.3, DEAR = 300;       /* price of memory, first and last */
/* A round by the clock takes this share of the budget; less than TAIL is one round. */
static const double ROUND = 1.0 / 6, TAIL = 1.0 / 4;

struct chain {
	const struct space *s;
	struct limits limits;
	struct dice dice;
	double heat;                 /* of HOT, at the beginning */
	uint16_t *device;            /* (n_sets) in: the start; out: the best */
	double best;                 /* INFINITY: nothing legal was seen */
	uint64_t used;
};

/* Metropolis, cooling geometrically with the share of the budget that is spent. */
static void cool(struct chain *c, struct point *p)
{
	double scale = p->energy, hot = HOT * c->heat, spent;

	while ((spent = limits_spent(&c->limits, p->used)) < 1) {
		double t = scale * hot * pow(COLD / hot, spent);

		if (p->used % REPRICE == 0) {
			p->price = CHEAP * pow(DEAR / CHEAP, fmin(1, 1.5 * spent));
			point_again(p);
		}
		double e = p->energy, value = p->value;
		if (!point_draw(p)) {
			p->used++;
			continue;
		}
		/* as good as accepting with probability exp((e - energy) / t), and known before */
		double limit = e - t * log(1 - dice_uniform(&p->dice));
		double after = point_look(p, limit);
		if (after > limit) {
			point_undo(p, e, value);
			continue;
		}
		point_keep(p);
		if (scale > 4 * after || scale == INFINITY)
			scale = after;
	}
}

static void run_chain(void *arg, int task, int thread)
{
	struct chain *c = (struct chain *)arg + task;
	struct point p;

	(void)thread;
	point_init(&p, c->s, c->dice);
	p.price = CHEAP;
	point_set(&p, c->device);
	cool(c, &p);
	c->best = p.best_value;
	c->used = p.used;
	if (c->best < INFINITY)
		memcpy(c->device, p.best, c->s->m->n_sets * sizeof(*p.best));
	point_release(&p);
}

/* ---- rounds of chains ---- */

struct annealer {
	struct method_run *r;
	struct space s;
	struct pool *pool;
	struct chain *chain;         /* (n_chains) */
	uint32_t n_chains, round;
	double best;
	uint64_t used;
};

static void run_round(struct annealer *x, struct limits limits)
{
	size_t bytes = x->s.m->n_sets * sizeof(*x->r->device);

	for (uint32_t i = 0; i < x->n_chains; i++) {
		struct chain *c = &x->chain[i];
		uint32_t number = x->round * x->n_chains + i;
		bool again = x->round % 2 && x->best < INFINITY;

		c->s = &x->s;
		c->limits = limits;
		c->dice = dice_new(x->r->seed, DICE_CHAIN, 0, number);
		c->heat = again ? REHEAT : 1;
		if (again)
			memcpy(c->device, x->r->device, bytes);
		else
			space_start(&x->s, x->r->seed, number, c->device);
	}
	pool_run(x->pool, (int)x->n_chains, run_chain, x->chain);
	for (uint32_t i = 0; i < x->n_chains; i++) {
		struct chain *c = &x->chain[i];

		x->used += c->used;
		if (c->best < x->best || (x->best == INFINITY && i + x->round == 0)) {
			x->best = c->best;
			memcpy(x->r->device, c->device, bytes);
		}
	}
	x->round++;
}

void anneal(struct method_run *r)
{
	struct evaluator *ev = evaluator_new(r->m);
	struct annealer x = {.r = r, .pool = pool_new(r->threads, NULL), .best = INFINITY};
	struct limits all = limits_of(r, space_default_evals(r->m));

	space_init(&x.s, r->m, ev, r->a);
	evaluator_free(ev);
	x.n_chains = r->budget_s > 0 ? (uint32_t)r->threads : CHAINS;
	x.chain = ARENA_NEWN(r->a, struct chain, x.n_chains);
	for (uint32_t i = 0; i < x.n_chains; i++)
		x.chain[i].device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	do {
		struct limits now = {1 + all.evals / x.n_chains, clock_s(), all.deadline_s};
		double left = all.deadline_s - now.start_s;

		if (r->budget_s > 0 && left > TAIL * r->budget_s)
			now.deadline_s = now.start_s + ROUND * r->budget_s;
		run_round(&x, now);
	} while (r->budget_s > 0 && limits_spent(&all, x.used) < 0.99);
	pool_free(x.pool);
	snprintf(r->note, sizeof(r->note), "%llu evaluations, value %.6g",
		 (unsigned long long)x.used, x.best);
	if (x.s.single_value < x.best)
		for (uint32_t i = 0; i < r->m->n_sets; i++)
			r->device[i] = (uint16_t)x.s.single;
}

int method_anneal(struct method_run *r, struct err *e)
{
	anneal(r);
	return r->emit(r, e);
}
