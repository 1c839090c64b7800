/* verdict.h - the last comparison before anything is claimed, on a session's devices. */
#ifndef HSDAG_MEASURE_VERDICT_H
#define HSDAG_MEASURE_VERDICT_H

#include "measure/session.h"

struct verdict {
	struct trial *single; /* (k) every device alone, in the final's rounds */
	int reference;        /* the fastest of them there; -1: none can run the model */
	int winner;           /* a candidate, or -1: the reference itself */
	struct trial final;   /* the winner, or the reference; ratio 1 then */
	uint32_t n_pairs;     /* rounds of the final; of a race: its runs */
	struct contest_race_facts race;
	struct contest_load load;
	/* What may be claimed; its rival is a place in `single` or, from the number of devices on, in the candidates. */
	struct contest_verdict says;
	struct output_difference diff; /* of the winner's outputs to the reference's */
	char not_compared[sizeof((struct err *)0)->msg]; /* why there is no diff; "": there is */
	int compared; /* the device with whose outputs; -1: none */
	char error_of[sizeof((struct device *)0)
			      ->name]; /* under a limit of error: what computed in f32 */
};

/* What an earlier race measured of everything on each device; n may be any number. */
struct past_singles {
	uint32_t n;
	const struct contest_past *past; /* (n) */
};

/* A contest (timing/contest.h) of every single device and of candidates t[n].  A candidate that is
 * all on one device is that device, and never a gain; one that is like an earlier one is that one.
 * The seconds of a race are counted from session_open on.  Results from a.  -1: nothing could run,
 * or the output's reader has gone. */
int verdict_reach(struct session *s, struct trial *t, uint32_t n, const struct past_singles *past,
		  struct arena *a, struct verdict *out, struct err *e) MUST_CHECK;

#endif
