/* anneal.h - simulated annealing, for methods that begin with it. */
#ifndef HSDAG_PLACE_SEARCH_ANNEAL_H
#define HSDAG_PLACE_SEARCH_ANNEAL_H

#include "place/method/method.h"

/* What method_anneal does, without handing over: device is the best that was found. */
void anneal_placement(struct method_run *r);

#endif
