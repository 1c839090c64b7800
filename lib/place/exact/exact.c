/* exact.c - branch and bound: Land and Doig, "An automatic method of solving discrete programming
 * problems", Econometrica 28(3), 1960.  Units are placed in topological order of their first tasks,
 * depth first, cheapest bound first; a branch ends where nothing below it can beat the best
 * placement known (exact_partial.h).  Of devices that cannot be told apart and are still empty only
 * the first is tried.
 *
 * The tree is cut into partial placements that threads share out, a batch at a time: what one batch
 * finds the next one has to beat, so that results do not depend on the number of threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/pool.h"
#include "place/bound/bound.h"
#include "place/exact/exact_free.h"
#include "place/exact/exact_tree.h"
#include "place/search/anneal.h"

enum { MAX_OPEN = 256, RELAXED_NODES = 4 };
static const double RELAXED_SHARE = 0.25; /* of the time, and of nodes one of so many */
static const double SLOW_S = 1e-3;        /* a bound that takes so long looks at the clock before */
static const uint64_t DEFAULT_NODES = 200000, DEFAULT_EVALS = 40000, SHORT_EVALS = 4000;

/* ---- partial placements ---- */

/* Units of a partial placement to their devices; returns what takes them back. */
static struct partial_undo *apply_open_node(struct walker *w, const struct open_node *o)
{
	uint32_t n = w->x->u.n;
	struct partial_undo *was = MEM_NEWN(struct partial_undo, n);

	for (uint32_t i = 0; i < n; i++)
		if (o->unit_dev[i] != UINT16_MAX)
			was[i] = partial_decide_unit(&w->b, i, o->unit_dev[i]);
	for (uint32_t t = 0; t < o->v; t++)
		partial_decide_task(&w->b, t);
	return was;
}

static void undo_open_node(struct walker *w, struct partial_undo *was)
{
	for (uint32_t i = w->x->u.n; i-- > 0;)
		if (w->b.unit_dev[i] != UINT16_MAX)
			partial_undecide_unit(&w->b, i, &was[i]);
	mem_free(was);
}

static void add_open_node(struct tree *x, const uint16_t *unit_dev, uint32_t v, double bound)
{
	struct open_node *o = &x->open[x->n_open++];

	o->unit_dev = ARENA_NEWN(x->r->a, uint16_t, x->u.n);
	memcpy(o->unit_dev, unit_dev, x->u.n * sizeof(*unit_dev));
	o->v = v;
	o->bound = bound;
}

/* The partial placements one unit further than this. */
static void branch_open_node(struct tree *x, const struct open_node *o)
{
	struct walker *w = &x->walker[0];
	struct partial_undo *was = apply_open_node(w, o);
	uint32_t v = o->v;
	double bound = walker_pass(w, &v, o->bound);

	x->nodes++;
	if (v == x->v.n) {
		if (!walker_is_worse(w, bound))
			walker_leaf(w, bound);
	} else {
		uint32_t i = x->v.unit_of[v], n = walker_options(w, v);
		const struct option *row = w->option + (size_t)v * x->v.k;

		for (uint32_t j = 0; j < n; j++) {
			w->b.unit_dev[i] = row[j].dev;
			add_open_node(x, w->b.unit_dev, v, fmax(bound, row[j].bound));
			w->b.unit_dev[i] = UINT16_MAX;
		}
	}
	undo_open_node(w, was);
}

static int by_open_bound(const void *pa, const void *pb)
{
	const struct open_node *a = pa, *b = pb;

	if (a->bound != b->bound)
		return a->bound < b->bound ? -1 : 1;
	return (a->v < b->v) - (a->v > b->v);
}

/* Breadth first until there are enough partial placements to share out; most promising first. */
static void cut_tree(struct tree *x)
{
	uint32_t at = 0;
	struct walker *w = &x->walker[0];
	uint16_t *none = ARENA_NEWN(x->r->a, uint16_t, x->u.n);

	memset(none, 0xff, x->u.n * sizeof(*none));
	x->open = ARENA_NEWN(x->r->a, struct open_node, (size_t)MAX_OPEN * (x->v.k + 2) + 2);
	add_open_node(x, none, 0, x->least);
	w->best = x->best;
	w->best_dev = x->r->device;
	w->cut = w->leaf = INFINITY;
	w->best_order = x->order;
	w->has_order = x->has_order;
	w->limit = x->limit;
	while (at < x->n_open && x->n_open - at < MAX_OPEN && at < MAX_OPEN &&
	       x->nodes < x->limit && !(x->deadline_s > 0 && clock_s() > x->deadline_s)) {
		struct open_node o = x->open[at++];

		if (!walker_is_worse(w, o.bound))
			branch_open_node(x, &o);
	}
	x->best = w->best;
	x->leaf = w->leaf;
	x->cut = fmin(x->cut, w->cut);
	x->out |= w->out;
	x->has_order = w->has_order;
	x->n_open -= at;
	memmove(x->open, x->open + at, x->n_open * sizeof(*x->open));
	if (x->n_open > 1)
		qsort(x->open, x->n_open, sizeof(*x->open), by_open_bound);
}

