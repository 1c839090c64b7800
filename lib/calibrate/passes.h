/* passes.h - the next pass of a calibration: which placements run together in which call of
 * devrun, and how many rounds.
 *
 * A pass is over all placements, or over those near the best alone: to put a slow placement in
 * its rank few runs are enough; the good ones are close to each other and take a small part of
 * the time.  Passes over all get 35 % of it.  Near is what is within 1.7 times of the best by
 * either statistic: what is good within the judged limit of 1.5 is so rarely missed, and
 * predictions have no say.  In every call are the single devices and four other placements; the
 * rest is dealt anew each pass. */
#ifndef HSDAG_CALIBRATE_PASSES_H
#define HSDAG_CALIBRATE_PASSES_H

#include "base/tabfile.h"
#include "calibrate/run_list.h"

struct pass_options {
	int64_t pass;   /* which it will be, from 1 */
	int64_t seed;   /* of the deal */
	int64_t chunk;  /* placements of a call, beside those in every call */
	int64_t rounds; /* of this pass, which then is over all; 0: what the time allows */
	double left_s;  /* that measuring may still take */
	double spent_all_s, spent_near_s; /* on passes of either kind so far */
};

struct pass {
	bool near; /* over those near the best; else over all */
	uint32_t rounds, n_calls;
	double about_s;             /* what it takes */
	uint32_t n_always, *always; /* (n_always) placements in every call, from 0 */
	uint32_t n, *placement;     /* (n) the others, in the order of the calls */
};

/* From what the placements should take, and their times so far (a file of placement_times.h; NULL:
 * none are known).  Memory from a. */
int pass_plan(const struct run_list *predicted, const char *so_far, const struct pass_options *o,
	      struct arena *a, struct pass *out, struct err *e) MUST_CHECK;

/* "all|near ROUNDS SECONDS", then the placements of each call, from 1, with commas between them. */
void pass_print(const struct pass *p, FILE *out);

#endif
