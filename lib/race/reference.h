/* reference.h - the single device that a race compares all others with, chosen before it begins. */
#ifndef HSDAG_RACE_REFERENCE_H
#define HSDAG_RACE_REFERENCE_H

#include "timing/contest.h"

/* What single devices took while the reference was chosen: the logarithm of a run of each in each round. */
struct reference_rounds {
	uint32_t n, k;
	double *log_s; /* (n,k) NAN: it was not in this round; mem_free */
};

/* One run of c into *lat.  As race_source.burst. */
int reference_run(struct contestant *c, double *lat, struct err *e) MUST_CHECK;

/* The fastest of the x->k single devices; *out -1: none can run.  Rounds of short bursts, until what is not like the fastest
 * is surely slower, by differences within rounds: a few where devices are far apart, up to a dozen, and no new round
 * once most_s of the contestants' clock are spent.  -1: the program is to end. */
int reference_choose(struct contest *x, double most_s, struct reference_rounds *rounds, int *out,
		     struct err *e) MUST_CHECK;

#endif
