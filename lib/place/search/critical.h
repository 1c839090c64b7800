/* critical.h - the critical chain of a placement's schedule: from the task that ends last back
 * through what each one waited for, which is an input, a copy, or the device or link that was busy.
 * Only a change of what is on it can make the schedule shorter (E. Nowicki, C. Smutnicki, "A fast
 * taboo search algorithm for the job shop problem", Management Science 42(6), 1996).  Where copies
 * occupy devices, that a copy waited for a device that computed is not followed. */
#ifndef HSDAG_PLACE_SEARCH_CRITICAL_H
#define HSDAG_PLACE_SEARCH_CRITICAL_H

#include "place/simulate/units.h"

struct critical;

/* u and its model are borrowed; NULL: the rules have no schedule. */
struct critical *critical_new(const struct place_units *u);
void critical_free(struct critical *x);

/* The units of device's (n_sets) critical chain, each once, from its end on; *n of them, 0 where
 * device cannot be carried out.  x's own until the next call. */
const uint32_t *critical_units(struct critical *x, const uint16_t *device, uint32_t *n);

#endif
