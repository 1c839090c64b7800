/* simrun.h - a placement record in, a run record out: what devrun would measure, predicted,
 * with noise when that is asked for, and with its schedule. */
#ifndef HSDAG_PLACE_SIMULATE_SIMRUN_H
#define HSDAG_PLACE_SIMULATE_SIMRUN_H

#include "record/placerec.h"
#include "record/runrec.h"
#include "place/simulate/evaluate.h"

/* Noise is a pure function of seed, episode, step and sample (and operation).  sigma 0: none. */
struct simulator_options {
	uint64_t seed;
	double run_sigma; /* all times and energies x exp(sigma z), z standard normal */
	double op_sigma;  /* each operation's time x exp(sigma z), then the schedule */
	bool schedule;    /* tell it in the record; PLACE_SCHEDULE alone */
	/* > 1: so many in flight, and times are seconds a request (closed_loop.h); PLACE_SCHEDULE alone, without
	 * op_sigma */
	uint32_t requests;
};

struct simulator;

/* m and its graph are borrowed. */
struct simulator *simulator_new(const struct place_model *m, const struct simulator_options *o);
void simulator_free(struct simulator *x);

/* The `run` record of p, whose devices are m's. */
int simulator_answer(struct simulator *x, const struct place_rec *p, struct rec_writer *w,
		     struct err *e) MUST_CHECK;

/* exp(sigma z) of number `index` of p's rollout, z standard normal (rng_normal). */
double simulator_noise(uint64_t seed, const struct place_rec *p, uint32_t index, double sigma);

#endif
