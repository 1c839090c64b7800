/* cl_transfer.c - transfers that do not block.
 *
 * A device with its own memory is fed through pinned host buffers: drivers
 * can only transfer those without waiting.  The bytes of an upload are copied
 * into one by the caller's thread, those of a download out of one when the
 * transfer has ended.  A device that shares memory with the host needs none, and where
 * that is the processor itself, bytes are copied at once while its queue is empty: waking
 * the driver's threads up for that would take longer.
 *
 * The end of a transfer is told by the driver's callback where memory is shared, else by a thread of our
 * own that looks for it: NVIDIA's driver calls back up to 20 ms late. */
#include "device/opencl/cl_impl.h"
#include "base/clock.h"

#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

struct cl_pinned {
	struct cl_pinned *next;
	cl_mem mem;
	void *host;
	size_t bytes;
};

/* A transfer under way. */
struct cl_transfer {
	struct cl_transfer *next; /* of those that the waiter looks for */
	cl_event event;
	struct cl_state *s;
	struct cl_pinned *pinned;
	void *dst; /* a download's, when pinned */
	size_t bytes;
	device_done_fn done;
	void *arg;
};

/* ---- pinned buffers ---- */

/* A free one of at least `bytes`, or a new one. */
static struct cl_pinned *pinned_take(struct cl_state *s, size_t bytes, struct err *e)
{
	struct cl_pinned *p = NULL, **best = NULL;
	cl_int rc = 0;
	pthread_mutex_lock(&s->lock);
	for (struct cl_pinned **q = &s->pinned; *q; q = &(*q)->next)
		if ((*q)->bytes >= bytes && (!best || (*q)->bytes < (*best)->bytes))
			best = q;
	if (best) {
		p = *best;
		*best = p->next;
	}
	pthread_mutex_unlock(&s->lock);
	if (p)
		return p;
	size_t room = 4096;
	while (room < bytes)
		room *= 2;
	p = MEM_NEW(struct cl_pinned);
	p->bytes = room;
	p->mem = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, room, NULL,
				&rc);
	if (!rc)
		p->host = clEnqueueMapBuffer(s->queue, p->mem, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
					     0, room, 0, NULL, NULL, &rc);
	if (!rc)
		return p;
	cl_err(e, p->mem ? "clEnqueueMapBuffer" : "clCreateBuffer", rc);
	if (p->mem)
		clReleaseMemObject(p->mem);
	mem_free(p);
	return NULL;
}

static void pinned_give(struct cl_state *s, struct cl_pinned *p)
{
	pthread_mutex_lock(&s->lock);
	p->next = s->pinned;
	s->pinned = p;
	pthread_mutex_unlock(&s->lock);
}

/* ---- transfers ---- */

/* Give back what the transfer holds; after this the device may be closed. */
static void transfer_free(struct cl_transfer *t)
{
	struct cl_state *s = t->s;
	if (t->pinned)
		pinned_give(s, t->pinned);
	mem_free(t);
	pthread_mutex_lock(&s->lock);
	if (!--s->n_transfers)
		pthread_cond_signal(&s->idle);
	pthread_mutex_unlock(&s->lock);
}

static void transfer_end(struct cl_transfer *t, cl_int status)
{
	device_done_fn done = t->done;
	void *arg = t->arg;
	bool ok = status == CL_COMPLETE;
	if (ok && t->pinned && t->dst)
		memcpy(t->dst, t->pinned->host, t->bytes);
	if (!ok) {
		pthread_mutex_lock(&t->s->lock);
		t->s->lost = status;
		pthread_mutex_unlock(&t->s->lock);
	}
	transfer_free(t);
	done(arg, ok);
}

static void CL_CALLBACK transfer_called(cl_event event, cl_int status, void *arg)
{
	(void)event;
	transfer_end(arg, status);
}

/* ---- the waiter ---- */

/* So long it looks without a pause, and so long are its pauses then: cores may have work to do. */
static const double LOOK_S = 100e-6;
static const long PAUSE_NS = 10000;

static cl_int await_event(cl_event event)
{
	double begin = clock_s();
	for (;;) {
		cl_int status = CL_QUEUED;
		cl_int rc = clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status,
					   &status, NULL);
		if (rc || status <= CL_COMPLETE)
			return rc ? rc : status;
		if (clock_s() < begin + LOOK_S)
			sched_yield();
		else
			nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	}
}

