/* rounds.h - runnables compared in rounds: every round has a burst (burst.h) of each of them, so that what
 * disturbs the machine for a while disturbs all of them alike.
 *
 * The order within a round is reversed in every second one, or drawn for every round, so that
 * the same slow moment meets other participants in each.  How many rounds there are is
 * settled from the time that the warm-up takes, before any result is known: to stop
 * when an interval happens to be narrow would make intervals too narrow. */
#ifndef HSDAG_TIMING_ROUNDS_H
#define HSDAG_TIMING_ROUNDS_H

#include "timing/measurement.h"

struct participant {
	struct runnable run;
	bool may_drop; /* leaves early when it is clearly slower than its like */
	bool failed, dropped;
	char reason[sizeof((struct err *)0)->msg]; /* when failed */
	struct measurement
		m; /* sample i is the median of round i's burst, until it fails or is dropped */
};

struct rounds_options {
	int64_t warmup;  /* runs of each that are not counted; one at least is made */
	uint32_t least;  /* rounds, whatever the time they take */
	uint32_t enough; /* rounds, when max_s allows */
	uint32_t most;   /* rounds, when quick_s allows */
	double max_s, quick_s;
	bool shuffle; /* a random order in every round, drawn from seed */
	uint64_t seed;
	uint32_t n_pulses; /* asked of every run; 0: none are */
};

/* Measure t[n] on k devices; memory from a.  A participant that fails leaves with a reason.  -1: the
 * program is to end. */
int measure_rounds(struct participant *t, uint32_t n, uint32_t k, const struct rounds_options *o,
		   struct arena *a, struct err *e) MUST_CHECK;

/* Latency of p over latency of ref: the median of the ratios of the rounds that both have (one
 * at least), and its 95 % interval by order statistics. */
struct interval rounds_ratio(const struct measurement *p, const struct measurement *ref);

#endif
