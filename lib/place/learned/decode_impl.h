/* decode_impl.h - the state of a list schedule for its features; not for others than decode*.c. */
#ifndef HSDAG_PLACE_LEARNED_DECODE_IMPL_H
#define HSDAG_PLACE_LEARNED_DECODE_IMPL_H

#include "place/heuristic/listsched.h"
#include "place/learned/decode.h"

enum { MOST_CHILDREN = 8, MANY_INPUTS = 32 };

/* One device for the task at hand; what is not possible has end_s INFINITY. */
struct option {
	uint32_t dev;
	double end_s, cost_s, ready_s, start_s;
	double after_s; /* look-ahead rank: what the schedule's end is then thought to be */
};

/* What is near an option: where the task's inputs are, what their copies take. */
struct option_near {
	double tail_s;        /* the end of what the device was given so far */
	double plain_ready_s; /* of the inputs, when no copy waits for another */
	double copy_s, out_s; /* copies that it needs; the mean copy of what it makes */
	double near_in, near_bytes, near_siblings;
	bool binds; /* the last input is made there */
	uint32_t n_copies;
};

struct decode_state {
	struct decode *x;
	const struct cost_view *view;
	struct listsched *l;
	double *busy_s;        /* (k) */
	uint32_t *twin_on;     /* (classes,k) tasks of a class by device; NULL: not counted */
	uint32_t *twin_last;   /* (classes) device of the last one; SCHED_NONE */
	double horizon_s;      /* the latest of end + rank after it, of all that is placed */
	double horizon_oct_s;  /* the same by optimistic costs */
	struct option *option; /* (k) */
	uint32_t n_options;
	float *feature, *score;   /* (k,DECODE_FEATURES), (k) */
	double *weight;           /* (k) */
	struct option_near *near; /* (k) */
	double *share;            /* (k) */
	/* children of the task at hand, by descending rank, and when what else they read is where */
	uint32_t n_children, child[MOST_CHILDREN], child_use[MOST_CHILDREN];
	double *child_ready_s; /* (MOST_CHILDREN,k) */
	/* Of a task with many inputs that is known from the inputs that are placed, as they come: for each child anew
	 * it would take as long as all of them times all of them. */
	double **known_ready_s; /* (n) (k) or NULL */
	uint32_t last;          /* the task that was chosen before; SCHED_NONE */
};

static inline uint32_t decode_unit(const struct decode_state *s, uint32_t v)
{
	return s->l->u.of_set[s->l->m->tasks.task_set[v]];
}

/* Fills s->feature for the options of task v. */
void decode_features(struct decode_state *s, uint32_t v);

#endif
