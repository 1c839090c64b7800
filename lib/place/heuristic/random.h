/* random.h - random placements.  They respect what a device cannot run and depend on the seed
 * alone. */
#ifndef HSDAG_PLACE_HEURISTIC_RANDOM_H
#define HSDAG_PLACE_HEURISTIC_RANDOM_H

#include "place/simulate/evaluate.h"

/* Sample `index` of random search.  biased: first a preference for each device is
 * drawn (exponentials of unit rate: uniform on the simplex), then each set's
 * device with it; else all devices are equally likely.  A set takes a device that
 * can run it (any, when none can), with all sets that share its device.  device (n_sets). */
void random_placement(const struct place_model *m, uint64_t seed, uint32_t index, bool biased,
		      uint16_t *device);

#endif
