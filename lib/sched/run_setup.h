/* run_setup.h - before and after the events of a run; internal to lib/sched. */
#ifndef HSDAG_SCHED_RUN_SETUP_H
#define HSDAG_SCHED_RUN_SETUP_H

#include "sched/engine.h"

/* A run of placement device (n), from the beginning.  With `as_base` it leaves checkpoints for
 * reruns, if the rules allow that (then checkpoints.n > 0). */
enum timeline_status engine_run(struct engine *e, const uint16_t *device, bool as_base);
/* The state before anything starts. */
void engine_reset(struct engine *e, const uint16_t *device);
/* Is there a link to and from the neighbours of the task at pos, where they are? */
bool engine_can_reach(struct engine *e, uint32_t pos);
/* Seconds that each device computes, into t. */
void engine_busy(struct engine *e);
/* What a run came to, into t. */
void engine_results(struct engine *e);

#endif
