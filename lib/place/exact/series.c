/* series.c - the placement behind the bound of blocks in a row: between tasks that everything passes each block is placed by
 * branch and bound (bound_series.c), and devices of these tasks by dynamic programming. */
#include <math.h>
#include <stdio.h>

#include "place/bound/bound_parts.h"
#include "place/method/method.h"

/* Nodes of a budget's second, and how many there are at least and at most. */
static const double NODES_PER_S = 5e6, LEAST_NODES = 1e5, MOST_NODES = 2e6;

/* What no latency is below when (1 - s) makespan + s (busy seconds) is not below row_s (bound_slowed.c). */
static double latency_s(const struct bound_view *v, double row_s)
{
	const struct place_model *m = v->m;

	if (m->slowdown == 0 && m->multi_slowdown == 0)
		return row_s;
	return fmin(bound_alone_s(v),
		    row_s * (1 + PLACE_BESIDE_AT_ONCE * m->multi_slowdown) * (1 - 1e-10));
}

static int run_series(struct method_run *r, struct err *e)
{
	struct place_units u;
	struct bound_view v;

	if (r->m->rules != PLACE_SCHEDULE)
		return err_set(e, ST_USAGE, "series is about schedules alone");
	if (method_one_case(r, "series", e) < 0)
		return -1;
	place_units_init(&u, r->m, r->a);
	bound_view_init(&v, &u, r->a);
	v.deadline_s = method_deadline_s(r);
	uint16_t *task_dev = ARENA_NEWN(r->a, uint16_t, v.n);

	double least,
		nodes = r->budget_s > 0 ? fmax(LEAST_NODES, NODES_PER_S * r->budget_s) : MOST_NODES;

	if (!bound_series_place(&v, r->m->slowdown, (uint64_t)fmin(nodes, MOST_NODES), task_dev,
				&least)) {
		if (method_is_late(v.deadline_s))
			return method_single_instead(r, "the budget is spent", e);
		return err_set(e, ST_RUNTIME,
			       "series: there are no tasks that everything passes, or too much is "
			       "between them");
	}
	if (place_objective_is_latency(&r->m->objective))
		r->bound_s = fmax(r->bound_s, latency_s(&v, least));
	/* A unit in several blocks is where its first task is. */
	for (uint32_t t = v.n; t-- > 0;)
		place_unit_set(&u, v.unit_of[t], task_dev[t], r->device);
	if (method_is_late(v.deadline_s))
		snprintf(r->note, sizeof(r->note),
			 "the last tasks on one device, the budget being spent");
	method_mend(r, &u);
	return r->emit(r, e);
}

const struct place_method method_series = {
	.name = "series",
	.needs_costs = true,
	.about = "the best of each block between tasks that all passes, in a row",
	.source = "Land, Doig, Econometrica 28(3), 1960, for blocks",
	.run = run_series,
	.scope = SCOPE_SCHEDULES,
	.evals = EVALS_OWN,
};
