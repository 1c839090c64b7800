/* timed.h - a plan that is run again and again, and the times of its steps in each run. */
#ifndef HSDAG_PROFILE_TIMED_H
#define HSDAG_PROFILE_TIMED_H

#include "measure/session.h"

/* Runs that are kept at most. */
enum { TIMED_MOST = 96 };

struct timed {
	struct plan plan;
	bool made;
	bool waits; /* steps are waited for one by one (exec_sample.apart) */
	bool whole; /* each run once more without waiting, for lat_s */
	uint32_t n_steps, n_runs;
	double *step_s; /* (TIMED_MOST, n_steps) */
	double *task_s; /* (TIMED_MOST, plan.n_tasks) */
	double *lat_s;  /* (TIMED_MOST) of the runs, without waiting where `whole` */
};

/* A placement of sets, planned with groups as `fuse` says.  -1: it cannot run. */
int timed_make(struct timed *t, struct session *s, const uint16_t *device, enum fuse_mode fuse,
	       struct err *e) MUST_CHECK;
void timed_release(struct timed *t);

/* One more run; without counting when `warm`, or when there is no room. */
int timed_run(struct timed *t, struct session *s, bool warm, struct err *e) MUST_CHECK;

/* One more run that counts; of a short one (burst_is_short) the second in a row. */
int timed_sample(struct timed *t, struct session *s, struct err *e) MUST_CHECK;

/* interval_median; of a single run half as much again either way, as nobody knows, and records want numbers. */
struct interval timed_median(const double *x, uint32_t n);
/* Seconds of the fastest run. */
double timed_least(const struct timed *t);
/* Seconds that t takes while ref is as fast as in its fastest run: how much longer it takes is the median over rounds, its run
 * i beside ref's run `at` + i.  Of fewer than three such rounds: its fastest run, as without ref (NULL). */
double timed_beside(const struct timed *t, const struct timed *ref, uint32_t at);
/* What is left of the steps' time when they are not waited for one by one: 1 where they were not. */
double timed_unwaited(const struct timed *t);

#endif
