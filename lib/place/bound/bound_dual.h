/* bound_dual.h - the dual of the largest load of a resource: for w >= 0 with sum 1 over resources
 * and mu >= 0, no placement's largest load is below
 *   min over placements of (sum_r w_r load_r + sum_c mu_c (share of c's memory that is held)) -
 * sum_c mu_c, whatever is left out of the minimum.  Ascent by subgradients. */
#ifndef HSDAG_PLACE_BOUND_BOUND_DUAL_H
#define HSDAG_PLACE_BOUND_BOUND_DUAL_H

#include "place/bound/alike.h"
#include "place/bound/bound_parts.h"

/* Resources that differ by name alone share multipliers: classes of devices come first. */
struct dual {
	const struct bound_view *v;
	uint32_t n, n_classes; /* resources; classes among them */
	uint32_t *first;       /* (n_classes) device */
	double *size;          /* (n) of them */
	double *w, *mu;        /* (n) of each; of all memory of the class */
	/* (n) what the minimiser loads each with; share of all memory that it holds */
	double *load, *use;
	bool memory;        /* mu may be above 0 */
	struct alike units; /* by seconds and memory */
};

/* n_more resources besides the devices' classes, whose size the caller fills in.  w starts from
 * what is exact when devices differ by a factor alone: shares go with speed; 0 for other
 * resources. */
void dual_init(struct dual *x, const struct bound_view *v, uint32_t n_more);
void dual_release(struct dual *x);

/* The value at w, mu; fills load and use. */
typedef double (*dual_value)(void *arg, struct dual *x);

/* The best of some rounds; w and mu become its multipliers. */
double dual_ascend(struct dual *x, int rounds, dual_value value, void *arg);

/* The dual at w (sum over resources 1) and mu. */
double dual_at(struct dual *x, dual_value value, void *arg);

/* The dual by cutting planes from w, mu on, at least `known`; where Clp cannot be loaded what it is
 * there. */
double dual_planes(struct dual *x, int rounds, double known, dual_value value, void *arg);

/* Loads of devices alone: every unit where it is cheapest; arg is not looked at. */
double dual_least(void *arg, struct dual *x);

/* Of unit i on class c at w, mu; INFINITY: it cannot run there. */
double dual_unit_s(const struct dual *x, uint32_t unit, uint32_t c);
/* The minimiser has `times` like it there. */
void dual_count(struct dual *x, uint32_t unit, uint32_t c, double times);

#endif
