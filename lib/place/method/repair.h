/* repair.h - make a placement legal that a method left illegal: masks, links, memory. */
#ifndef HSDAG_PLACE_METHOD_REPAIR_H
#define HSDAG_PLACE_METHOD_REPAIR_H

#include "place/method/unittraffic.h"

/* Make device (n_sets) legal and return its result.  In this order, until it is legal:
 *   1. units that cannot run where they are, or have no link to a neighbour, move;
 *   2. units move away from devices that are over their memory; each time the unit and device that
 *      add the fewest seconds for each byte that has to go;
 *   3. all units are packed anew by descending memory, with some backtracking;
 *   4. everything goes to the best single device.
 * In 2 and 3 units that share large values move as one; if that leads nowhere, only those that share
 * larger ones, in the end none.
 * Where w's deadline is over only 4 is done.
 * If nothing helps, device is what step 2 left, and the status is not PLACE_OK.  *moved: units that
 * are elsewhere than before. */
const struct place_result *place_repaired(struct evaluator *ev, const struct unit_traffic *w,
					  uint16_t *device, uint32_t *moved);

#endif
