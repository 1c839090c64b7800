/* planned_costs.h - the planner's costs, taken from a profile's records instead of guessed: the
 * schedule that a plan keeps to is then the one that devsim predicts from the same records. */
#ifndef HSDAG_PROFILE_PLANNED_COSTS_H
#define HSDAG_PROFILE_PLANNED_COSTS_H

#include "measure/session.h"
#include "record/devrec.h"

/* From a `cost` record about s's graph, and the links of devs: the planner's durations of steps (a
 * set's, in proportion to the guesses of its steps) and links, where the records know the devices
 * by their names, and whether copies overlap; elsewhere guesses remain.  Afterwards s->has_costs,
 * when all devices are known.  -1 (ST_INPUT): the record is malformed or about another graph. */
int session_plan_costs(struct session *s, const struct rec *cost, const struct devs *devs,
		       struct err *e) MUST_CHECK;

/* Of that record only whether copies overlap: a profile that becomes part of a mean has them as those
 * before it. */
int session_plan_overlap(struct session *s, const struct rec *cost, struct err *e) MUST_CHECK;

#endif
