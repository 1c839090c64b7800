/* repair.h - make a placement legal that a method left illegal: masks, links, memory. */
#ifndef HSDAG_PLACE_REPAIR_H
#define HSDAG_PLACE_REPAIR_H

#include "place/wires.h"

/* Move units, first where they cannot run or have no way to a neighbour, then from devices that are
 * over their memory, each time the unit and device that add the fewest seconds for each byte that
 * has to go.  When that does not end in a legal placement: units by descending memory wherever
 * there is room, with some backtracking, then the best single device.  device (n_sets) is changed;
 * *moved: units that are elsewhere than before.  Returns whether it is legal now; if nothing helped,
 * device is as far as the first moves went. */
bool place_repair(struct evaluator *ev, const struct wires *w, uint16_t *device, uint32_t *moved);

#endif
