/* measure.h - plans as something to be timed (timing/runnable.h). */
#ifndef HSDAG_MEASURE_MEASURE_H
#define HSDAG_MEASURE_MEASURE_H

#include "exec/executor.h"
#include "measure/core_speed.h"
#include "measure/in_flight.h"
#include "timing/measurement.h"

/* A plan on an executor; both are borrowed, as is core_speed, which samples beside runs that ask
 * for pulses (CORE_SPEED_KINDS of them; NULL: none may ask). */
struct plan_run {
	struct executor *x;
	struct plan *plan;
	struct core_speed *core_speed;
	/* Borrowed; of a plan for several requests (plan.next_request), else not looked at. */
	struct in_flight *flight;
	struct served *served;
};

/* r is borrowed.  A run fails when a device does, and ends all when the executor is not alive any
 * more. */
struct runnable plan_runnable(struct plan_run *r);

/* What an inference of each case took in the runs of p so far, medians of the last ones, from a; how many cases: 0 where p has no
 * cases, or has not run. */
uint32_t plan_case_times(const struct plan *p, struct arena *a, double **case_s);

/* Measure a plan, runs in a row.  Memory from a. */
int measure_plan(struct plan_run *run, uint32_t k, const struct measure_options *o, struct arena *a,
		 struct measurement *out, struct err *e) MUST_CHECK;

#endif
