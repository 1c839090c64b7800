/* clock_cond.h - conditions whose timed waits end by the clock of clock.h. */
#ifndef HSDAG_BASE_CLOCK_COND_H
#define HSDAG_BASE_CLOCK_COND_H

#include <pthread.h>
#include <time.h>

/* Deadlines are CLOCK_MONOTONIC's.  Those of pthread_cond_init are of the time of day: a wait hangs when that is set back. */
static inline void clock_cond_init(pthread_cond_t *c)
{
	pthread_condattr_t by;

	pthread_condattr_init(&by);
	pthread_condattr_setclock(&by, CLOCK_MONOTONIC);
	pthread_cond_init(c, &by);
	pthread_condattr_destroy(&by);
}

#endif
