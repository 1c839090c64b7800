/* learned_methods.c - the learned policy and the learned moves as placement methods, and the same
 * search without learning, which is the control of both. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "place/learned/move_search.h"
#include "place/learned/shot.h"
#include "place/method/method.h"

enum { DEFAULT_RUNS = 500 };
/* Of the budget, for list schedules: where moves follow, and where only simulations do. */
static const double MOVES_SHOT = 0.4, POLICY_SHOT = 0.8;
static const double HEAT = 0.004; /* mean share by which a move may be worse, at first */

struct learned_run {
	struct method_run *r;
	struct learned_params *own; /* read from a file; NULL: default ones */
	const struct learned_params *params;
	struct search_context s;
	struct cost_view view;
	uint16_t *best; /* (n_sets) */
	double best_value;
	uint64_t used;
	struct parse parse;
};

static int open_params(struct learned_run *x, struct err *e)
{
	if (x->r->arg) {
		bool none = strcmp(x->r->arg, "none") == 0;

		x->own = none ? learned_params_new(x->r->seed) : learned_params_read(x->r->arg, e);
		x->params = x->own;
		return x->own ? 0 : -1;
	}
	x->params = learned_params_default(e);
	return x->params ? 0 : -1;
}

static void learned_run_init(struct learned_run *x, struct method_run *r)
{
	*x = (struct learned_run){.r = r, .best_value = INFINITY};
	search_context_init(&x->s, r);
	cost_view_init(&x->view, r->m, r->a);
	x->best = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
}

static int answer(struct learned_run *x, int rc, struct err *e)
{
	if (rc == 0) {
		memcpy(x->r->device, x->best, x->r->m->n_sets * sizeof(*x->best));
		rc = x->r->emit(x->r, e);
	}
	search_context_release(&x->s);
	learned_params_free(x->own);
	return rc;
}

/* When a share of r's budget is over; 0: it has none. */
static double until_s(const struct method_run *r, double share)
{
	return r->budget_s > 0 ? method_deadline_s(r) - (1 - share) * r->budget_s : 0;
}

/* Where a search begins: the best of list schedules. */
static int run_shot(struct learned_run *x, struct shot *shot, uint64_t most, struct err *e)
{
	*shot = (struct shot){.view = &x->view,
			      .s = &x->s,
			      .params = x->params,
			      .variants = SHOT_VARIANTS,
			      .seed = x->r->seed,
			      .most = most,
			      .deadline_s = until_s(x->r, most ? MOVES_SHOT : POLICY_SHOT)};
	if (x->params && !method_is_late(shot->deadline_s)) {
		parse_run(&x->parse, &x->view, &x->s.u, x->params, x->r->a);
		shot->parse = &x->parse;
	}
	int rc = shot_run(shot, x->best, e);

	x->best_value = shot->value;
	x->used = shot->used;
	return rc;
}

/* Begins at r's start instead, which the caller has found; false: it is not legal. */
static bool begin_there(struct learned_run *x)
{
	struct evaluator *ev = evaluators_take(x->s.ev);
	const struct place_result *p = place_evaluate(ev, x->r->start);
	bool legal = p->status == PLACE_OK;

	if (legal) {
		x->best_value = p->value;
		x->used = 1;
		memcpy(x->best, x->r->start, x->r->m->n_sets * sizeof(*x->best));
		if (x->params)
			parse_run(&x->parse, &x->view, &x->s.u, x->params, x->r->a);
	}
	evaluators_put(x->s.ev, ev);
	return legal;
}

static void tell_left_out(struct method_run *r, const struct shot *shot)
{
	size_t n = strlen(r->note);

	if (shot->n_left_out)
		snprintf(r->note + n, sizeof(r->note) - n,
			 "; %u list schedules left out or cut short, the budget being spent",
			 shot->n_left_out);
}

static int run_learned_policy(struct method_run *r, struct err *e)
{
	struct learned_run x;
	struct shot shot = {.who = "nobody"};

	learned_run_init(&x, r);
	int rc = open_params(&x, e);

	if (rc == 0)
		rc = run_shot(&x, &shot, 0, e);
	snprintf(r->note, sizeof(r->note), "the best of %llu list schedules: %s, value %.6g",
		 (unsigned long long)x.used, shot.who, x.best_value);
	tell_left_out(r, &shot);
	return answer(&x, rc, e);
}

/* Runs of list schedules: one in twelve of all; without a limit all of them. */
static uint64_t runs_for_shot(uint64_t evals)
{
	return (evals + 11) / 12;
}

static void search_moves(struct learned_run *x, const struct limits *limits)
{
	struct move_search search;

	move_search_init(&search, &x->s, &x->view, x->params, MOVE_CANDIDATES,
			 random_stream_new(x->r->seed, RANDOM_MOVES, 0, 0));
	search.parse = x->params ? &x->parse : NULL;
	move_search_set(&search, x->best);
	search.p.used = x->used;
	double spent;

	while ((spent = limits_spent(limits, search.p.used)) < 1) {
		search.heat = HEAT * (1 - spent);
		if (!move_search_step(&search))
			break;
	}
	x->used = search.p.used;
	if (search.p.best_value < x->best_value) {
		x->best_value = search.p.best_value;
		memcpy(x->best, search.p.best, x->r->m->n_sets * sizeof(*x->best));
	}
	move_search_release(&search);
}

static int run_moves(struct method_run *r, bool learned, struct err *e)
{
	struct limits limits = limits_of(r, DEFAULT_RUNS);
	struct shot shot = {.who = "nobody"};
	struct learned_run x;

	learned_run_init(&x, r);
	int rc = learned ? open_params(&x, e) : 0;

	if (rc == 0 && r->start && begin_there(&x))
		shot.who = "the start";
	else if (rc == 0)
		rc = run_shot(&x, &shot, runs_for_shot(limits.evals), e);
	double start = x.best_value;

	if (rc == 0 && limits_spent(&limits, x.used) < 1)
		search_moves(&x, &limits);
	snprintf(r->note, sizeof(r->note), "%llu evaluations, value %.6g from %.6g of %s",
		 (unsigned long long)x.used, x.best_value, start, shot.who);
	tell_left_out(r, &shot);
	return answer(&x, rc, e);
}

static int run_learned_moves(struct method_run *r, struct err *e)
{
	return run_moves(r, true, e);
}

static int run_random_moves(struct method_run *r, struct err *e)
{
	return run_moves(r, false, e);
}

const struct place_method method_learned_policy = {
	.name = "learned-policy",
	.arg = "FILE",
	.needs_costs = true,
	.about = "the best of list schedules, some by a learned policy",
	.source = "imitation and self-labelling: Corsini et al., NeurIPS 2024",
	.run = run_learned_policy,
	.scope = SCOPE_SCHEDULES,
	.is_heuristic = true,
};

const struct place_method method_learned_moves = {
	.name = "learned-moves",
	.arg = "FILE",
	.needs_costs = true,
	.about = "list schedules, then moves that a network ranks (--evals)",
	.source = "-",
	.run = run_learned_moves,
	.scope = SCOPE_SCHEDULES,
};

const struct place_method method_random_moves = {
	.name = "random-moves",
	.needs_costs = true,
	.about = "the control of learned-moves: the same moves as they are drawn",
	.source = "-",
	.run = run_random_moves,
	.scope = SCOPE_SCHEDULES,
};
