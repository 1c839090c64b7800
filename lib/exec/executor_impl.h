/* executor_impl.h - shared by executor.c (runs, seen from the caller), worker.c (runs, seen
 * from the devices) and seat.c (threads that wait for work).  Not for others. */
#ifndef HSDAG_EXEC_EXECUTOR_IMPL_H
#define HSDAG_EXEC_EXECUTOR_IMPL_H

#include "exec/executor.h"

#include <pthread.h>
#include <stdatomic.h>

/* What changes about a task during a run. */
struct slot {
	atomic_uint waits; /* tasks before it that have not ended */
	uint32_t next;     /* in an inbox; GRAPH_NONE ends it */
};

/* What a device has to do. */
struct worker {
	struct executor *x;
	struct seat *seat; /* whose thread does it */
	uint32_t dev;
	struct device *device;
	uint32_t *heap, n_heap; /* ready tasks, highest rank first; the seat's own */
	size_t cap_heap;
	uint32_t left; /* tasks that have not been started */
	double busy_s;
	_Alignas(64)
		atomic_uint inbox; /* ready tasks that others hand over: a list through slot.next */
	atomic_uint in_flight;     /* transfers whose completion is to come */
};

/* A place in the steps of a device that has several cores. */
struct help {
	struct device *device;
	struct worker *worker; /* of it */
	int thread;
};

/* A thread, and the devices that it serves: one, or all that begin at a core and take turns
 * (device_class.lend). */
struct seat {
	struct executor *x;
	uint32_t n_workers, n_helps;
	struct worker **worker; /* (n_workers) */
	struct help *help;      /* (n_helps) when it has nothing else to do */
	pthread_t thread;
	bool started;
	bool active; /* it takes part in the run; the caller's own */
	_Atomic uint64_t
		run;       /* the last run that it has work in; written with the executor's lock */
	pthread_cond_t go; /* there is another one, or the executor quits; with that lock */
	double spin_s;     /* it looks for work for so long before it sleeps */
	double eager_s;    /* of that it keeps its core, then it yields to others while it looks */
	atomic_bool asleep;
	pthread_mutex_t lock;
	pthread_cond_t wake;
};

struct executor {
	uint32_t k;
	struct device_list *devices;
	struct worker *worker; /* (k) */
	struct seat *seat;     /* (n_seats) */
	uint32_t n_seats;
	struct plan *plan;
	struct slot *slot;
	size_t cap_slot;
	double *step_s, *task_s, *start_s, *task_end_s; /* as in exec_sample */
	double begin_s;
	bool apart;
	struct transfer *transfer; /* (n_tasks) arguments of completion functions */
	size_t cap_transfer;

	_Alignas(64) atomic_uint left; /* tasks that have not ended */
	atomic_bool stop;              /* a run has failed */
	double end_s;

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t done;
	uint64_t n_runs;
	uint32_t n_active; /* seats inside the run */
	bool quit, ended;
	struct err err;

	bool (*go_on)(void *arg);
	void *go_on_arg;
	double limit_s; /* of a run; 0: none */
	bool dead;      /* go_on has said no */
};

struct transfer {
	struct executor *x;
	uint32_t task;
};

/* Who serves which device; the threads have not started.  -1: no memory. */
int seats_new(struct executor *x);
void seats_free(struct executor *x);
/* The thread of a seat (its argument), until executor.quit. */
void *seat_main(void *seat);
/* A seat that sleeps within a run has something to do. */
void seat_wake(struct seat *s);
/* While all seats are parked: the task is ready. */
void worker_push(struct worker *w, uint32_t task);
/* End the run with an error; the first one stays. */
void executor_fail(struct executor *x, const struct err *e);

static inline bool executor_stopped(struct executor *x)
{
	return atomic_load_explicit(&x->stop, memory_order_relaxed);
}

#endif
