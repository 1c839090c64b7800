/* engine.h - the state of one simulated run; internal to lib/sched.
 *
 * Tasks are numbered by priority (position 0 is taken first), tensors by the position of their
 * task: ties are then comparisons of numbers.  A server carries one thing at a time: with k
 * devices, server d*k+d is device d and src*k+dst the link from src to dst.  A slot is a tensor on
 * a device: tensor*k + device.  All that a run changes is in one piece of memory, so that a state
 * is kept and brought back by copying it. */
#ifndef HSDAG_SCHED_ENGINE_H
#define HSDAG_SCHED_ENGINE_H

#include "sched/ready.h"
#include "sched/timeline.h"

/* Copies waiting for one link, in order.  Those behind `old` came at the current instant and
 * are still being put in order. */
struct queue {
	uint32_t head, tail;     /* slots; head SCHED_NONE: empty */
	uint32_t old;            /* the last of an earlier instant; SCHED_NONE: none left */
	uint32_t instant;        /* that `old` was noted at */
};

/* The scalars of a state. */
struct moment {
	double now_s, makespan_s;
	uint64_t copied_bytes;
	uint32_t instant;        /* ticks of this run */
	uint32_t n_copies;
};

enum {
	FEW = 8,                 /* devices whose servers are the bits of one word */
	FEW_TABLED = 4           /* devices up to which times of copies are tabled */
};

struct event {
	double s;
	uint32_t what;           /* a device, or k + slot of a copy */
};

struct engine {
	const struct sched_dag *d;
	const struct sched_costs *c;
	uint32_t k, n_words;         /* words of a bit per server */
	bool few;                    /* k <= FEW: events are found by looking at all servers */

	/* The graph by position. */
	struct ready ready;
	uint32_t *n_in;              /* (n) inputs, and a hold */
	uint32_t *root, n_roots;     /* (n_roots) positions without any */
	uint32_t *in_ptr, *in_tensor;    /* (n+1), (n_uses) */
	uint32_t *out_ptr;           /* (n+1) tensors */
	uint64_t *out_bytes;         /* (n) */
	uint32_t *use_ptr, *use;     /* (n_tensors+1), (n_uses) positions of consumers */
	uint64_t *bytes;             /* (n_tensors) */
	uint32_t *tensor_at;         /* (n_tensors) number in d */
	uint32_t *maker;             /* (n_tensors) position of its task */
	double *copy_s;              /* (n_tensors, k*k); NULL: too many */
	const uint32_t *hold;        /* (n) tasks of d, or NULL */
	uint32_t *held, *held_next;  /* (n) lists of positions that one holds up */

	/* A placement by position. */
	uint16_t *dev;               /* (n) */
	double *cost_s;              /* (n) */
	double *sum_s;               /* (4,k) scratch */

	/* The state of a run. */
	void *state;
	size_t state_bytes;
	struct moment *now;
	double *end_s;               /* (k*k) of what a server does; INFINITY: nothing */
	uint64_t *idle, *waiting;    /* (n_words) servers that are free; that something waits for */
	uint64_t *live, *peak;       /* (k) bytes */
	struct queue *queue;         /* (k*k) */
	uint32_t *doing;             /* (k*k) position or slot */
	uint32_t *pending;           /* (n) inputs that have not arrived, and a hold */
	uint32_t *refs;              /* (slots) readers there that have not ended, and copies from it */
	uint32_t *next;              /* (slots) behind it in a queue */
	uint32_t *needed_at;         /* (slots) instant at which a copy was needed; no overlap only */

	/* More than FEW devices, or links that carry several copies. */
	struct event *heap;
	uint32_t n_events;

	struct timeline *t;
	bool keep;                   /* the schedule, in t */
	uint32_t *copy_of;           /* (slots) number of a copy; kept schedules only */
};

/* Memory for d and c; t has room for results. */
void engine_init(struct engine *e, const struct sched_dag *d, const struct sched_costs *c,
		 struct timeline *t, bool keep);
void engine_release(struct engine *e);

/* Tasks by descending rank from the next run on; see sched.h for hold, which may be NULL. */
void engine_order(struct engine *e, const double *rank, const uint32_t *hold);

/* A run of placement device (n), from the beginning. */
enum timeline_status engine_run(struct engine *e, const uint16_t *device);

#endif
