/* worker.c - one thread per device: ready queues, running a task, completion. */
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
	for (uint32_t d = 0; d < x->k; d++)
		wake(&x->worker[d]);
}

static void task_ended(struct executor *x)
{
	if (atomic_fetch_sub_explicit(&x->left, 1, memory_order_acq_rel) == 1) {
		x->end_s = clock_s();
		signal_end(x);
	}
}

/* Tell the tasks that wait for `task`: those of its own device when `own`,
 * of other devices when `others`.  self is the calling worker or NULL. */
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
		if (self && self->dev == dev)
			worker_push(self, s);
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
		double begin = clock_s(), now = begin;
		for (; now < begin + w->spin_s && !executor_stopped(w->x); now = clock_s()) {
			for (int i = 0; i < 50; i++) {
				if (has_mail(w))
					return 0;
				cpu_relax();
			}
			if (now >= begin + w->eager_s)
				sched_yield();
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
	while (w->left > 0 && !executor_stopped(w->x)) {
		/* What came just now cannot have begun when the last task ended. */
		if (inbox_drain(w))
			now = clock_s();
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

/* Until there is another run than `seen` with work for w, or the end; false: the end.  Who had work
 * expects more at once. */
static bool wait_for_run(struct worker *w, uint64_t *seen)
{
	struct executor *x = w->x;
	bool quit = false;
	if (*seen > 0 && !w->device->class->flush)
		for (double until = clock_s() + SPIN_BETWEEN_S;
		     atomic_load(&w->run) == *seen && clock_s() < until;)
			sched_yield();
	if (atomic_load(&w->run) == *seen) {
		pthread_mutex_lock(&x->lock);
		while (atomic_load(&w->run) == *seen && !x->quit)
			pthread_cond_wait(&w->go, &x->lock);
		quit = x->quit;
		pthread_mutex_unlock(&x->lock);
	}
	*seen = atomic_load(&w->run);
	return !quit;
}

void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct executor *x = w->x;
	uint64_t seen = 0;
	if (w->device->class->enter)
		w->device->class->enter(w->device);
	while (wait_for_run(w, &seen)) {
		struct err e = ERR_INIT;
		if (run_tasks(w, &e) < 0) {
			(void)err_prefix(&e, "device '%s'", w->device->name);
			executor_fail(x, &e);
		}
		pthread_mutex_lock(&x->lock);
		if (--x->n_active == 0)
			pthread_cond_signal(&x->done);
		pthread_mutex_unlock(&x->lock);
	}
	return NULL;
}
