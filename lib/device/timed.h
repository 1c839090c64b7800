/* timed.h - a plan that is run again and again, and the times of its steps in each run. */
#ifndef HSDAG_DEVICE_TIMED_H
#define HSDAG_DEVICE_TIMED_H

#include "device/session.h"

/* Runs that are kept at most. */
enum { TIMED_MOST = 48 };

struct timed {
	struct plan plan;
	bool made;
	bool waits;                  /* steps are waited for one by one (exec_sample.apart) */
	bool whole;                  /* each run once more without waiting, for lat_s */
	uint32_t n_steps, n_runs;
	double *step_s;              /* (TIMED_MOST, n_steps) */
	double *task_s;              /* (TIMED_MOST, plan.n_tasks) */
	double *lat_s;               /* (TIMED_MOST) of the runs, without waiting where `whole` */
};

/* A placement of sets, planned with groups as `fuse` says.  -1: it cannot run. */
int timed_make(struct timed *t, struct session *s, const uint16_t *device, enum fuse_mode fuse,
	       struct err *e) MUST_CHECK;
/* The same as placements are planned that devrun measures (session_plan). */
int timed_make_tuned(struct timed *t, struct session *s, const uint16_t *device,
		     struct err *e) MUST_CHECK;
void timed_release(struct timed *t);

/* One more run; without counting when `warm`, or when there is no room. */
int timed_run(struct timed *t, struct session *s, bool warm, struct err *e) MUST_CHECK;

/* Keep the runs whose steps took the least time in sum, a sixth of them but at least two: who
 * else uses the machine only ever adds time.  lat_s, too, and ascending. */
void timed_keep_fastest(struct timed *t);

#endif
