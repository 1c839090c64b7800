/* random_stream.h - the random numbers of one search: words of rng.h by address, one after the
 * other. */
#ifndef HSDAG_PLACE_SEARCH_RANDOM_STREAM_H
#define HSDAG_PLACE_SEARCH_RANDOM_STREAM_H

#include "base/rng.h"

struct random_stream {
	struct rng_addr a;
	uint32_t next, at, word[4];
};

/* What a stream is for; streams of different purposes never share numbers.  These are the low bits
 * of an address, beside those that random.c and refine.c use. */
enum random_purpose {
	RANDOM_CLIMB = 15,
	RANDOM_CHAIN,
	RANDOM_TABU,
	RANDOM_LOCAL,
	RANDOM_GENETIC,
	RANDOM_RESTART,
	RANDOM_ENTROPY,
	RANDOM_CLUSTER,
	RANDOM_MOVES,
	RANDOM_SYNTHETIC,
	RANDOM_PRETRAIN,
	RANDOM_ORDERS,
	RANDOM_CHAINS = 32,
	RANDOM_STRATIFIED = 64
};

static inline struct random_stream random_stream_new(uint64_t seed, enum random_purpose purpose,
						     uint32_t round, uint32_t number)
{
	return (struct random_stream){.a = {seed, round, number, RNG_SEARCH + (uint32_t)purpose}};
}

static inline uint32_t random_stream_word(struct random_stream *d)
{
	if (d->at == 0)
		rng_block(&d->a, d->next++, d->word);
	uint32_t x = d->word[d->at];

	d->at = (d->at + 1) % 4;
	return x;
}

/* Below n >= 1. */
static inline uint32_t random_stream_below(struct random_stream *d, uint32_t n)
{
	return (uint32_t)((uint64_t)random_stream_word(d) * n >> 32);
}

/* In [0, 1). */
static inline double random_stream_uniform(struct random_stream *d)
{
	return random_stream_word(d) * 0x1p-32;
}

#endif