static void search_below(void *arg, int task, int thread)
{
	struct tree *x = arg;
	struct walker *w = &x->walker[thread];
	const struct open_node *o = &x->open[x->first + (uint32_t)task];
	struct exact_found *f = &x->found[task];

	w->best = x->best;
	w->best_dev = f->device;
	w->best_order = f->order;
	w->has_order = false;
	w->cut = w->leaf = INFINITY;
	w->nodes = 0;
	w->limit = f->nodes;
	w->out = false;
	if (x->deadline_s > 0 && clock_s() > x->deadline_s && !walker_is_worse(w, o->bound)) {
		w->out = true;
		w->cut = o->bound;
	} else if (!walker_is_worse(w, o->bound)) {
		struct partial_undo *was = apply_open_node(w, o);

		walker_branch(w, o->v, o->bound);
		undo_open_node(w, was);
	}
	*f = (struct exact_found){w->best,  w->cut,   w->leaf, f->device,
				  f->order, w->nodes, w->out,  w->has_order};
}

/* Batch after batch; simulations that are left are shared by the partial placements that are
 * left. */
static void search_all(struct tree *x, struct pool *pool)
{
	const struct place_model *m = x->r->m;

	for (uint32_t i = 0; i < EXACT_BATCH; i++) {
		x->found[i].device = ARENA_NEWN(x->r->a, uint16_t, m->n_sets);
		x->found[i].order = ARENA_NEWN(x->r->a, uint32_t, m->tasks.dag.n);
	}
	for (x->first = 0; x->first < x->n_open; x->first += EXACT_BATCH) {
		uint32_t left = x->n_open - x->first, n = left < EXACT_BATCH ? left : EXACT_BATCH;
		uint64_t each =
			x->limit == UINT64_MAX
				? UINT64_MAX
				: 1 + (x->nodes < x->limit ? x->limit - x->nodes : 0) / left;

		for (uint32_t i = 0; i < n; i++)
			x->found[i].nodes = each;
		pool_run(pool, (int)n, search_below, x);
		for (uint32_t i = 0; i < n; i++) {
			const struct exact_found *f = &x->found[i];

			x->nodes += f->nodes;
			x->cut = fmin(x->cut, f->cut);
			x->leaf = fmin(x->leaf, f->leaf);
			x->out |= f->out;
			if (f->best < x->best) {
				x->best = f->best;
				memcpy(x->r->device, f->device, m->n_sets * sizeof(*f->device));
				x->has_order = f->has_order;
				if (f->has_order)
					memcpy(x->order, f->order,
					       m->tasks.dag.n * sizeof(*f->order));
			}
		}
	}
}

/* ---- the method ---- */

/* Is nothing left to prove? */
static bool at_bound(const struct tree *x)
{
	return x->best <= x->least + EXACT_EQUAL * fabs(x->least);
}

/* What a short search finds, within so much, is what the tree has to beat. */
static void search_first(struct tree *x, struct evaluator *ev, uint64_t evals, double budget_s)
{
	struct method_run r = *x->r;
	uint16_t *device = mem_copy(x->r->device, r.m->n_sets, sizeof(*device));

	r.evals = evals;
	r.budget_s = budget_s;
	r.began_s = budget_s > 0 ? clock_s() : 0;
	r.device = device;
	anneal_placement(&r);
	const struct place_result *p = place_evaluate(ev, device);
	if (p->status == PLACE_OK && p->value < x->best) {
		x->best = p->value;
		x->has_order = false;
		memcpy(x->r->device, device, r.m->n_sets * sizeof(*device));
	}
	mem_free(device);
}

