/* truth.h - the true costs of a machine that is played: a profile's, times errors that are drawn. */
#ifndef HSDAG_MACHINE_TRUTH_H
#define HSDAG_MACHINE_TRUTH_H

#include "machine/machine_spec.h"
#include "place/problem/placemodel.h"
#include "record/costrec.h"
#include "record/devrec.h"

/* What a profile's costs become.  Errors are drawn by the names of devices and the numbers of sets,
 * so that they are the same in whatever order devices come.  Devices with the same profiled times
 * are made alike: what their operators truly take differs from the profile in the same way, but for
 * the error of each device. */

/* The first device whose times set_s (n_sets,k) are those of device d. */
uint32_t truth_first_alike(const double *set_s, uint32_t n_sets, uint32_t k, uint32_t d);

/* m with true costs; m stays borrowed, memory from a. */
void truth_model(const struct machine_spec *s, const struct place_model *m, struct arena *a,
		 struct place_model *out);

/* The same as records: cost with true times, savings and slowdowns, links with true latencies (the
 * hand-over is in them) and rates; intervals are dropped.  Memory from a. */
void truth_costs(const struct machine_spec *s, const struct graph *g, struct cost_rec *x,
		 struct arena *a);
void truth_links(const struct machine_spec *s, struct devs *d);

#endif
