/* anneal.c - simulated annealing: Kirkpatrick, Gelatt, Vecchi, "Optimization by simulated
 * annealing", Science 220 (1983).  Chains cool geometrically while their budget is spent; the price
 * of memory beyond a limit rises meanwhile. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "place/search/anneal.h"
#include "place/search/order_walk.h"
#include "place/search/walks.h"

enum { REPRICE = 512 };
static const double HEAT_FROM_ORDER = 0.3; /* of a walk from a placement whose order was searched */
/* Temperatures, of the start's energy; pieces of accelerators are worth more than single tasks. */
static const double HOT = 0.01, HOT_SPLITS = 0.05, COLD = 2e-5;
static const double CHEAP = 0.3, DEAR = 300; /* price of memory, first and last */

/* Metropolis. */
static void cool(struct search_state *p, const struct limits *limits, double heat)
{
	bool splits = p->s->m->rules == PLACE_DNNPART_LATENCY;
	double scale = p->energy, hot = fmax((splits ? HOT_SPLITS : HOT) * heat, COLD), spent;

	while ((spent = limits_spent(limits, p->used)) < 1) {
		double t = scale * hot * pow(COLD / hot, spent);

		if (p->used % REPRICE == 0) {
			p->price = CHEAP * pow(DEAR / CHEAP, fmin(1, 1.5 * spent));
			search_state_refresh(p);
		}
		double e = p->energy, value = p->value;
		if (!search_state_draw_move(p)) {
			p->used++;
			continue;
		}
		/* As good as accepting with probability exp((e - energy) / t), and known before. */
		double limit = e - t * log(1 - random_stream_uniform(&p->rng));
		if (search_state_evaluate(p, limit) > limit) {
			search_state_undo(p, e, value);
			continue;
		}
		search_state_keep(p);
		if (scale > 4 * p->energy || scale == INFINITY)
			scale = p->energy;
	}
}

void anneal_placement(struct method_run *r)
{
	static const struct walks chains = {
		.method = &method_anneal, .walk = cool, .purpose = RANDOM_CHAIN};

	walks_run(&chains, r);
}

/* Half of the budget for placements, in the order that is found for each, and half for both. */
static void anneal_orders(struct method_run *r)
{
	uint64_t evals = limits_of(r, search_context_default_evals(r->m, false)).evals;
	struct method_run half = *r;
	struct search_context s;
	char placed[sizeof(r->note)];

	half.evals = evals == UINT64_MAX ? 0 : evals / 2 + 1;
	half.budget_s = r->budget_s / 2;
	half.began_s = method_began_s(r);
	anneal_placement(&half);
	memcpy(placed, half.note, sizeof(placed));
	search_context_init(&s, r);
	struct limits limits = {evals == UINT64_MAX ? evals : evals / 2 + 1, clock_s(),
				r->budget_s > 0 ? half.began_s + r->budget_s : 0};
	uint64_t used = order_walk(r, &s, &limits, r->start_order ? HEAT_FROM_ORDER : 1);

	search_context_release(&s);
	snprintf(r->note, sizeof(r->note), "%.140s; %llu of orders", placed,
		 (unsigned long long)used);
}

static int run_anneal(struct method_run *r, struct err *e)
{
	if (order_walk_applies(r->m))
		anneal_orders(r);
	else
		anneal_placement(r);
	return r->emit(r, e);
}

const struct place_method method_anneal = {
	.name = "anneal",
	.needs_costs = true,
	.about = "simulated annealing, restarted",
	.source = "Kirkpatrick, Gelatt, Vecchi, Science 220, 1983",
	.run = run_anneal,
};
