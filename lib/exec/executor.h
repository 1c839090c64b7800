/* executor.h - runs plans: one thread per device, or per core where devices take turns on it, which whenever it is free
 * starts the ready task of the oldest request, of one request that of the highest rank.
 *
 * Nothing is shared between workers but the counters of tasks that wait: who
 * brings one to zero hands the task to its device.  There is no lock on the
 * way, and no allocation. */
#ifndef HSDAG_EXEC_EXECUTOR_H
#define HSDAG_EXEC_EXECUTOR_H

#include "exec/plan.h"

struct executor;

/* Workers for the open devices of l, which must outlive the executor. */
struct executor *executor_new(struct device_list *l);
void executor_free(struct executor *x);

/* Called between waits of at most 0.1 s while a run is going on; false ends
 * the run with an error (ST_RUNTIME). */
void executor_watch(struct executor *x, bool (*go_on)(void *arg), void *arg);
/* A run that takes longer than so many seconds ends with an error (ST_RUNTIME) after the steps that
 * are running, or the node of a body; 0: none does.  The executor stays usable. */
void executor_limit(struct executor *x, double seconds);
/* False once go_on has said so: the program is to end. */
bool executor_alive(const struct executor *x);

struct exec_sample {
	double lat_s;   /* from inputs on the host to results on the host; positive */
	double *busy_s; /* (k) computing; the caller's memory, or NULL */
	/* Durations; the caller's memory, or NULL.  step_s (n_steps) of each step of the model:
	 * a group's time is shared out in proportion to the planned durations of
	 * its steps.  task_s (n_tasks) of each task as it is, 0 for transfers; start_s
	 * (n_tasks) when its worker began with it, since the beginning of the run, and end_s
	 * (n_tasks) when it had ended, transfers too. */
	double *step_s, *task_s, *start_s, *end_s;
	bool apart; /* with step_s or task_s: wait for each step, so that step_s holds on devices
	                    * that queue, too; lat_s means little then */
};

/* One inference.  Results are then in p->result.  -1: a device failed (ST_RUNTIME);
 * the executor stays usable, the device may not be. */
int executor_run(struct executor *x, struct plan *p, struct exec_sample *out,
		 struct err *e) MUST_CHECK;

/* Several requests at once.  Plan i, each with memory of its own (planner_request), runs again and
 * again, as often as `next` says. */
struct exec_load {
	uint32_t n;
	struct plan *const *plan; /* (n) */
	/* Request i has ended, with end->code ST_OK or an error of its own; begin_s and end_s by clock_s().
	 * What it read and made is the callee's until it returns: true, the request begins anew.  end
	 * NULL: may it begin at all?  Called by any thread, by several at once for several i. */
	bool (*next)(void *arg, uint32_t i, const struct err *end, double begin_s, double end_s);
	void *arg;
	double *busy_s; /* (k) computing, of all requests; the caller's memory, or NULL */
};

/* Until none begins anew, and all have ended.  A request that fails takes no other with it; one that takes longer
 * than executor_limit fails, and if it does not end then either, all do.  -1: a device, or the whole, failed
 * (ST_RUNTIME), or executor_watch said so. */
int executor_load(struct executor *x, const struct exec_load *l, struct err *e) MUST_CHECK;

#endif
