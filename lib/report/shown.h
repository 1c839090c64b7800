/* shown.h - the operations that pictures show: those that do not depend on constants alone; where they are, and the one
 * that a set goes by. */
#ifndef HSDAG_REPORT_SHOWN_H
#define HSDAG_REPORT_SHOWN_H

#include "report/format.h"

struct shown {
	uint32_t n;
	uint32_t *node; /* (n) */
	uint32_t *row;  /* (graph n) its place in node; GRAPH_NONE: not shown */
};

/* Memory from a, here and below. */
struct shown shown_nodes(const struct report_input *in, struct arena *a);

struct shown_places {
	uint32_t *device, *segment; /* (n) GRAPH_NONE: on none (inputs, results) */
	uint32_t n_segments;        /* numbers are below it; no circle is between segments */
};
/* Under placement p. */
struct shown_places shown_places(const struct report_input *in, const struct shown *x,
				 const struct placed *p, struct arena *a);

/* (n_sets) The operation, an index into node, that a set goes by: its first that is shown and reads something, for what
 * follows the main operation in a set is small; else its first that is shown; GRAPH_NONE: none is. */
uint32_t *shown_titles(const struct graph *g, const struct shown *x, struct arena *a);
/* What an operation goes by: its type, in a cost graph, where types say little, its name. */
const char *shown_title(const struct graph *g, uint32_t node);

#endif
