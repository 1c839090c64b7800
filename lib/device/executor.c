/* executor.c - workers, ready queues, completion. */
#include "device/executor.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

/* How long a worker looks for work before it sleeps, on cores of its own. */
static const double SPIN_S = 100e-6;
static const double WATCH_S = 0.1;

/* What changes about a task during a run. */
struct slot {
	atomic_uint waits;               /* tasks before it that have not ended */
	uint32_t next;                   /* in an inbox; GRAPH_NONE ends it */
};

struct worker {
	struct executor *x;
	uint32_t dev;
	struct device *device;
	pthread_t thread;
	bool started;
	uint32_t *heap, n_heap;          /* ready tasks, highest rank first; the worker's own */
	size_t cap_heap;
	uint32_t left;                   /* tasks that it has not started */
	double busy_s;
	_Alignas(64) atomic_uint inbox;  /* ready tasks that others hand over: a list through slot.next */
	atomic_bool asleep;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	atomic_uint in_flight;           /* transfers whose completion is to come */
};

struct executor {
	uint32_t k;
	struct device_list *devices;
	struct worker *worker;           /* (k) */
	struct plan *plan;
	struct slot *slot;
	size_t cap_slot;
	double *step_s;                  /* (n_steps) or NULL */
	struct transfer *transfer;       /* (n_tasks) arguments of completion functions */
	size_t cap_transfer;

	_Alignas(64) atomic_uint left;   /* tasks that have not ended */
	atomic_bool stop;                /* a run has failed */
	double end_s;

	pthread_mutex_t lock;            /* of what follows */
	pthread_cond_t go, done;
	uint64_t generation;             /* of runs */
	uint32_t n_active;               /* workers inside the run */
	bool quit, ended;
	struct err err;

	bool (*go_on)(void *arg);
	void *go_on_arg;
	bool dead;                       /* go_on has said no */
};

struct transfer {
	struct executor *x;
	uint32_t task;
};

double clock_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* ---- ready tasks of one worker ---- */

/* Equal ranks: the lower task first, so that runs are alike. */
static bool before(const struct plan *p, uint32_t a, uint32_t b)
{
	double ra = p->task[a].rank, rb = p->task[b].rank;
	return ra > rb || (ra == rb && a < b);
}

static void heap_push(struct worker *w, uint32_t task)
{
	const struct plan *p = w->x->plan;
	uint32_t i = w->n_heap++;
	for (; i > 0 && before(p, task, w->heap[(i - 1) / 2]); i = (i - 1) / 2)
		w->heap[i] = w->heap[(i - 1) / 2];
	w->heap[i] = task;
}

static uint32_t heap_pop(struct worker *w)
{
	const struct plan *p = w->x->plan;
	uint32_t top = w->heap[0], last = w->heap[--w->n_heap], i = 0;
	for (;;) {
		uint32_t c = 2 * i + 1;
		if (c >= w->n_heap)
			break;
		if (c + 1 < w->n_heap && before(p, w->heap[c + 1], w->heap[c]))
			c++;
		if (!before(p, w->heap[c], last))
			break;
		w->heap[i] = w->heap[c];
		i = c;
	}
	w->heap[i] = last;
	return top;
}

static void wake(struct worker *w)
{
	if (!atomic_load(&w->asleep))
		return;
	pthread_mutex_lock(&w->lock);
	pthread_cond_signal(&w->wake);
	pthread_mutex_unlock(&w->lock);
}

/* Hand a ready task to another worker. */
static void inbox_push(struct worker *w, uint32_t task)
{
	struct slot *s = &w->x->slot[task];
	unsigned head = atomic_load_explicit(&w->inbox, memory_order_relaxed);
	do
		s->next = head;
	while (!atomic_compare_exchange_weak(&w->inbox, &head, task));
	wake(w);
}

static void inbox_drain(struct worker *w)
{
	if (atomic_load_explicit(&w->inbox, memory_order_relaxed) == GRAPH_NONE)
		return;
	uint32_t t = atomic_exchange(&w->inbox, GRAPH_NONE);
	while (t != GRAPH_NONE) {
		uint32_t next = w->x->slot[t].next;
		heap_push(w, t);
		t = next;
	}
}

