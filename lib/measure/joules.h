/* joules.h - energy that processors count (RAPL), as the kernel's powercap folder has it: joules of runs. */
#ifndef HSDAG_MEASURE_JOULES_H
#define HSDAG_MEASURE_JOULES_H

#include <stdint.h>

#include "base/err.h"
#include "exec/executor.h"

enum { JOULES_PACKAGES = 64 };

/* A counter for each package, of DIR/intel-rapl:N/energy_uj (Linux, Documentation/power/powercap/powercap.rst; AMD's have this name, too);
 * it goes to max_energy_range_uj and begins again at 0. */
struct joules {
	uint32_t n;
	char path[JOULES_PACKAGES][300]; /* of energy_uj */
	uint64_t range_uj[JOULES_PACKAGES], last_uj[JOULES_PACKAGES];
};

/* root: the folder; NULL: that of HSDAG_POWERCAP, else /sys/class/powercap.  -1 (ST_RUNTIME): there is no package in it, or one that cannot
 * be read. */
int joules_open(struct joules *x, const char *root, struct err *e) MUST_CHECK;
/* Joules of all packages since the last call, or since joules_open.  A counter that went round more than once lacks its range. */
int joules_since(struct joules *x, double *out, struct err *e) MUST_CHECK;

/* Joules of one run of p: of all packages, whatever else they do, over at least half a second of runs, and three. */
int joules_of_run(struct joules *x, struct executor *by, struct plan *p, double *out,
		  struct err *e) MUST_CHECK;

#endif
