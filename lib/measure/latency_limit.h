/* latency_limit.h - a comparison by rates under a limit of latency (in_flight.limit_s): how many requests each placement has at
 * once, who takes part, and who is handed over in the end. */
#ifndef HSDAG_MEASURE_LATENCY_LIMIT_H
#define HSDAG_MEASURE_LATENCY_LIMIT_H

#include "measure/session.h"

/* Single devices 0 .. k-1, then candidates; everything is borrowed. */
struct limited {
	struct session *s;
	uint32_t k, n;
	struct trial *const *trial; /* (n) */
	struct plan_run *run;       /* (n) */
	bool *in;                   /* (n) true: it has a plan, and takes part */
	const uint32_t *order;      /* (n) in which they are tried */
};

/* Before the comparison: each has as many requests at once as keep the limit (served.n), by short runs of its own.  What keeps it with
 * no number leaves, with the reason in its trial; where nothing keeps it, everything takes part with one request at once, but
 * replicas, which have more.  What there is no time for leaves, too.  -1: the output's reader has gone. */
int limited_open(const struct limited *x, struct err *e) MUST_CHECK;

/* Do 95 % of what it ran in the comparison keep the limit? */
bool limited_keeps(const struct limited *x, uint32_t i);

/* Behind it: may `winner` (a place; -1: the reference) be handed over, and what was claimed of it be said?  Where it does not keep the
 * limit, or the reference does not, which its claim is about, nothing is claimed: *reference becomes the fastest single device that
 * keeps it, -1 where none does, *winner the candidate that is handed over in its place, or -1.  Of those that keep the limit that
 * is the winner, else the reference, else the fastest; where none does, the one of the least latency, single device or candidate.
 * Ratios to another reference are no longer told.  True: claims stand. */
bool limited_settle(const struct limited *x, int *reference, int *winner);

/* Where nothing kept the limit in the comparison, as its runs took longer than those that chose the numbers: those that can have fewer
 * requests at once have fewer, and what was counted so far is forgotten.  False: all is as it was. */
bool limited_fewer(const struct limited *x);

#endif
