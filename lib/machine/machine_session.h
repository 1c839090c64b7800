/* machine_session.h - placements measured on a machine that is played, as devrun measures them on
 * devices: waiting until an episode or the stream ends, one after another with the best single
 * device in between, or in a contest with it; and the records of it, devrun's with the clock. */
#ifndef HSDAG_MACHINE_MACHINE_SESSION_H
#define HSDAG_MACHINE_MACHINE_SESSION_H

#include "machine/machine.h"
#include "record/placerec.h"
#include "timing/measurement.h"

struct machine_session;

/* The machine and names (k) of its devices are borrowed. */
struct machine_session *machine_session_new(struct machine *x, const struct place_model *m,
					    const struct measure_options *o);
void machine_session_free(struct machine_session *s);

/* One more that waits; n_groups as in a `best` record, 0: from a `place` record.  Copied. */
void machine_session_add(struct machine_session *s, const struct place_rec *p, uint32_t n_groups);
/* A placement that waits was in an earlier race, of which r is the run record. */
int machine_session_note(struct machine_session *s, const struct rec *r, struct err *e) MUST_CHECK;
uint32_t machine_session_waiting(const struct machine_session *s);
void machine_session_drop(struct machine_session *s);

/* Run what waits and write a `run` record of each. */
int machine_session_measure(struct machine_session *s, struct rec_writer *w,
			    struct err *e) MUST_CHECK;
/* What each would take if nothing happened, as `run` records; the clock stays. */
int machine_session_tell(struct machine_session *s, struct rec_writer *w, struct err *e) MUST_CHECK;
/* The contest (timing/contest.h) of single devices with all that wait: their `run` records, and the
 * final `best` record. */
int machine_session_compare(struct machine_session *s, struct rec_writer *w,
			    struct err *e) MUST_CHECK;

#endif
