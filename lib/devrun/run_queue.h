/* run_queue.h - placements that wait for their runs, and what becomes of them: `run` records, or with
 * --paired one final `best` record.
 *
 * The queue is measured when no other stage of the pipeline computes: at the end of an episode or of
 * the stream. */
#ifndef HSDAG_DEVRUN_RUN_QUEUE_H
#define HSDAG_DEVRUN_RUN_QUEUE_H

#include "measure/session.h"
#include "record/placerec.h"
#include "stream/rec.h"

/* One placement that waits. */
struct pending {
	struct place_rec place;
	uint32_t *slot;           /* (place.k) the session's device */
	uint32_t n_groups;        /* of a `best` record */
	const uint16_t *device;   /* (n_sets) index into the session's devices */
	bool left;                /* of a race: it left an earlier one, slower than another */
	struct contest_past past; /* of an earlier race */
};

struct run_queue {
	struct pending *waiting;
	size_t n, cap;
	uint16_t *last; /* (1 + last_more, n_sets) what ran last, NULL: nothing yet */
	uint32_t last_more;
	size_t cap_last;
	struct contest_past *single; /* (n_single) of everything on each device */
	size_t n_single, cap_single;
	struct arena *arena; /* of what waits; reset when it was measured */
};

void run_queue_init(struct run_queue *q);
void run_queue_reset(struct run_queue *q);
void run_queue_release(struct run_queue *q);

/* Decode a `place` or `best` record about graph g and put it last.  run_queue_assign then says
 * where its devices are among those of a session; both ST_INPUT. */
int run_queue_add(struct run_queue *q, const struct rec *r, const struct graph *g,
		  struct err *e) MUST_CHECK;
int run_queue_assign(struct run_queue *q, const struct session *s, const struct rec *r,
		     struct err *e) MUST_CHECK;

/* A `run` record of an earlier race, of one that waits: is it still among those that may win, and what was measured of it?
 * devices_same: single devices are numbered as there. */
int run_queue_note(struct run_queue *q, const struct rec *r, bool devices_same,
		   struct err *e) MUST_CHECK;

/* Measure all that waits and write one `run` record each. */
int run_queue_measure(struct run_queue *q, struct session *s, struct rec_writer *w,
		      struct err *e) MUST_CHECK;

/* The verdict (verdict.h) over all that waits: `run` records of the single devices and of the
 * candidates, and the final `best` record. */
int run_queue_compare(struct run_queue *q, struct session *s, struct rec_writer *w,
		      struct err *e) MUST_CHECK;

#endif
