/* refit_unknowns.h - what refit changes in costs: which unknowns there are, and what they do. */
#ifndef HSDAG_PLACE_REFIT_REFIT_UNKNOWNS_H
#define HSDAG_PLACE_REFIT_REFIT_UNKNOWNS_H

#include "place/problem/placeinputs.h"

/* Unknown 0 is all times, then come devices, types, links and the rest.  All have the prior mean 0
 * and deviation 1; sd says what a deviation does. */
struct unknowns {
	uint32_t n;
	double *sd;              /* (n) of a logarithm, or of slowdowns themselves */
	uint32_t k, *alike;      /* (k) the first device with the same profiled times */
	uint32_t n_types, *type; /* (n_sets) 0 .. n_types: that one is all that is rare */
	uint32_t *type_at;       /* (n_types,k) of type and alike[device] */
	uint32_t rate, saving, slowdown, multi_slowdown;
	/* (k,k) by devices that are alike, of the cost record; 0: no such link */
	uint32_t *latency;
	uint32_t n_own, own; /* the first n_own links have one of their own each, from own on */
};

/* For in's cost and devs; memory from a. */
void unknowns_find(struct unknowns *u, const struct place_inputs *in, struct arena *a);

/* cost and devs with unknowns z (n) from those that u was found for; what changes is in memory of
 * a.  Intervals are dropped. */
void unknowns_apply(const struct unknowns *u, const double *z, struct arena *a,
		    struct cost_rec *cost, struct devs *devs);

#endif
