/* order_walk.h - placements and orders searched together, for models whose orders are free. */
#ifndef HSDAG_PLACE_SEARCH_ORDER_WALK_H
#define HSDAG_PLACE_SEARCH_ORDER_WALK_H

#include "place/search/search_context.h"

/* Are orders of m searched? */
static inline bool order_walk_applies(const struct place_model *m)
{
	return m->rules == PLACE_SCHEDULE && m->costs.policy == SCHED_FREE;
}

/* One walk from r->device, in the order that is found for it, or from r->start in r->start_order,
 * whichever is better, until limits are spent: r->device, r->order become the best
 * that was seen.  heat: as of walks.h; 0: it only climbs.  Nothing changes where neither is legal.
 * Returns the simulations made. */
uint64_t order_walk(struct method_run *r, const struct search_context *s,
		    const struct limits *limits, double heat);

#endif