static void *waiter_main(void *arg)
{
	struct cl_state *s = arg;
	(void)prctl(PR_SET_TIMERSLACK, 1000UL);
	pthread_mutex_lock(&s->lock);
	for (;;) {
		while (!s->waited && !s->waiter_quits)
			pthread_cond_wait(&s->more, &s->lock);
		struct cl_transfer *t = s->waited;
		if (!t)
			break;
		s->waited = t->next;
		pthread_mutex_unlock(&s->lock);
		cl_event event = t->event;
		(void)clFlush(s->queue);
		cl_int status = await_event(event);
		clReleaseEvent(event);
		transfer_end(t, status);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

/* Have the waiter look for the end of t, whose event is the newest of the queue.  False: there is no
 * waiter, and none could be started. */
static bool wait_later(struct cl_transfer *t, cl_event event)
{
	struct cl_state *s = t->s;
	struct cl_transfer **at = &s->waited;
	t->event = event;
	pthread_mutex_lock(&s->lock);
	if (!s->has_waiter)
		s->has_waiter = !pthread_create(&s->waiter, NULL, waiter_main, s);
	bool ok = s->has_waiter;
	while (ok && *at)
		at = &(*at)->next;
	if (ok)
		*at = t;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
	return ok;
}

void cl_transfers_release(struct cl_state *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->n_transfers)
		pthread_cond_wait(&s->idle, &s->lock);
	s->waiter_quits = true;
	pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
	if (s->has_waiter)
		pthread_join(s->waiter, NULL);
	while (s->pinned) {
		struct cl_pinned *p = s->pinned;
		s->pinned = p->next;
		clEnqueueUnmapMemObject(s->queue, p->mem, p->host, 0, NULL, NULL);
		clFinish(s->queue);
		clReleaseMemObject(p->mem);
		mem_free(p);
	}
}

/* ---- starting transfers ---- */

static struct cl_transfer *transfer_begin(struct cl_state *s, size_t bytes, device_done_fn done,
					  void *arg, struct err *e)
{
	struct cl_transfer *t = MEM_NEW(struct cl_transfer);
	*t = (struct cl_transfer){.s = s, .bytes = bytes, .done = done, .arg = arg};
	if (!s->unified && !(t->pinned = pinned_take(s, bytes, e))) {
		mem_free(t);
		return NULL;
	}
	pthread_mutex_lock(&s->lock);
	s->n_transfers++;
	pthread_mutex_unlock(&s->lock);
	return t;
}

/* The command was queued with `rc`: arrange for its end to be noticed. */
static int transfer_started(struct cl_transfer *t, const char *function, cl_int rc, cl_event event,
			    struct err *e)
{
	if (rc) {
		transfer_free(t);
		return cl_err(e, function, rc);
	}
	if (t->pinned && wait_later(t, event))
		return 0;
	if (t->pinned || clSetEventCallback(event, CL_COMPLETE, transfer_called, t)) {
		/* nobody else would notice */
		rc = clWaitForEvents(1, &event);
		transfer_end(t, rc ? rc : CL_COMPLETE);
	}
	clReleaseEvent(event);
	return 0;
}

/* May the host touch m now?  Nothing that was started is still under way. */
static bool within_reach(struct cl_state *s, const struct devmem *m)
{
	cl_int status = CL_COMPLETE;
	if (!m->host)
		return false;
	pthread_mutex_lock(&s->lock);
	bool idle = !s->n_transfers;
	pthread_mutex_unlock(&s->lock);
	if (idle && s->last &&
	    clGetEventInfo(s->last, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status,
			   NULL))
		return false;
	return idle && status == CL_COMPLETE;
}

int cl_memory_upload(struct device *d, struct devmem *dst, const void *src, size_t bytes,
		     device_done_fn done, void *arg, struct err *e)
{
	struct cl_state *s = d->state;
	cl_event event = NULL;
	if (!bytes) {
		done(arg, true);
		return 0;
	}
	if (cl_series_end(s, e))
		return -1;
	if (within_reach(s, dst)) {
		memcpy(dst->host, src, bytes);
		dst->state = MEM_HOST;
		done(arg, true);
		return 0;
	}
	struct cl_transfer *t = transfer_begin(s, bytes, done, arg, e);
	if (!t)
		return -1;
	if (t->pinned)
		memcpy(t->pinned->host, src, bytes);
	dst->state = MEM_HOST;
	cl_int rc = clEnqueueWriteBuffer(s->queue, dst->at.mem, CL_FALSE, dst->at.offset, bytes,
					 t->pinned ? t->pinned->host : src, 0, NULL, &event);
	return transfer_started(t, "clEnqueueWriteBuffer", rc, event, e);
}

int cl_memory_download(struct device *d, struct devmem *src, void *dst, size_t bytes,
		       device_done_fn done, void *arg, struct err *e)
{
	struct cl_state *s = d->state;
	cl_event event = NULL;
	if (!bytes) {
		done(arg, true);
		return 0;
	}
	if (cl_series_end(s, e))
		return -1;
	if (src->state != MEM_HALF && within_reach(s, src)) {
		memcpy(dst, src->host, bytes);
		done(arg, true);
		return 0;
	}
	struct cl_span from;
	if (cl_memory_widen(s, src, bytes, &from, e))
		return -1;
	struct cl_transfer *t = transfer_begin(s, bytes, done, arg, e);
	if (!t)
		return -1;
	t->dst = dst;
	cl_int rc = clEnqueueReadBuffer(s->queue, from.mem, CL_FALSE, from.offset, bytes,
					t->pinned ? t->pinned->host : dst, 0, NULL, &event);
	return transfer_started(t, "clEnqueueReadBuffer", rc, event, e);
}
