/* memory_plan.h - what placements need of each device's memory, as JSON, before anything runs. */
#ifndef HSDAG_PLACE_MEMORY_PLAN_H
#define HSDAG_PLACE_MEMORY_PLAN_H

#include <stdio.h>

#include "place/simulate/units.h"

/* One placement as an object: source, legal, predicted_s, and of each device, in bytes: memory and usable (without headroom; null:
 * not limited), weights (values that no operation makes, once), tensors (what it makes at the peak beyond these), work (once it
 * runs anything), peak (their sum) and free.  A placement that is no schedule has `why` instead.  headroom: the share of memory
 * that limits of u's model lack. */
void memory_plan_write(FILE *out, struct evaluator *ev, const struct place_units *u,
		       const char *source, const uint16_t *device, double headroom);

#endif
