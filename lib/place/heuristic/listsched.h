/* listsched.h - a schedule that list heuristics build up task by task: when a task could end on a
 * device, with insertion into idle gaps (Topcuoglu et al. 2002, section 4.2); links carry any
 * number of copies at once unless `links` says otherwise. Sets that share a device go where the
 * first of them went, and devices take no more memory for what tasks hold than they have. */
#ifndef HSDAG_PLACE_HEURISTIC_LISTSCHED_H
#define HSDAG_PLACE_HEURISTIC_LISTSCHED_H

#include "place/method/method.h"
#include "place/simulate/held.h"

struct listlinks;
struct agenda; /* what a device is doing, by ascending time */

struct listsched {
	const struct place_model *m;
	const struct sched_dag *d;
	uint32_t n, k;
	struct place_units u;
	uint16_t *on;            /* (n) device of a task; UINT16_MAX: not placed */
	double *end_s;           /* (n) */
	bool *placed;            /* (n) */
	uint32_t *left;          /* (n) inputs whose task is not placed */
	struct agenda *agenda;   /* (k) */
	struct held held;        /* what devices hold so far */
	uint64_t *mem_limit;     /* (k) 0: none; m's, a method may lower them */
	uint16_t *unit_dev;      /* (units) UINT16_MAX: open */
	uint32_t *unit_placed;   /* (units) tasks of it that are placed */
	const bool *closed;      /* (k) devices that take nothing; NULL: none */
	struct listlinks *links; /* copies wait for each other; NULL: they do not */
	/* of clock_s; tasks that listsched_run comes to later go to one device (0: there is none) */
	double deadline_s;
	uint32_t n_late, late_dev; /* how many; where they go, once there is one */
};

/* Memory from a but for agendas, which listsched_release frees. */
void listsched_init(struct listsched *x, const struct place_model *m, struct arena *a);
void listsched_release(struct listsched *x);

/* When all inputs of v whose tasks are placed are on dev; INFINITY: one has no way there. */
double listsched_ready_s(const struct listsched *x, uint32_t v, uint32_t dev);
/* May v go to dev: cost, memory, and the sets that stay with it. */
bool listsched_may(const struct listsched *x, uint32_t v, uint32_t dev);
/* The earliest end of v on dev; INFINITY: not possible there. */
double listsched_end_s(const struct listsched *x, uint32_t v, uint32_t dev);
/* The device where v ends first (Topcuoglu et al. 2002, equation 6), of equal ones the first, and
 * when; SCHED_NONE and INFINITY: no device can take it. */
uint32_t listsched_earliest(const struct listsched *x, uint32_t v, double *end_s);
/* Place v on dev, where listsched_end_s is finite. */
void listsched_place(struct listsched *x, uint32_t v, uint32_t dev);
/* The same from `start` on, behind all that dev was given so far. */
void listsched_append(struct listsched *x, uint32_t v, uint32_t dev, double start);
/* Take v back, the last of those that are placed; not with links. */
void listsched_take_back(struct listsched *x, uint32_t v);

/* device (n_sets) of what was placed. */
void listsched_placement(const struct listsched *x, uint16_t *device);

/* Mean costs over devices: task_s (n), and use_s (n_uses) over pairs of linked, different devices
 * (Topcuoglu et al. 2002, equations 1 and 3; of links that differ the mean is that of the seconds
 * that copies take, where equation 3 divides by the mean rate). */
void listsched_means(const struct listsched *x, double *task_s, double *use_s);
/* rank_u (section 4.1), (n), from a. */
double *listsched_upward_rank(const struct listsched *x, struct arena *a);
/* Tasks by descending rank, equal ones by number; rank by task. */
void listsched_sort(uint32_t *task, uint32_t n, const double *rank);

/* -1 (ST_RUNTIME): no device can take v. */
int listsched_stuck(const struct listsched *x, uint32_t v, struct err *e);

/* Place all tasks: again and again, of those whose inputs are placed the one of the highest
 * priority (n; equal ones: lower number), on the device that `choose` names; SCHED_NONE: none is
 * possible. -1 (ST_RUNTIME) then. */
typedef uint32_t listsched_choose(struct listsched *x, uint32_t v, void *arg);
int listsched_run(struct listsched *x, const double *priority, listsched_choose *choose, void *arg,
		  struct err *e) MUST_CHECK;
/* The choice of listsched_earliest; arg is not looked at. */
listsched_choose listsched_choose_earliest;

/* The end of the last task placed. */
double listsched_makespan_s(const struct listsched *x);

/* The end of a method: hand over what was placed, unless rc < 0; the note says how long x's own
 * schedule is.  Releases x. */
int listsched_answer(struct listsched *x, int rc, struct method_run *r, struct err *e) MUST_CHECK;

#endif
