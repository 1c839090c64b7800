/* raced.h - what competed in a race: every start and the best of each other source, as predicted
 * and as measured beside each other, and whether more time would change the answer. */
#ifndef HSDAG_REPORT_RACED_H
#define HSDAG_REPORT_RACED_H

#include <stdio.h>

#include "record/placerec.h"
#include "record/runrec.h"

struct raced_one {
	struct rollout_id id;
	char *source; /* owned */
	double lat_s, hi_s, lo_s, ratio, predicted_s;
	bool has_ratio;
	double limit_s, p95_s; /* of requests in flight; limit_s 0: there is none */
	uint32_t requests, n_runs;
	struct contest_turns turns;
	bool has_error; /* of its outputs, where there is a limit */
	double error;
	bool is_out; /* it is beyond that, and did not run */
};

/* Of the last race of a stream, and of the one before it. */
struct raced {
	struct raced_one *v, *before; /* (n), (n_before) */
	size_t n, cap, n_before;
	uint32_t n_untried, n_left; /* no time; slower in an earlier race */
	struct raced_one *out;      /* (n_out) beyond a limit of error */
	size_t n_out, cap_out;
	bool over; /* its final `best` record has come */
};

void raced_release(struct raced *x);
/* Take note of a run with RUN_SAMPLE, RUN_STEP, RUN_SOURCE, RUN_LATENCY, RUN_INTERVAL, RUN_RATIO,
 * RUN_TURNS, RUN_FLIGHT and RUN_ERROR. */
void raced_take(struct raced *x, const struct run_rec *run);
/* A final `best` record has come. */
void raced_end(struct raced *x);

/* The table, the lines on the machine, and the one on more time.  decided: the verdict is not that nobody can tell.  answer: what was handed over;
 * last_gain, n_episodes: the episode of the search in which its best came, 0: not known. */
void raced_print(FILE *out, const struct raced *x, const struct contest_race_facts *race,
		 bool decided, const struct place_rec *answer, uint64_t last_gain,
		 uint64_t n_episodes);

#endif
