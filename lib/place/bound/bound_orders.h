/* bound_orders.h - the shortest schedule of a few tasks whose devices are known. */
#ifndef HSDAG_PLACE_BOUND_BOUND_ORDERS_H
#define HSDAG_PLACE_BOUND_BOUND_ORDERS_H

#include "place/bound/bound_shares.h"

enum { ORDERS_MOST_TASKS = 64 };

/* Tasks first .. first + n - 1 of the graph; arrays have the graph's numbers. */
struct orders {
	const struct bound_view *v;
	const struct shares *cliques;
	uint32_t first, n;
	const uint16_t *dev;
	const double *seconds;
	const double *begin_s; /* before this none can start: what it reads from before the first */
	const double *rest_s;  /* (tasks,k) behind it at least */
};

/* The least makespan over all orders of the tasks, devices that exclude each other one after the other, copies as fast as
 * links are, rests counted: a lower bound of all schedules.  Where it is not below below_s: below_s.  *nodes become fewer;
 * when there are none left: 0. */
double orders_shortest_s(const struct orders *p, double below_s, uint64_t *nodes);

#endif
