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
	uint32_t head, tail; /* slots; head SCHED_NONE: empty */
	uint32_t old;        /* the last of an earlier instant; SCHED_NONE: none left */
	uint32_t instant;    /* that `old` was noted at */
};

/* The first two of a list are at hand; the others, an even number, are elsewhere.  What is missing
 * is a tensor behind all others, of no bytes, or a position behind all others, which is on no
 * device: most lists are done without a branch. */
struct list {
	uint32_t first[2];
	uint32_t more, end; /* in engine's `more` */
};

struct task {
	uint64_t out_bytes;
	struct list in;        /* tensors */
	uint32_t out, out_end; /* tensors */
};

struct tensor {
	uint64_t bytes;
	struct list use; /* positions */
	uint32_t n_uses;
	uint32_t maker; /* position */
};

/* The scalars of a state.  Where one task alone is going on, a neck, the clock begins anew at its end:
 * what comes after it takes the same time, to the last bit, whatever came before. */
struct moment {
	double base_s;            /* when the clock began */
	double now_s, makespan_s; /* since then; makespan: when the last task so far ended */
	uint64_t copied_bytes;
	uint64_t ended;   /* marks of the tasks that have, added up; not in plain runs */
	uint32_t instant; /* ticks of this run */
	uint32_t n_copies, n_ended;
};

/* A task that is not as in the run whose states are kept. */
struct patch {
	uint32_t pos;
	uint16_t dev; /* there */
	double cost_s;
};

/* A neck of the run whose states are kept.  One task is going on, what has been made has arrived
 * wherever it is read: what comes next depends on what has ended and on the devices of the rest. */
struct neck {
	double s;       /* the clock at the task's end, when it begins anew */
	uint64_t ended; /* as in moment, before the end */
	uint64_t copied_bytes;
	uint32_t n_copies;
	uint32_t pos; /* the task */
};

/* States on the way through a run, to begin another one from.  Where the rules do not allow them,
 * another run begins from the beginning, but stops early all the same. */
struct kept {
	uint32_t most;           /* states; 0: only the beginning */
	uint32_t n;              /* that there are, the beginning included; 0: no run was kept */
	uint32_t every;          /* tasks that end between two */
	char *state;             /* (most, state_bytes) */
	uint32_t *begun, *ended; /* (n) the last state that is before a task begins; ends */
	/* necks.c: where another run may find itself on the same way. */
	uint64_t *mark;    /* (n) random: sums of them tell sets of tasks apart */
	struct neck *neck; /* (n) */
	uint32_t n_necks;
	uint32_t *necks_before; /* (most) a state */
	uint32_t *neck_of;      /* (n) the neck at which a task goes on; any other: there is none */
	uint32_t *ended_by;     /* (n) necks before a task ends */
	uint64_t *neck_live;    /* (n,k) */
	/* (n+1,k) the peak between a neck, or the beginning, and the next; up to there; from there on */
	uint64_t *peak, *peak_to, *peak_from;
	struct moment total;      /* of the run, at its end */
	double *tail_s;           /* (n,k) no run ends sooner after the task on that device */
	struct patch *patch;      /* (n) */
	uint32_t n_patches, from; /* of the last run; the state that it began from */
	double limit_s;           /* a run may stop when its makespan is above */
	bool above;               /* and has */
};

/* Times are not negative: as integers they are in the same order. */
#define NEVER INT64_C(0x7ff0000000000000) /* time_key(INFINITY) */

static inline int64_t time_key(double s)
{
	int64_t key;

	memcpy(&key, &s, sizeof(key));
	return key;
}

static inline double key_time(int64_t key)
{
	double s;

	memcpy(&s, &key, sizeof(s));
	return s;
}

enum {
	FEW = 8,        /* devices whose servers are the bits of one word */
	FEW_TABLED = 4, /* devices up to which times of copies are tabled */
	READY_WORDS = 64,
	/* Tasks of the common case at most: ready sets have two levels, and room for the position
	 * behind all others. */
	SMALL = 64 * READY_WORDS - 1,
	AWAY = 1 << 15 /* more than a task of the common case reads */
};

struct event {
	double s;
	uint32_t what; /* a device, or k + slot of a copy */
};

struct engine {
	const struct sched_dag *d;
	const struct sched_costs *c;
	uint32_t k, n_words; /* words of a bit per server */
	bool few;            /* k <= FEW: events are found by looking at all servers */
	bool common;         /* the rules allow states and a limit, and both are small */

