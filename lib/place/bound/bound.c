/* bound.c - the table of lower bounds, and the best of them for an objective. */
#include <math.h>
#include <string.h>

#include "place/bound/bound.h"
#include "place/bound/bounds.h"
#include "place/bound/reach.h"

/* ---- what bounds share ---- */

static void find_costs(struct bound_view *v)
{
	const struct place_model *m = v->m;
	bool saves = m->rules == PLACE_SCHEDULE && m->saved_ptr;

	for (uint32_t t = 0; t < v->n; t++)
		for (uint32_t d = 0; d < v->k; d++) {
			double s = m->costs.task_s[(size_t)t * v->k + d], most = s;
			uint32_t unit = v->unit_of[t];
			bool may = v->u->cost_s[(size_t)unit * v->k + d] >= 0 &&
				   v->u->mem_on[(size_t)unit * v->k + d] <= v->limit[d];

			for (uint32_t j = saves ? m->saved_ptr[t] : 0;
			     may && saves && j < m->saved_ptr[t + 1]; j++) {
				double saved = m->saved_s[(size_t)j * v->k + d];

				s = fmax(0, s - fmax(0, saved));
				most += fmax(0, -saved);
			}
			v->task_s[(size_t)t * v->k + d] = may ? s : INFINITY;
			v->unit_s[(size_t)unit * v->k + d] += may ? s : INFINITY;
			v->unit_most_s[(size_t)unit * v->k + d] += may ? most : INFINITY;
		}
}

void bound_view_init(struct bound_view *v, const struct place_units *u, struct arena *a)
{
	const struct place_model *m = u->m;

	*v = (struct bound_view){
		.u = u, .m = m, .d = &m->tasks.dag, .n = m->tasks.dag.n, .k = m->k};
	v->unit_of = ARENA_NEWN(a, uint32_t, v->n);
	v->task_s = ARENA_NEWN(a, double, (size_t)v->n * v->k);
	v->unit_s = ARENA_NEWN(a, double, (size_t)u->n * v->k);
	v->unit_most_s = ARENA_NEWN(a, double, (size_t)u->n * v->k);
	v->limit = ARENA_NEWN(a, uint64_t, v->k);
	v->share = ARENA_NEWN(a, double, v->k);
	for (uint32_t t = 0; t < v->n; t++)
		v->unit_of[t] = u->of_set[m->tasks.task_set[t]];
	for (uint32_t d = 0; d < v->k; d++)
		v->limit[d] = m->mem_limit[d] ? m->mem_limit[d] : UINT64_MAX;
	find_costs(v);
}

/* ---- the table ---- */

#define ADDRESS(name) &bound_##name,
const struct lower_bound *const lower_bounds[] = {LOWER_BOUNDS(ADDRESS) NULL};

static void raise_to(struct bound_value *b, double value, const char *kind)
{
	if (!b->kind || value > b->value)
		*b = (struct bound_value){value, kind};
}

/* All bounds that hold for the rules; how many of them the deadline left out. */
static uint32_t compute_bounds(struct bound_problem *x)
{
	const struct place_model *m = x->v.m;
	double end_s = x->v.deadline_s;
	uint32_t left_out = 0;

	for (size_t i = 0; lower_bounds[i]; i++) {
		const struct lower_bound *b = lower_bounds[i];

		if (!(b->rules & 1U << m->rules))
			continue;
		if (bound_is_late(end_s)) {
			left_out++;
			continue;
		}
		/* The others are to have a part of it. */
		if (end_s > 0)
			x->v.deadline_s = clock_s() + (end_s - clock_s()) / 3;
		double value = b->value(x);

		raise_to(&x->best[b->metric], value, b->kind);
		if (b->metric == METRIC_PERIOD && m->rules == PLACE_SCHEDULE)
			raise_to(&x->best[METRIC_LATENCY], value, b->kind);
	}
	return left_out;
}

/* Of a schedule's objective: the latency's bound, or the weighted sum over metrics. */
static struct bound_value sum_metrics(const struct bound_problem *x)
{
	const struct place_objective *o = &x->v.m->objective;
	const double weight[N_METRICS] = {[METRIC_PERIOD] = o->throughput,
					  [METRIC_LATENCY] = o->latency,
					  [METRIC_ENERGY] = o->energy,
					  [METRIC_MEMORY] = o->memory};
	/* Sums are in this order, whatever the order of the metrics is. */
	static const enum bound_metric order[N_METRICS] = {METRIC_LATENCY, METRIC_PERIOD,
							   METRIC_ENERGY, METRIC_MEMORY};
	struct bound_value sum = {0, "sum"};
	const char *kind = NULL;
	int n = 0;

	if (place_objective_is_latency(o))
		return x->best[METRIC_LATENCY];
	for (int i = 0; i < N_METRICS; i++) {
		double part = weight[order[i]] * x->best[order[i]].value;

		sum.value += part;
		if (part != 0 && n++ == 0)
			kind = x->best[order[i]].kind;
	}
	if (n == 1)
		sum.kind = kind;
	return sum;
}

struct place_bound place_bound(const struct place_units *u, double deadline_s, double *share,
			       bool *shared)
{
	struct arena *a = arena_new();
	enum place_rules rules = u->m->rules;
	struct bound_problem x = {.head_s = NULL};
	struct reach reach;
	struct bound_value b;

	bound_view_init(&x.v, u, a);
	x.v.deadline_s = deadline_s;
	x.head_s = ARENA_NEWN(a, double, x.v.n);
	x.tail_s = ARENA_NEWN(a, double, x.v.n);
	if (rules == PLACE_DNNPART_LATENCY && x.v.n <= REACH_MAX_TASKS) {
		reach_init(&reach, &x.v, a);
		x.reach = &reach;
	}
	uint32_t left_out = compute_bounds(&x);

	if (rules == PLACE_SCHEDULE)
		b = sum_metrics(&x);
	else
		b = x.best[rules == PLACE_DNNPART_LATENCY ? METRIC_LATENCY : METRIC_PERIOD];
	if (share) {
		memcpy(share, x.v.share, x.v.k * sizeof(*share));
		*shared = rules != PLACE_DNNPART_LATENCY;
	}
	arena_free(a);
	return (struct place_bound){b.value, b.kind ? b.kind : "none", left_out};
}

double place_lower_bound(const struct place_units *u, double deadline_s)
{
	return place_bound(u, deadline_s, NULL, NULL).value;
}
