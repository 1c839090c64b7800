/* evaluators.h - evaluators of one model that wait for their next user: to set one up costs as much
 * as many evaluations, and what one says does not depend on what it was asked before. */
#ifndef HSDAG_PLACE_SIMULATE_EVALUATORS_H
#define HSDAG_PLACE_SIMULATE_EVALUATORS_H

#include "place/simulate/evaluate.h"

struct evaluators;

/* None at first; m is borrowed. */
struct evaluators *evaluators_new(const struct place_model *m);
/* With all that are back. */
void evaluators_free(struct evaluators *x);

/* One for the caller alone, until it is put back; from any thread. */
struct evaluator *evaluators_take(struct evaluators *x);
void evaluators_put(struct evaluators *x, struct evaluator *ev);

#endif
