/* beside.h - one placement after another, each in bursts between bursts of the best single device: R p R p R q R ...
 *
 * What a program that serves sees is runs in a row, bursts (burst.h).  The machine drifts meanwhile; so a burst tells the ratio
 * to the reference's bursts before and behind it, and a measurement is the median over several such pairs.  Single devices that
 * are made like the best one are the reference together, as in a race (contest_race.h): the geometric mean of their
 * times.  By what each of them takes it is known how fast it is beside its like, and by the placement's schedule what that does to the
 * placement, which is taken out.  Where the best one consists of others, these are the reference, and what it takes beside them is measured once.
 *
 * One measurement is not a race: what leads by it may be lucky.  A race decides. */
#ifndef HSDAG_RACE_BESIDE_H
#define HSDAG_RACE_BESIDE_H

#include "timing/measurement.h"

enum { BESIDE_MOST = 4 };           /* single devices of the reference */
enum { BESIDE_REFERENCE_RUNS = 2 }; /* of a burst of each single device that count (burst.h) */

/* Everything on one device. */
struct beside_single {
	uint32_t device;
	struct runnable run;
};

struct beside {
	uint32_t k; /* devices */
	uint32_t n; /* of the reference, at most BESIDE_MOST; 0: there is none */
	struct beside_single single[BESIDE_MOST];
	const bool *has; /* (k,k; borrowed) as contest.has, or NULL */
	/* The logarithm of what the best single device takes over what the reference takes, where that is its parts; else 0. */
	double base_log;
	/* What the last burst of each took, as a logarithm; a burst of the reference is behind one measurement and
	 * before the next. */
	bool known;
	double log_s[BESIDE_MOST];
};

/* What is known of everything on each device alone. */
struct beside_devices {
	uint32_t k, best;      /* best: the fastest */
	const double *lat_s;   /* (k) of all that can run; 0: the others */
	const uint32_t *alike; /* (k) the first that is made like it */
	const bool *has;       /* (k,k) as contest.has, or NULL */
	double max_s;          /* of the measurements to come */
};

/* The reference: the best single device and its like, it first.  Of one that consists of others that are made alike, as one of all
 * cores, these in its stead, where bursts of them take little of max_s: what each of them does tells what becomes of the
 * whole, and not the other way round.  Into device (BESIDE_MOST); how many. */
uint32_t beside_choose(const struct beside_devices *x, uint32_t *device);

/* A burst of each single device of the reference now.  RUN_FAILED: *lost, a place in x->single, cannot run any more. */
enum run_status beside_look(struct beside *x, int *lost, struct err *e) MUST_CHECK;

/* What is to be measured. */
struct beside_run {
	struct runnable run;
	/* Predicted seconds with each device slow (k) times as slow as usual; NULL: as usual; 0: nobody knows.  NULL: the
	 * same. */
	double (*predict)(void *ctx, const double *slow);
	void *ctx;
};

struct beside_result {
	struct measurement
		m; /* sample_s as they came; lat: what it takes while the reference takes ref_s */
	double ref_s; /* of the reference's bursts around it; 0: there is none */
	int lost;     /* of RUN_FAILED: the place in x->single of what failed; -1: the placement */
};

/* Options as measure_runs has them: min_runs, max_runs and ci are of the placement's runs, max_s is for all of it but the first burst
 * of the reference.  The paper's rule, and variables that keep values from run to run, take all runs in one burst.  Memory from a. */
enum run_status beside_measure(struct beside *x, const struct beside_run *r,
			       const struct measure_options *o, struct arena *a,
			       struct beside_result *out, struct err *e) MUST_CHECK;

#endif
