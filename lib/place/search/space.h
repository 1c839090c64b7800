/* space.h - what searches over placements of one model share and do not change: units, who
 * exchanges data with whom, topological orders of units, where searches start. */
#ifndef HSDAG_PLACE_SEARCH_SPACE_H
#define HSDAG_PLACE_SEARCH_SPACE_H

#include "place/search/dice.h"
#include "place/simulate/evaluators.h"
#include "place/method/method.h"
#include "place/method/repair.h"

struct space {
	const struct place_model *m;
	struct place_units u;
	/* units that exchange data with unit i, each pair in both rows: adj[ptr[i]] .. */
	const uint32_t *ptr, *adj;
	/* (units) topological: by number, and depth first (one branch to its end, then the next) */
	const uint32_t *order[2];
	struct unit_traffic traffic;
	bool linked;         /* every pair of devices has a link both ways */
	bool few;            /* there will be few simulations for each unit; at first no */
	int single;          /* the best single device, -1: none is legal */
	double single_value; /* INFINITY: none */
	struct evaluators *ev;
	bool borrowed; /* from r->space: all but `few` is somebody else's */
};

/* r->space, or a new one with memory from r->a; space_release frees the rest. */
void space_init(struct space *s, const struct method_run *r);
void space_release(struct space *s);

static inline uint16_t space_device(const struct space *s, const uint16_t *device, uint32_t unit)
{
	return device[s->u.set[s->u.ptr[unit]]];
}

/* May the unit go to dev? */
bool space_allowed(const struct space *s, uint32_t unit, uint16_t dev);

/* Start `number` of a search, of kind number % N_STARTS, into device (n_sets). */
enum start {
	START_FILL,   /* devices filled with memory in turn, in a topological order */
	START_SINGLE, /* the best single device; random when there is none */
	START_HEFT,
	START_CUTS, /* a topological order cut anywhere, each part on its own device */
	START_RANDOM,
	N_STARTS
};
void space_start(const struct space *s, uint64_t seed, uint32_t number, uint16_t *device);

/* Pull units onto devices that all their sets may use. */
void space_mend(const struct space *s, uint16_t *device);

/* ---- budgets ---- */

/* How long a search may go on: evaluations, and seconds when deadline_s > 0. */
struct limits {
	uint64_t evals;
	double start_s, deadline_s;
};

/* Of a run that makes `evals` simulations when nobody says how many, see space_default_evals. */
struct limits limits_of(const struct method_run *r, uint64_t evals);

/* Share of the budget that is spent, 0 .. 1 and more; looks at the clock. */
double limits_spent(const struct limits *x, uint64_t used);

/* Simulations that take some seconds on one core; whole: not of a few moves each. */
uint64_t space_default_evals(const struct place_model *m, bool whole);

/* About the seconds of a simulation after a move from device, measured: a third of a whole one. */
double space_simulation_s(struct evaluator *x, const uint16_t *device);

#endif
