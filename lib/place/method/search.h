/* search.h - parts of methods that others use, too: random placements, HEFT, its refinement.
 * All respect what a device cannot run and depend on the seed alone. */
#ifndef HSDAG_PLACE_METHOD_SEARCH_H
#define HSDAG_PLACE_METHOD_SEARCH_H

#include "place/simulate/evaluate.h"

/* Sample `index` of random search.  biased: first a preference for each device is
 * drawn (exponentials of unit rate: uniform on the simplex), then each set's
 * device with it; else all devices are equally likely.  A set takes a device that
 * can run it (any, when none can), with all sets that share its device.  device (n_sets). */
void search_random(const struct place_model *m, uint64_t seed, uint32_t index, bool biased,
		   uint16_t *device);

/* HEFT: tasks in order of upward rank, each to the device on which it ends first,
 * insertion into idle gaps allowed; links carry any number of copies at once
 * (Topcuoglu, Hariri, Wu 2002, section 4.2).  Devices without a link from a
 * needed tensor are not considered.  *makespan_s: of HEFT's own schedule.
 * -1 (ST_RUNTIME) when a task has no device left. */
int search_heft(const struct place_model *m, uint16_t *device, double *makespan_s,
		struct err *e) MUST_CHECK;

/* Hill climbing from device (n_sets) on the schedules of sched/order.h, with at most `evals` of
 * them and, budget_s > 0, about so many seconds; one task or a patch of connected ones changes its
 * device at a time, with the sets that share it.  device becomes the best, of *makespan_s.  What
 * is over its memory, or apart and should not be, is repaired first; *makespan_s is left alone
 * when that fails, and under rules without a schedule. */
void search_refine(const struct place_model *m, uint64_t seed, uint64_t evals, double budget_s,
		   uint16_t *device, double *makespan_s);

#endif
