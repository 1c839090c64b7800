/* measurement.h - how long something takes, and how sure that is.
 *
 * Disturbances of a machine only ever add time, now and then much of it: the
 * estimate is the median, and its 95 % interval comes from order statistics, which
 * assume nothing about the distribution. */
#ifndef HSDAG_TIMING_MEASUREMENT_H
#define HSDAG_TIMING_MEASUREMENT_H

#include <signal.h>
#include <stdbool.h>

#include "base/mem.h"
#include "stats/interval.h"
#include "timing/runnable.h"

struct measure_options {
	int64_t warmup; /* inferences that are not counted */
	int64_t min_runs, max_runs;
	double ci;       /* enough when the interval is this narrow: half of it over the estimate */
	double max_s;    /* ... or when this much time is spent, warm-up included, min_runs aside */
	bool keep_state; /* variables keep their values from run to run of a placement */
	bool paper;      /* 10 runs, the mean of the last 5 (the paper, section 3.1) */
	double limit_s;  /* an inference that takes longer is ended: it fails; 0: none is */
	/* Of a contest: seconds of a race (race/contest_race.h), 0: rounds; how many of its first
	 * candidates are starts */
	double race_s;
	int64_t starts;
	uint64_t race_seed;
	bool explore; /* race_options.explore */
	/* Hears once a second how a race stands: placements that ran, the fastest one's seconds, those of the
	 * reference, 0 without one, and (k) each device's busy seconds in a run of the fastest; NULL: nobody does. */
	void (*hear_standing)(uint32_t n, double best_s, double reference_s, uint32_t k,
			      const double *busy_s);
	double hear_by; /* hear_standing's seconds are those of a run times this; 0: of a run */
	/* Not 0: what is being measured ends with what it has, as soon as something counts; NULL: never.  Not of rounds and
	 * races. */
	const volatile sig_atomic_t *interrupted;
};
#define MEASURE_DEFAULT \
	{ \
		1, 6, 50, 0.02, 1.0, false, false, 600, 0, 0, 1, false, NULL, 0, NULL \
	}

static inline bool measure_interrupted(const struct measure_options *o)
{
	return o->interrupted && *o->interrupted;
}

/* Did a run fail because of that?  Then what counts before it stays, if anything does, and the error is forgotten. */
static inline bool measure_cut_short(const struct measure_options *o, enum run_status status,
				     uint32_t n, struct err *e)
{
	if (status != RUN_FAILED || n == 0 || !measure_interrupted(o))
		return false;
	err_clear(e);
	return true;
}

/* As it goes on a record: positive, finite. */
struct interval interval_clip(struct interval i);

struct measurement {
	struct interval lat;
	uint32_t n;       /* samples */
	double *sample_s; /* (n) */
	double *busy_s;   /* (k) of the last run; of rounds: of the fastest */
	double *pulse_s;  /* (n, k, n_pulses) of rounds, when asked for (rounds.h); else NULL */
};

/* Measure r, runs in a row, on k devices.  Memory from a. */
enum run_status measure_runs(const struct runnable *r, uint32_t k, const struct measure_options *o,
			     struct arena *a, struct measurement *out, struct err *e) MUST_CHECK;

#endif
