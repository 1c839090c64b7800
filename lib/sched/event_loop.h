/* event_loop.h - the run itself; internal to lib/sched. */
#ifndef HSDAG_SCHED_EVENT_LOOP_H
#define HSDAG_SCHED_EVENT_LOOP_H

#include "sched/engine.h"

/* PLAIN: no more than the run.  CHECKPOINT: it becomes the base.  LIMIT: a rerun
 * (checkpoints.h). */
enum engine_mode { ENGINE_PLAIN, ENGINE_CHECKPOINT, ENGINE_LIMIT };

/* From the engine's state to the end. */
void engine_continue(struct engine *e, enum engine_mode mode);

#endif
