/* trace.h - the schedule of a run (devrun or devsim --schedule) as a trace for people: Chrome's
 * trace event format in JSON, which Perfetto and chrome://tracing show. */
#ifndef HSDAG_REPORT_TRACE_H
#define HSDAG_REPORT_TRACE_H

#include <stdio.h>

#include "graph/graph.h"
#include "record/placerec.h"
#include "record/runrec.h"

/* The last run of a stream that has a schedule, and the placement before it, which it answers; of a
 * final `best` record with a schedule both are this record. */
struct trace {
	struct rec *place, *run; /* owned; run NULL: there was none */
};

/* Take note of a record; only place and run matter.  -1 (ST_RUNTIME): no memory. */
int trace_take(struct trace *t, const struct rec *r, struct err *e) MUST_CHECK;
void trace_release(struct trace *t);

/* The placement of the trace, for graph g; memory from a. */
int trace_placement(const struct trace *t, const struct graph *g, struct arena *a,
		    struct place_rec *p, struct err *e) MUST_CHECK;

/* One row for each device, then one for each link that carried something (more when copies on
 * it overlap, none for tensors that are read where they lie); flow events lead from the set that made
 * a tensor to the first that reads it on another device; times in microseconds.  names (p->k) may differ from p's.  ST_INPUT: no schedule,
 * or one that does not fit. */
int trace_write(FILE *out, const struct trace *t, const struct graph *g, const struct place_rec *p,
		const char *const *names, struct err *e) MUST_CHECK;

#endif
