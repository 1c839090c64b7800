/* exact_orders.h - branch and bound over the orders of one placement. */
#ifndef HSDAG_PLACE_EXACT_EXACT_ORDERS_H
#define HSDAG_PLACE_EXACT_EXACT_ORDERS_H

#include "place/simulate/evaluate.h"

struct exact_orders;

/* For m, by the schedule's rules, with its evaluator; both are borrowed. */
struct exact_orders *exact_orders_new(const struct place_model *m, struct evaluator *ev);
void exact_orders_free(struct exact_orders *x);

/* The least value of device (n_sets), every task of which can run where it is and has what it reads,
 * over all orders in which devices may run their tasks: where it is below `below`; else that.
 * order (tasks): then its sets, as place_order_of takes them.  Each node is counted in *nodes; at
 * `limit`, or after deadline_s (of clock_s; 0: none), the search ends: *all is false then. */
double exact_orders_best(struct exact_orders *x, const uint16_t *device, double below,
			 uint64_t *nodes, uint64_t limit, double deadline_s, uint32_t *order,
			 bool *all);

#endif
