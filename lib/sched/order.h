/* order.h - in which order each device runs the tasks of a placement: schedules that may leave a
 * device idle when a task that matters more is about to be ready, which the list scheduler of
 * sched.h never does.
 *
 * A schedule is generated serially with insertion, as HEFT's: tasks are taken by priority, among
 * those whose inputs are scheduled, and each goes into the earliest gap of its device that is long
 * enough.  Forward-backward improvement then does the same from the end, tasks that ended last
 * first, and again from the beginning in the order that comes of it.  Each pass pushes work
 * together from one side.
 * K. Y. Li, R. J. Willis: "An iterative scheduling technique for resource-constrained project
 * scheduling", European Journal of Operational Research 56(3), 1992.
 *
 * Copies take their time but do not wait for each other here. */
#ifndef HSDAG_SCHED_ORDER_H
#define HSDAG_SCHED_ORDER_H

#include "sched/schedule.h"

struct orderer;

/* Working memory for d on c->links.k devices; both are borrowed. */
struct orderer *orderer_new(const struct sched_dag *d, const struct sched_costs *c);
void orderer_free(struct orderer *x);

/* The shortest of `rounds` forward schedules of placement device (n), the first by descending
 * rank (n): its makespan, start_s (n) of every task.  Every task can run where it is, and what it
 * reads has a way there.  With rank = -start of another schedule it is not longer than that. */
double orderer_run(struct orderer *x, const uint16_t *device, const double *rank, uint32_t rounds,
		   double *start_s);

/* What keeps the list scheduler to the schedule of the last orderer_run (placement device,
 * start_s): tasks by ascending start, rank[v] = makespan - start_s[v], and the delays
 * delayed_by[v] (n): the task of its device that v waits for, though v could start earlier and the
 * device is idle then; SCHED_NONE: none (sched.h). */
void orderer_delays(struct orderer *x, const uint16_t *device, const double *start_s,
		    double makespan_s, double *rank, uint32_t *delayed_by);

/* ---- an order that is given ---- */

/* The tasks of d in a topological order, sequence (n), which is that of ascending position (n) where
 * this is one: what reads another task comes behind it in any case, and one whose position is
 * SCHED_NONE right behind the last that it reads. */
void order_sequence(const struct sched_dag *d, const uint32_t *position, uint32_t *sequence);

/* What keeps the list scheduler to it: each device runs its tasks of placement device (n) in the
 * order of sequence (n), whatever is ready before.  rank, delayed_by (n): as in timeline_run_in. */
void order_keep(uint32_t n, const uint16_t *device, const uint32_t *sequence, double *rank,
		uint32_t *delayed_by);

#endif
