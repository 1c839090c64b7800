/* localsearch.c - the local search that dnn-partitioning compares with: Tarnawski et al.,
 * "Efficient algorithms for device placement of DNN graph operators", NeurIPS 2020, section 6:
 * from a random placement, the best move of one unit to another device is made until none is
 * better; the best of ten such descents. */
#include <math.h>

#include "place/search/walks.h"

enum { RESTARTS = 10 };
static const double PRICE = 30; /* of memory beyond a limit */

/* The best move of all; false: none is better. */
static bool steepest(struct search_state *p, const struct limits *limits)
{
	const struct place_units *u = &p->s->u;
	double e = p->energy, value = p->value, best = e;
	uint32_t unit = 0;
	uint16_t to = 0;

	for (uint32_t i = 0; i < u->n; i++)
		for (uint32_t j = u->dev_ptr[i]; j < u->dev_ptr[i + 1]; j++) {
			if (limits_spent(limits, p->used) >= 1)
				return false;
			search_state_move(p, i, u->dev[j]);
			if (p->n_moved == 0)
				continue;
			if (search_state_evaluate(p, best) < best) {
				best = p->energy;
				unit = i;
				to = u->dev[j];
			}
			search_state_undo(p, e, value);
		}
	if (!(best < e))
		return false;
	search_state_move(p, unit, to);
	search_state_evaluate(p, INFINITY);
	search_state_keep(p);
	return true;
}

static void descend(struct search_state *p, const struct limits *limits, double heat)
{
	(void)heat;
	p->price = PRICE;
	search_state_refresh(p);
	while (steepest(p, limits))
		;
}

static int run_local_search(struct method_run *r, struct err *e)
{
	static const struct walks walks = {.method = &method_local_search,
					   .walk = descend,
					   .purpose = RANDOM_LOCAL,
					   .random_starts = true,
					   .n = RESTARTS};

	walks_run(&walks, r);
	return r->emit(r, e);
}

const struct place_method method_local_search = {
	.name = "local-search",
	.needs_costs = true,
	.about = "steepest descents from random placements",
	.source = "Tarnawski et al., NeurIPS 2020, section 6",
	.run = run_local_search,
};
