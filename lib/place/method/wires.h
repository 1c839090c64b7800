/* wires.h - who exchanges which tensors with whom, by units, and what a unit costs where it is:
 * what partitioners and minimum cuts see of a model.  No clock: seconds of computing and of copies
 * are added up. */
#ifndef HSDAG_PLACE_METHOD_WIRES_H
#define HSDAG_PLACE_METHOD_WIRES_H

#include "partition/grouping.h"
#include "place/simulate/units.h"

struct wire {
	uint32_t tensor, other; /* the unit at the other end */
	bool out;               /* made here, read there */
};

struct wires {
	const struct place_model *m;
	const struct place_units *u;
	uint32_t *ptr;     /* (u->n+1) */
	struct wire *wire; /* of each unit, each tensor and other unit once */
};

/* u is borrowed; memory from a. */
void wires_init(struct wires *x, const struct place_units *u, struct arena *a);

/* Seconds that a tensor takes from one device to another: 0 to itself, INFINITY without a link; by
 * the dnnpart rules what it takes between accelerators and the memory that all share. */
double wires_copy_s(const struct place_model *m, uint32_t tensor, uint32_t from, uint32_t to);

/* Seconds that unit i adds on dev: its own and those of its copies, the others being where on
 * (units) says (UINT16_MAX: nowhere yet, costs nothing).  INFINITY: it cannot run there, or has no
 * way. */
double wires_cost_s(const struct wires *x, uint32_t i, uint32_t dev, const uint16_t *on);

/* The units as a graph for partitioners: mean seconds over devices, memory held, mean seconds of a
 * copy.  Memory from a. */
void wires_graph(const struct wires *x, bool memory, struct arena *a, struct group_graph *out);

/* (k) what share of all units' seconds each device should get to end at the same time, sum 1: by
 * how many times faster than the mean it is; 0: it can run nothing. */
void wires_shares(const struct wires *x, double *share);

#endif
