/* rng.h - counter-based random numbers: Philox4x32-10.
 *
 * A random number is a pure function of its address (seed, episode, step,
 * stream, index), never of the order of calls: a replay, another thread or a
 * resumed run sees the same numbers.
 * Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as
 * 1, 2, 3", SC 2011, section 3.3 (Philox-4x32, 10 rounds). */
#ifndef HSDAG_BASE_RNG_H
#define HSDAG_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

struct rng_addr {
	uint64_t seed;
	uint32_t episode;
	uint32_t step;
	uint32_t stream; /* one of enum rng_stream, plus a layer or sample number in the low bits */
};

/* The purpose of a number, in the high byte of rng_addr.stream. */
enum rng_stream {
	RNG_INIT = 1 << 24,    /* initial parameters */
	RNG_DROPOUT = 2 << 24, /* dropout masks; low bits: call number within a forward pass */
	RNG_ACTION = 3 << 24,  /* sampled placements; low bits: sample */
	RNG_WEIGHT = 4 << 24,  /* irfill */
	RNG_INPUT = 5 << 24,   /* model inputs */
	RNG_COST = 6 << 24,    /* seeded fixed rewards */
	RNG_SEARCH = 7 << 24,  /* random search, hill climbing and other heuristics */
	RNG_MOVES = 8 << 24,   /* lists of moves around an incumbent; low bits: sample */
	RNG_MACHINE =
		9 << 24, /* a machine that is played; low bits: what is drawn (machine/draw.h) */
	RNG_NOISE = 10 << 24 /* on the logits of a policy that explores */
};

/* One block: counter -> 4 random words.  key = seed; counter = (index, stream, step, episode). */
void rng_block(const struct rng_addr *a, uint32_t index, uint32_t out[4]);

/* out[i], i < n: 16 random bits each, from blocks first, first + 1, ... (8 a block). */
void rng_bits16(const struct rng_addr *a, uint32_t first, uint16_t *out, size_t n);

/* Uniform in [0, 1) with 53 bits, from block `index`. */
double rng_uniform(const struct rng_addr *a, uint32_t index);

/* Standard normal (Box and Muller 1958), from blocks 2 * index and 2 * index + 1. */
double rng_normal(const struct rng_addr *a, uint32_t index);

/* out[i], i < n: uniform in [lo, hi), 24 bits each. */
void rng_uniform_f32(const struct rng_addr *a, float lo, float hi, float *out, size_t n);

/* Uniform integer in [0, bound), bound >= 1, unbiased to 2^-32. */
uint32_t rng_below(const struct rng_addr *a, uint32_t index, uint32_t bound);

#endif