/* ---- the end of a task, or of a run ---- */

static void tell_end(struct executor *x)
{
	pthread_mutex_lock(&x->lock);
	x->ended = true;
	pthread_cond_signal(&x->done);
	pthread_mutex_unlock(&x->lock);
}

static void fail(struct executor *x, const struct err *e)
{
	pthread_mutex_lock(&x->lock);
	if (x->err.code == ST_OK)
		x->err = *e;
	x->ended = true;
	pthread_cond_signal(&x->done);
	pthread_mutex_unlock(&x->lock);
	atomic_store(&x->stop, true);
	for (uint32_t d = 0; d < x->k; d++)
		wake(&x->worker[d]);
}

static void task_ended(struct executor *x)
{
	if (atomic_fetch_sub_explicit(&x->left, 1, memory_order_acq_rel) == 1) {
		x->end_s = clock_s();
		tell_end(x);
	}
}

/* Tell the tasks that wait for `task`: those of its own device when `own`,
 * of other devices when `others`.  self is the calling worker or NULL. */
static void release(struct executor *x, uint32_t task, bool own, bool others, struct worker *self)
{
	const struct plan *p = x->plan;
	const struct task *t = &p->task[task];
	for (uint32_t i = t->next_ptr; i < t->next_end; i++) {
		uint32_t s = p->next[i], dev = p->task[s].dev;
		if (dev == t->dev ? !own : !others)
			continue;
		if (atomic_fetch_sub_explicit(&x->slot[s].waits, 1, memory_order_acq_rel) != 1)
			continue;
		if (self && self->dev == dev)
			heap_push(self, s);
		else
			inbox_push(&x->worker[dev], s);
	}
}

static void transfer_done(void *arg, bool ok)
{
	const struct transfer *t = arg;
	struct executor *x = t->x;
	struct worker *w = &x->worker[x->plan->task[t->task].dev];
	if (ok) {
		release(x, t->task, false, true, NULL);
		atomic_fetch_sub(&w->in_flight, 1);
		task_ended(x);
		return;
	}
	struct err e = ERR_INIT;
	(void)err_set(&e, ST_RUNTIME, "device '%s': a transfer failed", w->device->name);
	atomic_fetch_sub(&w->in_flight, 1);
	fail(x, &e);
}

/* ---- running a task ---- */

static int start_transfer(struct worker *w, uint32_t task, struct err *e)
{
	struct executor *x = w->x;
	const struct task *t = &x->plan->task[task];
	const struct device_class *c = w->device->class;
	struct transfer *arg = &x->transfer[task];
	*arg = (struct transfer){x, task};
	atomic_fetch_add(&w->in_flight, 1);
	int rc = t->kind == TASK_UPLOAD
		 ? c->upload(w->device, t->mem, t->src, t->bytes, transfer_done, arg, e)
		 : c->download(w->device, t->mem, t->dst, t->bytes, transfer_done, arg, e);
	if (rc < 0) {
		atomic_fetch_sub(&w->in_flight, 1);
		return -1;
	}
	release(x, task, true, false, w);
	return 0;
}

static int run_task(struct worker *w, uint32_t task, double *now, struct err *e)
{
	struct executor *x = w->x;
	const struct task *t = &x->plan->task[task];
	if (t->kind == TASK_UPLOAD || t->kind == TASK_DOWNLOAD)
		return start_transfer(w, task, e);
	if (t->kind == TASK_MEMCPY)
		memcpy(t->dst, t->src, t->bytes);
	else if (w->device->class->run(w->device, t->prepared, t->in, t->out, e) < 0)
		return -1;
	double then = *now;
	*now = clock_s();
	if (t->kind == TASK_STEP) {
		w->busy_s += *now - then;
		if (x->step_s)
			x->step_s[t->step] = *now - then;
	}
	release(x, task, true, true, w);
	task_ended(x);
	return 0;
}

static bool is_stopped(const struct executor *x)
{
	return atomic_load_explicit(&x->stop, memory_order_relaxed);
}

