/* as_ran.h - contestants of a race beside each other as they ran, without any correction for what their devices did
 * meanwhile.
 *
 * A correction (drift.h) supposes that devices which are made alike are equally fast in the long run.  Where that is wrong, a
 * ratio is wrong by as much.  What was seen is the other reading of the same bursts, and a claim has to hold by both. */
#ifndef HSDAG_RACE_AS_RAN_H
#define HSDAG_RACE_AS_RAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "timing/contest.h"

struct as_ran_burst {
	uint32_t who, block;
	double log_s;
};

/* In the order in which they ran; blocks ascend. */
struct as_ran {
	struct as_ran_burst *v; /* (n) */
	size_t n, cap;
};

void as_ran_release(struct as_ran *x);
/* log_s: of a burst's median. */
void as_ran_add(struct as_ran *x, uint32_t who, uint32_t block, double log_s);
/* Of one of them, memory from a. */
struct contest_bursts as_ran_of(const struct as_ran *x, uint32_t who, struct arena *a);
/* The Huber mean of the logarithms of i's times over j's, in blocks of both, or, where there are none, of all of each;
 * false: one of them did not run. */
bool as_ran_ratio(const struct as_ran *x, uint32_t i, uint32_t j, double *log_ratio);

#endif
