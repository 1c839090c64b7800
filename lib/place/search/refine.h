/* refine.h - hill climbing on schedules, for methods that end with it. */
#ifndef HSDAG_PLACE_SEARCH_REFINE_H
#define HSDAG_PLACE_SEARCH_REFINE_H

#include "place/simulate/evaluate.h"

/* Hill climbing from device (n_sets) on the schedules of sched/order.h, with at most `evals` of
 * them and, budget_s > 0, about so many seconds; one task or a patch of connected ones changes its
 * device at a time, with the sets that share it.  device becomes the best, of *makespan_s.  What
 * is over its memory, or apart and should not be, is repaired first; *makespan_s is left alone
 * when that fails, and under rules without a schedule. */
void refine_placement(const struct place_model *m, uint64_t seed, uint64_t evals, double deadline_s,
		      uint16_t *device, double *makespan_s);

#endif
