/* schedule.h - what a schedule is made from, and what comes of it; timeline.h makes schedules. */
#ifndef HSDAG_SCHED_SCHEDULE_H
#define HSDAG_SCHED_SCHEDULE_H

#include <stdbool.h>

#include "sched/sched.h"

enum { COPY_HOLDS_SRC = 1, COPY_HOLDS_DST = 2 };

struct sched_costs {
	const double *task_s; /* (n,k) seconds; negative: cannot run there */
	struct sched_links links;
	bool contention; /* a directed link carries one copy at a time, latency included */
	/* a device computes while it copies; else a copy occupies its devices, and waiting copies
	 * go before tasks */
	bool overlap;
	/* (k,k) without overlap: which of its devices a copy from row to column occupies
	 * (COPY_HOLDS_SRC | COPY_HOLDS_DST); NULL: both, on any link */
	const uint8_t *copy_holds;
	/* (k,k) 1: the two devices share what they compute with, and take turns; symmetric, 0 on the
	 * diagonal.  NULL: none do */
	const uint8_t *turns;
	enum sched_policy policy;
	/* (n,k) what task_s never is below, if it changes; NULL: it does not change */
	const double *least_s;
};

/* Do devices src and dst compute nothing while a tensor goes from one to the other?  Both ends: of
 * COPY_HOLDS_SRC and COPY_HOLDS_DST one. */
static inline bool sched_copy_holds(const struct sched_costs *c, uint32_t src, uint32_t dst,
				    unsigned end)
{
	return !c->overlap &&
	       (!c->copy_holds || c->copy_holds[(size_t)src * c->links.k + dst] & end);
}

enum timeline_status {
	TIMELINE_OK,
	TIMELINE_CANNOT_RUN, /* task bad_task has no cost on device bad_dev */
	TIMELINE_NO_LINK,    /* bad_task's tensor is needed on bad_dev, without a link */
	TIMELINE_ABOVE       /* timeline_rerun: the makespan is above the limit */
};

struct timeline {
	double makespan_s; /* end of the last task */
	uint32_t n_copies;
	uint64_t copied_bytes;
	double *busy_s;       /* (k) computing */
	uint64_t *peak_bytes; /* (k) tensors and copies alone */
	uint32_t bad_task, bad_dev;
	const double *rank;         /* (n) tasks went by descending rank */
	const uint32_t *delayed_by; /* (n) delays, see sched.h; NULL: none */
	/* The schedule, when asked for. */
	double *start_s, *end_s;           /* (n) */
	double *copy_start_s, *copy_end_s; /* (n_copies; room for n_uses) */
	struct sched_copy *copy;           /* (n_copies; room for n_uses) */
};

#endif
