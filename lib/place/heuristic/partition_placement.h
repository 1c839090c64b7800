/* partition_placement.h - what methods share that cut the graph into parts and give each a device:
 * devices that take part, the graph, the best way to hand parts out, and a legal placement in the
 * end. */
#ifndef HSDAG_PLACE_HEURISTIC_PARTITION_PLACEMENT_H
#define HSDAG_PLACE_HEURISTIC_PARTITION_PLACEMENT_H

#include "place/method/method.h"
#include "place/method/unittraffic.h"

struct partition_placement {
	struct method_run *r;
	struct place_units u;
	struct unit_traffic w;
	struct group_graph g;   /* of the units */
	struct group_task task; /* for n_parts parts; size, seed, shares, group are filled in */
	/* devices that take part, at most one for each unit; may be 0 or 1 */
	uint32_t n_parts;
	uint16_t *dev;  /* (n_parts) the device that part i was made for */
	double *share;  /* (n_parts) of the weight, sum 1 */
	uint32_t *part; /* (units) for the method to fill; zero at first */
};

/* use (k): devices that may take part; NULL: all.  Those that can run nothing never do.  memory:
 * the graph has the units' memory, when there are limits.  Memory from r->a. */
void partition_placement_init(struct partition_placement *p, struct method_run *r, const bool *use,
			      bool memory);

/* Hand over: parts on their devices; permute: on those, of all permutations (five parts and more:
 * of exchanges that help), on which the placement is worth most.  What is not legal then is
 * repaired.  text: begins the note. */
int partition_placement_answer(struct partition_placement *p, bool permute, const char *text,
			       struct err *e) MUST_CHECK;
/* The same for a method that says of each unit (u.n) where it is. */
int partition_placement_units(struct partition_placement *p, const uint16_t *on, const char *text,
			      struct err *e) MUST_CHECK;

#endif
