/* draw.h - random numbers of a machine, by purpose. */
#ifndef HSDAG_MACHINE_DRAW_H
#define HSDAG_MACHINE_DRAW_H

#include "base/rng.h"

enum machine_draw {
	DRAW_DEVICE, /* episode: device */
	DRAW_KIND,   /* episode: device, step: hash of the operator type */
	DRAW_SET,    /* episode: set */
	DRAW_CELL,   /* episode: set, step: device */
	DRAW_SAVING, /* episode and step: sets; index: device */
	DRAW_LINK,   /* episode, step: devices; index 0: latency, 1: rate */
	DRAW_NOISE,  /* episode, step: the time in nanoseconds */
	DRAW_DRIFT,  /* episode: device, step: of the walk */
	DRAW_BURST   /* episode: device, step: second; index: see disturbance.c */
};

static inline struct rng_addr machine_addr(uint64_t seed, enum machine_draw what, uint32_t a,
					   uint32_t b)
{
	return (struct rng_addr){seed, a, b, RNG_MACHINE + (uint32_t)what};
}

#endif
