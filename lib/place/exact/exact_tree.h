/* exact_tree.h - the tree of branch and bound (exact.c), and who walks in it (exact_walk.c); not for
 * others. */
#ifndef HSDAG_PLACE_EXACT_EXACT_TREE_H
#define HSDAG_PLACE_EXACT_EXACT_TREE_H

#include "place/exact/exact_orders.h"
#include "place/exact/exact_partial.h"
#include "place/method/method.h"

enum { EXACT_BATCH = 16 };
#define EXACT_EQUAL 1e-9 /* relative: not better than that is not better */

/* A device for the unit at hand, and the bound of what follows. */
struct option {
	uint16_t dev;
	double bound;
};

/* An open node: a partial placement that was not searched yet. */
struct open_node {
	uint16_t *unit_dev; /* (units) UINT16_MAX: open */
	uint32_t v;         /* tasks that are decided */
	double bound;
};

/* One thread's search. */
struct walker {
	struct tree *x;
	struct partial_placement b;
	struct evaluator *ev;
	struct option *option; /* (n,k) */
	uint16_t *device;      /* (n_sets) */
	/* of the open node at hand: */
	uint64_t nodes, limit;
	double best;
	uint16_t *best_dev;           /* (n_sets) the placement of best */
	struct exact_orders *orders;  /* where orders are searched; NULL: they are not */
	uint32_t *order, *best_order; /* (tasks) sets, with orders; the one of best */
	bool has_order;               /* it is known */
	double cut;                   /* the smallest bound of branches that were given up */
	double leaf; /* the same of placements that were simulated: for every order */
	bool out;    /* the budget ended */
};

/* The result of one open node. */
struct exact_found {
	double best, cut, leaf;
	uint16_t *device; /* (n_sets) when best is better than the batch's */
	uint32_t *order;  /* (tasks) where orders are searched */
	uint64_t nodes;
	bool out, has_order;
};

struct tree {
	struct method_run *r;
	struct place_units u;
	struct bound_view v;
	bool swappable; /* equivalent devices may change places: nothing else changes */
	double *rest_s;
	struct walker *walker; /* (threads) */
	struct open_node *open;
	uint32_t n_open;
	struct exact_found found[EXACT_BATCH];
	uint32_t first;  /* of the batch */
	double best;     /* value of r->device; INFINITY: nothing legal */
	uint32_t *order; /* (tasks) sets, the order that has it; NULL: that of the rule */
	bool has_order;
	double least, cut, leaf;
	uint64_t nodes, limit;
	double deadline_s;
	double far_s; /* about the seconds of one partial_bound_far; 0: next to none */
	bool out;     /* the budget ended */
};

/* Can nothing of this bound be better than what the walker knows? */
bool walker_is_worse(const struct walker *w, double bound);

/* Everything is placed, and no order of it is below the bound: is it the best? */
void walker_leaf(struct walker *w, double bound);

/* Devices for the unit of task t that may lead to something better, into its row of options; how
 * many. */
uint32_t walker_options(struct walker *w, uint32_t t);

/* Pass tasks whose units are placed, from *v on; the bound of what begins so. */
double walker_pass(struct walker *w, uint32_t *v, double bound);

/* All that is below a partial placement of v tasks, whose bound is given. */
void walker_branch(struct walker *w, uint32_t v, double bound);

#endif
