/* search_context.h - what all searches over placements of one model share and none of them changes:
 * the units, which units exchange data, topological orders of the units, the placements that
 * searches start from, and how long a search may go on. */
#ifndef HSDAG_PLACE_SEARCH_SEARCH_CONTEXT_H
#define HSDAG_PLACE_SEARCH_SEARCH_CONTEXT_H

#include "place/search/random_stream.h"
#include "place/simulate/evaluators.h"
#include "place/method/method.h"
#include "place/method/repair.h"

struct search_context {
	const struct place_model *m;
	struct place_units u;
	/* units that exchange data with unit i, each pair in both rows: adj[ptr[i]] .. */
	const uint32_t *ptr, *adj;
	/* (units) two topological orders: by number, and depth first (one branch to its end, then
	 * the next) */
	const uint32_t *order[2];
	struct unit_traffic traffic;
	bool linked;         /* every pair of devices has a link both ways */
	bool few;            /* the budget allows few simulations a unit; false at first */
	int single;          /* the best single device, -1: none is legal */
	double single_value; /* INFINITY: none */
	double deadline_s;   /* of the run's budget; 0: there is none */
	struct evaluators *ev;
	bool borrowed; /* copied from r->context, whose owner frees all but `few` */
};

/* A copy of r->context, or a new context with memory from r->a when r has none;
 * search_context_release frees what is not in r->a. */
void search_context_init(struct search_context *s, const struct method_run *r);
void search_context_release(struct search_context *s);

static inline uint16_t search_context_device(const struct search_context *s, const uint16_t *device,
					     uint32_t unit)
{
	return device[s->u.set[s->u.ptr[unit]]];
}

/* May the unit go to dev? */
bool search_context_allowed(const struct search_context *s, uint32_t unit, uint16_t dev);

/* The starts of a search are numbered; a start's kind is its number modulo N_STARTS. */
enum start {
	START_FILL,   /* devices filled with memory in turn, in a topological order */
	START_SINGLE, /* the best single device; random when there is none */
	START_HEFT,
	START_CUTS, /* a topological order cut anywhere, each stretch on a device of its own */
	START_RANDOM,
	N_STARTS
};
/* Writes start `number` into device (n_sets). */
void search_context_start(const struct search_context *s, uint64_t seed, uint32_t number,
			  uint16_t *device);

/* Moves every unit that cannot run where it is to a device that all its sets may use. */
void search_context_allow_devices(const struct search_context *s, uint16_t *device);

/* ---- budgets ---- */

/* A search is ample when it may simulate this often for each unit. */
enum { AMPLE_EVALS = 100 };

/* How long a search may go on: evaluations, and seconds when deadline_s > 0. */
struct limits {
	uint64_t evals;
	double start_s, deadline_s;
};

/* The limits of r; `evals` simulations when r names neither a number nor a time. */
struct limits limits_of(const struct method_run *r, uint64_t evals);

/* The spent share of the budget, 0 .. 1 and more.  Reads the clock when there is a deadline. */
double limits_spent(const struct limits *x, uint64_t used);

/* How many simulations take some seconds on one core.  whole: each is of a new placement, not of a
 * few moves from the last one. */
uint64_t search_context_default_evals(const struct place_model *m, bool whole);

/* About how many seconds a simulation takes after a move from device: a third of a whole
 * simulation, which is measured here. */
double search_context_simulation_s(struct evaluator *x, const uint16_t *device);

#endif
