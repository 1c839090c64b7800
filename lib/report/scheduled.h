/* scheduled.h - placements of a stream whose runs tell a schedule (devrun or devsim --schedule): what is shown beside the
 * answer. */
#ifndef HSDAG_REPORT_SCHEDULED_H
#define HSDAG_REPORT_SCHEDULED_H

#include "record/placerec.h"
#include "record/runrec.h"

enum { SCHEDULED_MOST = 12 };

struct scheduled {
	struct rec *place, *run; /* owned; of a final `best` record both are this one */
	double lat_s;
	bool simulated, elsewhere; /* elsewhere: of another stream than the answer */
};

/* The fastest SCHEDULED_MOST, in their order; of more, how many were left out. */
struct scheduled_list {
	struct scheduled item[SCHEDULED_MOST];
	uint32_t n, n_left_out;
	struct rec *waiting; /* the last placement, whose run may come */
};

/* Take note of a record; only place, run and best matter.  -1: ST_RUNTIME, no memory; ST_INPUT, malformed. */
int scheduled_take(struct scheduled_list *x, const struct rec *r, bool elsewhere,
		   struct err *e) MUST_CHECK;
void scheduled_release(struct scheduled_list *x);

#endif
