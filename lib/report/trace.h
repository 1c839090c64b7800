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

struct traced {
	struct place_rec place;
	struct run_schedule run;  /* fits it */
	const char *const *names; /* (place.k) of devices, renamed */
};

/* The trace of a run of graph g; map: other names for devices (devicemap.h), NULL: none.  Memory from a.  ST_INPUT: there is no
 * schedule, or one that does not fit. */
int trace_read(const struct trace *t, const struct graph *g, const char *map, struct arena *a,
	       struct traced *out, struct err *e) MUST_CHECK;

/* As Chrome trace events: one row for each device, then one for each link that carried something (more when copies on
 * it overlap, none for tensors that are read where they lie); flow events lead from the set that made
 * a tensor to the first that reads it on another device; times in microseconds. */
void trace_write(FILE *out, const struct traced *t, const struct graph *g);

#endif
