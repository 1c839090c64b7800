/* block_effects.h - how fast arms are, from bursts that were taken in blocks.
 *
 * y = arm effect + block effect + noise, y the logarithm of a time.  A block is a short while in
 * which several arms ran in turn: what slowed all of them alike is the block's.  Noise has outliers,
 * of single values and of several in one block at once (a lost core slows all arms on several
 * devices, but not those on one).  So both effects are Huber's estimates (Huber 1981, Robust
 * Statistics, section 7), by weights that are computed anew in turns.
 *
 * Arm 0 is the reference, which uses one core.  A block in which all others are farther from it than
 * they are in most blocks is disturbed: a core was lost.  How much that slows an arm depends on the
 * arm, so the values of such a block say little of it. */
#ifndef HSDAG_RACE_BLOCK_EFFECTS_H
#define HSDAG_RACE_BLOCK_EFFECTS_H

#include <stddef.h>
#include <stdint.h>

struct block_value {
	uint32_t arm, block;
	double raw;    /* as measured */
	double y;      /* less what is known to have disturbed it */
	double weight; /* 0 .. 1, by block_effects_fit: how little of an outlier this is */
};

struct block_effects {
	struct block_value *v;
	size_t n, cap;
	uint32_t n_arms, n_blocks;
	size_t cap_arms, cap_blocks;
	double *arm;    /* (n_arms) */
	double *weight; /* (n_arms) sum of the weights of an arm's values */
	double *var; /* (n_arms) variance of one value of an arm: the pooled one and its own, blended */
	double *block; /* (n_blocks) */
	double *trust; /* (n_blocks) 1; less where disturbed */
	double scale;  /* noise of one value: a standard deviation that outliers do not widen */
	double seen; /* the same by the residuals alone, without what is usual; 0: there are too few */
};

void block_effects_release(struct block_effects *x);
/* One more value; arms and blocks are as many as the numbers that were seen. */
void block_effects_add(struct block_effects *x, uint32_t arm, uint32_t block, double y);
/* Fit all effects to the values, from where they are.  An arm without values keeps its effect. */
void block_effects_fit(struct block_effects *x);

#endif
