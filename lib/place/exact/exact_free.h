/* exact_free.h - branch and bound over the devices and the order of tasks at once. */
#ifndef HSDAG_PLACE_EXACT_EXACT_FREE_H
#define HSDAG_PLACE_EXACT_EXACT_FREE_H

#include "place/bound/bound_parts.h"

/* More tasks or devices are not searched so. */
enum { FREE_MOST_TASKS = 64, FREE_MOST_DEVICES = 64 };

/* Is the value a makespan in which nothing but the tasks' devices, their order and the time of
 * copies counts: no contention, savings, turns, limits of memory, tasks that stay together? */
bool exact_free_fits(const struct place_units *u);

/* Is such a makespan a lower bound of its values, of which it leaves out all these? */
bool exact_free_relaxes(const struct place_model *m);

struct free_found {
	double best_s;  /* the shortest makespan that is known, `below_s` where none is below it */
	double least_s; /* no schedule is shorter */
	bool better;    /* one below below_s was found */
	uint64_t nodes;
};

/* The shortest schedule of v, for which exact_free_fits, whose makespan is below below_s (INFINITY:
 * any), after at most `limit` nodes and until deadline_s (of clock_s; 0: there is none); least_s: a
 * lower bound that is known.  *out tells; where it is better task_dev (tasks) are the devices and
 * sequence (tasks) the tasks in the order in which devices run them. */
void exact_free_search(const struct bound_view *v, double below_s, double least_s, uint64_t limit,
		       double deadline_s, uint16_t *task_dev, uint32_t *sequence,
		       struct free_found *out);

#endif
