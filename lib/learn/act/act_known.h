/* act_known.h - placements that nobody chooses. */
#ifndef HSDAG_LEARN_ACT_ACT_KNOWN_H
#define HSDAG_LEARN_ACT_ACT_KNOWN_H

#include "learn/act/act.h"

/* One placement for each device that can run every set. */
int act_single_devices(const struct act *a, uint32_t episode, struct err *e) MUST_CHECK;

/* The incumbent as it is, to be run once more. */
int act_incumbent(const struct act *a, uint32_t episode, struct err *e) MUST_CHECK;

#endif
