/* interleaved.h - many placements measured in interleaved rounds: all are planned, and each
 * round has a burst of each of them.
 *
 * A core whose other half somebody else uses is slow for a second or so, which is as long as it
 * takes to measure one placement alone.  The runs of a round lie as far apart as a round is long,
 * so that such a time is seen in a few runs of all placements, not in all runs of a few. */
#ifndef HSDAG_MEASURE_INTERLEAVED_H
#define HSDAG_MEASURE_INTERLEAVED_H

#include "measure/session.h"

/* Measure t[n] with `rounds` samples each, the medians of bursts (burst.h), after the single devices and
 * with the best of them as one more in every round (ref_s).  The order in each round is drawn from the session's seed.  Plans of all n are kept at once.  Otherwise as
 * session_measure. */
int interleaved_measure(struct session *s, struct trial *t, uint32_t n, uint32_t rounds,
			struct arena *a, struct err *e) MUST_CHECK;

#endif
