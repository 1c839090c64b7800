/* incumbent_view.h - the predicted schedule of a placement and what it leaves to gain: when tasks
 * run and could run at the latest, and the chain of tasks and copies that makes it as long as it
 * is.  What learned moves see. */
#ifndef HSDAG_PLACE_LEARNED_INCUMBENT_VIEW_H
#define HSDAG_PLACE_LEARNED_INCUMBENT_VIEW_H

#include "place/learned/costview.h"
#include "place/simulate/units.h"
#include "sched/timeline.h"

struct incumbent_view {
	const struct cost_view *view;
	const struct place_units *u;
	const uint32_t *unit_ptr, *unit_task; /* (units+1) tasks of each unit, ascending */
	/* of the placement last looked at */
	const struct timeline *t;
	uint16_t *on;          /* (n) device of a task */
	double *cost_s;        /* (n) what it takes there */
	double *late_s;        /* (n) the latest end that lengthens nothing */
	double *ready_s;       /* (n) when its inputs are there */
	uint32_t *copy_of;     /* (tensors,k) copy of a tensor to a device, SCHED_NONE */
	uint32_t *dev_ptr;     /* (k+1) tasks of a device by start: dev_task[dev_ptr[d]] .. */
	uint32_t *dev_task;    /* (n) */
	uint32_t *at;          /* (n) where a task is in dev_task */
	uint32_t n_chain;      /* tasks of the critical chain, from the end on */
	uint32_t *chain;       /* (n) */
	uint32_t *chain_copy;  /* (n) the copy behind chain[i]; SCHED_NONE: none, */
	bool *chain_by_device; /* (n) or what it waited for was the device */
	uint32_t *on_chain;    /* (n) position in chain + 1; 0: not on it */
	/* memory */
	struct timeliner *clock;
	struct sched_costs costs;
	double *task_s;
	double *copy_late_s; /* (uses) latest start of a copy */
	struct event *event; /* (n + uses) */
	struct arena *a;
};

/* view, u: borrowed. */
struct incumbent_view *incumbent_view_new(const struct cost_view *view,
					  const struct place_units *u);
void incumbent_view_free(struct incumbent_view *x);

/* Look at a placement (n_sets); false: it cannot be carried out. */
bool incumbent_view_set(struct incumbent_view *x, const uint16_t *device);

static inline double incumbent_slack_s(const struct incumbent_view *x, uint32_t v)
{
	return x->late_s[v] - x->t->end_s[v];
}

#endif
