/* contiguous_layers.h - a graph cut into as many pieces as there are devices, along a topological order. */
#ifndef HSDAG_PLACE_HEURISTIC_CONTIGUOUS_LAYERS_H
#define HSDAG_PLACE_HEURISTIC_CONTIGUOUS_LAYERS_H

#include "place/simulate/units.h"

/* The units in the order of their first tasks, the first ones on the first device and so on, so that
 * the largest piece's seconds, or bytes, are as few as can be; into device (n_sets).  A unit that the
 * device at hand cannot run, or has no room for, begins the next piece.  false: there is no such
 * division. */
bool contiguous_layers(const struct place_units *u, bool by_memory, uint16_t *device);

#endif
