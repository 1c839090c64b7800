/* greedy.c - greedy-memory: sets in order of descending memory, each to the device where the load
 * is least after it, of those with room for what it holds; repaired where what sets make has none.
 * Graham's list scheduling (SIAM J. Applied Math. 17(2), 1969) on unrelated devices, with memory as
 * the order; copies are not looked at. */
#include <math.h>
#include <stdlib.h>

#include "place/method/method.h"
#include "place/simulate/held.h"

struct sized {
	uint64_t mem;
	double cost_s;
	uint32_t unit;
};

static int larger_first(const void *pa, const void *pb)
{
	const struct sized *a = pa, *b = pb;

	if (a->mem != b->mem)
		return a->mem > b->mem ? -1 : 1;
	if (a->cost_s != b->cost_s)
		return a->cost_s > b->cost_s ? -1 : 1;
	return (a->unit > b->unit) - (a->unit < b->unit);
}

static int choose_device(struct held *h, uint32_t i, double *load)
{
	const struct place_units *u = h->u;
	double best = INFINITY;
	int at = -1;

	for (uint32_t j = u->dev_ptr[i]; j < u->dev_ptr[i + 1]; j++) {
		uint16_t d = u->dev[j];
		double s = load[d] + u->cost_s[(size_t)i * u->m->k + d];

		if (s >= best || !held_fits(h, i, d))
			continue;
		best = s;
		at = d;
	}
	if (at >= 0) {
		load[at] = best;
		held_add(h, i, (uint32_t)at);
	}
	return at;
}

static int run_greedy_memory(struct method_run *r, struct err *e)
{
	struct place_units u;

	uint32_t stuck = GRAPH_NONE;

	place_units_init(&u, r->m, r->a);
	struct sized *order = ARENA_NEWN(r->a, struct sized, u.n);
	double *load = ARENA_NEWN(r->a, double, r->m->k);
	struct held held;

	held_init(&held, &u, r->a);
	for (uint32_t i = 0; i < u.n; i++)
		order[i] = (struct sized){u.mem[i], u.least_s[i], i};
	if (u.n > 1)
		qsort(order, u.n, sizeof(*order), larger_first);
	place_unit_set(&u, GRAPH_NONE, 0, r->device);
	for (uint32_t i = 0; i < u.n; i++) {
		int dev = choose_device(&held, order[i].unit, load);

		if (dev < 0 && stuck == GRAPH_NONE)
			stuck = order[i].unit;
		place_unit_set(&u, order[i].unit, dev < 0 ? 0 : (uint32_t)dev, r->device);
	}
	if (!method_mend(r, &u) && stuck != GRAPH_NONE)
		return place_no_device(r->m, u.set[u.ptr[stuck]], "has room", e);
	return r->emit(r, e);
}

const struct place_method method_greedy_memory = {
	.name = "greedy-memory",
	.needs_costs = true,
	.about = "fastest device with room, largest sets first",
	.source = "Graham, list scheduling, 1969, on unrelated devices",
	.run = run_greedy_memory,
	.is_heuristic = true,
};
