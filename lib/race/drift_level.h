/* drift_level.h - how slow devices were in a block, by the bursts in and around it.
 *
 * A burst tells of its own block, and of another one the less, the more devices change from one burst to the
 * next beside what two bursts of the same devices differ by.  What changed at once (a core that is lost, or comes
 * back) changed there: bursts on the other side tell nothing. */
#ifndef HSDAG_RACE_DRIFT_LEVEL_H
#define HSDAG_RACE_DRIFT_LEVEL_H

#include <stdint.h>

enum { DRIFT_REACH = 6 }; /* blocks that a burst tells of, before and after its own */

struct drift_bursts {
	uint32_t n, k;
	const uint32_t *block;  /* (n) ascending */
	const double *log_slow; /* (n,k) */
};

struct drift_pace {
	double keep; /* what a burst tells of the block beside its own, over what it tells of its own */
	double jump; /* what changes by more changed at once */
};

/* How fast devices change, by all bursts. */
struct drift_pace drift_pace_of(const struct drift_bursts *x);
/* Into slow (k).  Of a block far from all bursts, as in the last one before it. */
void drift_level(const struct drift_bursts *x, const struct drift_pace *pace, uint32_t block,
		 double *slow);

#endif