static bool has_mail(struct worker *w)
{
	return atomic_load(&w->inbox) != GRAPH_NONE;
}

/* Until a task is handed over, or the run is stopped. */
static int wait_for_work(struct worker *w, struct err *e)
{
	const struct device_class *c = w->device->class;
	if (c->flush) {
		if (c->flush(w->device, e) < 0)
			return -1;
	} else {
		for (double until = clock_s() + SPIN_S; clock_s() < until && !is_stopped(w->x);)
			for (int i = 0; i < 50; i++) {
				if (has_mail(w))
					return 0;
				cpu_relax();
			}
	}
	pthread_mutex_lock(&w->lock);
	atomic_store(&w->asleep, true);
	while (!has_mail(w) && !atomic_load(&w->x->stop))
		pthread_cond_wait(&w->wake, &w->lock);
	atomic_store(&w->asleep, false);
	pthread_mutex_unlock(&w->lock);
	return 0;
}

static int run_tasks(struct worker *w, struct err *e)
{
	double now = clock_s();
	while (w->left > 0 && !is_stopped(w->x)) {
		inbox_drain(w);
		if (w->n_heap == 0) {
			if (wait_for_work(w, e) < 0)
				return -1;
			now = clock_s();
			continue;
		}
		w->left--;
		if (run_task(w, heap_pop(w), &now, e) < 0)
			return -1;
	}
	return w->device->class->flush ? w->device->class->flush(w->device, e) : 0;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct executor *x = w->x;
	uint64_t seen = 0;
	if (w->device->class->enter)
		w->device->class->enter(w->device);
	for (;;) {
		pthread_mutex_lock(&x->lock);
		while (x->generation == seen && !x->quit)
			pthread_cond_wait(&x->go, &x->lock);
		bool quit = x->quit;
		seen = x->generation;
		pthread_mutex_unlock(&x->lock);
		if (quit)
			return NULL;
		struct err e = ERR_INIT;
		if (run_tasks(w, &e) < 0) {
			(void)err_prefix(&e, "device '%s'", w->device->name);
			fail(x, &e);
			x->dead = true;
		}
		pthread_mutex_lock(&x->lock);
		if (--x->n_active == 0)
			pthread_cond_signal(&x->done);
		pthread_mutex_unlock(&x->lock);
	}
}

/* ---- the executor ---- */

struct executor *executor_new(struct device_list *l)
{
	struct executor *x = mem_try(sizeof *x);
	if (!x)
		return NULL;
	memset(x, 0, sizeof *x);
	x->k = l->n;
	x->devices = l;
	pthread_mutex_init(&x->lock, NULL);
	pthread_cond_init(&x->go, NULL);
	pthread_cond_init(&x->done, NULL);
	x->worker = mem_try((size_t)l->n * sizeof *x->worker);
	if (!x->worker) {
		mem_free(x);
		return NULL;
	}
	memset(x->worker, 0, (size_t)l->n * sizeof *x->worker);
	for (uint32_t d = 0; d < l->n; d++) {
		struct worker *w = &x->worker[d];
		w->x = x;
		w->dev = d;
		w->device = &l->dev[d];
		atomic_init(&w->inbox, GRAPH_NONE);
		pthread_mutex_init(&w->lock, NULL);
		pthread_cond_init(&w->wake, NULL);
	}
	for (uint32_t d = 0; d < l->n; d++) {
		if (pthread_create(&x->worker[d].thread, NULL, work, &x->worker[d]) != 0) {
			executor_free(x);
			return NULL;
		}
		x->worker[d].started = true;
	}
	return x;
}

void executor_free(struct executor *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->quit = true;
	pthread_cond_broadcast(&x->go);
	pthread_mutex_unlock(&x->lock);
	for (uint32_t d = 0; d < x->k; d++) {
		struct worker *w = &x->worker[d];
		if (w->started)
			pthread_join(w->thread, NULL);
		pthread_mutex_destroy(&w->lock);
		pthread_cond_destroy(&w->wake);
		mem_free(w->heap);
	}
	pthread_mutex_destroy(&x->lock);
	pthread_cond_destroy(&x->go);
	pthread_cond_destroy(&x->done);
	mem_free(x->worker);
	mem_free(x->slot);
	mem_free(x->transfer);
	mem_free(x);
}

