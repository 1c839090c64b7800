/* decide.h - which operations are cut along which axis, by estimated costs.
 *
 * Every node may be whole, or cut along one of the axes that the rules allow.  An operation in parts takes as
 * long as its largest part; where neighbours are cut otherwise, their parts are joined, sliced or
 * exchanged, which costs a hand-over and the bytes.  The choice with the least sum is found exactly, node after
 * node, wherever few decisions hang together at a time (pairwise.h). */
#ifndef HSDAG_SPLIT_DECIDE_H
#define HSDAG_SPLIT_DECIDE_H

#include "place/problem/placemodel.h"
#include "split/split_graph.h"

struct split_costs {
	uint32_t n; /* devices: part p is on device p % n, what is whole on the fastest */
	struct split_device {
		double flops_per_s, bytes_per_s;
		double step_s;        /* of any operation */
		double weights_per_s; /* bytes of weights, which computing waits for; 0: it does not */
	} device[SPLIT_MAX_WAYS];
	double handover_s;      /* a device waits for another one's tensor */
	double copy_s_per_byte; /* between devices */
	/* Where devices have memories of their own (plan's apart): how what all have a part of comes to
	 * all, among `near` devices of a group and then between `groups` of them, each device
	 * sending and receiving at once at these rates. */
	bool apart;
	uint32_t near, groups;
	struct split_link {
		double latency_s, s_per_byte;
	} in_group, between;
	double memory_bytes; /* for weights, of each device; 0: any */
	/* (nodes, n) seconds that were measured, negative: cannot run there; NULL: estimated from flops_per_s and bytes_per_s */
	const double *node_s;
	const bool *stays; /* (nodes) stays whole; NULL: none has to */
};

/* Costs of the first so many devices of a specification, with memories of their own: a part on each.  group (ways). */
void split_costs_spec(const struct spec *s, uint32_t ways, struct split_costs *c, uint8_t *group);
/* What a model's costs say of its devices, which share their memory.  node_s is from a. */
void split_costs_measured(const struct place_model *m, struct split_costs *c, struct arena *a);

/* (nodes), from a: those of sets that only some devices of devs may have, or that share a device with others; NULL: none. */
const bool *split_stays(const struct graph *g, const struct devs *d, struct arena *a);

/* Fills near, groups, in_group and between from links (n,n; latency negative: none), and group (n): devices are in a
 * group as far as links of half the highest bandwidth join them, if all groups then have equally many. */
void split_groups(struct split_costs *c, const double *latency_s, const double *bytes_per_s,
		  uint8_t *group);

/* Cores of a processor that share their memory. */
extern const struct split_costs split_costs_cores;

struct split_decision {
	double whole_s, cut_s; /* estimated: of the graph as it is, and of what was decided */
	uint32_t may_be_cut;   /* products and convolutions that some allowed axis cuts */
	uint32_t n_chains;     /* cut nodes that hang together */
	double weights;        /* bytes of weights on a device */
	double seconds;        /* it took */
};

/* Decides plan->axis[n], given its ways, and how large parts are: as plan->share says; where that is NULL all alike, or,
 * on unlike devices, so that all end a chain together (from the arena of f).  axes: bit k allows enum split_axis k.  all: every product and
 * convolution that may be cut is, along its best axis.  min_gain: else a chain that would not gain this share of
 * whole_s is left whole. */
void split_decide(struct split_facts *f, const struct split_costs *costs, unsigned axes, bool all,
		  double min_gain, struct split_plan *plan, struct split_decision *out);

#endif
