/* executor_impl.h - shared by executor.c (runs, seen from the caller), worker.c (runs, seen
 * from the devices) and seat.c (threads that wait for work).  Not for others. */
#ifndef HSDAG_EXEC_EXECUTOR_IMPL_H
#define HSDAG_EXEC_EXECUTOR_IMPL_H

#include "exec/executor.h"

#include <pthread.h>
#include <stdatomic.h>

/* What changes about a task of a request. */
struct slot {
	struct flight *of;
	struct slot *next; /* in an inbox */
	uint32_t task;
	atomic_uint waits; /* tasks before it that have not ended */
};

/* A request in flight. */
struct flight {
	struct executor *x;
	uint32_t index;
	struct plan *plan;
	struct slot *slot; /* (n_tasks) */
	size_t cap_slot;
	struct exec_sample *sample;
	bool apart;
	uint64_t age; /* which request it is, of all that have begun: lower ones go first */
	_Atomic double begin_s;
	_Alignas(64) atomic_uint left; /* tasks that have not ended */
	atomic_bool failed;            /* its tasks are not run any more, only counted */
	struct err err;                /* why; the first reason, with the executor's lock */
	double end_s;
};

/* What a device has to do. */
struct worker {
	struct executor *x;
	struct seat *seat; /* whose thread does it */
	uint32_t dev;
	struct device *device;
	struct slot **heap; /* (n_heap) ready tasks, as runs_before; the seat's own */
	uint32_t n_heap;
	size_t cap_heap;
	uint32_t left; /* tasks that have not been started; not counted where requests follow */
	double busy_s;
	_Alignas(64) struct slot
		*_Atomic inbox; /* ready tasks that others hand over: a list through slot.next */
	atomic_uint in_flight;  /* transfers whose completion is to come */
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
	struct flight *flight; /* (n_room) the first n_flights are of this run */
	uint32_t n_flights, n_room;
	const struct exec_load *load; /* requests that follow; NULL: none do */

	_Alignas(64) atomic_uint n_live; /* requests in flight */
	_Atomic uint64_t n_begun;
	atomic_bool stop; /* all requests have failed */

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

/* Who serves which device; the threads have not started.  -1: no memory. */
int seats_new(struct executor *x);
void seats_free(struct executor *x);
/* The thread of a seat (its argument), until executor.quit. */
void *seat_main(void *seat);
/* A seat that sleeps within a run has something to do. */
void seat_wake(struct seat *s);
/* A request begins: its first tasks are ready.  self: the calling seat, or NULL; parked: no seat has begun with the run. */
void flight_begin(struct flight *f, const struct seat *self, bool parked);
/* Nothing more of this request runs; the first error stays. */
void flight_fail(struct flight *f, const struct err *e);
/* End the run, and all its requests, with an error; the first one stays. */
void executor_fail(struct executor *x, const struct err *e);

static inline bool executor_stopped(struct executor *x)
{
	return atomic_load_explicit(&x->stop, memory_order_relaxed);
}

#endif
