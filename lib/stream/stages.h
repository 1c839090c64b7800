/* stages.h - what a stream has, and which programs it came through, so that a program at its end says what was forgotten
 * in front of it.  A loop that ends before its first episode has nothing of what its stages make, and is right. */
#ifndef HSDAG_STREAM_STAGES_H
#define HSDAG_STREAM_STAGES_H

#include "stream/rec.h"

struct stages {
	unsigned kinds;    /* that came since hdr */
	unsigned programs; /* of the chain, behind its last reinforce */
};

enum stage_need {
	NEEDS_PARTS,      /* groups with embeddings */
	NEEDS_PLACEMENTS, /* place */
	NEEDS_CANDIDATES, /* place or best */
	NEEDS_RUNS
};

/* Takes every record of a stream; hdr begins anew. */
void stages_note(struct stages *s, const struct rec *r);

/* At the stream's end.  -1 (ST_INPUT): it has none of what is needed; the message says who makes it. */
int stages_check(const struct stages *s, enum stage_need need, struct err *e) MUST_CHECK;

#endif
