/* timeline.h - the list scheduler of sched.h driven by given costs instead of a clock: the
 * predicted schedule of a placement.  This is what devsim runs, and how the
 * executor gets an order for its memory plan.
 *
 * Times that are equal as doubles are one instant.  Work that takes no time ends
 * at the instant at which it starts, and its effects are seen by what is taken
 * after it.  Where one task alone is going on the clock begins anew at its end: what comes next
 * depends on what has ended, not on when, to the last bit.
 *
 * Placement after placement of one graph runs on the same memory; nothing is allocated between
 * timeliner_new and timeliner_free, but for SCHED_IMPROVED. */
#ifndef HSDAG_SCHED_TIMELINE_H
#define HSDAG_SCHED_TIMELINE_H

#include <stdbool.h>

#include "sched/sched.h"

struct sched_costs {
	const double *task_s; /* (n,k) seconds; negative: cannot run there */
	struct sched_links links;
	bool contention; /* a directed link carries one copy at a time, latency included */
	bool overlap;    /* a device computes while it copies; else a copy occupies both its
				  * devices, and waiting copies go before tasks */
	enum sched_policy policy;
	const double
		*least_s; /* (n,k) what task_s never is below, if it changes; NULL: it does not */
};

enum timeline_status {
	TIMELINE_OK,
	TIMELINE_CANNOT_RUN, /* task bad_task has no cost on device bad_dev */
	TIMELINE_NO_LINK,    /* bad_task's tensor is needed on bad_dev, without a link */
	TIMELINE_ABOVE       /* timeline_again: the makespan is above the limit */
};

struct timeline {
	double makespan_s; /* end of the last task */
	uint32_t n_copies;
	uint64_t copied_bytes;
	double *busy_s;       /* (k) computing */
	uint64_t *peak_bytes; /* (k) tensors and copies alone */
	uint32_t bad_task, bad_dev;
	const double *rank;   /* (n) tasks went by descending rank */
	const uint32_t *hold; /* (n) see sched.h; NULL: nothing was held up */
	/* The schedule, when asked for. */
	double *start_s, *end_s;           /* (n) */
	double *copy_start_s, *copy_end_s; /* (n_copies; room for n_uses) */
	struct sched_copy *copy;           /* (n_copies; room for n_uses) */
};

struct timeliner;

/* Working memory for d and c (both borrowed; ranks are computed now). */
struct timeliner *timeliner_new(const struct sched_dag *d, const struct sched_costs *c,
				bool keep_schedule);
void timeliner_free(struct timeliner *x);

/* Schedule a placement (n).  The result is x's own, valid until the next run. */
enum timeline_status timeline_run(struct timeliner *x, const uint16_t *device,
				  const struct timeline **out);

/* For placements that differ in a few tasks from a base.  timeline_begin: timeline_run, and its
 * placement is the base; false in *kept: it cannot be one (the rules need more than what is kept,
 * or the placement cannot be carried out).  It is the base until the next timeline_run.
 * timeline_again: exactly what timeline_run would say of device, which differs from the base, as
 * costs->task_s does, for the n distinct tasks at most; or TIMELINE_ABOVE as soon as it is certain
 * that the makespan is above limit_s (INFINITY: never).  What is run again begins shortly before the
 * first change, and ends where the clock begins anew and all is as it was.
 * timeline_keep: the placement of the last timeline_again, which could be carried out, is the
 * base. */
enum timeline_status timeline_begin(struct timeliner *x, const uint16_t *device,
				    const struct timeline **out, bool *kept);
enum timeline_status timeline_again(struct timeliner *x, const uint16_t *device,
				    const uint32_t *task, uint32_t n, double limit_s,
				    const struct timeline **out);
void timeline_keep(struct timeliner *x);

#endif
