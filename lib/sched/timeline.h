/* timeline.h - the list scheduler of sched.h driven by given costs instead of a clock: the
 * predicted schedule of a placement.  This is what devsim runs, and how the
 * executor gets an order for its memory plan.
 *
 * Times that are equal as doubles are one instant.  Work that takes no time ends
 * at the instant at which it starts, and its effects are seen by what is taken
 * after it.  At a sync point (one task alone is running, nothing is being copied) the clock begins
 * anew when that task ends: what comes next depends on what has ended, not on when, to the last
 * bit.
 *
 * Placement after placement of one graph runs on the same memory; nothing is allocated between
 * timeliner_new and timeliner_free, but for SCHED_IMPROVED, SCHED_FREE and timeline_run_in. */
#ifndef HSDAG_SCHED_TIMELINE_H
#define HSDAG_SCHED_TIMELINE_H

#include "sched/schedule.h"

struct timeliner;

/* Working memory for d and c (both borrowed; ranks are computed now). */
struct timeliner *timeliner_new(const struct sched_dag *d, const struct sched_costs *c,
				bool keep_schedule);
void timeliner_free(struct timeliner *x);

/* Schedule a placement (n).  The result is x's own, valid until the next run. */
enum timeline_status timeline_run(struct timeliner *x, const uint16_t *device,
				  const struct timeline **out);

/* The same with tasks by descending rank (n) and delays delayed_by (n): an order that a run of this
 * placement had (timeline's rank and delayed_by), at other costs perhaps; with SCHED_FIFO rank decides
 * ties.  Both have to live until another run begins.  It allocates. */
enum timeline_status timeline_run_in(struct timeliner *x, const uint16_t *device,
				     const double *rank, const uint32_t *delayed_by,
				     const struct timeline **out);

/* For placements that differ in a few tasks from a base (checkpoints.h says how).
 * timeline_run_base: timeline_run, and its placement is the base until the next timeline_run or
 * timeline_rebase; false in *is_base: it cannot be one, because the rules do not allow it or the
 * placement cannot be carried out.
 * timeline_rerun: exactly what timeline_run would say of device, which differs from the base, as
 * costs->task_s does, for the n distinct tasks at most; or TIMELINE_ABOVE as soon as it is certain
 * that the makespan is above limit_s (INFINITY: never).
 * timeline_rebase: the placement of the last timeline_rerun, which could be carried out, becomes
 * the base. */
enum timeline_status timeline_run_base(struct timeliner *x, const uint16_t *device,
				       const struct timeline **out, bool *is_base);
enum timeline_status timeline_rerun(struct timeliner *x, const uint16_t *device,
				    const uint32_t *task, uint32_t n, double limit_s,
				    const struct timeline **out);
void timeline_rebase(struct timeliner *x);

#endif
