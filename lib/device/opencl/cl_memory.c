/* cl_memory.c - buffers, views as sub-buffers, and transfers that do not block.
 *
 * A device with its own memory is fed through pinned host buffers: drivers
 * can only transfer those without waiting.  The bytes of an upload are copied
 * into one by the caller's thread, those of a download out of one when the
 * transfer has ended.  A device that shares memory with the host needs none, and where
 * that is the processor itself, bytes are copied at once while its queue is empty: waking
 * the driver's threads up for that would take longer. */
#include "device/opencl/cl_impl.h"

#include <string.h>

struct cl_pinned {
	struct cl_pinned *next;
	cl_mem mem;
	void *host;
	size_t bytes;
};

/* A transfer under way. */
struct cl_transfer {
	struct cl_state *s;
	struct cl_pinned *pinned;
	void *dst; /* a download's, when pinned */
	size_t bytes;
	device_done_fn done;
	void *arg;
};

static void CL_CALLBACK memory_gone(cl_mem mem, void *host)
{
	(void)mem;
	mem_free(host);
}

int cl_memory_alloc(struct device *d, size_t bytes, struct devmem **out, struct err *e)
{
	struct cl_state *s = d->state;
	cl_int rc = 0;
	size_t room = bytes ? (bytes + 3) / 4 * 4 : 4;
	if (s->max_alloc && room > s->max_alloc)
		return err_set(e, ST_RUNTIME, "%zu bytes in one buffer; '%s' allows %zu", room,
			       d->name, s->max_alloc);
	char *host = s->direct ? mem_try(room) : NULL;
	if (s->direct && !host)
		return err_set(e, ST_RUNTIME, "no memory for %zu bytes", room);
	cl_mem mem = clCreateBuffer(
		s->context, CL_MEM_READ_WRITE | (host ? CL_MEM_USE_HOST_PTR : 0), room, host, &rc);
	if (!rc && host && (rc = clSetMemObjectDestructorCallback(mem, memory_gone, host)))
		clReleaseMemObject(mem);
	if (rc) {
		mem_free(host);
		return cl_err(e, "clCreateBuffer", rc);
	}
	*out = MEM_NEW(struct devmem);
	**out = (struct devmem){.mem = mem, .host = host, .bytes = room};
	return 0;
}

int cl_memory_view(struct device *d, struct devmem *base, size_t offset, size_t bytes,
		   struct devmem **out, struct err *e)
{
	cl_buffer_region region = {offset, bytes ? bytes : 1};
	cl_int rc = 0;
	(void)d;
	if (offset > base->bytes || region.size > base->bytes - offset)
		return err_set(e, ST_RUNTIME, "a view of %zu bytes at %zu of a buffer of %zu",
			       bytes, offset, base->bytes);
	cl_mem mem = clCreateSubBuffer(base->mem, CL_MEM_READ_WRITE, CL_BUFFER_CREATE_TYPE_REGION,
				       &region, &rc);
	if (rc)
		return cl_err(e, "clCreateSubBuffer", rc);
	*out = MEM_NEW(struct devmem);
	**out = (struct devmem){.mem = mem,
				.view = true,
				.bytes = region.size,
				.host = base->host ? base->host + offset : NULL};
	return 0;
}

void cl_memory_release(struct device *d, struct devmem *m)
{
	(void)d;
	if (m)
		clReleaseMemObject(m->mem);
	if (m && m->narrow)
		clReleaseMemObject(m->narrow);
	mem_free(m);
}

int cl_memory_constant(struct cl_state *s, const void *data, size_t bytes, cl_mem *out,
		       struct err *e)
{
	cl_int rc = 0;
	size_t room = bytes ? bytes : 4;
	if (s->max_alloc && room > s->max_alloc)
		return err_set(e, ST_RUNTIME,
			       "a constant of %zu bytes; the device allows "
			       "%zu in one buffer",
			       room, s->max_alloc);
	*out = clCreateBuffer(s->context, CL_MEM_READ_ONLY, room, NULL, &rc);
	if (rc)
		return cl_err(e, "clCreateBuffer", rc);
	rc = bytes ? clEnqueueWriteBuffer(s->queue, *out, CL_TRUE, 0, bytes, data, 0, NULL, NULL)
		   : 0;
	if (rc) {
		clReleaseMemObject(*out);
		*out = NULL;
		return cl_err(e, "clEnqueueWriteBuffer", rc);
	}
	return 0;
}

