/* dice.h - a stream of random numbers of one search: rng.h by address, one word after the other. */
#ifndef HSDAG_PLACE_SEARCH_DICE_H
#define HSDAG_PLACE_SEARCH_DICE_H

#include "base/rng.h"

struct dice {
	struct rng_addr a;
	uint32_t next, at, word[4];
};

/* What a stream is for: the low bits of its address beside those of random.c and refine.c. */
enum dice_purpose {
	DICE_CLIMB = 15,
	DICE_CHAIN,
	DICE_TABU,
	DICE_LOCAL,
	DICE_GENETIC,
	DICE_RESTART,
	DICE_ENTROPY,
	DICE_CLUSTER,
	DICE_CHAINS = 32,
	DICE_VARIETY = 64
};

static inline struct dice dice_new(uint64_t seed, enum dice_purpose purpose, uint32_t round,
				   uint32_t number)
{
	return (struct dice){.a = {seed, round, number, RNG_SEARCH + (uint32_t)purpose}};
}

static inline uint32_t dice_word(struct dice *d)
{
	if (d->at == 0)
		rng_block(&d->a, d->next++, d->word);
	uint32_t x = d->word[d->at];

	d->at = (d->at + 1) % 4;
	return x;
}

/* Below n >= 1. */
static inline uint32_t dice_below(struct dice *d, uint32_t n)
{
	return (uint32_t)((uint64_t)dice_word(d) * n >> 32);
}

/* In [0, 1). */
static inline double dice_uniform(struct dice *d)
{
	return dice_word(d) * 0x1p-32;
}

#endif
