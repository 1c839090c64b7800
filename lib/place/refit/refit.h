/* refit.h - costs of a problem, learned from what placements of it took.
 *
 * A few dozen unknowns change what was profiled: all times, those of a device, of an operator type on
 * devices of one kind; latencies and rates of links; savings of neighbours; slowdown and
 * multi_slowdown.  Each has a normal prior around what was profiled.  The logarithms of measured
 * times are normal around those of the simulated ones, with the error of the measurement and one of
 * the model, which is found from the residuals; outliers count less (Huber).  What the others are compared with has no such errors: ratios to it are what is predicted.  The most likely
 * unknowns are found by Gauss and Newton's method with derivatives by differences, and around them
 * the posterior is normal (Laplace's approximation; MacKay 2003, Information Theory, Inference, and
 * Learning Algorithms, chapter 27). */
#ifndef HSDAG_PLACE_REFIT_REFIT_H
#define HSDAG_PLACE_REFIT_REFIT_H

#include "place/problem/placeinputs.h"
#include "record/fitrec.h"

/* A placement of the devices in the cost record's order that ran. */
struct refit_case {
	const uint16_t *device; /* (n_sets) */
	const uint32_t *order;  /* (n_order) as in struct place_rec; NULL: none */
	uint32_t n_order;
	double log_s, se;  /* logarithm of its time, and its standard error */
	bool is_reference; /* times of the others are told as ratios to its own */
};

struct refit_summary {
	uint32_t n_cases, n_unknowns;
	double before, after; /* mean of |log(predicted / measured)| */
	double model_error;   /* standard deviation */
	double all, latency;  /* factor of all times, of the first link's latency */
	double slowdown, multi_slowdown;
};

struct refit;

/* Fit to cases c[n], n >= 1, which are borrowed until then.  in is borrowed: a graph, cost and devs
 * of a stream, by the schedule's rules, no specification.  known, which may be NULL, was found
 * from the same (refit_cases_fit), is taken instead of finding it again, and is borrowed for the call.  Each case runs in the order that is found for
 * it by in's costs, as devrun's plans do, whatever the unknowns.  NULL: no model (ST_INPUT, ST_USAGE), no
 * case is a legal placement, or OpenBLAS cannot be loaded (ST_RUNTIME). */
struct refit *refit_new(struct place_inputs *in, const struct refit_case *c, uint32_t n,
			const struct fit_rec *known, struct err *e);
void refit_free(struct refit *x);
const struct refit_summary *refit_summary(const struct refit *x);
/* What refit_new takes as known, without a key; it lives as long as x. */
struct fit_rec refit_found(const struct refit *x);

/* The most likely costs (draw 0), or those of a draw from the posterior, in which each set has an
 * error of its own, too: in->cost and in->devs changed.  Memory from a. */
void refit_costs(const struct refit *x, uint64_t seed, uint32_t draw, struct arena *a,
		 struct cost_rec *cost, struct devs *devs);

#endif
