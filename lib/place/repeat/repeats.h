/* repeats.h - blocks of a graph that follow each other and that the simulator cannot tell apart: the
 * layers of a network.  Names do not matter, and neither do types: tasks are alike where each device takes as
 * long for them, they hold as much there, and they make and read as much. */
#ifndef HSDAG_PLACE_REPEAT_REPEATS_H
#define HSDAG_PLACE_REPEAT_REPEATS_H

#include "place/problem/placemodel.h"

/* Blocks one after the other in the sequence: block b has positions first + b period .. , its task of role j is that at
 * first + b period + j. */
struct repeat_run {
	uint32_t first, period, n; /* n: blocks, LEAST_BLOCKS and more */
};

struct repeats {
	uint32_t n;
	struct repeat_run *run; /* (n) by ascending positions; they do not overlap */
	uint32_t *task;         /* (tasks) a topological order, in which blocks are consecutive */
	uint32_t *at;           /* (tasks) the position of a task in it */
	uint32_t *of;           /* (tasks) the run of a task; n: it is in none */
	uint32_t covered;       /* tasks that are in runs */
};

/* Find them in about n log n steps; x->n is 0 where they are less than half of the graph.  Memory from a. */
void repeats_find(struct repeats *x, const struct place_model *m, struct arena *a);
/* Are there any, in a model that a method about them can be asked of: one case, by the schedule's rules? */
bool repeats_are_there(const struct place_model *m);

#endif
