/* greedy.c - greedy-memory: sets in order of descending memory, each to the device where the load
 * is least after it, of those with room for what it holds; repaired where what sets make has none.
 * Graham's list scheduling (SIAM J. Applied Math. 17(2), 1969) on unrelated devices, with memory as
 * the order; copies are not looked at. */
#include <math.h>
#include <stdlib.h>

#include "place/method/method.h"
#include "place/simulate/units.h"

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

static int choose_device(const struct place_units *u, uint32_t i, double *load, uint64_t *mem)
{
	const struct place_model *m = u->m;
	double best = INFINITY;
	int at = -1;

	for (uint32_t j = u->dev_ptr[i]; j < u->dev_ptr[i + 1]; j++) {
		uint16_t d = u->dev[j];
		double s = load[d] + u->cost_s[(size_t)i * m->k + d];

		if ((m->mem_limit[d] && mem[d] + u->mem[i] > m->mem_limit[d]) || s >= best)
			continue;
		best = s;
		at = d;
	}
	if (at >= 0) {
		load[at] = best;
		mem[at] += u->mem[i];
	}
	return at;
}

static int run_greedy_memory(struct method_run *r, struct err *e)
{
	struct place_units u;

	place_units_init(&u, r->m, r->a);
	struct sized *order = ARENA_NEWN(r->a, struct sized, u.n);
	double *load = ARENA_NEWN(r->a, double, r->m->k);
	uint64_t *mem = ARENA_NEWN(r->a, uint64_t, r->m->k);

	for (uint32_t i = 0; i < u.n; i++)
		order[i] = (struct sized){u.mem[i], u.least_s[i], i};
	if (u.n > 1)
		qsort(order, u.n, sizeof(*order), larger_first);
	place_unit_set(&u, GRAPH_NONE, 0, r->device);
	for (uint32_t i = 0; i < u.n; i++) {
		int dev = choose_device(&u, order[i].unit, load, mem);

		if (dev < 0)
			return place_no_device(r->m, u.set[u.ptr[order[i].unit]], "has room", e);
		place_unit_set(&u, order[i].unit, (uint32_t)dev, r->device);
	}
	method_mend(r, &u);
	return r->emit(r, e);
}

const struct place_method method_greedy_memory = {
	.name = "greedy-memory",
	.needs_costs = true,
	.about = "fastest device with room, largest sets first",
	.source = "Graham, list scheduling, 1969, on unrelated devices",
	.run = run_greedy_memory,
};
