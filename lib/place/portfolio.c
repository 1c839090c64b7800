/* portfolio.c - many methods in one: single devices, list heuristics and partitioners first, branch
 * and bound and dynamic programming where the problem is small or has the structure, then searches
 * from the best of all of them.  B. A. Huberman, R. M. Lukose, T. Hogg, "An economics approach to
 * hard computational problems", Science 275, 1997; C. P. Gomes, B. Selman, "Algorithm portfolios",
 * Artificial Intelligence 126, 2001.
 *
 * Single devices and HEFT run whatever the clock says, prices, the look-ahead rank and the learned policy have up to two fifths
 * of the time each, other heuristics a little of it.  Where blocks repeat, these have a tenth each, and the search for one block has a
 * tenth, or up to three fifths where there are too many blocks to simulate all of them often.
 * Where there is enough for many simulations of every unit, searches have fixed shares, the last
 * and most of it is annealing's, which needs to cool slowly.  Where there is not, they race: each
 * has a short turn from the best so far, then always the one that gained most by the second in its
 * last turn has another, twice as long.  What a search gains only falls with time; then the latest
 * gain is the one to go by (N. Levine, K. Crammer, S. Mannor, "Rotting bandits", NeurIPS 2017).
 *
 * The best legal placement is the answer, the best bound that any of them proved is its bound;
 * when they meet, the rest is not tried.  A method that fails does not take part. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "place/bound/bound.h"
#include "place/repeat/repeats.h"
#include "place/search/search_context.h"
#include "sched/turns.h"

static const double EQUAL = 1e-9; /* relative: a value this near its bound is optimal */
static const double NEAR =
	1.3; /* several devices are worth a search up to so many times one's value */
/* Time limit of an entry with share 0, as a share of the budget: ample budget, tight budget. */
static const double AMPLE_LIMIT = 0.1, TIGHT_LIMIT = 0.02;
static const double FIRST_LIMIT = 0.4; /* the same of the first ones, and of the learned policy */
/* Where blocks repeat, of their search in a large graph; the other first ones see all blocks, and have AMPLE_LIMIT in any case. */
static const double REPEATS_LIMIT = 0.6;

/* An entry is a step of the portfolio: it runs a method with a share of the budget (0: it takes
 * little, and ends by itself), as long as less than `until` of the budget is spent.  It is skipped
 * on problems that `where` or the method's scope (method.h) leaves out.  ALONE: only while the best is on one device and
 * another is near it, from the best that is on several, with devices that compute at once: where devices slow each other, or one is made of
 * the others, no single move leads there.  REPEATS: only where blocks that repeat were found. */
enum where { ANYWHERE, SMALL, SCHEDULES, TURNS, ALONE, LEARNED, REPEATS };
struct portfolio_entry {
	const struct place_method *method; /* NULL ends a list */
	double share, until;
	enum where where;
};

static const struct portfolio_entry first[] = {
	{&method_single, 0, INFINITY, ANYWHERE},  {&method_heft, 0, INFINITY, ANYWHERE},
	{&method_heft_apart, 0, INFINITY, TURNS}, {&method_repeats, 0, 1, REPEATS},
	{&method_priced, 0, 1, ANYWHERE},         {&method_lookahead_rank, 0, 1, ANYWHERE},
	{&method_spine, 0, 1, ANYWHERE},          {0},
};

