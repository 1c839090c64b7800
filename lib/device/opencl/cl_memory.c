/* cl_memory.c - buffers, views of them, constants, and f32 that is f16 on the device. */
#include "device/opencl/cl_lowering.h"

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
	**out = (struct devmem){.at = {mem, 0, room}, .host = host, .bytes = room};
	return 0;
}

int cl_memory_view(struct device *d, struct devmem *base, size_t offset, size_t bytes,
		   struct devmem **out, struct err *e)
{
	size_t room = bytes ? bytes : 1;
	(void)d;
	if (offset > base->bytes || room > base->bytes - offset)
		return err_set(e, ST_RUNTIME, "a view of %zu bytes at %zu of a buffer of %zu",
			       bytes, offset, base->bytes);
	cl_int rc = clRetainMemObject(base->at.mem);
	if (rc)
		return cl_err(e, "clRetainMemObject", rc);
	*out = MEM_NEW(struct devmem);
	**out = (struct devmem){.at = {base->at.mem, base->at.offset + offset, room},
				.bytes = room,
				.host = base->host ? base->host + offset : NULL};
	return 0;
}

void cl_memory_release(struct device *d, struct devmem *m)
{
	(void)d;
	if (m)
		clReleaseMemObject(m->at.mem);
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
static int change_type(struct cl_state *s, struct cl_span from, struct cl_span to, int code_from,
		       int code_to, size_t n, struct err *e)
{
	struct cl_launch l = {.kernel = K_convert, .n_buf = 2, .groups = {1, 1, 1}};
	struct cl_span buf[] = {from, to};
	cl_kernel kernel;
	l.args.elem.code[0] = code_from;
	l.args.elem.code[3] = code_to;
	l.groups[0] = cl_rows_share(s, 1, (int64_t)n, &l.args.elem.r);
	return cl_kernel_get(s, K_convert, &kernel, e) || cl_launch_run(s, &l, kernel, buf, e) ? -1
											       : 0;
}

int cl_memory_narrow(struct cl_state *s, struct devmem *m, struct cl_span *out, struct err *e)
{
	cl_int rc = 0;
	*out = m->at;
	if (m->state == MEM_HALF)
		return 0;
	if (!m->narrow)
		m->narrow =
			clCreateBuffer(s->context, CL_MEM_READ_WRITE, m->bytes / 2 + 4, NULL, &rc);
	if (rc)
		return cl_err(e, "clCreateBuffer", rc);
	*out = (struct cl_span){m->narrow, 0, 0};
	if (m->state == MEM_NARROWED)
		return 0;
	m->state = MEM_NARROWED;
	return change_type(s, m->at, *out, C_F32, C_F16, m->bytes / 4, e);
}

int cl_memory_widen(struct cl_state *s, struct devmem *m, size_t bytes, struct cl_span *out,
		    struct err *e)
{
	cl_int rc = 0;
	*out = m->at;
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
	*out = (struct cl_span){s->wide, 0, 0};
	return change_type(s, m->at, *out, C_F16, C_F32, bytes / 4, e);
}
