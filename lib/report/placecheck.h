/* placecheck.h - can this placement be carried out, and if not, why not. */
#ifndef HSDAG_REPORT_PLACECHECK_H
#define HSDAG_REPORT_PLACECHECK_H

#include <stdio.h>

#include "record/devrec.h"
#include "graph/placed.h"
#include "graph/segment.h"

/* Devices of nodes as segments_of takes them: constants, Parameters and Results are nowhere.
 * device[n]; constant[n]: nodes that depend on constants alone. */
void placecheck_devices(const struct graph *g, const struct placed *p, const bool *constant,
			uint16_t *device);

/* A report for people: segments of every device and why pieces of them were split; weights
 * and those that several devices hold; tensors and bytes between each pair of devices;
 * then the problems, whose number is returned: sets on a device that cannot run them (by the mask
 * of devs, which may be NULL and names its devices as place->names), variables
 * that several segments use.  names[k]: of devices, for printing. */
uint32_t placecheck_print(FILE *out, const struct graph *g, const struct placed *p,
			  const bool *constant, const struct devs *devs,
			  const char *const *placed_names, const char *const *names);

/* Variables that several segments use, and the id of the first, escaped, in id[cap]: devrun carries such a placement
 * out, OpenVINO does not. */
uint32_t placecheck_parted(const struct graph *g, const struct placed *p, const bool *constant,
			   char *id, size_t cap);

#endif