void executor_watch(struct executor *x, bool (*go_on)(void *arg), void *arg)
{
	x->go_on = go_on;
	x->go_on_arg = arg;
}

bool executor_alive(const struct executor *x)
{
	return !x->dead;
}

/* Counters and queues for a run of p; workers are parked. */
static void arm(struct executor *x, struct plan *p, double *step_s)
{
	x->slot = mem_grow(x->slot, &x->cap_slot, p->n_tasks, sizeof *x->slot);
	x->transfer = mem_grow(x->transfer, &x->cap_transfer, p->n_tasks, sizeof *x->transfer);
	x->plan = p;
	x->step_s = step_s;
	x->ended = p->n_tasks == 0;
	err_clear(&x->err);
	atomic_store(&x->left, p->n_tasks);
	atomic_store(&x->stop, false);
	for (uint32_t d = 0; d < x->k; d++) {
		struct worker *w = &x->worker[d];
		w->heap = mem_grow(w->heap, &w->cap_heap, p->n_dev_tasks[d], sizeof *w->heap);
		w->n_heap = 0;
		w->left = p->n_dev_tasks[d];
		w->busy_s = 0;
		atomic_store(&w->inbox, GRAPH_NONE);
	}
	for (uint32_t t = 0; t < p->n_tasks; t++) {
		atomic_store_explicit(&x->slot[t].waits, p->task[t].n_waits, memory_order_relaxed);
		if (p->task[t].n_waits == 0)
			heap_push(&x->worker[p->task[t].dev], t);
	}
}

/* Until the run has ended and all workers are parked.  x->lock is held. */
static void await(struct executor *x)
{
	while (!x->ended || x->n_active > 0) {
		struct timespec until;
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += (long)(WATCH_S * 1e9);
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_timedwait(&x->done, &x->lock, &until) != ETIMEDOUT || !x->go_on)
			continue;
		pthread_mutex_unlock(&x->lock);
		if (!is_stopped(x) && !x->go_on(x->go_on_arg)) {
			struct err e = ERR_INIT;
			(void)err_set(&e, ST_RUNTIME, "cannot write the output: its reader has gone");
			fail(x, &e);
			x->dead = true;
		}
		pthread_mutex_lock(&x->lock);
	}
}

/* After a failure: let every transfer that was started end, since its memory goes. */
static void drain(struct worker *w)
{
	const struct device_class *c = w->device->class;
	struct err ignored = ERR_INIT;
	if (c->finish && c->finish(w->device, &ignored) < 0)
		err_clear(&ignored);
	for (int i = 0; i < 10000 && atomic_load(&w->in_flight) > 0; i++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
}

int executor_run(struct executor *x, struct plan *p, struct exec_sample *out, struct err *e)
{
	if (x->go_on && (x->dead || !x->go_on(x->go_on_arg))) {
		x->dead = true;
		return err_set(e, ST_RUNTIME, "cannot write the output: its reader has gone");
	}
	arm(x, p, out->step_s);
	pthread_mutex_lock(&x->lock);
	double start = clock_s();
	x->end_s = start;
	x->n_active = x->k;
	x->generation++;
	pthread_cond_broadcast(&x->go);
	await(x);
	struct err failed = x->err;
	pthread_mutex_unlock(&x->lock);
	for (uint32_t d = 0; d < x->k && failed.code != ST_OK; d++)
		drain(&x->worker[d]);
	if (failed.code != ST_OK)
		return err_set(e, (enum exit_status)failed.code, "%s", failed.msg);
	out->lat_s = x->end_s - start;
	for (uint32_t d = 0; out->busy_s && d < x->k; d++) {
		struct device *dev = &x->devices->dev[d];
		out->busy_s[d] = dev->class->busy_s ? dev->class->busy_s(dev) : x->worker[d].busy_s;
	}
	return 0;
}
