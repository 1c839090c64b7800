/* watts.h - what devices draw, as --watts lists it: NAME=BUSY or NAME=BUSY/IDLE, with commas
 * between.  A name may hold commas in front of digits and '=', as in cpu:0-3,5 and
 * cl:0.0/precision=f16. */
#ifndef HSDAG_PLACE_PROBLEM_WATTS_H
#define HSDAG_PLACE_PROBLEM_WATTS_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

struct watts_item {
	const char *name;
	double busy, idle; /* watts while computing and while not; idle 0: not told */
};

struct watts_list {
	uint32_t n;
	const struct watts_item *item; /* (n) in the list's order */
};

/* Memory from a; an empty list is an error, too.  ST_USAGE: an item without figures, or one that is
 * not between 0 and 1e9. */
int watts_parse(const char *list, struct arena *a, struct watts_list *out,
		struct err *e) MUST_CHECK;

/* Is the item about this device: its name, or what its name has in front of a colon ("cl:0.0" and
 * "cl" of "cl:0.0:1")?  The length of the item's name, or 0. */
size_t watts_about(const struct watts_item *item, const char *device);

/* The item about a device, that of the longest name if there are several; NULL: none is. */
const struct watts_item *watts_find(const struct watts_list *l, const char *device);

#endif
