/* burst.h - runs in a row, as a program that serves makes them: what one of several runnables takes that are measured in turn.
 *
 * The first run of a burst is not counted where it is short, since what ran before has left the caches full of
 * its own data; of long runs, which hardly notice, that one is enough. */
#ifndef HSDAG_TIMING_BURST_H
#define HSDAG_TIMING_BURST_H

#include <stdbool.h>
#include <stdint.h>

#include "timing/runnable.h"

enum { BURST_RUNS = 3 }; /* that count: of a placement that is measured */

/* Is a run that takes so many seconds too short to be counted behind another plan's? */
static inline bool burst_is_short(double lat_s)
{
	return lat_s < 60e-3;
}

/* The runs that a burst makes of something that takes lat_s, of which `most` count at most. */
static inline uint32_t burst_makes(double lat_s, uint32_t most)
{
	return burst_is_short(lat_s) ? 1 + most : 1;
}

/* One burst, of which `most` runs count at most, 1 or more, into sample (most), whose busy_s and pulse_s
 * are the caller's; *n: how many.  warm: what ran before was the same, the first run counts. */
enum run_status burst_run(const struct runnable *r, uint32_t most, bool warm,
			  struct run_sample *sample, uint32_t *n, struct err *e) MUST_CHECK;

/* The index of a burst's median run in sample[n], of an even number the faster of the two; n > 0. */
uint32_t burst_middle(const struct run_sample *sample, uint32_t n);

#endif
