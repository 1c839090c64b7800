/* runnable.h - what can be run again and again and says how long it took: a plan on an executor, a
 * placement on a machine that is played.  Here is nothing about either. */
#ifndef HSDAG_TIMING_RUNNABLE_H
#define HSDAG_TIMING_RUNNABLE_H

#include "base/err.h"

/* What a run answers. */
enum run_status {
	RUN_OK = 0,
	RUN_FAILED = 1, /* this one cannot run any more, others may; the error says why */
	RUN_END = -1    /* the program is to end */
};

struct run_sample {
	double lat_s;   /* positive */
	double *busy_s; /* (k) of each device; the caller's memory, or NULL */
	/* (k, n_pulses) what short loops on the devices took meanwhile; the caller's memory, or NULL */
	double *pulse_s;
};

struct runnable {
	void *arg;
	enum run_status (*run)(void *arg, struct run_sample *out, struct err *e);
	double (*now_s)(void *arg); /* the clock by which runs take their time */
};

static inline enum run_status runnable_run(const struct runnable *r, struct run_sample *out,
					   struct err *e)
{
	return r->run(r->arg, out, e);
}

#endif
