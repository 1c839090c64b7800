/* unittraffic.h - unit traffic: who exchanges which tensors with whom, by units, and what a unit
 * costs where it is: what partitioners and minimum cuts see of a model.  No clock: seconds of
 * computing and of copies are added up. */
#ifndef HSDAG_PLACE_METHOD_UNITTRAFFIC_H
#define HSDAG_PLACE_METHOD_UNITTRAFFIC_H

#include "partition/grouping.h"
#include "place/simulate/units.h"

struct unit_exchange {
	uint32_t tensor, other; /* the unit at the other end */
	bool out;               /* made here, read there */
};

struct unit_traffic {
	const struct place_model *m;
	const struct place_units *u;
	uint32_t *ptr;                  /* (u->n+1) */
	struct unit_exchange *exchange; /* of each unit: each pair of tensor and other unit once */
	double deadline_s; /* of clock_s: repairs (repair.h) are short from then on; 0: there is none */
};

/* u is borrowed; memory from a. */
void unit_traffic_init(struct unit_traffic *x, const struct place_units *u, struct arena *a);

/* Seconds that a tensor takes from one device to another: 0 to itself, INFINITY without a link; by
 * the dnnpart rules what it takes between accelerators and the memory that all share. */
double unit_traffic_copy_s(const struct place_model *m, uint32_t tensor, uint32_t from,
			   uint32_t to);

/* Seconds that unit i adds on dev: its own and those of its copies, the others being where on
 * (units) says (UINT16_MAX: nowhere yet, which costs nothing).  INFINITY: it cannot run there, or a
 * link is missing. */
double unit_traffic_cost_s(const struct unit_traffic *x, uint32_t i, uint32_t dev,
			   const uint16_t *on);

/* The units as a graph for partitioners: mean seconds over devices, memory held, mean seconds of a
 * copy.  Memory from a. */
void unit_traffic_graph(const struct unit_traffic *x, bool memory, struct arena *a,
			struct group_graph *out);

/* share (k), of sum 1: what part of all work each device should get so that all end at the same
 * time.  It is proportional to how many times faster than the mean a device is; 0: it can run
 * nothing. */
void unit_traffic_shares(const struct unit_traffic *x, double *share);

#endif
