/* device_cores.h - which cores of this machine a device computes on. */
#ifndef HSDAG_DEVICE_DEVICE_CORES_H
#define HSDAG_DEVICE_DEVICE_CORES_H

#include <sched.h>

#include "device/device.h"

/* A list of cores, "0-3,5", at s.  *rest: what is behind it; NULL: there is none.  ST_USAGE: a core that no machine has. */
int cores_parse(const char *s, cpu_set_t *out, const char **rest, struct err *e) MUST_CHECK;
/* ST_USAGE: one of them is not among `all`. */
int cores_check(const cpu_set_t *cores, const cpu_set_t *all, struct err *e) MUST_CHECK;
/* d's are these. */
void cores_set(struct device *d, const cpu_set_t *cores);
/* The calling thread stays on d's, if it has any. */
void cores_stay(const struct device *d);

#endif
