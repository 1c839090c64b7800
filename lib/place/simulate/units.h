/* units.h - what a search moves: sets that share a device move as one. */
#ifndef HSDAG_PLACE_SIMULATE_UNITS_H
#define HSDAG_PLACE_SIMULATE_UNITS_H

#include "place/simulate/evaluate.h"

struct place_units {
	const struct place_model *m;
	uint32_t n; /* units, by their first task */
	/* (n_sets) GRAPH_NONE: the set runs nothing, nor do those it stays with */
	uint32_t *of_set;
	/* sets of unit u: set[ptr[u]] .., the first of which runs something */
	uint32_t *ptr, *set;
	uint32_t *dev_ptr; /* (n+1) */
	/* devices on which all its sets can run; one of several that the rules cannot tell apart
	 * even when used together (CPUs of dnnpart-latency) */
	uint16_t *dev;
	double *cost_s;  /* (n,k) sum over its sets; negative: cannot run there */
	double *least_s; /* (n) the smallest of them less all that could be saved */
	/* What its sets hold and no other unit: (n,k) there, (n) on the device where it is most, least. */
	uint64_t *mem_on, *mem, *least_mem;
	/* (k) the first device that is equivalent to this one: it differs by name alone (watts and
	 * joules count when the objective has energy in it) */
	uint32_t *equivalent;
};

/* Memory from a. */
void place_units_init(struct place_units *u, const struct place_model *m, struct arena *a);

/* Set every set of unit i, or those that run nothing (i = GRAPH_NONE), to dev. */
void place_unit_set(const struct place_units *u, uint32_t i, uint32_t dev, uint16_t *device);

#endif
