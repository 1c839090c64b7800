/* held.h - the bytes that units hold on devices while a placement is built up, one unit after
 * another: what a unit needs alone, and values that several units need once on each device.  What
 * units make while the model runs is not counted; evaluate.h does that. */
#ifndef HSDAG_PLACE_SIMULATE_HELD_H
#define HSDAG_PLACE_SIMULATE_HELD_H

#include "place/simulate/units.h"

struct held {
	const struct place_units *u;
	uint32_t *ptr, *shared; /* values that unit i shares: m->shared[shared[ptr[i]]] .. */
	uint32_t *users;        /* (m->n_shared, k) units there that need it */
	uint64_t *bytes;        /* (k) */
};

/* Nothing is anywhere.  u is borrowed; memory from a. */
void held_init(struct held *x, const struct place_units *u, struct arena *a);

/* What unit i would add on dev. */
uint64_t held_more(const struct held *x, uint32_t i, uint32_t dev);
/* Is there room for so many more bytes on dev, by the limits of pools alone?  Weights that are on another device of the pool count
 * again. */
bool held_pool_fits(const struct held *x, uint32_t dev, uint64_t more);
/* Is there room for it, by the model's limits? */
bool held_fits(const struct held *x, uint32_t i, uint32_t dev);
void held_add(struct held *x, uint32_t i, uint32_t dev);
void held_remove(struct held *x, uint32_t i, uint32_t dev);

#endif
