/* memory_plan.h - what placements need of each device's memory, as JSON, before anything runs. */
#ifndef HSDAG_PLACE_MEMORY_PLAN_H
#define HSDAG_PLACE_MEMORY_PLAN_H

#include <stdio.h>

#include "place/simulate/units.h"

/* One placement as an object: source, legal, predicted_s, missing (bytes beyond limits, of all devices), and of each device, in
 * bytes: memory (null: not limited), headroom, usable (without it), weights (as it keeps them, once), stored (as the model has
 * these), inputs, variables, tensors (what operations make, at the peak), workspace (scratch that grows with these), work (once it
 * runs anything), peak (the sum but for `stored`), free, and largest, its largest weights, inputs and variables.  Pools have what their
 * devices need together.  A placement that is no schedule has `why` instead. */
void memory_plan_write(FILE *out, struct evaluator *ev, const struct place_units *u,
		       const char *source, const uint16_t *device);

/* The same where a method has no placement, and why: needs is what has to be held at least, each value once where it takes the
 * least, usable what devices have together (null: one is not limited), missing the difference, and the largest values of all. */
void memory_plan_none(FILE *out, const struct place_model *m, const char *source, const char *why);

#endif
