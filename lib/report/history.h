/* history.h - how an answer came about, as its stream tells it: the programs, the episodes of the
 * search, and what took part in the last comparison. */
#ifndef HSDAG_REPORT_HISTORY_H
#define HSDAG_REPORT_HISTORY_H

#include "record/updaterec.h"
#include "report/answer.h"

/* A participant of the last comparison in pairs (devrun paired). */
struct compared {
	const char *source;
	bool single;     /* a device alone */
	uint32_t sample; /* of a single device, its number */
	uint32_t n_runs;
	struct measured m;
};

struct history {
	struct rec *hdr; /* owned; NULL: none was read */
	struct update_rec *update;
	size_t n_updates, cap_updates;
	struct compared *compared; /* of the last final `best` record; empty without one */
	size_t n_compared;
	/* While records come: those since the last final one. */
	struct compared *waiting;
	size_t n_waiting, cap_waiting;
	struct arena *arena;
};

void history_init(struct history *h);
void history_release(struct history *h);
/* Take note of a record.  -1: it is malformed, or there is no memory. */
int history_take(struct history *h, const struct rec *r, struct err *e) MUST_CHECK;

#endif
