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

/* Room for n requests at once; slots know the requests that they are of. */
static int grow_flights(struct executor *x, uint32_t n, struct err *e)
{
	if (n <= x->n_room)
		return 0;
	struct flight *room = mem_try(n * sizeof *room);
	if (!room)
		return err_set(e, ST_RUNTIME, "no memory for %u requests", n);
	memset(room, 0, n * sizeof *room);
	for (uint32_t i = 0; i < n; i++) {
		struct flight *f = &room[i];
		if (i < x->n_room)
			*f = x->flight[i];
		f->x = x;
		f->index = i;
		for (size_t t = 0; t < f->cap_slot; t++)
			f->slot[t].of = f;
	}
	mem_free(x->flight);
	x->flight = room;
	x->n_room = n;
	return 0;
}

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
		atomic_init(&w->inbox, NULL);
	}
	struct err ignored = ERR_INIT;
	if (grow_flights(x, 1, &ignored) < 0 || seats_new(x) < 0) {
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
	for (uint32_t i = 0; i < x->n_room; i++)
		mem_free(x->flight[i].slot);
	mem_free(x->flight);
	mem_free(x->worker);
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

/* ---- what a run begins with; workers are parked ---- */

/* Request i of this run is to be p. */
static void prepare_flight(struct executor *x, uint32_t i, struct plan *p, struct exec_sample *s)
{
	struct flight *f = &x->flight[i];
	size_t cap = f->cap_slot;
	f->slot = mem_grow(f->slot, &f->cap_slot, p->n_tasks, sizeof *f->slot);
	for (uint32_t t = 0; t < f->cap_slot && cap != f->cap_slot; t++)
		f->slot[t] = (struct slot){.of = f, .task = t};
	f->plan = p;
	f->sample = s;
	f->apart = s->apart && (s->step_s || s->task_s);
	for (uint32_t t = 0; s->task_s && t < p->n_tasks; t++)
		s->task_s[t] = 0;
}

/* Queues for all requests, each of plan[n]. */
static void prepare_workers(struct executor *x, struct plan *const *plan, uint32_t n)
{
	for (uint32_t d = 0; d < x->k; d++) {
		struct worker *w = &x->worker[d];
		w->left = 0;
		for (uint32_t i = 0; i < n; i++)
			w->left += plan[i]->n_dev_tasks[d];
		w->heap = mem_grow(w->heap, &w->cap_heap, w->left, sizeof(*w->heap));
		w->n_heap = 0;
		w->busy_s = 0;
		atomic_store(&w->inbox, NULL);
	}
}

/* ---- while it is going on ---- */

/* Has request f taken too long?  Alone it is ended; beside others it fails, and all are ended if it stays. */
static void check_time(struct executor *x, struct flight *f, double now)
{
	struct err e = ERR_INIT;
	double since_s = now - atomic_load(&f->begin_s);
	if (!(x->limit_s > 0) || since_s <= x->limit_s || atomic_load(&f->left) == 0)
		return;
	(void)err_set(&e, ST_RUNTIME,
		      "an inference has not ended after %g s; --timeout allows more", x->limit_s);
	if (x->load && since_s <= 2 * x->limit_s)
		flight_fail(f, &e);
	else
		executor_fail(x, &e);
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
		return;
	}
	double now = clock_s();
	for (uint32_t i = 0; i < x->n_flights; i++)
		check_time(x, &x->flight[i], now);
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

/* Requests have been prepared and begun; until all have ended. */
static int run_flights(struct executor *x, struct err *e)
{
	struct err failed;
	pthread_mutex_lock(&x->lock);
	start_seats(x);
	await_end(x);
	failed = x->err;
	pthread_mutex_unlock(&x->lock);
	bool any = failed.code != ST_OK;
	for (uint32_t i = 0; i < x->n_flights; i++)
		any = any || atomic_load(&x->flight[i].failed);
	for (uint32_t d = 0; d < x->k; d++)
		any ? await_transfers(&x->worker[d]) : await_callbacks(&x->worker[d]);
	return failed.code == ST_OK ? 0
				    : err_set(e, (enum exit_status)failed.code, "%s", failed.msg);
}

/* Is somebody there for whom to run? */
static bool may_begin(struct executor *x)
{
	if (x->go_on && !x->dead && !x->go_on(x->go_on_arg))
		x->dead = true;
	return !x->dead;
}

static void reset(struct executor *x, uint32_t n, const struct exec_load *l)
{
	x->n_flights = n;
	x->load = l;
	x->ended = false;
	err_clear(&x->err);
	atomic_store(&x->stop, false);
	atomic_store(&x->n_live, n);
}

/* What device d computed since the last run.  A device's own account is taken in any case: it counts from one taking to
 * the next. */
static double busy_s(struct executor *x, uint32_t d)
{
	struct device *dev = &x->devices->dev[d];
	return dev->class->busy_s ? dev->class->busy_s(dev) : x->worker[d].busy_s;
}

int executor_run(struct executor *x, struct plan *p, struct exec_sample *out, struct err *e)
{
	if (!may_begin(x))
		return err_unread(e);
	struct flight *f = &x->flight[0];
	prepare_flight(x, 0, p, out);
	prepare_workers(x, &p, 1);
	reset(x, 1, NULL);
	x->ended = p->n_tasks == 0;
	flight_begin(f, NULL, true);
	if (run_flights(x, e) < 0)
		return -1;
	if (atomic_load(&f->failed))
		return err_set(e, (enum exit_status)f->err.code, "%s", f->err.msg);
	/* Nothing to run: what an empty run costs. */
	double begin = atomic_load(&f->begin_s), end = p->n_tasks == 0 ? clock_s() : f->end_s;
	out->lat_s = end - begin > 1e-9 ? end - begin : 1e-9;
	for (uint32_t d = 0; d < x->k; d++) {
		double busy = busy_s(x, d);
		if (out->busy_s)
			out->busy_s[d] = busy;
	}
	return 0;
}

/* ---- several requests ---- */

/* Request i of l begins, or never does; without tasks it has ended when it begins. */
static void begin_first(struct executor *x, const struct exec_load *l, uint32_t i)
{
	struct flight *f = &x->flight[i];
	struct err none = ERR_INIT;
	bool more = l->next(l->arg, i, NULL, 0, 0);
	while (more && f->plan->n_tasks == 0) {
		double now = clock_s();
		more = l->next(l->arg, i, &none, now, clock_s());
	}
	if (more)
		flight_begin(f, NULL, true);
	else
		atomic_fetch_sub(&x->n_live, 1);
}

int executor_load(struct executor *x, const struct exec_load *l, struct err *e)
{
	struct exec_sample none = {0};
	if (!may_begin(x))
		return err_unread(e);
	if (grow_flights(x, l->n, e) < 0)
		return -1;
	for (uint32_t i = 0; i < l->n; i++)
		prepare_flight(x, i, l->plan[i], &none);
	prepare_workers(x, l->plan, l->n);
	reset(x, l->n, l);
	for (uint32_t i = 0; i < l->n; i++)
		begin_first(x, l, i);
	x->ended = atomic_load(&x->n_live) == 0;
	int rc = run_flights(x, e);
	for (uint32_t d = 0; d < x->k; d++) {
		double busy = busy_s(x, d);
		if (rc == 0 && l->busy_s)
			l->busy_s[d] = busy;
	}
	x->load = NULL;
	return rc;
}
