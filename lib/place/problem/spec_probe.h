/* spec_probe.h - devices and costs by a specification, as records: what devrun probe says of real
 * devices. */
#ifndef HSDAG_PLACE_PROBLEM_SPEC_PROBE_H
#define HSDAG_PLACE_PROBLEM_SPEC_PROBE_H

#include "place/problem/placemodel.h"
#include "place/problem/spec.h"
#include "stream/rec.h"

/* Write `devs` and `cost` records for g on the devices of a list (devs_from_list), NULL: all of spec.
 * Every set can run anywhere.  spec_name is for messages.  -1: ST_INPUT, g is NULL; ST_USAGE, a
 * device that spec does not have. */
int spec_probe(const struct graph *g, const struct spec *spec, const char *spec_name,
	       const char *devices, struct rec_writer *w, struct err *e) MUST_CHECK;

/* The devices of the list (NULL: all), and links between them, into d; memory from a.  -1: as spec_probe. */
int spec_devices(const struct spec *spec, const char *spec_name, const char *devices,
		 struct arena *a, struct devs *d, struct err *e) MUST_CHECK;

#endif
