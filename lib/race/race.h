/* race.h - which of several placements is the fastest on a machine that is not at rest.
 *
 * Arms are placements; what runs them is the caller's.  Time is spent in blocks: bursts of runs of
 * a few arms in turn, in a drawn order.  In every block are the arm that leads, the best start, and
 * in most of them the reference (the best single device), so that arms are compared with what ran
 * beside them.  block_effects.h tells the arms' effects from the blocks'.
 *
 * - A burst's first run is not counted: another placement left the caches.  Its value is the
 *   logarithm of the median of the others.  Of long runs, which hardly notice, one is a burst.
 * - An arm leaves when it is certainly slower than the best: after RACE_LEAST bursts in blocks that
 *   were not disturbed, over a tenth of the budget, and by an interval that holds however often it is looked at (normal mixture
 *   boundary: Robbins 1970; Howard, Ramdas, McAuliffe, Sekhon 2021, "Time-uniform, nonparametric,
 *   nonasymptotic confidence sequences", eq. 14).  No arm wins with fewer bursts than these.
 *   When later blocks tell that earlier ones were disturbed, it comes back.  The best arm of each
 *   group of arms that use the same devices never leaves, as what disturbs one group for a while
 *   does not disturb another.
 * - Of the arms that are left those run next that are best in a draw from what is known of each
 *   (Thompson sampling; Russo 2020, "Simple Bayesian algorithms for best-arm identification").
 *   Estimates are shrunk to what was predicted, as far as predictions proved to be right.
 * - Starts are arms that others must beat.  The last part of the budget runs the arm that leads
 *   beside the best start.  What is handed over is the best arm that is certainly as fast as the best
 *   start, else this start.
 *
 * The budget is in the source's own seconds, so that a source may play a virtual machine. */
#ifndef HSDAG_RACE_RACE_H
#define HSDAG_RACE_RACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "stats/interval.h"

enum { RACE_LEAST = 4 };      /* bursts before an arm may leave or win */
enum { RACE_MOST_BURST = 8 }; /* runs of a burst */

struct race_source {
	void *ctx;
	/* Run arm n times in a row in a block, numbered from 0, and tell the seconds of each: 1; 0: it
	 * cannot run; -1: the end. */
	int (*burst)(void *ctx, uint32_t arm, uint32_t block, uint32_t n, double *run_s,
		     struct err *e);
	/* The logarithm of how much longer than otherwise the arm took in that block, as far as that
	 * is known by other means, and is not so for all arms alike.  It may change as the race goes
	 * on.  draw (n_draws), unless NULL: the same under each of so many suppositions, whose spread
	 * tells how sure it is.  NULL: nothing is known. */
	double (*excess)(void *ctx, uint32_t arm, uint32_t block, double *draw);
	/* Seconds spent so far, on whatever. */
	double (*spent_s)(void *ctx);
	uint32_t n_draws;
};

struct race_options {
	double budget_s;    /* from what spent_s says when the race begins */
	double final_share; /* of the budget, for the leading arm beside the best start */
	double tolerance;   /* the race ends when nothing is faster by more than this share */
	uint32_t block;     /* arms in one block, 3 at least */
	/* All arms are to run once before any runs more often, as what counts is what many of them
	 * take, and not which is the fastest. */
	bool explore;
	uint64_t seed;
};
#define RACE_OPTIONS_INIT \
	{ \
		.budget_s = 10, .final_share = 0.25, .tolerance = 0.003, .block = 8, .seed = 1 \
	}

enum race_state {
	RACE_WAITING, /* has not run: there was no time for it yet */
	RACE_LIVE,
	RACE_OUT, /* slower than another, by the boundary above */
	RACE_FAILED
};

struct race_arm {
	enum race_state state;
	bool start;
	uint32_t group;            /* arms of one group use the same devices */
	double first_s, last_s;    /* of the budget: when its first and last bursts began */
	double predicted_s;        /* 0: nobody said */
	uint32_t n_bursts, n_runs; /* that count */
	uint32_t n_clean;          /* bursts in blocks that were not disturbed */
	double effect, se;         /* of the logarithm of its time, and its standard error */
	double fast;               /* the faster quarter of its bursts ends there */
	double shrunk, shrunk_se;
};

struct race_result {
	int winner;     /* -1: no arm could run */
	int best_start; /* -1: no start could run */
	int leader; /* what leads, sure or not; the winner, or an arm that is not surely better */
	struct interval
		over_start; /* time of the leader over that of the best start, paired; 1 for itself */
	struct interval
		over_reference; /* time of the winner over the reference's; 0: no reference */
	double lat_s;           /* of the winner, in the median block */
	uint32_t n_blocks, n_disturbed;
	double noise; /* standard deviation of a burst's logarithm within blocks; 0: too few to tell */
	double drift; /* half the range of the middle 95 % of the blocks' effects */
	bool settled; /* more time would not change it: nothing live is faster by `tolerance` */
};

struct race;

/* The source is borrowed. */
struct race *race_new(const struct race_options *o, const struct race_source *source);
void race_free(struct race *x);

/* What is known of an arm before it runs. */
struct race_entry {
	bool start;
	uint32_t group;     /* any number that tells the devices that it uses */
	double predicted_s; /* 0: nobody said */
};

/* One more arm, numbered from 0, also between calls of race_run.  Arm 0 is the reference and a
 * start; one that cannot run is none. */
uint32_t race_add(struct race *x, const struct race_entry *entry);

/* Before the first call of race_run: arm i took exp(log_s) seconds, in a block of earlier runs; blocks ascend from 0, and each
 * has an arm of an earlier one. */
void race_seen(struct race *x, uint32_t i, uint32_t block, double log_s);

/* Run blocks, one at least, until so many seconds of the budget are spent.  1: settled before; 0: the time is
 * over; -1: the source said so. */
int race_run(struct race *x, double until_s, struct err *e) MUST_CHECK;

/* The rest of the budget, final included, and what comes of it. */
int race_finish(struct race *x, struct race_result *out, struct err *e) MUST_CHECK;

const struct race_arm *race_arm(const struct race *x, uint32_t i);
/* Time of arm i over that of arm j in blocks that both ran in, without disturbed ones when there are
 * others: the Huber mean of the logarithms and its 95 % interval, as a ratio; false: none did.  The
 * interval holds what the source's corrections may be off by, which more blocks do not cure. */
bool race_ratio(const struct race *x, uint32_t i, uint32_t j, struct interval *out);
/* The same where both have RACE_ENOUGH bursts; with fewer, what is believed of the two arms (belief.h),
 * for which all others, and what was predicted, have a say: an interval of a few pairs is so wide
 * that nothing is sure, where ten arms that ran as seldom say the same.  With one burst of either, or where no arm ran
 * often enough to tell how much bursts vary, from 0 to infinity. */
enum { RACE_ENOUGH = 10 };
bool race_claim(const struct race *x, uint32_t i, uint32_t j, struct interval *out);
/* race_claim of two arms neither of which is one of many: the others have no say, and the ratio of j to i is its inverse. */
bool race_between(const struct race *x, uint32_t i, uint32_t j, struct interval *out);
/* By which an arm goes before a start or the single device: as race_ratio, but wider than the bursts' interval by one
 * standard error of the corrections alone, what they are usually off by.  To ask for all that they may be off by would keep what is behind, where corrections are large, more often than it
 * would save what is not. */
bool race_usual(const struct race *x, uint32_t i, uint32_t j, struct interval *out);

#endif