static const struct portfolio_entry plain[] = {
	{&method_series, 0.02, 0.5, SCHEDULES},
	{&method_learned_policy, 0, 0.6, LEARNED},
	{&method_cluster, 0.05, 0.3, ANYWHERE},
	{&method_contention, 0, 0.3, ANYWHERE},
	{&method_peft, 0, 0.3, ANYWHERE},
	{&method_cpop, 0, 0.3, ANYWHERE},
	{&method_greedy_memory, 0, 0.3, ANYWHERE},
	{&method_m_topo, 0, 0.3, ANYWHERE},
	{&method_layers, 0, 0.3, ANYWHERE},
	{&method_m_etf, 0, 0.3, ANYWHERE},
	{&method_m_sct, 0, 0.2, ANYWHERE},
	{&method_lookahead, 0, 0.2, ANYWHERE},
	{&method_scotch, 0, 0.3, ANYWHERE},
	{&method_scotch_mincut, 0, 0.3, ANYWHERE},
	{&method_metis, 0, 0.3, ANYWHERE},
	{&method_mincut, 0, 0.2, ANYWHERE},
	{&method_dmda, 0, 0.3, ANYWHERE},
	{&method_accelerate_balanced, 0, 0.3, ANYWHERE},
	{&method_llama_fit, 0, 0.3, ANYWHERE},
	{&method_hetero_priority, 0, 0.3, ANYWHERE},
	{&method_ort_budget, 0, 0.3, ANYWHERE},
	{&method_restarts, 0.02, 0.3, ANYWHERE},
	{&method_exact, 0.1, 0.5, SMALL},
	{&method_ideals, 0.1, 0.5, ANYWHERE},
	{0},
};

/* With time for AMPLE_EVALS simulations of each unit. */
/* clang-format off */
static const struct portfolio_entry slow[] = {
	{&method_learned_moves, 0.4, 0.8, LEARNED},
	{&method_tabu, 0.04, 0.6, ANYWHERE},
	{&method_genetic, 0.04, 0.7, ANYWHERE},
	{&method_genetic, 0.15, 0.7, SCHEDULES},
	{&method_anneal, 0.5, 1, ALONE},
	{&method_anneal, 1, 1, ANYWHERE},
	{0},
};
/* clang-format on */

/* Without: searches race, and each begins with this share of what is left. */
static const struct portfolio_entry racer[] = {
	{&method_cross_entropy, 1.0 / 16, 1, ANYWHERE},
	{&method_learned_moves, 1.0 / 4, 1, LEARNED},
	{&method_repeats, 1.0 / 4, 1, REPEATS},
	{&method_tabu, 1.0 / 16, 1, ANYWHERE},
	{&method_anneal, 1.0 / 16, 1, ANYWHERE},
	{&method_anneal, 1.0 / 16, 1, ALONE},
};
enum { N_RACERS = sizeof(racer) / sizeof(racer[0]), SMALL_UNITS = 96 };

struct portfolio {
	struct method_run *r; /* whose device is the best */
	struct evaluator *ev;
	struct search_context context;
	struct limits limits;
	uint64_t evals, used; /* of all, when the budget is not by the clock */
	double best, bound;   /* best INFINITY: nothing legal yet */
	double rule_bound;    /* of the order rule alone; 0: no more is known */
	bool alone;           /* the best is on one device */
	double several;       /* the best of those on several; INFINITY: there is none */
	uint16_t *several_device;
	struct search_context apart; /* with devices that compute at once alone */
	uint32_t *order;             /* (n_order) the best's, where it brings one */
	uint32_t n_order;
	struct kept_order kept; /* one that is looked at */
	const char *who;
	int ran;
	bool plain;   /* without what was learned from other problems */
	bool repeats; /* blocks repeat (repeats.h) */
	bool ample;   /* is there time for AMPLE_EVALS simulations of each unit? */
	struct method_run sub;
	const char *now; /* the method whose run sub is */
};

static bool on_one_device(const struct place_model *m, const double *busy_s)
{
	uint32_t in_use = 0;

	for (uint32_t d = 0; d < m->k; d++)
		in_use += busy_s[d] > 0;
	return in_use <= 1;
}

static const struct place_result *result_in_order(struct portfolio *x, const struct method_run *sub)
{
	place_order_of(x->r->m, sub->order, sub->n_order, sub->device, &x->kept);
	return place_evaluate_in(x->ev, sub->device, &x->kept);
}

