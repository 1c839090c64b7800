/* heft.h - HEFT's placement, for methods that begin with it. */
#ifndef HSDAG_PLACE_HEURISTIC_HEFT_H
#define HSDAG_PLACE_HEURISTIC_HEFT_H

#include "place/simulate/evaluate.h"

/* HEFT: tasks in order of upward rank, each to the device on which it ends first,
 * insertion into idle gaps allowed; links carry any number of copies at once
 * (Topcuoglu, Hariri, Wu 2002, section 4.2).  Devices without a link from a
 * needed tensor are not considered.  deadline_s: as in struct listsched.  *makespan_s: of HEFT's own
 * schedule.
 * -1 (ST_RUNTIME) when a task has no device left. */
int heft_placement(const struct place_model *m, double deadline_s, uint16_t *device,
		   double *makespan_s, struct err *e) MUST_CHECK;

#endif
