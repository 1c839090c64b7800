/* ranges.h - which range of its axis each part of each node computes. */
#ifndef HSDAG_SPLIT_RANGES_H
#define HSDAG_SPLIT_RANGES_H

#include "split/split_graph.h"

/* own[n * ways]: what each part of each cut node computes.  It is at least what the parts of its readers
 * need that are cut alike, and where others read it, the shares of plan.  Nodes that cannot be cut
 * so become SPLIT_WHOLE in the plan.  unit[n]: what borders are multiples of. */
void split_ranges(struct split_facts *f, struct split_plan *plan, int64_t *unit,
		  struct split_range *own);

#endif
