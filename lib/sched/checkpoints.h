/* checkpoints.h - checkpoints of a schedule: how a placement that differs from another in a few
 * tasks is simulated without simulating all of it; internal to lib/sched.
 *
 * One run, the base, is simulated from beginning to end.  On the way it leaves checkpoints: copies
 * of the whole state, one each time that `interval` more tasks have ended.  A rerun of another
 * placement goes through three steps (rerun.c):
 *
 *   base    |--------#---------#---------#---o-----#------o--#-----|
 *           start    checkpoints (#)         sync points (o)       end
 *   rerun                      |====x======= o                       (1) restore (2) simulate
 *                                   a task that moved     + the rest (3) rejoin: add what the base
 *                                                                        took from there
 *
 * 1. It begins at the last checkpoint before a changed task could matter.  A task with another
 *    device matters from the end of its first producer on, because then it is decided where the
 *    tensor goes; one with another cost alone, from its start.  Until then the base took no
 *    decision that depends on the change, so that its state is that of the other run; what a state
 *    says about changed tasks is put right (relocate_changed, move_root).
 * 2. It runs the event loop.  It may stop as soon as its makespan is certainly above a limit: when
 *    a device has more left to compute than the limit leaves (busy_s - begun_s), or a task that
 *    starts now is followed by too much (tail_s).
 * 3. It ends at a sync point of the base.  At a sync point one task alone is running, nothing is
 *    being copied, and what has been made is wherever it is read.  The rest of the run depends on
 *    which tasks have ended, on the devices of the others, and on the memory in use, and on
 *    nothing else: the clock begins anew when that task ends, so that even the rounding of times
 *    is the same.  If all of that is as in the base, the rest is as in the base, and its figures
 *    are added up (syncpoint.c).
 *
 * The result is exact: every figure is, to the last bit, that of a run from the beginning, except
 * for one chance in 2^64.  Sets of ended tasks are compared by a sum of 64 random bits a task
 * (`mark`).
 *
 * Invariants.  Checkpoint 0 is the state before anything starts.  before_start[p] and before_end[p]
 * are indices of checkpoints of the base; they are valid for all tasks once the base has ended.  So
 * is sync_before_end.  sync_of is not cleared between bases: sync[].pos tells whether an entry is
 * of this one.  changed[0 .. n_changed) lists the tasks in which the engine's placement (dev,
 * cost_s) differs from the base, with their device and cost in the base.
 *
 * Cost.  Memory: `max` states.  Time of a rerun: one copy of a state, and the events from the
 * checkpoint to the sync point; a base that is not run again pays one copy a checkpoint.  Where the
 * rules or the size do not allow checkpoints (engine_can_rerun, engine.common) a rerun begins from
 * the beginning, but may still stop at the limit. */
#ifndef HSDAG_SCHED_CHECKPOINTS_H
#define HSDAG_SCHED_CHECKPOINTS_H

#include <stdbool.h>
#include <stdint.h>

struct engine;

/* The scalars of a state. */
struct run_progress {
	double base_s;            /* when the clock began, at the last sync point */
	double now_s, makespan_s; /* since then; makespan: when the last task so far ended */
	uint64_t copied_bytes;
	uint64_t ended_marks; /* sum of the marks of ended tasks; not in plain runs */
	uint32_t instant;     /* instants so far */
	uint32_t n_copies, n_ended;
};

/* A task that has another device or cost than in the base, and what it has there. */
struct changed_task {
	uint32_t pos;
	uint16_t dev;
	double cost_s;
};

/* A sync point of the base. */
struct sync_point {
	double s;             /* the clock at the end of the task that runs, when it begins anew */
	uint64_t ended_marks; /* as in run_progress, before that end */
	uint64_t copied_bytes;
	uint32_t n_copies;
	uint32_t pos; /* the task that runs */
};

struct checkpoints {
	uint32_t max;      /* room for so many; 0: none, reruns begin from the beginning */
	uint32_t n;        /* so many there are; with max 0: 1, or 0 when there is no base */
	uint32_t interval; /* tasks that end between two */
	char *state;       /* (max, state_bytes) */
	/* (n tasks) the last checkpoint before a task starts, and before it ends */
	uint32_t *before_start, *before_end;

	/* Sync points, in the order of time. */
	uint64_t *mark;          /* (n tasks) random bits */
	struct sync_point *sync; /* (n tasks) */
	uint32_t n_sync;
	uint32_t *sync_before_state; /* (max) sync points before a checkpoint */
	uint32_t *sync_before_end;   /* (n tasks) sync points before a task ends */
	uint32_t *sync_of;           /* (n tasks) a sync point; that of p if sync[].pos is p */
	uint64_t *sync_live;         /* (n tasks, k) bytes in use at a sync point */
	/* (n tasks + 1, k) peaks of memory: of the stretch before sync point i (the last: after all
	 * of them); of all stretches up to it; of all from it on */
	uint64_t *peak_of, *peak_to, *peak_from;
	struct run_progress total; /* of the base, at its end */

	/* The rerun. */
	/* (n tasks, k) no run ends sooner than so long after the end of the task there (tails.c) */
	double *tail_s;
	struct changed_task *changed; /* (n tasks) */
	uint32_t n_changed;
	uint32_t from;  /* the checkpoint that it begins at */
	double limit_s; /* it may stop when its makespan is above this */
	bool above;     /* it has stopped for that */
};

/* checkpoints.c: a run begins that becomes the base; all memory is given back. */
void checkpoints_begin(struct engine *e);
void checkpoints_release(struct engine *e);

/* tails.c: fill tail_s. */
void tails_find(struct engine *e);

/* syncpoint.c.  A state here is the engine's: now, live, peak. */
void syncpoints_init(struct engine *e);
void syncpoints_release(struct engine *e);
/* The run that becomes the base begins, with n sync points behind it. */
void syncpoints_begin(struct engine *e, uint32_t n);
/* It is at a sync point: the task at position pos runs until the clock says s. */
void syncpoints_add(struct engine *e, uint32_t pos, double s);
/* It is over; its results become the engine's. */
void syncpoints_end(struct engine *e);
/* A rerun begins at a checkpoint: the peak so far becomes the engine's. */
void syncpoints_resume(struct engine *e, uint32_t checkpoint);
/* A rerun has one task running, as in syncpoints_add.  Is it at a sync point of the base, and so
 * the rest the same?  Then the engine's state becomes that at the end of the rerun. */
bool syncpoints_rejoin(struct engine *e, uint32_t pos, double s);

#endif