/* In the order that it brings, which is kept then. */
static const struct place_result *evaluate_start(struct tree *x, struct evaluator *ev)
{
	const struct method_run *r = x->r;
	struct kept_order kept;

	if (!x->order || !r->start_order)
		return place_evaluate(ev, r->start);
	kept = kept_order_new(r->m, r->a);
	place_order_of(r->m, r->start_order, r->n_start_order, r->start, &kept);
	const struct place_result *p = place_evaluate_in(ev, r->start, &kept);

	if (p->status == PLACE_OK) {
		place_ran_in(ev, x->order);
		x->has_order = true;
	}
	return p;
}

static void first_answer(struct tree *x, struct evaluator *ev)
{
	const struct method_run *r = x->r;
	uint64_t evals = r->evals ? r->evals / 4 + 1 : DEFAULT_EVALS;

	if (r->start) {
		const struct place_result *p = evaluate_start(x, ev);

		memcpy(x->r->device, r->start, r->m->n_sets * sizeof(*r->start));
		if (p->status == PLACE_OK)
			x->best = p->value;
	} else {
		search_first(x, ev, r->budget_s > 0 && evals > SHORT_EVALS ? SHORT_EVALS : evals,
			     r->budget_s / 8);
		if (r->budget_s > 0 && !at_bound(x) && !exact_free_fits(&x->u) &&
		    clock_s() < x->deadline_s - r->budget_s / 2)
			search_first(x, ev, 0, r->budget_s / 8);
	}
}

static void tree_init(struct tree *x, struct method_run *r)
{
	double *with_s;

	*x = (struct tree){.r = r, .best = INFINITY, .cut = INFINITY, .leaf = INFINITY};
	x->limit = r->evals ? r->evals : r->budget_s > 0 ? UINT64_MAX : DEFAULT_NODES;
	x->deadline_s = method_deadline_s(r);
	place_units_init(&x->u, r->m, r->a);
	bound_view_init(&x->v, &x->u, r->a);
	x->v.deadline_s = method_bound_until_s(r);
	x->swappable = r->m->rules != PLACE_SCHEDULE || r->m->costs.overlap;
	if (r->share)
		memcpy(x->v.share, r->share, x->v.k * sizeof(*x->v.share));
	else
		bound_load_s(&x->v);
	x->least = r->bound_s > 0 ? r->bound_s : place_lower_bound(&x->u, method_bound_until_s(r));
	x->rest_s = ARENA_NEWN(r->a, double, (size_t)x->v.n * x->v.k);
	with_s = ARENA_NEWN(r->a, double, (size_t)x->v.n * x->v.k);
	if (r->m->rules == PLACE_SCHEDULE) {
		double start_s = clock_s();

		/* As much as partial_bound_far does of everything. */
		bound_path_backwards(&x->v, x->rest_s, with_s);
		x->far_s = clock_s() - start_s;
		x->far_s = x->far_s > SLOW_S ? x->far_s : 0;
	}
	if (r->m->rules == PLACE_SCHEDULE && r->m->costs.policy == SCHED_FREE)
		x->order = ARENA_NEWN(r->a, uint32_t, r->m->tasks.dag.n);
	x->walker = ARENA_NEWN(r->a, struct walker, (size_t)r->threads);
	for (int i = 0; i < r->threads; i++) {
		struct walker *w = &x->walker[i];

		w->x = x;
		partial_init(&w->b, &x->v, x->rest_s, r->a);
		w->ev = evaluator_new(r->m);
		w->option = ARENA_NEWN(r->a, struct option, (size_t)x->v.n * x->v.k);
		w->device = ARENA_NEWN(r->a, uint16_t, r->m->n_sets);
		w->order = ARENA_NEWN(r->a, uint32_t, r->m->tasks.dag.n);
		if (x->order)
			w->orders = exact_orders_new(r->m, w->ev);
	}
}

/* Devices and orders at once. */
static void search_free_until(struct tree *x, double until_s)
{
	const struct place_model *m = x->r->m;
	uint32_t n = m->tasks.dag.n;
	uint16_t *dev = ARENA_NEWN(x->r->a, uint16_t, n);
	uint32_t *sequence = ARENA_NEWN(x->r->a, uint32_t, n);
	struct free_found f;

	exact_free_search(&x->v, x->best, x->least, x->limit, until_s, dev, sequence, &f);
	x->nodes += f.nodes;
	x->best = f.best_s;
	x->cut = x->least = fmax(x->least, f.least_s);
	x->out = f.least_s < f.best_s * (1 - EXACT_EQUAL);
	x->has_order |= f.better;
	for (uint32_t i = 0; f.better && i < n; i++) {
		place_unit_set(&x->u, x->v.unit_of[i], dev[i], x->r->device);
		x->order[i] = m->tasks.task_set[sequence[i]];
	}
}

