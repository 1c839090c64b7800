/* race_impl.h - what race.c, race_blocks.c and race_learn.c share; not for others. */
#ifndef HSDAG_RACE_RACE_IMPL_H
#define HSDAG_RACE_RACE_IMPL_H

#include "race/block_effects.h"
#include "race/race.h"

struct race {
	struct race_options o;
	const struct race_source *source;
	struct race_arm *arm; /* (n) */
	double *run_s;        /* (n) of the last burst; 0: none */
	double *off; /* (n,n_draws) mean over an arm's bursts of draws of its excess, less that of excess */
	uint32_t n;
	size_t cap, cap_run, cap_off;
	struct block_effects fx;
	uint32_t n_blocks, fitted; /* blocks; how many of them the fit has */
	uint32_t n_seen;           /* of the blocks, those that ran before */
	double begin_s;
	uint32_t draws;
};

/* ---- race_learn.c ---- */

/* Seconds of the budget so far. */
double race_spent(const struct race *x);
/* The best live arm by shrunk estimates: of the starts or of all.  One with RACE_LEAST bursts goes
 * before one without.  -1: none has run. */
int race_best(const struct race *x, bool start);
/* Fit all effects, and let arms leave that are certainly slower. */
void race_learn(struct race *x);
/* Nothing live or waiting can be faster than the leader by the tolerance. */
bool race_settled(const struct race *x);
/* ---- race_blocks.c ---- */

/* Blocks, one at least, until so many seconds are spent, in the final of the leader beside the best start.  1:
 * settled; 0; -1: the source ended. */
int race_blocks(struct race *x, double until_s, bool final, struct err *e) MUST_CHECK;

static inline bool race_ripe(const struct race_arm *a)
{
	return a->n_clean >= RACE_LEAST;
}

#endif
