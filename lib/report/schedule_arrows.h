/* schedule_arrows.h - a run's schedule beside its graph: does it fit the placement, and which entry of
 * it does each copy lead from and to. */
#ifndef HSDAG_REPORT_SCHEDULE_ARROWS_H
#define HSDAG_REPORT_SCHEDULE_ARROWS_H

#include "graph/graph.h"
#include "record/placerec.h"
#include "record/runrec.h"

/* ST_INPUT: a set or device that is not there. */
int schedule_check(const struct run_schedule *s, const struct place_rec *p,
		   struct err *e) MUST_CHECK;

struct schedule_arrows {
	uint32_t *from; /* (n_copies) the entry that made the tensor, GRAPH_NONE: it has none */
	uint32_t *to;   /* (n_copies) the first entry on the copy's device that reads something of
	                     * that set after the copy has begun, GRAPH_NONE: none does */
};
/* Of a schedule that was checked.  Sets without an entry (views) are looked through.  Memory from a. */
struct schedule_arrows schedule_arrows(const struct graph *g, const struct run_schedule *s,
				       const struct place_rec *p, struct arena *a);

#endif
