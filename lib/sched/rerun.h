/* rerun.h - runs of placements that differ from the base in a few tasks (checkpoints.h); internal
 * to lib/sched. */
#ifndef HSDAG_SCHED_RERUN_H
#define HSDAG_SCHED_RERUN_H

#include "sched/engine.h"

/* See timeline_rerun, timeline_rebase. */
enum timeline_status engine_rerun(struct engine *e, const uint16_t *device, const uint32_t *task,
				  uint32_t n, double limit_s);
void engine_rebase(struct engine *e);

#endif
