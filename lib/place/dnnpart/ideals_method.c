/* ideals_method.c - the method `ideals`: the best pipeline of contiguous pieces.  First splits
 * of chains (linear extensions, the paper's DPL), then of the graph itself, under thresholds
 * that rise from the lower bound to the best split of a chain: the lower the threshold, the
 * fewer ideals count. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "place/bound/bound.h"
#include "place/dnnpart/ideals.h"
#include "place/method/method.h"

enum { CHAINS = 8, FIRST_SHARE = 64 };
/* Items of a chain: fewer when there are many ways to have used devices. */
enum { MANY_USED = 64, MANY_ITEMS = 1024, FEW_ITEMS = 256 };
static const uint64_t DEFAULT_STEPS = 20000000;
/* Of steps, or of the time that is left, for a threshold of a chain. */
static const double CHAIN_SHARE = 0.1;

struct ideals_run {
	struct method_run *r;
	struct place_units u;
	struct evaluator *ev;
	struct ideals_task task;
	uint64_t max_steps;
	double deadline_s; /* 0: none */
	uint16_t *device;  /* (n_sets) */
	double best;       /* value of r->device; INFINITY: nothing legal */
	double load_s;     /* the best split so far, as pieces are counted */
};

/* Keep what t found when it is legal and better. */
static void keep_if_better(struct ideals_run *x)
{
	const struct place_units *u = &x->u;

	for (uint32_t i = 0; i < u->n; i++)
		place_unit_set(u, i, x->task.device[x->task.p->of_unit[i]], x->device);
	const struct place_result *p = place_evaluate(x->ev, x->device);

	x->load_s = fmin(x->load_s, x->task.value_s);
	if (p->status != PLACE_OK || !(p->value < x->best))
		return;
	x->best = p->value;
	memcpy(x->r->device, x->device, u->m->n_sets * sizeof(*x->device));
}

/* Splits below a threshold, with a share of what may be spent. */
static enum ideals_status solve_below(struct ideals_run *x, const struct splits *p, double below_s,
				      double share)
{
	double now_s = clock_s();

	x->task.p = p;
	x->task.below_s = below_s;
	x->task.max_steps = x->max_steps == UINT64_MAX
				    ? UINT64_MAX
				    : (uint64_t)(share * (double)x->max_steps) + 1;
	x->task.deadline_s = x->deadline_s > 0 ? now_s + share * fmax(0, x->deadline_s - now_s) : 0;
	enum ideals_status s = ideals_solve(&x->task);

	if (s == IDEALS_FOUND)
		keep_if_better(x);
	return s;
}

/* Thresholds rise until there is a split: most pieces are too large for the first ones. */
static void split_chains(struct ideals_run *x, const struct splits *p, double least)
{
	static const double above[] = {1.01, 1.05, 1.2, 1.6, 3, INFINITY};
	uint32_t *order = ARENA_NEWN(x->r->a, uint32_t, p->n);

	for (uint32_t i = 0; i < CHAINS; i++) {
		struct splits chain;
		enum ideals_status s = IDEALS_NONE;

		splits_depth_first(p, i ? x->r->seed * CHAINS + i : 0, order);
		splits_chain(&chain, p, order,
			     ideals_n_used(p) > MANY_USED ? FEW_ITEMS : MANY_ITEMS, x->r->a);
		for (size_t j = 0; s == IDEALS_NONE && j < sizeof(above) / sizeof(above[0]); j++) {
			double below_s = least > 0 ? least * above[j] : INFINITY;

			s = solve_below(x, &chain, fmin(below_s, x->load_s), CHAIN_SHARE);
			if (below_s >= x->load_s)
				break;
		}
	}
}

/* The graph itself; whether the best contiguous split is known. */
static bool split_graph(struct ideals_run *x, const struct splits *p, double least)
{
	double low = fmin(least, x->load_s), high = x->load_s;
	enum ideals_status s = IDEALS_NONE;

	if (high == INFINITY)
		return solve_below(x, p, high, 1) != IDEALS_LIMIT;
	for (int share = FIRST_SHARE; share >= 1 && s == IDEALS_NONE; share /= 2)
		s = solve_below(x, p, share == 1 ? high : low + (high - low) / share, 1);
	return s != IDEALS_LIMIT;
}

static int run_ideals(struct method_run *r, struct err *e)
{
	struct ideals_run x = {.r = r, .best = INFINITY, .load_s = INFINITY};
	struct splits p;
	bool known;

	if (method_one_case(r, "ideals", e) < 0)
		return -1;
	if (r->m->rules == PLACE_DNNPART_LATENCY)
		return err_set(e, ST_USAGE, "ideals splits a pipeline, which latency is not about");
	place_units_init(&x.u, r->m, r->a);
	if (!splits_init(&p, &x.u, r->a) || ideals_n_used(&p) > IDEALS_MAX_USED)
		return method_single_instead(
			r, "devices of too many kinds to count how many of each are used", e);
	x.ev = evaluator_new(r->m);
	x.device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	x.task.device = ARENA_NEWN(r->a, uint16_t, x.u.n);
	x.max_steps = r->evals ? r->evals : r->budget_s > 0 ? UINT64_MAX : DEFAULT_STEPS;
	x.deadline_s = method_deadline_s(r);
	x.task.pool = pool_new(r->threads, NULL);
	int single = place_best_single(x.ev, &x.best);
	for (uint32_t i = 0; i < r->m->n_sets; i++)
		r->device[i] = single < 0 ? 0 : (uint16_t)single;
	double least = r->bound_s > 0 ? r->bound_s
				      : place_lower_bound(&x.u, method_bound_until_s(r)),
	       chains_s;
	split_chains(&x, &p, least);
	chains_s = x.load_s;
	known = split_graph(&x, &p, least);
	snprintf(r->note, sizeof(r->note), "%.6g s, of chains %.6g s, %llu ideals, %s%s", x.load_s,
		 chains_s, (unsigned long long)x.task.n_ideals,
		 known ? "the best contiguous split" : "perhaps not the best contiguous split",
		 p.fold ? ", folded" : "");
	pool_free(x.task.pool);
	evaluator_free(x.ev);
	if (x.best == INFINITY)
		return err_set(e, ST_RUNTIME,
			       "ideals: no legal split was found; what devices can "
			       "run, memory or links forbid all that were");
	return r->emit(r, e);
}

const struct place_method method_ideals = {
	.name = "ideals",
	.needs_costs = true,
	.about = "the best contiguous split for throughput, by dynamic programming",
	.source = "Tarnawski et al., NeurIPS 2020, sections 5.1.1 and 5.3",
	.run = run_ideals,
	.scope = SCOPE_PERIODS,
};
