/* cl_launch.c - starting kernels and copies, and how long they took. */
#include "device/opencl/cl_impl.h"

enum { MAX_TIMED = 1 << 16 }; /* events that are kept for busy_s */

static void keep_timed(struct cl_state *s, cl_event event)
{
	s->timed = mem_grow(s->timed, &s->cap_timed, s->n_timed + 1, sizeof *s->timed);
	s->timed[s->n_timed++] = event;
}

/* Does the next launch need an event?  On the host's own processor each has one, which tells whether the
 * queue is empty, too.  Elsewhere events cost more than small kernels (7 us on NVIDIA's driver), so
 * only the first launch of a batch has one. */
static bool wants_event(const struct cl_state *s)
{
	return s->direct || (!s->in_batch && s->n_timed < MAX_TIMED);
}

static void launched(struct cl_state *s, cl_event event)
{
	if (s->direct) {
		if (s->last)
			clReleaseEvent(s->last);
		s->last = event;
		clRetainEvent(event);
		if (s->n_timed >= MAX_TIMED)
			clReleaseEvent(event);
		else
			keep_timed(s, event);
	} else if (event) {
		s->in_batch = true;
		keep_timed(s, event);
	}
}

void cl_batch_end(struct cl_state *s)
{
	cl_event end;
	if (!s->in_batch)
		return;
	s->in_batch = false;
	if (!clEnqueueMarkerWithWaitList(s->queue, 0, NULL, &end))
		keep_timed(s, end);
	else
		clReleaseEvent(s->timed[--s->n_timed]);
}

/* From the start of `first` to the end of `last` in seconds; 0: not known. */
static double time_between(cl_event first, cl_event last)
{
	cl_ulong t0 = 0, t1 = 0;
	bool known =
		!clGetEventProfilingInfo(first, CL_PROFILING_COMMAND_START, sizeof t0, &t0, NULL) &&
		!clGetEventProfilingInfo(last, CL_PROFILING_COMMAND_END, sizeof t1, &t1, NULL);
	return known && t1 > t0 ? (double)(t1 - t0) * 1e-9 : 0;
}

double cl_launches_busy_s(struct cl_state *s)
{
	size_t per = s->direct ? 1 : 2;
	double sum = 0;
	if (s->in_batch) { /* somebody waited for single steps */
		cl_batch_end(s);
		(void)clFinish(s->queue);
	}
	for (size_t i = 0; i + per <= s->n_timed; i += per)
		sum += time_between(s->timed[i], s->timed[i + per - 1]);
	for (size_t i = 0; i < s->n_timed; i++)
		clReleaseEvent(s->timed[i]);
	s->n_timed = 0;
	return sum;
}

static bool is_product(enum cl_kernel_id k)
{
	return k == K_gemm || k == K_tile_128 || k == K_tile_64 || k == K_mma_128 ||
	       k == K_mma_64 || k == K_thin;
}

/* Work-items of a group. */
static int items_of(const struct cl_state *s, enum cl_kernel_id k)
{
	return k == K_series ? SERIES_ITEMS : is_product(k) ? s->shape.gemm_ls : s->shape.ls;
}

static int start_copy(struct cl_state *s, const struct cl_launch *l, const struct cl_span *buf,
		      cl_event *wanted)
{
	return clEnqueueCopyBuffer(s->queue, buf[0].mem, buf[1].mem, buf[0].offset, buf[1].offset,
				   l->copy_bytes, 0, NULL, wanted);
}

static int set_arguments(struct cl_launch *l, cl_kernel kernel, const struct cl_span *buf)
{
	cl_int rc = 0;
	cl_uint n = 0;
	for (; !rc && n < (cl_uint)l->n_buf; n++) {
		l->args.places.at[n] = (long)buf[n].offset;
		rc = clSetKernelArg(kernel, n, sizeof(cl_mem), &buf[n].mem);
	}
	return rc ? rc : clSetKernelArg(kernel, n, cl_kernel_args(l->kernel), &l->args);
}

int cl_launch_start(struct cl_state *s, struct cl_launch *l, cl_kernel kernel,
		    const struct cl_span *buf, struct err *e)
{
	cl_int rc = 0;
	cl_event event = NULL, *wanted = wants_event(s) ? &event : NULL;
	if (l->kernel == K_copy) {
		bool same = buf[0].mem == buf[1].mem && buf[0].offset == buf[1].offset;
		if (same || !l->copy_bytes)
			return 0;
		rc = start_copy(s, l, buf, wanted);
	} else {
		size_t local[3] = {(size_t)items_of(s, l->kernel), 1, 1};
		size_t global[3] = {l->groups[0] * local[0], l->groups[1], l->groups[2]};
		rc = set_arguments(l, kernel, buf);
		if (rc)
			return cl_err(e, "clSetKernelArg", rc);
		rc = clEnqueueNDRangeKernel(s->queue, kernel, 3, NULL, global, local, 0, NULL,
					    wanted);
	}
	if (!rc) {
		launched(s, event);
		return 0;
	}
	cl_err(e, l->kernel == K_copy ? "clEnqueueCopyBuffer" : "clEnqueueNDRangeKernel", rc);
	return err_prefix(e, "kernel '%s'", cl_kernel_name(l->kernel));
}
