/* executor.c - runs of a plan, from the caller's side. */
#include "exec/executor_impl.h"
#include "base/clock.h"
#include "base/clock_cond.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/* How long the caller sleeps before it asks whether to go on. */
static const double WATCH_S = 0.1;

struct executor *executor_new(struct device_list *l)
{
	struct executor *x = mem_try(sizeof *x);
	if (!x)
		return NULL;
	memset(x, 0, sizeof *x);
	x->k = l->n;
	x->devices = l;
	pthread_mutex_init(&x->lock, NULL);
	clock_cond_init(&x->done);
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
		w->device->stop = &x->stop;
		atomic_init(&w->inbox, GRAPH_NONE);
	}
	if (seats_new(x) < 0) {
		executor_free(x);
		return NULL;
	}
	for (uint32_t i = 0; i < x->n_seats; i++) {
		if (pthread_create(&x->seat[i].thread, NULL, seat_main, &x->seat[i]) != 0) {
			executor_free(x);
			return NULL;
		}
		x->seat[i].started = true;
	}
	return x;
}

void executor_free(struct executor *x)
{
	if (!x)
		return;
	pthread_mutex_lock(&x->lock);
	x->quit = true;
	for (uint32_t i = 0; i < x->n_seats; i++)
		pthread_cond_signal(&x->seat[i].go);
	pthread_mutex_unlock(&x->lock);
	seats_free(x);
	for (uint32_t d = 0; d < x->k; d++)
		mem_free(x->worker[d].heap);
	pthread_mutex_destroy(&x->lock);
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

void executor_limit(struct executor *x, double seconds)
{
	x->limit_s = seconds;
}

bool executor_alive(const struct executor *x)
{
	return !x->dead;
}

/* Counters and queues for a run of p; workers are parked. */
static void reset_counters(struct executor *x, struct plan *p, const struct exec_sample *s)
{
	x->slot = mem_grow(x->slot, &x->cap_slot, p->n_tasks, sizeof *x->slot);
	x->transfer = mem_grow(x->transfer, &x->cap_transfer, p->n_tasks, sizeof *x->transfer);
	x->plan = p;
	x->step_s = s->step_s;
	x->task_s = s->task_s;
	x->start_s = s->start_s;
	x->task_end_s = s->end_s;
	x->apart = s->apart && (s->step_s || s->task_s);
	for (uint32_t t = 0; x->task_s && t < p->n_tasks; t++)
		x->task_s[t] = 0;
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
			worker_push(&x->worker[p->task[t].dev], t);
	}
}

/* Should the run end now?  x->lock is not held. */
static void check_run(struct executor *x)
{
	struct err e = ERR_INIT;
	if (executor_stopped(x))
		return;
	if (x->go_on && !x->go_on(x->go_on_arg)) {
		(void)err_unread(&e);
		executor_fail(x, &e);
		x->dead = true;
	} else if (x->limit_s > 0 && clock_s() - x->begin_s > x->limit_s) {
		(void)err_set(&e, ST_RUNTIME,
			      "an inference has not ended after %g s; --timeout allows more",
			      x->limit_s);
		executor_fail(x, &e);
	}
}

/* Until the run has ended and all workers are parked.  x->lock is held. */
static void await_end(struct executor *x)
{
	while (!x->ended || x->n_active > 0) {
		struct timespec until;
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += (long)(WATCH_S * 1e9);
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (pthread_cond_timedwait(&x->done, &x->lock, &until) != ETIMEDOUT)
			continue;
		pthread_mutex_unlock(&x->lock);
		check_run(x);
		pthread_mutex_lock(&x->lock);
	}
}

/* After a failure: let every transfer that was started end, since its memory goes. */
static void await_transfers(struct worker *w)
{
	const struct device_class *c = w->device->class;
	struct err ignored = ERR_INIT;
	if (c->finish && c->finish(w->device, &ignored) < 0)
		err_clear(&ignored);
	for (int i = 0; i < 10000 && atomic_load(&w->in_flight) > 0; i++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
}

/* All transfers have ended; whoever told so may not have left transfer_done() yet, which must not
 * see the next run, nor an executor that is gone. */
static void await_callbacks(struct worker *w)
{
	while (atomic_load(&w->in_flight) > 0)
		sched_yield();
}

static bool has_work(const struct seat *s)
{
	for (uint32_t i = 0; i < s->n_workers; i++)
		if (s->worker[i]->left > 0)
			return true;
	for (uint32_t i = 0; i < s->n_helps; i++)
		if (s->help[i].worker->left > 0)
			return true;
	return false;
}

/* Seats without work sleep on: waking them takes time from those that have some.  x->lock is held. */
static void start_seats(struct executor *x)
{
	x->n_runs++;
	x->n_active = 0;
	for (uint32_t i = 0; i < x->n_seats; i++)
		x->n_active += x->seat[i].active = has_work(&x->seat[i]);
	for (uint32_t i = 0; i < x->n_seats; i++) {
		struct seat *s = &x->seat[i];
		if (!s->active)
			continue;
		atomic_store(&s->run, x->n_runs);
		pthread_cond_signal(&s->go);
	}
}

int executor_run(struct executor *x, struct plan *p, struct exec_sample *out, struct err *e)
{
	if (x->go_on && (x->dead || !x->go_on(x->go_on_arg))) {
		x->dead = true;
		return err_unread(e);
	}
	reset_counters(x, p, out);
	if (p->variables)
		variables_begin(p->variables, p);
	pthread_mutex_lock(&x->lock);
	double start = clock_s();
	x->begin_s = x->end_s = start;
	start_seats(x);
	await_end(x);
	struct err failed = x->err;
	pthread_mutex_unlock(&x->lock);
	for (uint32_t d = 0; d < x->k; d++)
		failed.code != ST_OK ? await_transfers(&x->worker[d])
				     : await_callbacks(&x->worker[d]);
	if (failed.code != ST_OK)
		return err_set(e, (enum exit_status)failed.code, "%s", failed.msg);
	/* Nothing to run: what an empty run costs. */
	double end = p->n_tasks == 0 ? clock_s() : x->end_s;
	out->lat_s = end - start > 1e-9 ? end - start : 1e-9;
	/* A device's own account is taken in any case: it counts from one taking to the next. */
	for (uint32_t d = 0; d < x->k; d++) {
		struct device *dev = &x->devices->dev[d];
		double busy_s = dev->class->busy_s ? dev->class->busy_s(dev) : x->worker[d].busy_s;
		if (out->busy_s)
			out->busy_s[d] = busy_s;
	}
	return 0;
}
