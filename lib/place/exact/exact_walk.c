/* exact_walk.c - depth first below a partial placement, cheapest bound first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "place/exact/exact_tree.h"

/* An earlier equivalent device that is empty, too, stands for this one.  Not where copies occupy
 * devices: of two that could begin at once the one to the lower destination does. */
static bool stands_in(const struct walker *w, uint16_t dev)
{
	const uint32_t *equivalent = w->x->u.equivalent;

	if (w->b.used[dev] || !w->x->swappable)
		return false;
	for (uint32_t d = equivalent[dev]; d < dev; d++)
		if (equivalent[d] == equivalent[dev] && w->b.used[d] == 0)
			return true;
	return false;
}

bool walker_is_worse(const struct walker *w, double bound)
{
	return !(bound < (w->best < INFINITY ? w->best - EXACT_EQUAL * fabs(w->best) : INFINITY));
}

/* The best order of w->device. */
static void order_leaf(struct walker *w, double bound)
{
	const struct place_model *m = w->x->u.m;
	bool all;
	double best = exact_orders_best(w->orders, w->device, w->best, &w->nodes, w->limit,
					w->x->deadline_s, w->order, &all);

	if (!all) {
		w->out = true;
		w->cut = fmin(w->cut, bound);
	}
	if (!(best < w->best))
		return;
	w->best = best;
	w->has_order = true;
	memcpy(w->best_dev, w->device, m->n_sets * sizeof(*w->device));
	memcpy(w->best_order, w->order, m->tasks.dag.n * sizeof(*w->order));
}

void walker_leaf(struct walker *w, double bound)
{
	const struct place_units *u = &w->x->u;

	w->leaf = fmin(w->leaf, bound);
	for (uint32_t i = 0; i < u->n; i++)
		place_unit_set(u, i, w->b.unit_dev[i], w->device);
	const struct place_result *p = place_evaluate(w->ev, w->device);

	bool has_orders = p->status == PLACE_OK || p->status == PLACE_MEMORY;

	if (p->status == PLACE_OK && p->value < w->best) {
		w->best = p->value;
		w->has_order = false;
		memcpy(w->best_dev, w->device, u->m->n_sets * sizeof(*w->device));
	}
	if (w->orders && has_orders)
		order_leaf(w, bound);
}

static int by_bound(const void *pa, const void *pb)
{
	const struct option *a = pa, *b = pb;

	if (a->bound != b->bound)
		return a->bound < b->bound ? -1 : 1;
	return (a->dev > b->dev) - (a->dev < b->dev);
}

/* Is there time for the better bound?  The other one is as true. */
static bool can_look_far(const struct walker *w)
{
	const struct tree *x = w->x;

	return x->deadline_s <= 0 || x->far_s <= 0 || clock_s() + x->far_s < x->deadline_s;
}

uint32_t walker_options(struct walker *w, uint32_t t)
{
	const struct place_units *u = &w->x->u;
	uint32_t i = w->x->v.unit_of[t], n = 0;
	struct option *o = w->option + (size_t)t * w->x->v.k;

	for (uint32_t j = u->dev_ptr[i]; j < u->dev_ptr[i + 1]; j++) {
		uint16_t dev = u->dev[j];

		if (stands_in(w, dev) ||
		    w->b.mem[dev] + u->mem_on[(size_t)i * w->x->v.k + dev] > w->x->v.limit[dev])
			continue;
		struct partial_undo was = partial_decide_unit(&w->b, i, dev);
		partial_decide_task(&w->b, t);
		o[n] = (struct option){dev, partial_bound_near(&w->b, t + 1)};
		if (!walker_is_worse(w, o[n].bound) && can_look_far(w))
			o[n].bound = fmax(o[n].bound, partial_bound_far(&w->b, t + 1));
		n += !walker_is_worse(w, o[n].bound);
		partial_undecide_unit(&w->b, i, &was);
	}
	if (n > 1)
		qsort(o, n, sizeof(*o), by_bound);
	return n;
}

double walker_pass(struct walker *w, uint32_t *v, double bound)
{
	uint32_t n = w->x->v.n, first = *v;

	for (; *v < n && w->b.unit_dev[w->x->v.unit_of[*v]] != UINT16_MAX; ++*v)
		partial_decide_task(&w->b, *v);
	return *v > first ? fmax(bound, partial_bound_near(&w->b, *v)) : bound;
}

static bool over_budget(struct walker *w)
{
	w->nodes++;
	if (w->nodes >= w->limit || (w->x->deadline_s > 0 && clock_s() > w->x->deadline_s))
		w->out = true;
	return w->out;
}

void walker_branch(struct walker *w, uint32_t v, double bound)
{
	bound = walker_pass(w, &v, bound);
	if (walker_is_worse(w, bound))
		return;
	if (over_budget(w)) {
		w->cut = fmin(w->cut, bound);
		return;
	}
	if (v == w->x->v.n) {
		walker_leaf(w, bound);
		return;
	}
	uint32_t i = w->x->v.unit_of[v], n = walker_options(w, v);
	const struct option *o = w->option + (size_t)v * w->x->v.k;

	for (uint32_t j = 0; j < n; j++) {
		double b = fmax(bound, o[j].bound);

		if (walker_is_worse(w, b))
			break;
		if (w->out) {
			w->cut = fmin(w->cut, b);
			break;
		}
		struct partial_undo was = partial_decide_unit(&w->b, i, o[j].dev);
		partial_decide_task(&w->b, v);
		walker_branch(w, v + 1, b);
		partial_undecide_unit(&w->b, i, &was);
	}
}
