/* measured_schedule.h - when the sets of a placement ran, and when what they made went to other
 * devices, in one run of a plan: what a timeline shows.  Predicted schedules are devsim's
 * (place/simulate). */
#ifndef HSDAG_MEASURE_MEASURED_SCHEDULE_H
#define HSDAG_MEASURE_MEASURED_SCHEDULE_H

#include "exec/executor.h"
#include "record/runrec.h"

/* Run plan p of sets on device (n_sets), which `by` has made, a few times, and keep the run whose
 * latency is nearest to lat_s; columns of *out from a.  Devices are the plan's.
 *
 * A set has an entry for each task that ran a part of it.  A task of several sets is shared out among
 * them in proportion to the planned durations of their steps, in the order of the steps.  Steps of
 * devices that queue are waited for one by one, so that such a run takes longer than others.  A
 * tensor that is read where it lies (plan.n_in_host) is a copy that takes no time.  The model's
 * inputs are no copies.  -1: a device failed (ST_RUNTIME). */
int schedule_measure(struct executor *x, const struct planner *by, struct plan *p,
		     const uint16_t *device, double lat_s, struct arena *a,
		     struct run_schedule *out, struct err *e) MUST_CHECK;

#endif
