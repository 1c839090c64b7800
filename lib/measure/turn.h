/* turn.h - placements that wait, and what becomes of them: `run` records, or with
 * --paired one final `best` record.
 *
 * A turn is measured when nobody else computes: at the end of an episode or of the stream. */
#ifndef HSDAG_MEASURE_TURN_H
#define HSDAG_MEASURE_TURN_H

#include "measure/session.h"
#include "record/placerec.h"
#include "stream/rec.h"

/* One placement that waits. */
struct pending {
	struct placement place;
	uint32_t *slot;         /* (place.k) the session's device */
	uint32_t n_groups;      /* of a `best` record */
	const uint16_t *device; /* (n_sets) index into the session's devices */
};

struct turn {
	struct pending *queue;
	size_t n, cap;
	uint16_t *last; /* (n_sets) what ran last, for turn_last; NULL: nothing yet */
	size_t cap_last;
	struct arena *arena; /* of what waits; reset when it was measured */
};

void turn_init(struct turn *t);
void turn_reset(struct turn *t);
void turn_release(struct turn *t);

/* Decode a `place` or `best` record about graph g and put it last.  turn_assign then says
 * where its devices are among those of a session; both ST_INPUT. */
int turn_take(struct turn *t, const struct rec *r, const struct graph *g, struct err *e) MUST_CHECK;
int turn_assign(struct turn *t, const struct session *s, const struct rec *r,
		struct err *e) MUST_CHECK;

/* Measure all that waits and write one `run` record each. */
int turn_measure(struct turn *t, struct session *s, struct rec_writer *w, struct err *e) MUST_CHECK;

/* The verdict (verdict.h) over all that waits: `run` records of the single devices and of the
 * candidates, and the final `best` record. */
int turn_judge(struct turn *t, struct session *s, struct rec_writer *w, struct err *e) MUST_CHECK;

#endif