/* With time: a little, then what a longer search finds has to be beaten. */
static void search_free(struct tree *x, struct evaluator *ev)
{
	const struct method_run *r = x->r;
	double now = clock_s();

	if (r->budget_s > 0)
		search_free_until(x, now + (x->deadline_s - now) / 8);
	if (r->budget_s > 0 && !at_bound(x))
		search_first(x, ev, 0, r->budget_s / 8);
	if (!at_bound(x))
		search_free_until(x, x->deadline_s);
}

/* The shortest schedule whose copies do not wait for each other, and which leaves out what else makes it
 * longer: a bound in every order.  Its placement may be good. */
static void raise_least(struct tree *x, struct evaluator *ev)
{
	const struct method_run *r = x->r;
	uint32_t n = r->m->tasks.dag.n;
	uint16_t *dev = ARENA_NEWN(r->a, uint16_t, n);
	uint32_t *sequence = ARENA_NEWN(r->a, uint32_t, n);
	double now = clock_s(), until = x->deadline_s;
	struct free_found f;

	if (until > 0)
		until = now + fmax(0, until - now) * RELAXED_SHARE;
	exact_free_search(&x->v, x->best, x->least,
			  r->evals || until <= 0 ? x->limit / RELAXED_NODES + 1 : UINT64_MAX, until,
			  dev, sequence, &f);
	x->nodes += f.nodes;
	x->least = fmax(x->least, fmin(x->best, f.least_s * (1 - EXACT_EQUAL)));
	if (!f.better)
		return;
	struct walker *w = &x->walker[0];

	for (uint32_t i = 0; i < n; i++)
		place_unit_set(&x->u, x->v.unit_of[i], dev[i], w->device);
	const struct place_result *p = place_evaluate(ev, w->device);

	if (p->status != PLACE_OK || p->value >= x->best)
		return;
	x->best = p->value;
	x->has_order = false;
	memcpy(r->device, w->device, r->m->n_sets * sizeof(*w->device));
}

/* A placement that was simulated may be better in another order, but not better than its bound.
 * Is what was proved of the order rule alone? */
static bool tell_bounds(const struct tree *x)
{
	struct method_run *r = x->r;
	double rule = fmin(x->best, fmax(x->least, x->cut));

	r->bound_s = rule;
	r->rule_bound_s = 0;
	if (!place_has_order_rule(r->m))
		return false;
	r->bound_s = fmin(x->best, fmax(x->least, fmin(x->cut, x->leaf)));
	if (rule <= r->bound_s * (1 + EXACT_EQUAL))
		return false;
	r->rule_bound_s = rule;
	return true;
}

static int run_exact(struct method_run *r, struct err *e)
{
	struct tree x;
	int rc = 0;

	if (method_one_case(r, "exact", e) < 0)
		return -1;
	struct pool *pool = pool_new(r->threads, NULL);

	tree_init(&x, r);
	first_answer(&x, x.walker[0].ev);
	if (!at_bound(&x) && exact_free_fits(&x.u))
		search_free(&x, x.walker[0].ev);
	else if (!at_bound(&x) && exact_free_relaxes(r->m))
		raise_least(&x, x.walker[0].ev);
	if (!at_bound(&x) && !exact_free_fits(&x.u)) {
		cut_tree(&x);
		search_all(&x, pool);
	}
	if (x.has_order) {
		r->order = x.order;
		r->n_order = r->m->tasks.dag.n;
	}
	bool by_rule = tell_bounds(&x);
	if (x.best == INFINITY)
		rc = err_set(e, ST_RUNTIME,
			     x.out ? "exact: no legal placement was found; more --evals or "
				     "--budget may find one"
				   : "exact: there is no legal placement");
	snprintf(r->note, sizeof(r->note), "%llu nodes, %.9g, %s%s", (unsigned long long)x.nodes,
		 x.best, x.out ? "not proved" : "proved", by_rule ? " for this order rule" : "");
	for (int i = 0; i < r->threads; i++) {
		partial_release(&x.walker[i].b);
		exact_orders_free(x.walker[i].orders);
		evaluator_free(x.walker[i].ev);
	}
	pool_free(pool);
	return rc < 0 ? -1 : r->emit(r, e);
}

const struct place_method method_exact = {
	.name = "exact",
	.needs_costs = true,
	.about = "branch and bound; tells what is proved when the budget ends",
	.source = "Land, Doig, Econometrica 28(3), 1960",
	.run = run_exact,
};
