/* repair.h - make a placement legal that a method left illegal: masks, links, memory. */
#ifndef HSDAG_PLACE_METHOD_REPAIR_H
#define HSDAG_PLACE_METHOD_REPAIR_H

#include "place/method/unittraffic.h"

/* The result of device (n_sets), which is changed where it is not legal.  Units move, first where
 * they cannot run or have no way to a neighbour, then from devices that are over their memory,
 * each time the unit and device that add the fewest seconds for each byte that has to go.  When
 * that does not end in a legal placement: units by descending memory wherever there is room, with
 * some backtracking, then the best single device; if nothing helps, device is as far as the first
 * moves went, and the status is not PLACE_OK.  *moved: units that are elsewhere than before. */
const struct place_result *place_repaired(struct evaluator *ev, const struct unit_traffic *w,
					  uint16_t *device, uint32_t *moved);

#endif
