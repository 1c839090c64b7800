/* contest.h - the last comparison before anything is claimed: candidates against the best single
 * device, in rounds of a burst (burst.h) of each.
 *
 * Heats: rounds of every single device and all candidates; the candidate with the smallest
 * ratio goes on.  Final: fresh rounds of every single device and that candidate, for the
 * claim is about measurements that did not choose it.  The reference is the fastest
 * single device of the final; the candidate wins only if ratio.hi < 1, or if no single device
 * can run.  Ratios of the other candidates are to the reference, in the qualifying rounds. */
#ifndef HSDAG_TIMING_CONTEST_H
#define HSDAG_TIMING_CONTEST_H

#include "timing/rounds.h"

/* What a race did with a contestant. */
struct contest_turns {
	uint32_t n_bursts, n_clean; /* bursts that count; those in blocks that were not disturbed */
	bool start;                 /* what others must surely beat */
	bool out;                   /* certainly slower than another */
};

/* How a race went; n_blocks 0: there was none. */
struct contest_race_facts {
	uint32_t n_blocks, n_disturbed;
	double seconds;
	double noise; /* standard deviation of a burst's logarithm within blocks */
	double drift; /* half the range of the middle 95 % of the blocks' effects */
	bool settled; /* more time would not change it */
};

struct contestant {
	struct runnable run;
	uint32_t group;  /* of a race: contest_group */
	uint32_t alike;  /* of a race and a single device: the first that is made like it */
	bool takes_part; /* false: it cannot run, or is a candidate all on one device */
	bool failed;
	char reason[sizeof((struct err *)0)->msg]; /* when failed */
	struct measurement m;                      /* of the last rounds that it was in */
	struct measurement qualifying;             /* n 0: it was in none */
	double ref_s;                              /* the reference in the same rounds */
	struct interval ratio;
	bool has_ratio;
	struct contest_turns turns;
};

struct contest {
	uint32_t k, n;        /* single devices come first, then n - k candidates */
	struct contestant *c; /* (n) */
	/* Of a race: (k,k) the second device is a part of the first, which is as slow as the slowest of
	 * its parts.  NULL: none has parts. */
	const bool *has;
	/* Of a race: the predicted seconds of contestant i by n_draws suppositions on what is not known,
	 * by each of which devices are slow (n_draws, or 1 without draws; k) times as slow as usual, NULL:
	 * as usual; 0: nobody knows.  log_s (n_draws), unless NULL, gets the logarithm by each.  NULL:
	 * nothing is predicted. */
	double (*predict)(void *ctx, uint32_t i, const double *slow, double *log_s);
	uint32_t n_draws;
	/* Of a race: the share of each device (k) in what contestant i computes.  NULL: nobody knows. */
	void (*share)(void *ctx, uint32_t i, double *share);
	void *ctx;
	int reference; /* the fastest single device of the final; -1: none can run */
	int winner;    /* a place in c, >= k; -1: the reference itself */
	struct contest_race_facts race;
};

/* Why a contestant of a race has no measurement: its time was over before. */
extern const char contest_no_time[];
/* ... it was certainly slower in an earlier race. */
extern const char contest_left[];
/* ... a single device, which ran when the reference was chosen. */
extern const char contest_before[];

/* A number that tells which devices a placement of n sets uses. */
uint32_t contest_group(const uint16_t *device, uint32_t n_sets);

/* Fills reference, winner and what was measured.  Memory from a.  -1: the program is to end. */
int contest_run(struct contest *x, const struct measure_options *o, struct arena *a,
		struct err *e) MUST_CHECK;

#endif