static int keep_if_better(struct method_run *sub, struct err *e)
{
	struct portfolio *x = (struct portfolio *)((char *)sub - offsetof(struct portfolio, sub));
	uint32_t moved;
	const struct place_result *p =
		sub->order ? result_in_order(x, sub)
			   : place_repaired(x->ev, &x->context.traffic, sub->device, &moved);

	(void)e;
	if (p->status != PLACE_OK)
		return 0;
	bool alone = on_one_device(x->r->m, p->busy_s);

	if (!alone && p->value < x->several) {
		x->several = p->value;
		memcpy(x->several_device, sub->device, x->r->m->n_sets * sizeof(*sub->device));
	}
	if (p->value < x->best) {
		x->alone = alone;
		x->best = p->value;
		x->who = x->now;
		x->n_order = sub->order ? sub->n_order : 0;
		if (x->n_order)
			memcpy(x->order, sub->order, x->n_order * sizeof(*x->order));
		memcpy(x->r->device, sub->device, x->r->m->n_sets * sizeof(*sub->device));
	}
	return 0;
}

static bool optimal(const struct portfolio *x)
{
	return x->best <= fmax(x->bound, x->rule_bound) * (1 + EQUAL);
}

static double spent(const struct portfolio *x)
{
	return limits_spent(&x->limits, x->used);
}

static bool out_of_place(const struct portfolio *x, const struct portfolio_entry *entry,
			 const struct place_method *method)
{
	const struct place_units *u = &x->context.u;
	bool schedules = u->m->rules == PLACE_SCHEDULE;

	if ((entry->where == SMALL && (u->n > SMALL_UNITS || u->m->n_cases)) ||
	    ((entry->where == SCHEDULES || entry->where == ALONE) && !schedules) ||
	    (entry->where == TURNS && !u->m->costs.turns) ||
	    (entry->where == LEARNED && x->plain) || (entry->where == REPEATS && !x->repeats))
		return true;
	switch (method->scope) {
	case SCOPE_SCHEDULES: return !schedules;
	case SCOPE_PERIODS:
		return u->m->rules != PLACE_DNNPART_THROUGHPUT && u->m->objective.throughput <= 0;
	case SCOPE_DNNPART_LATENCY: return u->m->rules != PLACE_DNNPART_LATENCY;
	default: return false;
	}
}

static bool has_start(const struct portfolio *x, const struct portfolio_entry *entry)
{
	return entry->where != ALONE || (x->alone && x->several < NEAR * x->best);
}

/* Learned moves keep one thread: where time counts, the others have nothing to do meanwhile. */
static double share_of(const struct portfolio *x, const struct portfolio_entry *entry)
{
	bool idle =
		entry->method == &method_learned_moves && x->r->budget_s > 0 && x->r->threads > 1;

	return idle ? entry->share / x->r->threads : entry->share;
}

static bool is_ample(struct portfolio *x)
{
	double left = 1 - spent(x), evals = left * (double)x->evals;

	if (left <= 0)
		return false;
	if (x->evals == 0)
		evals = left * x->r->budget_s / search_context_simulation_s(x->ev, x->r->device);
	return evals >= (double)AMPLE_EVALS * x->context.u.n;
}

/* Time limit of an entry with share 0, as a share of the budget. */
static double limit_of(struct portfolio *x, const struct portfolio_entry *entry)
{
	if (entry->where == REPEATS)
		return is_ample(x) ? AMPLE_LIMIT : REPEATS_LIMIT;
	if (entry->until >= 1 || entry->where == LEARNED)
		return x->repeats ? AMPLE_LIMIT : FIRST_LIMIT;
	return x->ample ? AMPLE_LIMIT : TIGHT_LIMIT;
}

