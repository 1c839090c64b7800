/* worker.c - what the thread of a seat does: ready queues, running a task, completion. */
#include "exec/executor_impl.h"
#include "base/clock.h"

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

/* Equal ranks: the lower task first, so that runs are alike. */
static bool runs_before(const struct plan *p, uint32_t a, uint32_t b)
{
	double ra = p->task[a].rank, rb = p->task[b].rank;
	return ra > rb || (ra == rb && a < b);
}

void worker_push(struct worker *w, uint32_t task)
{
	const struct plan *p = w->x->plan;
	uint32_t i = w->n_heap++;
	for (; i > 0 && runs_before(p, task, w->heap[(i - 1) / 2]); i = (i - 1) / 2)
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
		if (c + 1 < w->n_heap && runs_before(p, w->heap[c + 1], w->heap[c]))
			c++;
		if (!runs_before(p, w->heap[c], last))
			break;
		w->heap[i] = w->heap[c];
		i = c;
	}
	w->heap[i] = last;
	return top;
}

void seat_wake(struct seat *s)
{
	if (!atomic_load(&s->asleep))
		return;
	pthread_mutex_lock(&s->lock);
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
}

/* Hand a ready task to another worker. */
static void inbox_push(struct worker *w, uint32_t task)
{
	struct slot *s = &w->x->slot[task];
	unsigned head = atomic_load_explicit(&w->inbox, memory_order_relaxed);
	do
		s->next = head;
	while (!atomic_compare_exchange_weak(&w->inbox, &head, task));
	seat_wake(w->seat);
}

/* Take what other workers have handed over; whether there was any. */
static bool inbox_drain(struct worker *w)
{
	if (atomic_load_explicit(&w->inbox, memory_order_relaxed) == GRAPH_NONE)
		return false;
	uint32_t t = atomic_exchange(&w->inbox, GRAPH_NONE);
	while (t != GRAPH_NONE) {
		uint32_t next = w->x->slot[t].next;
		worker_push(w, t);
		t = next;
	}
	return true;
}

/* ---- the end of a task, or of a run ---- */

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

static void task_ended(struct executor *x)
{
	if (atomic_fetch_sub_explicit(&x->left, 1, memory_order_acq_rel) == 1) {
		x->end_s = clock_s();
		signal_end(x);
		/* Who helps others waits for the end. */
		for (uint32_t i = 0; i < x->n_seats; i++)
			if (x->seat[i].n_helps > 0)
				seat_wake(&x->seat[i]);
	}
}

/* Tell the tasks that wait for `task`: those of its own device when `own`,
 * of other devices when `others`.  self: of the calling seat, or NULL. */
static void release_successors(struct executor *x, uint32_t task, bool own, bool others,
			       struct worker *self)
{
	const struct plan *p = x->plan;
	const struct plan_task *t = &p->task[task];
	for (uint32_t i = t->next_ptr; i < t->next_end; i++) {
		uint32_t s = p->next[i], dev = p->task[s].dev;
		if (dev == t->dev ? !own : !others)
			continue;
		if (atomic_fetch_sub_explicit(&x->slot[s].waits, 1, memory_order_acq_rel) != 1)
			continue;
		if (self && self->seat == x->worker[dev].seat)
			worker_push(&x->worker[dev], s);
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
		if (x->task_end_s)
			x->task_end_s[t->task] = clock_s() - x->begin_s;
		release_successors(x, t->task, false, true, NULL);
		task_ended(x);
	} else {
		struct err e = ERR_INIT;
		(void)err_set(&e, ST_RUNTIME, "device '%s': a transfer failed", w->device->name);
		executor_fail(x, &e);
	}
	/* The last touch of the executor: a run returns when none is in flight. */
	atomic_fetch_sub(&w->in_flight, 1);
}

/* ---- running a task ---- */

static int start_transfer(struct worker *w, uint32_t task, struct err *e)
{
	struct executor *x = w->x;
	const struct plan_task *t = &x->plan->task[task];
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
	release_successors(x, task, true, false, w);
	return 0;
}

static int run_step(struct worker *w, const struct plan_task *t, double *now, struct err *e)
{
	struct device *d = w->device;
	bool wait = w->x->apart && d->class->finish;
	if (wait) {
		if (d->class->finish(d, e) < 0)
			return -1;
		*now = clock_s();
	}
	if (d->class->run(d, t->prepared, t->in, t->out, e) < 0)
		return -1;
	return wait ? d->class->finish(d, e) : 0;
}

static int run_task(struct worker *w, uint32_t task, double *now, struct err *e)
{
	struct executor *x = w->x;
	const struct plan_task *t = &x->plan->task[task];
	if (x->start_s)
		x->start_s[task] = *now - x->begin_s;
	if (t->kind == TASK_UPLOAD || t->kind == TASK_DOWNLOAD)
		return start_transfer(w, task, e);
	if (t->kind == TASK_MEMCPY)
		memcpy(t->dst, t->src, t->bytes);
	else if (run_step(w, t, now, e) < 0)
		return -1;
	double then = *now;
	*now = clock_s();
	if (x->start_s)
		x->start_s[task] = then - x->begin_s;
	if (t->kind == TASK_STEP) {
		w->busy_s += *now - then;
		for (uint32_t j = 0; x->step_s && j < t->group->n; j++)
			x->step_s[t->group->step[j]] = (*now - then) * t->share[j];
	}
	if (x->task_s)
		x->task_s[task] = *now - then;
	if (x->task_end_s)
		x->task_end_s[task] = *now - x->begin_s;
	release_successors(x, task, true, true, w);
	task_ended(x);
	return 0;
}

/* ---- waiting ---- */

static bool has_mail(const struct seat *s)
{
	for (uint32_t i = 0; i < s->n_workers; i++)
		if (atomic_load(&s->worker[i]->inbox) != GRAPH_NONE)
			return true;
	return false;
}

/* Nothing comes any more: all its tasks have begun, and whom it helps needs no more. */
static bool is_through(const struct seat *s)
{
	for (uint32_t i = 0; i < s->n_workers; i++)
		if (s->worker[i]->left > 0)
			return false;
	return s->n_helps == 0 || atomic_load(&s->x->left) == 0;
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
	return has_mail(s) || (s->n_helps > 0 && (find_help(s) || is_through(s)));
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
		if (w->n_heap > 0 &&
		    (!first || runs_before(s->x->plan, w->heap[0], first->heap[0])))
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
			w->left--;
			if (run_task(w, heap_pop(w), &now, e) < 0)
				return err_prefix(e, "device '%s'", w->device->name);
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
