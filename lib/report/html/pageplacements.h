/* pageplacements.h - placements and their schedules in the page's data: the answer's, and those that are shown beside it. */
#ifndef HSDAG_REPORT_HTML_PAGEPLACEMENTS_H
#define HSDAG_REPORT_HTML_PAGEPLACEMENTS_H

#include "report/shown.h"

/* Lists `device` and `segment` of the nodes under placement p. */
void pageplacements_nodes(FILE *out, const struct report_input *in, const struct shown *x,
			  const struct placed *p, struct arena *a);
/* "schedule" of the answer, or null.  -1: it does not fit (ST_INPUT). */
int pageplacements_schedule(FILE *out, const struct report_input *in, const struct shown *x,
			    struct arena *a, struct err *e) MUST_CHECK;
/* "others": other placements on the same devices that have a schedule; "left_out": how many more there were. */
int pageplacements_others(FILE *out, const struct report_input *in, const struct shown *x,
			  struct arena *a, struct err *e) MUST_CHECK;
/* "cost": a list for each device of what each set takes there, -1: it cannot run, null: not told; null: none is told. */
void pageplacements_cost(FILE *out, const struct report_input *in);

#endif
