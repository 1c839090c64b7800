/* devicemap.h - other names for the devices of a placement, as users write them:
 * "cpu:0=CPU,cl:0.0:1=GPU". */
#ifndef HSDAG_REPORT_DEVICEMAP_H
#define HSDAG_REPORT_DEVICEMAP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"

/* names (k) with what stands behind `=`.  A device's name may hold commas and '=', as in
 * cl:0.0/precision=f16; a new name no comma.  Memory from a.  ST_USAGE. */
int devicemap_rename(const char *map, uint32_t k, const char **names, struct arena *a,
		     struct err *e) MUST_CHECK;

/* names (k) become those that OpenVINO has for such devices: cpu:LIST is CPU, ov:NAME is NAME, and cl:P.D is GPU, where
 * there are several GPU.0, GPU.1 in their order.  Others stay.  Memory from a. */
void devicemap_openvino(uint32_t k, const char **names, struct arena *a);

/* Is it a processor there: cpu, cpu:CORES, ov:CPU?  Scratch from a. */
bool devicemap_is_cpu(const char *name, struct arena *a);

/* A line of the report where several devices that a placement uses (sets[k] > 0), placed[k], are one device in
 * OpenVINO, by names[k] as the caller has renamed them: of what is gained between these HETERO gives
 * nothing. */
void devicemap_tell_one(FILE *out, uint32_t k, const char *const *placed, const char *const *names,
			const uint32_t *sets);

/* How many devices a placement uses (sets[k] > 0) in OpenVINO. */
uint32_t devicemap_count(uint32_t k, const char *const *names, const uint32_t *sets);

#endif
