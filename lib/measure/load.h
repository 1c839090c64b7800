/* load.h - what other programs did to the machine's cores while something was measured. */
#ifndef HSDAG_MEASURE_LOAD_H
#define HSDAG_MEASURE_LOAD_H

#include <stdbool.h>

#include "timing/contest.h"

struct load_watch {
	double clock_s, all_s,
		own_s; /* seconds of the clock, of all cores' work, of this program's */
};

void load_begin(struct load_watch *x);
/* Since load_begin; cores 0: this system does not tell. */
struct contest_load load_end(const struct load_watch *x);

/* Seconds that all cores worked, or were taken by the host, by the first line of /proc/stat (proc(5)); false: it is another
 * line.  ticks: of a second. */
bool load_parse(const char *line, double ticks, double *all_s);

#endif