	/* The graph by position. */
	struct ready ready;
	struct task *task;          /* (n) */
	struct tensor *tensor;      /* (n_tensors) */
	uint32_t *more;             /* rests of lists */
	uint32_t *n_in;             /* (n) inputs, and a hold */
	uint32_t *number;           /* (n_tensors) in the dag */
	uint32_t *root, n_roots;    /* (n_roots) positions that wait for nothing */
	double *copy_s;             /* (n_tensors, k*k); NULL: too many */
	const uint32_t *hold;       /* (n) tasks of d, or NULL */
	uint32_t *held, *held_next; /* (n) lists of positions that one holds up */

	/* A placement by position. */
	uint16_t *dev;  /* (n) */
	double *cost_s; /* (n) */
	double *sum_s;  /* (4,k) scratch */
	bool missing_links;

	/* The state of a run. */
	void *state;
	size_t state_bytes;
	struct moment *now;
	int64_t *end;             /* (k*k) time_key of what a server does; NEVER: nothing */
	uint64_t *idle, *waiting; /* (n_words) servers that are free; that something waits for */
	double *begun_s;          /* (k) of the tasks that have begun; kept and limited runs only */
	uint64_t *live, *peak;    /* (k) bytes */
	uint64_t *top;            /* (k) words of ready bits that are not 0 */
	struct queue *queue;      /* (k*k) */
	uint32_t *doing;          /* (k*k) position or slot */
	/* The common case: (n+1,k) what has not arrived at a task, its hold included; on other devices
	 * than its own, and of the last one on all, AWAY or more. */
	uint16_t *missing;
	uint64_t *pending;    /* else: (n+1) that << 32 | the task's device; of the last none */
	uint32_t *refs;       /* (n_tensors+1, k) readers there that have not ended, copies away */
	uint32_t *next;       /* (slots) the slot behind it in a queue */
	uint32_t *needed_at;  /* (slots) instant at which a copy was needed; no overlap only */
	uint64_t *ready_bits; /* (k, READY_WORDS) positions that are ready; SMALL or NULL */

	/* More than FEW devices, or links that carry several copies. */
	struct event *heap;
	uint32_t n_events;

	struct timeline *t;
	bool keep;         /* the schedule, in t */
	uint32_t *copy_of; /* (slots) number of a copy; kept schedules only */
	struct kept kept;
};

/* Memory for d and c; t has room for results. */
void engine_init(struct engine *e, const struct sched_dag *d, const struct sched_costs *c,
		 struct timeline *t, bool keep);
void engine_release(struct engine *e);

/* Tasks by descending rank from the next run on; see sched.h for hold, which may be NULL. */
void engine_order(struct engine *e, const double *rank, const uint32_t *hold);

/* begin.c: a run of placement device (n), from the beginning; with `keep` others may begin from it, if
 * the rules allow it (kept.n > 0). */
enum timeline_status engine_run(struct engine *e, const uint16_t *device, bool keep);
/* The state before anything starts. */
void engine_begin(struct engine *e, const uint16_t *device);
/* Is there a link to and from the neighbours of the task at pos, where they are? */
bool engine_can_reach(struct engine *e, uint32_t pos);
/* Seconds that each device computes, into t. */
void engine_busy(struct engine *e);
/* What a run came to, into t. */
void engine_results(struct engine *e);

/* simulate.c: the rules allow a limit; from the state as it is to the end. */
bool engine_has_limit(const struct engine *e);
enum engine_way { ENGINE_PLAIN, ENGINE_KEEP, ENGINE_LIMIT };
void engine_go_on(struct engine *e, enum engine_way way);

/* rerun.c: see timeline.h. */
enum timeline_status engine_again(struct engine *e, const uint16_t *device, const uint32_t *task,
				  uint32_t n, double limit_s);
void engine_keep(struct engine *e);
void kept_release(struct engine *e);
void kept_begin(struct engine *e);

/* necks.c: memory for them; where a run begins that is kept, with n of them behind it; the task at
 * pos goes on alone until the clock says s (a moment and live and peak are as in e); the kept run is
 * over, its results become the engine's; a run goes on from a state of one. */
void necks_init(struct engine *e);
void necks_release(struct engine *e);
void necks_begin(struct engine *e, uint32_t n);
void necks_add(struct engine *e, uint32_t pos, double s);
void necks_end(struct engine *e);
void necks_resume(struct engine *e, uint32_t state);
/* Is a run that is not kept where the kept one was, and so the rest the same?  Then the engine's
 * state becomes that at the end. */
bool necks_rejoin(struct engine *e, uint32_t pos, double s);

static inline uint32_t list_item(const struct engine *e, const struct list *l, uint32_t i)
{
	return i < 2 ? l->first[i] : e->more[l->more + i - 2];
}

#endif