/* Sub-runs have an arena of their own, which ends with them; the context is for all of them. */
static void run_entry(struct portfolio *x, const struct portfolio_entry *entry)
{
	const struct method_run *r = x->r;
	struct err none = ERR_INIT;
	const struct place_method *method = entry->method;
	double share = fmax(0, fmin(entry->share, 1 - spent(x)));

	if (out_of_place(x, entry, method) || !has_start(x, entry))
		return;
	x->now = method->name;
	x->ran++;
	x->sub = *r;
	x->sub.arg = method == &method_repeats && x->plain ? "plain" : NULL;
	x->sub.emit = keep_if_better;
	x->sub.a = arena_new();
	x->sub.device = ARENA_NEWN(x->sub.a, uint16_t, r->m->n_sets);
	x->sub.context = entry->where == ALONE ? &x->apart : &x->context;
	x->sub.start = entry->where == ALONE ? x->several_device
		       : x->best < INFINITY  ? r->device
					     : r->start;
	bool ordered = x->sub.start == r->device && x->n_order;
	x->sub.start_order = ordered ? x->order : NULL;
	x->sub.n_start_order = x->n_order;
	x->sub.bound_s = x->bound;
	x->sub.rule_bound_s = x->rule_bound;
	x->sub.evals = entry->share > 0 && x->evals ? 1 + (uint64_t)(share * (double)x->evals) : 0;
	x->used += x->sub.evals;
	if (!r->evals && method->evals == EVALS_OWN)
		x->sub.evals = 0;
	if (!r->evals && method->evals == EVALS_WHOLE && x->sub.evals)
		x->sub.evals =
			1 + (uint64_t)(share * (double)search_context_default_evals(r->m, true));
	x->sub.began_s = r->budget_s > 0 ? clock_s() : 0;
	x->sub.budget_s = r->budget_s > 0 ? share * r->budget_s : 0;
	if (r->budget_s > 0 && entry->share <= 0) {
		share = limit_of(x, entry);
		x->sub.budget_s = fmax(0.01, fmin(share, 1 - spent(x)) * r->budget_s);
	}
	if (method->run(&x->sub, &none) == 0 && !r->m->n_cases) {
		x->bound = fmax(x->bound, x->sub.bound_s);
		x->rule_bound = fmax(x->rule_bound, x->sub.rule_bound_s);
	}
	arena_free(x->sub.a);
}

/* Single devices and HEFT run whatever the clock says, and until something legal is there so do all
 * entries that end by themselves. */
static bool has_time(const struct portfolio *x, const struct portfolio_entry *entry)
{
	return spent(x) < entry->until || (x->best == INFINITY && entry->share <= 0);
}

static void run_entries(struct portfolio *x, const struct portfolio_entry *entry)
{
	for (; entry->method && !optimal(x); entry++) {
		struct portfolio_entry own = *entry;

		own.share = share_of(x, entry);
		if (has_time(x, entry))
			run_entry(x, &own);
	}
}

/* What a turn gained for each share of the budget that it took. */
static double gain_per_share(double before, double after, double share)
{
	if (!(after < before))
		return 0;
	return before == INFINITY || after <= 0 ? INFINITY
						: log(before / after) / fmax(share, 1e-9);
}

static void race_searches(struct portfolio *x)
{
	double last[N_RACERS], used[N_RACERS] = {0}, left = 1 - spent(x), over = 0;

	for (int i = 0; i < N_RACERS; i++)
		last[i] = INFINITY;
	/* over: of the budget, beyond the share of a turn, to set it up. */
	while (!optimal(x) && spent(x) + over < 1) {
		double before = x->best, before_several = x->several, at = spent(x);
		int i = 0;

		/* Of equal ones who had the least time; the first one can always start. */
		for (int j = 1; j < N_RACERS; j++)
			if (has_start(x, &racer[j]) &&
			    !out_of_place(x, &racer[j], racer[j].method) &&
			    (last[j] > last[i] || (last[j] == last[i] && used[j] < used[i])))
				i = j;
		struct portfolio_entry entry = racer[i];

		double least = share_of(x, &racer[i]) * left;

		entry.share = fmax(least, used[i]);
		if (1 - at - entry.share < least)
			entry.share = 1;
		run_entry(x, &entry);
		double took = spent(x) - at;

		over = fmin(1 - at, entry.share) < took ? took - fmin(1 - at, entry.share) : 0;
		used[i] += took;
		last[i] = entry.where == ALONE ? gain_per_share(before_several, x->several, took)
					       : gain_per_share(before, x->best, took);
	}
}

/* The best single device, where the budget left it out. */
static void keep_single(struct portfolio *x)
{
	if (x->context.single < 0 || !(x->context.single_value < x->best))
		return;
	x->best = x->context.single_value;
	x->alone = true;
	x->who = "single";
	x->n_order = 0;
	for (uint32_t i = 0; i < x->r->m->n_sets; i++)
		x->r->device[i] = (uint16_t)x->context.single;
}

