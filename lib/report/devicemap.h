/* devicemap.h - other names for the devices of a placement, as users write them:
 * "cpu:0=CPU,cl:0.0:1=GPU". */
#ifndef HSDAG_REPORT_DEVICEMAP_H
#define HSDAG_REPORT_DEVICEMAP_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

/* names (k) with what stands behind `=`.  A device's name may hold commas and '=', as in
 * cl:0.0/precision=f16; a new name no comma.  Memory from a.  ST_USAGE. */
int devicemap_rename(const char *map, uint32_t k, const char **names, struct arena *a,
		     struct err *e) MUST_CHECK;

#endif
