/* slowed.h - what a placement takes when its devices are slower than their costs say. */
#ifndef HSDAG_SCHED_SLOWED_H
#define HSDAG_SCHED_SLOWED_H

#include "sched/schedule.h"

enum { SLOWED_DRAWS = 8 };

struct slowed;

/* d and c are borrowed, and c->task_s copied; ranks are those of c, as a plan's stay what they were
 * when its devices become slower. */
struct slowed *slowed_new(const struct sched_dag *d, const struct sched_costs *c);
void slowed_free(struct slowed *x);

/* Predicted seconds of a placement (n tasks), in each draw of costs each device slow (SLOWED_DRAWS,k)
 * times as slow as its costs; NULL: as they are.  Links stay as they are.  0: it cannot be carried out, or takes no time.
 *
 * The geometric mean over some costs in which every task's times are wrong by a tenth.  A schedule may
 * become much longer by a small change of a time (Graham 1969, "Bounds on multiprocessing timing
 * anomalies"), and one that a search has found is the shortest for its costs alone: whatever changes,
 * it becomes longer.  log_s (SLOWED_DRAWS) gets the logarithm by each of these costs, unless it is
 * NULL or the result is 0: how far they are apart tells how sure the mean is. */
double slowed_s(struct slowed *x, const uint16_t *device, const double *slow, double *log_s);

/* The same with devices slow (k; NULL: none) in every draw. */
double slowed_by_s(struct slowed *x, const uint16_t *device, const double *slow);

/* The share of each device (k) in the time of all tasks of a placement, copies left out; zeros: they
 * take none. */
void slowed_share(const struct slowed *x, const uint16_t *device, double *share);

#endif
