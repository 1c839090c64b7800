/* contiguous_layers.h - a graph cut into as many pieces as there are devices, along a topological order. */
#ifndef HSDAG_PLACE_HEURISTIC_CONTIGUOUS_LAYERS_H
#define HSDAG_PLACE_HEURISTIC_CONTIGUOUS_LAYERS_H

#include "place/simulate/units.h"

/* The units in the order of their first tasks, the first ones on the first device and so on, so that
 * the largest piece's seconds, or bytes, are as few as can be; into device (n_sets).  A unit that has no
 * room on the device at hand begins the next piece; one that cannot run there goes to another
 * device by itself.  What is over when the last device is full is there, too. */
void contiguous_layers(const struct place_units *u, bool by_memory, uint16_t *device);

#endif
