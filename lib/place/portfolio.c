/* portfolio.c - many methods in one: single devices, list heuristics and partitioners first, branch
 * and bound and dynamic programming where the problem is small or has the structure, then searches
 * from the best of all of them.  B. A. Huberman, R. M. Lukose, T. Hogg, "An economics approach to
 * hard computational problems", Science 275, 1997; C. P. Gomes, B. Selman, "Algorithm portfolios",
 * Artificial Intelligence 126, 2001.
 *
 * The best legal placement is the answer, the best bound that any of them proved is its bound; when
 * they meet, the rest is not tried.  A method that fails does not take part. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "place/bound.h"
#include "place/space.h"

static const double EQUAL = 1e-9;          /* relative: a value this near its bound is optimal */
static const double MOST_OF_PLAIN = 0.1;   /* share of the budget of a stage that takes none */

/* Whose turn it is, with what share of the budget (0: it takes little, and ends by itself), while
 * less than `until` of it is spent. */
enum where { ANYWHERE, SMALL, PIPELINES, SCHEDULES, PIECES, LARGE };
static const struct stage {
	const char *method;
	double share, until;
	enum where where;
	bool whole;                  /* as in struct walks */
} stages[] = {
	{"single", 0, 1, ANYWHERE, false},
	{"spine", 0, 1, PIECES, false},
	{"heft", 0, 0.3, ANYWHERE, false},
	{"contention", 0, 0.3, SCHEDULES, false},
	{"peft", 0, 0.3, ANYWHERE, false},
	{"cpop", 0, 0.3, ANYWHERE, false},
	{"greedy-memory", 0, 0.3, ANYWHERE, false},
	{"m-topo", 0, 0.3, ANYWHERE, false},
	{"m-etf", 0, 0.3, ANYWHERE, false},
	{"m-sct", 0, 0.2, ANYWHERE, false},
	{"lookahead", 0, 0.2, ANYWHERE, false},
	{"scotch", 0, 0.3, ANYWHERE, false},
	{"scotch-mincut", 0, 0.3, ANYWHERE, false},
	{"metis", 0, 0.3, ANYWHERE, false},
	{"mincut", 0, 0.2, ANYWHERE, false},
	{"restarts", 0.02, 0.3, ANYWHERE, false},
	{"exact", 0.1, 0.5, SMALL, false},
	{"ideals", 0.1, 0.5, PIPELINES, false},
	{"tabu", 0.04, 0.6, ANYWHERE, false},
	{"genetic", 0.04, 0.7, ANYWHERE, true},
	{"genetic", 0.15, 0.7, SCHEDULES, true},
	{"cross-entropy", 0.2, 0.7, LARGE, true},
	{"tabu", 0.15, 0.8, LARGE, false},
	{"anneal", 1, 1, ANYWHERE, false},
};
enum { N_STAGES = sizeof(stages) / sizeof(stages[0]), SMALL_UNITS = 96, LARGE_UNITS = 1000 };

struct portfolio {
	struct method_run *r;        /* whose device is the best */
	struct evaluator *ev;
	struct place_units u;
	struct wires wires;
	struct limits limits;
	uint64_t evals, used;        /* of all, when the budget is not by the clock */
	double best, bound;          /* best INFINITY: nothing legal yet */
	const char *who;
	struct method_run sub;
	const char *now;             /* the method whose run sub is */
};

static int take(struct method_run *sub, struct err *e)
{
	struct portfolio *x = (struct portfolio *)((char *)sub - offsetof(struct portfolio, sub));
	uint32_t moved;
	const struct place_result *p = place_repaired(x->ev, &x->wires, sub->device, &moved);

	(void)e;
	if (p->status == PLACE_OK && p->value < x->best) {
		x->best = p->value;
		x->who = x->now;
		memcpy(x->r->device, sub->device, x->r->m->n_sets * sizeof(*sub->device));
	}
	return 0;
}

static bool optimal(const struct portfolio *x)
{
	return x->best <= x->bound * (1 + EQUAL);
}

static double spent(const struct portfolio *x)
{
	return limits_spent(&x->limits, x->used);
}

/* Sub-runs have an arena of their own, which ends with them. */
static void run_stage(struct portfolio *x, const struct stage *stage)
{
	const struct method_run *r = x->r;
	struct err none = ERR_INIT;
	const char *arg;
	const struct place_method *method = place_method_find(stage->method, &arg, &none);
	double share = fmin(stage->share, 1 - spent(x));

	if (!method)
		return;
	x->now = stage->method;
	x->sub = *r;
	x->sub.arg = NULL;
	x->sub.emit = take;
	x->sub.a = arena_new();
	x->sub.device = ARENA_NEWN(x->sub.a, uint16_t, r->m->n_sets);
	x->sub.start = x->best < INFINITY ? r->device : r->start;
	x->sub.bound_s = 0;
	x->sub.evals = stage->share > 0 && x->evals ? 1 + (uint64_t)(share * (double)x->evals) : 0;
	x->used += x->sub.evals;
	if (stage->whole && x->sub.evals && !r->evals)
		x->sub.evals = 1 + (uint64_t)(share * (double)space_default_evals(r->m, true));
	x->sub.budget_s = r->budget_s > 0 ? share * r->budget_s : 0;
	if (r->budget_s > 0 && stage->share <= 0)
		x->sub.budget_s = fmax(0.01, fmin(MOST_OF_PLAIN, 1 - spent(x)) * r->budget_s);
	if (method->run(&x->sub, &none) == 0)
		x->bound = fmax(x->bound, x->sub.bound_s);
	arena_free(x->sub.a);
}

static bool out_of_place(const struct stage *stage, const struct place_units *u)
{
	switch (stage->where) {
	case SMALL:
		return u->n > SMALL_UNITS;
	case PIPELINES:
		return u->m->rules != PLACE_DNNPART_THROUGHPUT && u->m->objective.throughput <= 0;
	case SCHEDULES:
		return u->m->rules != PLACE_SCHEDULE;
	case LARGE:
		return u->n < LARGE_UNITS;
	case PIECES:
		return u->m->rules != PLACE_DNNPART_LATENCY;
	default:
		return false;
	}
}

int method_portfolio(struct method_run *r, struct err *e)
{
	struct portfolio x = {.r = r, .ev = evaluator_new(r->m), .best = INFINITY, .who = "nobody"};
	int ran = 0;

	x.limits = limits_of(r, space_default_evals(r->m, false));
	x.evals = x.limits.evals < UINT64_MAX ? x.limits.evals : 0;
	place_units_init(&x.u, r->m, r->a);
	wires_init(&x.wires, &x.u, r->a);
	x.bound = place_lower_bound(&x.u);
	for (int i = 0; i < N_STAGES && !optimal(&x) && spent(&x) < 1; i++) {
		if (spent(&x) >= stages[i].until || out_of_place(&stages[i], &x.u))
			continue;
		run_stage(&x, &stages[i]);
		ran++;
	}
	evaluator_free(x.ev);
	r->bound_s = x.bound;
	snprintf(r->note, sizeof(r->note), "%s found it, value %.6g, bound %.6g, %d methods ran",
		 x.who, x.best, x.bound, ran);
	if (x.best == INFINITY)
		return err_set(e, ST_RUNTIME, "portfolio: no legal placement was found; "
			       "more memory, links or budget may help");
	r->source = arena_printf(r->a, "portfolio:%s", x.who);
	return r->emit(r, e);
}
