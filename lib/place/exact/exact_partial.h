/* exact_partial.h - partial placements of branch and bound: devices for tasks 0 .. v-1, and lower
 * bounds of all placements that agree with them. */
#ifndef HSDAG_PLACE_EXACT_EXACT_PARTIAL_H
#define HSDAG_PLACE_EXACT_EXACT_PARTIAL_H

#include "place/bound/bound_parts.h"
#include "place/simulate/dnnpart.h"

/* A partial placement: devices of the first units, and what bounds need to know.  One a thread. */
struct partial_placement {
	const struct bound_view *v; /* share is filled */
	struct dnnpart *dnn;        /* rules other than the schedule's */
	const double *rest_s;       /* (n,k) of bound_path_backwards; schedules */
	uint16_t *task_dev;         /* (n) decided for tasks 0 .. */
	uint16_t *unit_dev;         /* (units) UINT16_MAX: open */
	uint32_t *used;             /* (k) units on a device */
	uint64_t *mem;              /* (k) */
	double *load_s;             /* (k) */
	double *end_s;              /* (n) of tasks decided: earliest end */
	double *path_s;             /* (n) longest path up to here */
	double *ahead_s;            /* (n,k) end of tasks that are open */
	double *open_s, *open_j;    /* (units) least share of load, least joules */
	double *least_s;            /* (units) least seconds */
	double sum_s, sum_j;        /* of all units: decided as they are, open ones least */
	double busy_s;              /* seconds, so; INFINITY: some unit can run nowhere */
	double idle_w;
};

/* What partial_decide_unit overwrites, for partial_undecide_unit. */
struct partial_undo {
	double load_s, sum_s, busy_s, sum_j;
};

/* Borrows v and rest_s; memory from a.  partial_release frees the rest. */
void partial_init(struct partial_placement *b, const struct bound_view *v, const double *rest_s,
		  struct arena *a);
void partial_release(struct partial_placement *b);

/* An open unit to a device, and back. */
struct partial_undo partial_decide_unit(struct partial_placement *b, uint32_t unit, uint16_t dev);
void partial_undecide_unit(struct partial_placement *b, uint32_t unit,
			   const struct partial_undo *was);

/* Task t, the first that is not decided, goes where its unit is. */
void partial_decide_task(struct partial_placement *b, uint32_t t);

/* Lower bounds of all placements that agree on tasks 0 .. n-1; INFINITY: none of them is legal.
 * near: cheap, from what is decided and from paths that were computed once.  far: dearer, with a
 * path through all open tasks, given the devices of units that are decided. */
double partial_bound_near(struct partial_placement *b, uint32_t n);
double partial_bound_far(struct partial_placement *b, uint32_t n);

#endif