/* The context whose units go to devices that compute at once, those that can. */
static void find_apart(struct portfolio *x, struct arena *a)
{
	const struct place_units *u = &x->context.u;
	uint32_t k = x->r->m->k, at = 0, *dev = ARENA_NEWN(a, uint32_t, k);
	bool *open = ARENA_NEWN(a, bool, k);

	for (uint32_t n = sched_apart(x->r->m->costs.turns, k, dev); n-- > 0;)
		open[dev[n]] = true;
	x->apart = x->context;
	x->apart.single = -1;
	x->apart.single_value = INFINITY;
	x->apart.u.dev_ptr = ARENA_NEWN(a, uint32_t, (size_t)u->n + 1);
	x->apart.u.dev = ARENA_NEWN(a, uint16_t, (size_t)u->n * k);
	x->apart.u.cost_s = ARENA_NEWN(a, double, (size_t)u->n *k);
	for (uint32_t i = 0; i < u->n; i++) {
		bool any = false;

		for (uint32_t j = u->dev_ptr[i]; j < u->dev_ptr[i + 1]; j++)
			any |= open[u->dev[j]];
		for (uint32_t d = 0; d < k; d++) {
			size_t cell = (size_t)i * k + d;

			x->apart.u.cost_s[cell] = any && !open[d] ? -1 : u->cost_s[cell];
			if (search_context_allowed(&x->context, i, (uint16_t)d) &&
			    (!any || open[d]))
				x->apart.u.dev[at++] = (uint16_t)d;
		}
		x->apart.u.dev_ptr[i + 1] = at;
	}
}

static int run_portfolio(struct method_run *r, struct err *e)
{
	struct portfolio x = {.r = r, .best = INFINITY, .several = INFINITY, .who = "nobody"};

	x.plain = r->arg != NULL;
	if (x.plain && strcmp(r->arg, "plain") != 0)
		return err_set(e, ST_USAGE,
			       "'portfolio:%s': it goes as 'portfolio' or 'portfolio:plain'",
			       r->arg);
	x.several_device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
	x.order = ARENA_NEWN(r->a, uint32_t, r->m->n_sets);
	x.kept = kept_order_new(r->m, r->a);
	x.limits = limits_of(r, search_context_default_evals(r->m, false));
	x.evals = x.limits.evals < UINT64_MAX ? x.limits.evals : 0;
	search_context_init(&x.context, r);
	find_apart(&x, r->a);
	x.repeats = repeats_are_there(r->m);
	x.ev = evaluators_take(x.context.ev);
	/* What bounds a sum over cases bounds no percentile of them. */
	x.bound = r->m->n_cases    ? 0
		  : r->bound_s > 0 ? r->bound_s
				   : place_lower_bound(&x.context.u, method_bound_until_s(r));
	run_entries(&x, first);
	keep_single(&x);
	x.ample = is_ample(&x);
	run_entries(&x, plain);
	if (x.ample)
		run_entries(&x, slow);
	else
		race_searches(&x);
	evaluators_put(x.context.ev, x.ev);
	search_context_release(&x.context);
	r->bound_s = x.bound;
	r->rule_bound_s = x.rule_bound;
	char rule[60] = "";
	if (x.rule_bound > x.bound * (1 + EQUAL))
		snprintf(rule, sizeof rule, " (%.6g for this order rule)", x.rule_bound);
	snprintf(r->note, sizeof(r->note), "%s found it, value %.6g, bound %.6g%s, %d methods ran",
		 x.who, x.best, x.bound, rule, x.ran);
	if (x.best == INFINITY)
		return err_set(e, ST_RUNTIME,
			       "portfolio: no legal placement was found; "
			       "more memory, links or budget may help");
	if (x.n_order) {
		r->order = x.order;
		r->n_order = x.n_order;
	}
	r->source = arena_printf(r->a, "portfolio:%s", x.who);
	return r->emit(r, e);
}

const struct place_method method_portfolio = {
	.name = "portfolio",
	.needs_costs = true,
	.arg = "plain",
	.about = "the best of all that fit the budget; plain: nothing learned",
	.source = "Huberman, Lukose, Hogg, Science 275, 1997",
	.run = run_portfolio,
};
