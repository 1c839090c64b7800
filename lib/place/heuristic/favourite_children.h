/* favourite_children.h - which child of a task should follow it on the same device at once: the
 * first part of SCT, by a linear programme. */
#ifndef HSDAG_PLACE_HEURISTIC_FAVOURITE_CHILDREN_H
#define HSDAG_PLACE_HEURISTIC_FAVOURITE_CHILDREN_H

#include "place/heuristic/listsched.h"

/* favourite (n): a child of each task, SCHED_NONE: none; nobody is the favourite of two.  The
 * linear programme may take budget_s seconds (0: any time).  Where it is too long, the child that
 * each task sends most to, when that child gets from nobody who chose it more.  1: by the
 * programme; 0: it was too long; -1 (ST_RUNTIME): there is no solver.  Memory from a. */
int favourite_children_find(const struct listsched *x, double budget_s, struct arena *a,
			    uint32_t *favourite, struct err *e) MUST_CHECK;

#endif