/* ---- f32 that is f16 on the device ---- */

/* n elements of `from` into `to`, of these enum elem_code. */
static int change_type(struct cl_state *s, cl_mem from, cl_mem to, int code_from, int code_to,
		       size_t n, struct err *e)
{
	struct cl_launch l = {.kernel = K_convert, .n_buf = 2, .groups = {1, 1, 1}};
	cl_mem buf[] = {from, to};
	cl_kernel kernel;
	l.args.elem.code[0] = code_from;
	l.args.elem.code[3] = code_to;
	l.groups[0] = cl_rows_share(s, 1, (int64_t)n, &l.args.elem.r);
	return cl_kernel_get(s, K_convert, &kernel, e) || cl_launch_run(s, &l, kernel, buf, e) ? -1
											       : 0;
}

int cl_memory_narrow(struct cl_state *s, struct devmem *m, cl_mem *out, struct err *e)
{
	cl_int rc = 0;
	*out = m->mem;
	if (m->state == MEM_HALF)
		return 0;
	if (!m->narrow)
		m->narrow =
			clCreateBuffer(s->context, CL_MEM_READ_WRITE, m->bytes / 2 + 4, NULL, &rc);
	if (rc)
		return cl_err(e, "clCreateBuffer", rc);
	*out = m->narrow;
	if (m->state == MEM_NARROWED)
		return 0;
	m->state = MEM_NARROWED;
	return change_type(s, m->mem, m->narrow, C_F32, C_F16, m->bytes / 4, e);
}

/* The buffer from which the host can read what it calls f32. */
static int widened(struct cl_state *s, struct devmem *m, size_t bytes, cl_mem *out, struct err *e)
{
	cl_int rc = 0;
	*out = m->mem;
	if (m->state != MEM_HALF)
		return 0;
	if (s->wide_bytes < bytes) {
		cl_mem wide = clCreateBuffer(s->context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
		if (rc)
			return cl_err(e, "clCreateBuffer", rc);
		if (s->wide)
			clReleaseMemObject(s->wide);
		s->wide = wide;
		s->wide_bytes = bytes;
	}
	*out = s->wide;
	return change_type(s, m->mem, s->wide, C_F16, C_F32, bytes / 4, e);
}

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

void cl_transfers_release(struct cl_state *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->n_transfers)
		pthread_cond_wait(&s->idle, &s->lock);
	pthread_mutex_unlock(&s->lock);
	while (s->pinned) {
		struct cl_pinned *p = s->pinned;
		s->pinned = p->next;
		clEnqueueUnmapMemObject(s->queue, p->mem, p->host, 0, NULL, NULL);
		clFinish(s->queue);
		clReleaseMemObject(p->mem);
		mem_free(p);
	}
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
	rc = clSetEventCallback(event, CL_COMPLETE, transfer_called, t);
	if (rc) {
		/* not to be notified: wait for it here */
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
	cl_int rc = clEnqueueWriteBuffer(s->queue, dst->mem, CL_FALSE, 0, bytes,
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
	if (src->state != MEM_HALF && within_reach(s, src)) {
		memcpy(dst, src->host, bytes);
		done(arg, true);
		return 0;
	}
	cl_mem from;
	if (widened(s, src, bytes, &from, e))
		return -1;
	struct cl_transfer *t = transfer_begin(s, bytes, done, arg, e);
	if (!t)
		return -1;
	t->dst = dst;
	cl_int rc = clEnqueueReadBuffer(s->queue, from, CL_FALSE, 0, bytes,
					t->pinned ? t->pinned->host : dst, 0, NULL, &event);
	return transfer_started(t, "clEnqueueReadBuffer", rc, event, e);
}
