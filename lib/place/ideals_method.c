/* ideals_method.c - the method `ideals`: the best pipeline of contiguous pieces.  First splits of chains
 * (linear extensions, the paper's DPL), then of the graph itself, under thresholds that rise from
 * the lower bound to the best split of a chain: the lower the threshold, the fewer ideals count. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "place/bound.h"
#include "place/ideals.h"
#include "place/method.h"

enum { CHAINS = 8, FIRST_SHARE = 64 };
static const uint64_t DEFAULT_STEPS = 20000000;

struct ideals_run {
	struct method_run *r;
	struct place_units u;
	struct evaluator *ev;
	struct ideals_task task;
	uint16_t *device;            /* (n_sets) */
	double best;                 /* value of r->device; INFINITY: nothing legal */
	double load_s;               /* the best split so far, as pieces are counted */
};

/* Keep what t found when it is legal and better. */
static void consider(struct ideals_run *x)
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

static enum ideals_status solve(struct ideals_run *x, const struct pieces *p, double below_s)
{
	x->task.p = p;
	x->task.below_s = below_s;
	enum ideals_status s = ideals_solve(&x->task);

	if (s == IDEALS_FOUND)
		consider(x);
	return s;
}

static void split_chains(struct ideals_run *x, const struct pieces *p)
{
	uint32_t *order = ARENA_NEWN(x->r->a, uint32_t, p->n);

	for (uint32_t i = 0; i < CHAINS; i++) {
		struct pieces chain;

		pieces_depth_first(p, i ? x->r->seed * CHAINS + i : 0, order);
		pieces_chain(&chain, p, order, x->r->a);
		solve(x, &chain, x->load_s);
	}
}

/* The graph itself; whether the best contiguous split is known. */
static bool split_graph(struct ideals_run *x, const struct pieces *p, double least)
{
	double low = fmin(least, x->load_s), high = x->load_s;
	enum ideals_status s = IDEALS_NONE;

	if (high == INFINITY)
		return solve(x, p, high) != IDEALS_LIMIT;
	for (int share = FIRST_SHARE; share >= 1 && s == IDEALS_NONE; share /= 2)
		s = solve(x, p, share == 1 ? high : low + (high - low) / share);
	return s != IDEALS_LIMIT;
}

int method_ideals(struct method_run *r, struct err *e)
{
	struct ideals_run x = {.r = r, .best = INFINITY, .load_s = INFINITY};
	struct pieces p;
	bool known;

	if (r->m->rules == PLACE_DNNPART_LATENCY)
		return err_set(e, ST_USAGE, "ideals splits a pipeline, which latency is not about");
	place_units_init(&x.u, r->m, r->a);
	if (!pieces_init(&p, &x.u, r->a) || ideals_n_used(&p) > IDEALS_MAX_USED)
		return err_set(e, ST_RUNTIME, "ideals: devices of too many kinds; %d ways to have used some of "
			       "them are the most", IDEALS_MAX_USED);
	x.ev = evaluator_new(r->m);
	x.device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	x.task.device = ARENA_NEWN(r->a, uint16_t, x.u.n);
	x.task.max_steps = r->evals ? r->evals : r->budget_s > 0 ? UINT64_MAX : DEFAULT_STEPS;
	x.task.deadline_s = r->budget_s > 0 ? clock_s() + r->budget_s : 0;
	x.task.pool = pool_new(r->threads, NULL);
	int single = place_best_single(x.ev, &x.best);
	for (uint32_t i = 0; i < r->m->n_sets; i++)
		r->device[i] = single < 0 ? 0 : (uint16_t)single;
	split_chains(&x, &p);
	double chains_s = x.load_s;
	known = split_graph(&x, &p, place_lower_bound(&x.u));
	snprintf(r->note, sizeof(r->note), "%.6g s, of chains %.6g s, %llu ideals, %s%s", x.load_s, chains_s,
		 (unsigned long long)x.task.n_ideals, known ? "the best contiguous split" :
		 "perhaps not the best contiguous split", p.folded ? ", folded" : "");
	pool_free(x.task.pool);
	evaluator_free(x.ev);
	return r->emit(r, e);
}
