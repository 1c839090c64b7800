/* worker.c - what the thread of a seat does: ready queues, running a task, completion. */
#include "exec/executor_impl.h"
#include "base/clock.h"
#include "base/heap.h"

#include <sched.h>
#include <string.h>

/* Between runs a worker looks for the next one for so long, and gives its core to whoever
 * starts it. */
static const double SPIN_BETWEEN_S = 0.5e-3;

static void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

/* ---- ready tasks of one worker ---- */

static struct plan_task *task_of(const struct slot *s)
{
	return &s->of->plan->task[s->task];
}

/* Older requests first, then higher ranks; of equal ones the lower task, so that runs are alike. */
static bool runs_before(const struct slot *a, const struct slot *b)
{
	if (a->of != b->of)
		return a->of->age < b->of->age;
	double ra = task_of(a)->rank, rb = task_of(b)->rank;
	return ra > rb || (ra == rb && a->task < b->task);
}

HEAP(slots, struct slot *, runs_before)

void seat_wake(struct seat *s)
{
	if (!atomic_load(&s->asleep))
		return;
	pthread_mutex_lock(&s->lock);
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

/* Hand a ready task to another worker. */
static void inbox_push(struct worker *w, struct slot *s)
{
	struct slot *head = atomic_load_explicit(&w->inbox, memory_order_relaxed);
	do
		s->next = head;
	while (!atomic_compare_exchange_weak(&w->inbox, &head, s));
	seat_wake(w->seat);
}

/* A task is ready.  self: the calling seat, or NULL. */
static void make_ready(struct slot *s, const struct seat *self)
{
	struct worker *w = &s->of->x->worker[task_of(s)->dev];
	if (w->seat == self)
		slots_push(w->heap, &w->n_heap, s);
	else
		inbox_push(w, s);
}

/* Take what other workers have handed over; whether there was any. */
static bool inbox_drain(struct worker *w)
{
	if (!atomic_load_explicit(&w->inbox, memory_order_relaxed))
		return false;
	for (struct slot *s = atomic_exchange(&w->inbox, NULL), *next; s; s = next) {
		next = s->next;
		slots_push(w->heap, &w->n_heap, s);
	}
	return true;
}

/* ---- the beginning of a request, its end, and that of a run ---- */

void flight_begin(struct flight *f, const struct seat *self, bool parked)
{
	struct executor *x = f->x;
	struct plan *p = f->plan;
	f->age = atomic_fetch_add_explicit(&x->n_begun, 1, memory_order_relaxed);
	if (atomic_load_explicit(&f->failed, memory_order_relaxed)) {
		err_clear(&f->err);
		atomic_store_explicit(&f->failed, false, memory_order_relaxed);
	}
	if (p->variables)
		variables_begin(p->variables, p);
	atomic_store_explicit(&f->left, p->n_tasks, memory_order_relaxed);
	for (uint32_t t = 0; t < p->n_tasks; t++)
		atomic_store_explicit(&f->slot[t].waits, p->task[t].n_waits, memory_order_relaxed);
	atomic_store_explicit(&f->begin_s, clock_s(), memory_order_relaxed);
	for (uint32_t t = 0; t < p->n_tasks; t++)
		if (p->task[t].n_waits == 0 && parked) {
			struct worker *w = &x->worker[p->task[t].dev];
			slots_push(w->heap, &w->n_heap, &f->slot[t]);
		} else if (p->task[t].n_waits == 0) {
			make_ready(&f->slot[t], self);
		}
}

static void signal_end(struct executor *x)
{
	pthread_mutex_lock(&x->lock);
	x->ended = true;
	pthread_cond_signal(&x->done);
	pthread_mutex_unlock(&x->lock);
}

void executor_fail(struct executor *x, const struct err *e)
{
	pthread_mutex_lock(&x->lock);
	if (x->err.code == ST_OK)
		x->err = *e;
	x->ended = true;
	pthread_cond_signal(&x->done);
	pthread_mutex_unlock(&x->lock);
	atomic_store(&x->stop, true);
	for (uint32_t i = 0; i < x->n_seats; i++)
		seat_wake(&x->seat[i]);
}

void flight_fail(struct flight *f, const struct err *e)
{
	pthread_mutex_lock(&f->x->lock);
	if (f->err.code == ST_OK)
		f->err = *e;
	pthread_mutex_unlock(&f->x->lock);
	atomic_store(&f->failed, true);
}

static bool has_failed(struct flight *f)
{
	return atomic_load_explicit(&f->failed, memory_order_relaxed);
}

/* Does the request begin anew?  What it leaves behind is told. */
static bool goes_on(struct flight *f)
{
	const struct exec_load *l = f->x->load;
	struct err end = ERR_INIT;
	if (has_failed(f)) {
		pthread_mutex_lock(&f->x->lock);
		end = f->err;
		pthread_mutex_unlock(&f->x->lock);
	}
	return l && l->next(l->arg, f->index, &end, atomic_load(&f->begin_s), f->end_s);
}

static void task_ended(struct flight *f, const struct seat *self)
{
	struct executor *x = f->x;
	if (atomic_fetch_sub_explicit(&f->left, 1, memory_order_acq_rel) != 1)
		return;
	f->end_s = clock_s();
	if (goes_on(f)) {
		flight_begin(f, self, false);
	} else if (atomic_fetch_sub(&x->n_live, 1) == 1) {
		signal_end(x);
		/* Who helps others waits for the end, and all do where requests follow. */
		for (uint32_t i = 0; i < x->n_seats; i++)
			if (x->seat[i].n_helps > 0 || x->load)
				seat_wake(&x->seat[i]);
	}
}

/* Tell the tasks that wait for s: those of its own device when `own`, of other devices when `others`.  self: the calling
 * seat, or NULL. */
static void release_successors(const struct slot *s, bool own, bool others, const struct seat *self)
{
	struct flight *f = s->of;
	const struct plan *p = f->plan;
	const struct plan_task *t = &p->task[s->task];
	for (uint32_t i = t->next_ptr; i < t->next_end; i++) {
		struct slot *next = &f->slot[p->next[i]];
		if (p->task[next->task].dev == t->dev ? !own : !others)
			continue;
		if (atomic_fetch_sub_explicit(&next->waits, 1, memory_order_acq_rel) == 1)
			make_ready(next, self);
	}
}

static void transfer_done(void *arg, bool ok)
{
	struct slot *s = arg;
	struct flight *f = s->of;
	struct worker *w = &f->x->worker[task_of(s)->dev];
	if (!ok) {
		struct err e = ERR_INIT;
		(void)err_set(&e, ST_RUNTIME, "device '%s': a transfer failed", w->device->name);
		flight_fail(f, &e);
	}
	if (f->sample->end_s)
		f->sample->end_s[s->task] = clock_s() - atomic_load(&f->begin_s);
	release_successors(s, false, true, NULL);
	task_ended(f, NULL);
	/* The last touch of the executor: a run returns when none is in flight. */
	atomic_fetch_sub(&w->in_flight, 1);
}

/* ---- running a task ---- */

static int start_transfer(struct worker *w, struct slot *s, struct err *e)
{
	const struct plan_task *t = task_of(s);
	const struct device_class *c = w->device->class;
	atomic_fetch_add(&w->in_flight, 1);
	int rc = t->kind == TASK_UPLOAD
			 ? c->upload(w->device, t->mem, t->src, t->bytes, transfer_done, s, e)
			 : c->download(w->device, t->mem, t->dst, t->bytes, transfer_done, s, e);
	if (rc < 0) {
		atomic_fetch_sub(&w->in_flight, 1);
		return -1;
	}
	/* Where any of these wait for it, the request has not ended, and s is still this task's. */
	release_successors(s, true, false, w->seat);
	return 0;
}

static int run_step(struct worker *w, const struct slot *s, double *now, struct err *e)
{
	struct device *d = w->device;
	const struct plan_task *t = task_of(s);
	bool wait = s->of->apart && d->class->finish;
	if (wait) {
		if (d->class->finish(d, e) < 0)
			return -1;
		*now = clock_s();
	}
	if (d->class->run(d, t->prepared, t->in, t->out, e) < 0)
		return -1;
	return wait ? d->class->finish(d, e) : 0;
}

/* What the caller wants to know of a task that ran from then to now. */
static void note_times(const struct slot *s, double then, double now)
{
	const struct exec_sample *x = s->of->sample;
	const struct plan_task *t = task_of(s);
	double begin_s = s->of->begin_s;
	if (x->start_s)
		x->start_s[s->task] = then - begin_s;
	for (uint32_t j = 0; t->kind == TASK_STEP && x->step_s && j < t->group->n; j++)
		x->step_s[t->group->step[j]] = (now - then) * t->share[j];
	if (x->task_s)
		x->task_s[s->task] = now - then;
	if (x->end_s)
		x->end_s[s->task] = now - begin_s;
}

/* A transfer has only been started then. */
static int start_task(struct worker *w, struct slot *s, double *now, struct err *e)
{
	const struct plan_task *t = task_of(s);
	const struct exec_sample *x = s->of->sample;
	if (t->kind == TASK_UPLOAD || t->kind == TASK_DOWNLOAD) {
		if (x->start_s)
			x->start_s[s->task] = *now - s->of->begin_s;
		return start_transfer(w, s, e);
	}
	if (t->kind == TASK_MEMCPY)
		memcpy(t->dst, t->src, t->bytes);
	else if (run_step(w, s, now, e) < 0)
		return -1;
	double then = *now;
	*now = clock_s();
	if (t->kind == TASK_STEP)
		w->busy_s += *now - then;
	note_times(s, then, *now);
	release_successors(s, true, true, w->seat);
	task_ended(s->of, w->seat);
	return 0;
}

/* Of a request that has failed nothing runs any more. */
static void run_task(struct worker *w, struct slot *s, double *now)
{
	struct err e = ERR_INIT;
	if (!has_failed(s->of)) {
		if (start_task(w, s, now, &e) == 0)
			return;
		(void)err_prefix(&e, "device '%s'", w->device->name);
		flight_fail(s->of, &e);
	}
	release_successors(s, true, true, w->seat);
	task_ended(s->of, w->seat);
}

/* ---- waiting ---- */

static bool has_mail(const struct seat *s)
{
	for (uint32_t i = 0; i < s->n_workers; i++)
		if (atomic_load(&s->worker[i]->inbox))
			return true;
	return false;
}

/* Nothing comes any more: all its tasks have begun, no request follows, and whom it helps needs no more. */
static bool is_through(const struct seat *s)
{
	for (uint32_t i = 0; i < s->n_workers && !s->x->load; i++)
		if (s->worker[i]->left > 0)
			return false;
	return (s->n_helps == 0 && !s->x->load) || atomic_load(&s->x->n_live) == 0;
}

/* What it could help with; NULL: nothing. */
static const struct help *find_help(const struct seat *s)
{
	for (uint32_t i = 0; i < s->n_helps; i++)
		if (s->help[i].device->class->needs_help(s->help[i].device))
			return &s->help[i];
	return NULL;
}

static bool has_news(const struct seat *s)
{
	return has_mail(s) || ((s->n_helps > 0 || s->x->load) && (find_help(s) || is_through(s)));
}

/* Until a task is handed over, somebody needs help, or the run is over or stopped. */
static int wait_for_work(struct seat *s, struct err *e)
{
	struct device *d = s->worker[0]->device;
	if (d->class->flush) {
		if (d->class->flush(d, e) < 0)
			return -1;
	} else {
		double begin = clock_s(), now = begin;
		for (; now < begin + s->spin_s && !executor_stopped(s->x); now = clock_s()) {
			for (int i = 0; i < 50; i++) {
				if (has_news(s))
					return 0;
				cpu_relax();
			}
			if (now >= begin + s->eager_s)
				sched_yield();
		}
	}
	pthread_mutex_lock(&s->lock);
	atomic_store(&s->asleep, true);
	while (!has_news(s) && !atomic_load(&s->x->stop))
		pthread_cond_wait(&s->wake, &s->lock);
	atomic_store(&s->asleep, false);
	pthread_mutex_unlock(&s->lock);
	return 0;
}

/* ---- a run ---- */

/* The worker whose first task goes before those of the others; NULL: none has one. */
static struct worker *next_worker(const struct seat *s)
{
	struct worker *first = NULL;
	for (uint32_t i = 0; i < s->n_workers; i++) {
		struct worker *w = s->worker[i];
		if (w->n_heap > 0 && (!first || runs_before(w->heap[0], first->heap[0])))
			first = w;
	}
	return first;
}

static bool drain_all(struct seat *s)
{
	bool any = false;
	for (uint32_t i = 0; i < s->n_workers; i++)
		any = inbox_drain(s->worker[i]) || any;
	return any;
}

static int run_tasks(struct seat *s, struct err *e)
{
	const struct help *help;
	double now = clock_s();
	while (!is_through(s) && !executor_stopped(s->x)) {
		/* What came just now cannot have begun when the last task ended. */
		if (drain_all(s))
			now = clock_s();
		struct worker *w = next_worker(s);
		if (w) {
			w->left -= !s->x->load;
			run_task(w, slots_pop(w->heap, &w->n_heap), &now);
			continue;
		}
		if ((help = find_help(s)))
			help->device->class->assist(help->device, help->thread);
		else if (wait_for_work(s, e) < 0)
			return err_prefix(e, "device '%s'", s->worker[0]->device->name);
		now = clock_s();
	}
	struct device *d = s->worker[0]->device;
	return d->class->flush && d->class->flush(d, e) < 0 ? err_prefix(e, "device '%s'", d->name)
							    : 0;
}

/* Until there is another run than `seen` with work for s, or the end; false: the end.  Who had work
 * expects more at once. */
static bool wait_for_run(struct seat *s, uint64_t *seen)
{
	struct executor *x = s->x;
	bool quit = false;
	if (*seen > 0 && s->spin_s > 0 && !s->worker[0]->device->class->flush)
		for (double until = clock_s() + SPIN_BETWEEN_S;
		     atomic_load(&s->run) == *seen && clock_s() < until;)
			sched_yield();
	if (atomic_load(&s->run) == *seen) {
		pthread_mutex_lock(&x->lock);
		while (atomic_load(&s->run) == *seen && !x->quit)
			pthread_cond_wait(&s->go, &x->lock);
		quit = x->quit;
		pthread_mutex_unlock(&x->lock);
	}
	*seen = atomic_load(&s->run);
	return !quit;
}

void *seat_main(void *arg)
{
	struct seat *s = arg;
	struct executor *x = s->x;
	uint64_t seen = 0;
	for (uint32_t i = 0; i < s->n_workers; i++) {
		struct device *d = s->worker[i]->device;
		if (d->class->enter)
			d->class->enter(d);
	}
	while (wait_for_run(s, &seen)) {
		struct err e = ERR_INIT;
		if (run_tasks(s, &e) < 0)
			executor_fail(x, &e);
		pthread_mutex_lock(&x->lock);
		if (--x->n_active == 0)
			pthread_cond_signal(&x->done);
		pthread_mutex_unlock(&x->lock);
	}
	return NULL;
}
