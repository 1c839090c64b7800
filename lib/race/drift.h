/* drift.h - what devices that are made alike, but are not equally fast all the time, do to arms.
 *
 * A core may be slower than its like for longer than a race takes, by as much as half.  What leans on
 * it then looks slow, and what is balanced looks slower than it is, wherever the race is won.  How
 * fast each device is tell bursts of everything on it alone (drift_level.h).  What that does to an arm
 * tells its schedule, predicted for devices that are so fast: where its critical path lies depends on
 * it, and on what its devices really compute (drift_lean.h).
 *
 * Devices may differ for good, too, a little.  A difference that was there all the time and hardly
 * varied is taken for one of these, one that comes and goes, or is large, for drift.  How much of it
 * is for good no race can tell, nor how slow a schedule becomes by a slow device: an excess comes with
 * draws of both.  What is for good is in an arm's own time: its excess is over that.
 *
 * A device that consists of others, as one of all cores, is as slow as the slowest of them, over what
 * that one is for good. */
#ifndef HSDAG_RACE_DRIFT_H
#define HSDAG_RACE_DRIFT_H

#include <stdbool.h>
#include <stdint.h>

struct drift_source {
	void *ctx;
	/* Predicted seconds of an arm by n_draws suppositions on what is not known, by each of which
	 * devices are slow (n_draws, or 1 without draws; k) times as slow as usual; NULL: as usual.
	 * 0: nobody knows.  log_s (n_draws) gets the logarithm by each. */
	double (*predict)(void *ctx, uint32_t arm, const double *slow, double *log_s);
	uint32_t n_draws;
	/* The share of each device (k) in what an arm computes.  NULL: nobody knows. */
	void (*share)(void *ctx, uint32_t arm, double *share);
};

struct drift;

/* For arms 0 .. n-1 on k devices.  has (k,k; borrowed): the second is a part of the first; NULL: none has parts. */
struct drift *drift_new(const struct drift_source *source, uint32_t n, uint32_t k, const bool *has);
void drift_free(struct drift *x);

/* log_slow (k): how much longer each device took in this block than the mean of its like, as a
 * logarithm; 0: it is not followed.  Blocks ascend. */
void drift_add(struct drift *x, uint32_t block, const double *log_slow);

/* What each device (k) computed in a run of an arm in a block, in seconds: drift_lean.h. */
void drift_busy(struct drift *x, uint32_t arm, uint32_t block, const double *busy_s);

/* As race_source.excess; 0 before anything was added. */
double drift_excess(struct drift *x, uint32_t arm, uint32_t block, double *draw);

/* How much faster than the mean of its like the fastest of these devices (k) is for good: the
 * expected logarithm, at most 0, and its standard deviation. */
struct drift_lead {
	double mid, sd;
};
struct drift_lead drift_lead(const struct drift *x, const bool *device);

#endif
