/* drift_lean.h - on which device an arm computes more than its profile says, by what its runs computed on each.
 *
 * A schedule that is balanced by the profile is not balanced on the machine: then the device with less to do may become
 * slower, and nobody waits for it.  What each device computed tells how far it is from that, whatever
 * slowed devices down meanwhile. */
#ifndef HSDAG_RACE_DRIFT_LEAN_H
#define HSDAG_RACE_DRIFT_LEAN_H

#include <stdbool.h>
#include <stdint.h>

struct leans;

/* Of n arms on k devices; all 0. */
struct leans *leans_new(uint32_t n, uint32_t k);
void leans_free(struct leans *x);

/* What each device (k) computed in a run of an arm in a block, in seconds. */
void leans_add(struct leans *x, uint32_t arm, uint32_t block, const double *busy_s);

/* Has an arm a third more bursts than its lean is of? */
bool leans_due(const struct leans *x, uint32_t arm);

/* The lean of an arm by all its bursts; share (k): of what it should compute, 0 where a device does not count.
 * level: the logarithms of how slow devices (k) were in a block.  Is it another one than before? */
bool leans_find(struct leans *x, uint32_t arm, const double *share,
		const double *(*level)(void *ctx, uint32_t block), void *ctx);

/* How much longer each device (k) computes than it should, beside the others, as a logarithm. */
const double *leans_of(const struct leans *x, uint32_t arm);

#endif
