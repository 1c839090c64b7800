/* waits.h - why operations run when and where they do: what a set waits for and what waits for it by a run's schedule, what crosses
 * between devices, what it takes on each device.  why.c tells one of it, the report as JSON all; the page for browsers has the same
 * rules (html/why.js). */
#ifndef HSDAG_REPORT_WAITS_H
#define HSDAG_REPORT_WAITS_H

#include "report/format.h"
#include "report/trace.h"

struct waits {
	const struct report_input *in;
	const struct graph *g;
	struct traced t;
	bool has_schedule, of_another; /* the schedule is not the answer's, and not told */
	uint32_t *entry;  /* (n_sets) the first entry of a set; GRAPH_NONE: it has no step */
	double *end_s;    /* (n_sets) when the last of them ends */
	uint32_t *before; /* (n_sets) the entry whose end its device waited for; GRAPH_NONE: none */
	uint32_t *set_ptr, *set_node; /* nodes of a set */
	uint32_t *copy_ptr, *copy;    /* copies of what a set made, as they began */
	uint32_t *seen, *found, *place, *todo, *copy_seen; /* of waits_neighbours */
	uint32_t question;
	struct arena *a;
};

/* in->trace: a run's schedule, or none; in->cost: what sets take, or NULL.  Borrows in; memory of its arena.  -1 (ST_INPUT): a
 * schedule that does not fit. */
int waits_open(struct waits *w, const struct report_input *in, struct err *e) MUST_CHECK;

/* How what one set makes comes to the device of another. */
enum waits_way { WAITS_HERE, WAITS_LIES, WAITS_COPIED };

/* A set that is read, or that reads, and by which node; when what goes between is there. */
struct waits_neighbour {
	uint32_t set, node;
	double at_s, order_s;
	enum waits_way way;
	bool sized;      /* then: */
	uint64_t bytes;  /* of what crosses */
	double took_s;   /* copied: how long */
	uint32_t copies; /* all that crosses between the two */
	uint64_t copied_bytes;
};

/* Sets with a step that the set of v reads from (the last that is there first), or that read from it (the first that starts first);
 * what has no step is looked through.  How many; *out is valid to the next call. */
uint32_t waits_neighbours(struct waits *w, uint32_t v, bool reads, struct waits_neighbour **out);

double waits_start_s(const struct waits *w, uint32_t set);

/* Seconds of a set on device d, as costs have them; negative: cannot run there; NAN: not told. */
double waits_cost_s(const struct waits *w, uint32_t set, uint32_t d);

#endif
