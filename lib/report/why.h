/* why.h - one operation of a placement: what it takes on each device, what it waits for, what waits for it, as text.  The page for
 * browsers tells the same by the same rules (html/why.js). */
#ifndef HSDAG_REPORT_WHY_H
#define HSDAG_REPORT_WHY_H

#include "report/format.h"

/* The operation of that name, else all parts of it (dagsplit), else the only one that has `name` in its own.  in->trace: a run's
 * schedule, or none; in->cost: what sets take, or NULL.  -1: ST_USAGE, there is no such operation, or there are several; ST_INPUT, a
 * schedule that does not fit. */
int why_write(FILE *out, const struct report_input *in, const char *name, struct err *e) MUST_CHECK;

#endif
