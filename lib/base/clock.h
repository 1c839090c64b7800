/* clock.h - seconds of a clock that only goes forward, for budgets and timings. */
#ifndef HSDAG_BASE_CLOCK_H
#define HSDAG_BASE_CLOCK_H

#include <time.h>

/* Seconds since some fixed moment. */
static inline double clock_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
