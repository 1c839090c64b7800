/* cl_device.c - the OpenCL device class: a context, one in-order queue, and
 * what the other cl_ files do with them. */
#include "device/opencl/cl_impl.h"
#include "device/device_cores.h"
#include "device/group/group_rewrite.h"

#include <stdlib.h>
#include <string.h>

static void cl_close(struct device *d)
{
	struct cl_state *s = d->state;
	if (!s)
		return;
	if (s->queue)
		clFinish(s->queue);
	for (size_t i = 0; i < s->n_timed; i++)
		clReleaseEvent(s->timed[i]);
	mem_free(s->timed);
	if (s->last)
		clReleaseEvent(s->last);
	cl_series_close(s);
	cl_consts_release(s);
	cl_temps_release(s);
	cl_kernels_release(s);
	if (s->wide)
		clReleaseMemObject(s->wide);
	if (s->queue) {
		cl_transfers_release(s);
		clReleaseCommandQueue(s->queue);
	}
	if (s->context)
		clReleaseContext(s->context);
	cl_place_release(&s->place);
	pthread_cond_destroy(&s->idle);
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	mem_free(s);
	d->state = NULL;
}

static void ask_limits(struct cl_state *s)
{
	cl_ulong bytes = 0;
	cl_bool unified = CL_FALSE;
	cl_device_type type = 0;
	cl_device_id dev = s->place.device;
	const char *force = getenv("HSDAG_CL_PINNED");
	if (!clGetDeviceInfo(dev, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof bytes, &bytes, NULL))
		s->max_alloc = bytes > SIZE_MAX ? SIZE_MAX : (size_t)bytes;
	clGetDeviceInfo(dev, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
	s->unified = unified && !(force && !strcmp(force, "1"));
	clGetDeviceInfo(dev, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	s->direct = s->unified && type & CL_DEVICE_TYPE_CPU;
	s->fp64 = cl_device_has(dev, "cl_khr_fp64");
}

/* For tests, HSDAG_CL_HALF=1 keeps f32 as f16 where the device can but store it. */
static bool allow_half(const struct cl_state *s)
{
	const char *force = getenv("HSDAG_CL_HALF");
	return cl_device_has(s->place.device, "cl_khr_fp16") || (force && !strcmp(force, "1"));
}

static int cl_open(struct device *d, struct err *e)
{
	struct cl_place place;
	cl_int rc = 0;
	if (cl_place_find(d->name, &place, e))
		return -1;
	struct cl_state *s = MEM_NEW(struct cl_state);
	d->state = s;
	s->place = place;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->idle, NULL);
	pthread_cond_init(&s->more, NULL);
	cl_place_describe(d->name, &place, d);
	ask_limits(s);
	if (place.half && !allow_half(s)) {
		cl_close(d);
		return err_set(e, ST_USAGE,
			       "'%s': the device does not compute in f16 (it lacks "
			       "cl_khr_fp16)",
			       d->name);
	}
	s->half = place.half;
	cl_shape_choose(s);
	cl_series_open(s);
	cl_context_properties props[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)place.platform,
					 0};
	s->context = clCreateContext(props, 1, &place.device, NULL, NULL, &rc);
	if (rc) {
		cl_err(e, "clCreateContext", rc);
	} else {
		s->queue = clCreateCommandQueue(s->context, place.device, CL_QUEUE_PROFILING_ENABLE,
						&rc);
		if (rc)
			cl_err(e, "clCreateCommandQueue", rc);
	}
	if (!rc && place.bf16)
		rc = cl_bf16_try(s, e);
	if (rc) {
		cl_close(d);
		return -1;
	}
	return 0;
}

static void cl_list_machine(void (*fn)(void *arg, const struct device *d), void *arg)
{
	cl_places_list(&opencl_device_class, fn, arg);
}

/* Where the device is made of cores of this machine, who feeds it stays on them: the other cores
 * may be devices that compute. */
static void cl_enter(struct device *d)
{
	cores_stay(d);
}

static int cl_flush(struct device *d, struct err *e)
{
	struct cl_state *s = d->state;
	if (cl_series_end(s, e))
		return -1;
	cl_batch_end(s);
	cl_int rc = clFlush(s->queue);
	return rc ? cl_err(e, "clFlush", rc) : 0;
}

static int cl_finish(struct device *d, struct err *e)
{
	struct cl_state *s = d->state;
	if (cl_series_end(s, e))
		return -1;
	cl_int rc = clFinish(s->queue);
	if (rc)
		return cl_err(e, "clFinish", rc);
	pthread_mutex_lock(&s->lock);
	rc = s->lost;
	pthread_mutex_unlock(&s->lock);
	return rc ? cl_err(e, "a command that was queued earlier", rc) : 0;
}

/* Seconds of launches or batches since the last call. */
static double cl_busy(struct device *d)
{
	struct err ignored = ERR_INIT; /* finish tells it, too */
	return cl_series_end(d->state, &ignored) ? 0 : cl_launches_busy_s(d->state);
}

const struct device_class opencl_device_class = {
	.forms = "cl:P.D",
	.help = "cl:P.D (OpenCL platform and device), cl:P.D:A-B (compute units A to B of it), "
		"either with /precision=f16 or bf16",
	.is_default = true,
	.precisions = "f32|f16|bf16",
	.check_name = cl_check_name,
	.list_machine = cl_list_machine,
	.set_environment = cl_set_environment,
	.max_nodes = FUSE_NODES,
	.open = cl_open,
	.close = cl_close,
	.enter = cl_enter,
	.supports = cl_step_supports,
	.fuses = cl_step_fuses,
	.prepare = cl_step_prepare,
	.step_free = cl_step_free,
	.step_memory = cl_step_memory,
	.explain = cl_step_explain,
	.scratch = cl_step_scratch,
	.takes = cl_step_takes,
	.alloc = cl_memory_alloc,
	.view = cl_memory_view,
	.release = cl_memory_release,
	.run = cl_step_run,
	.upload = cl_memory_upload,
	.download = cl_memory_download,
	.flush = cl_flush,
	.finish = cl_finish,
	.busy_s = cl_busy,
};
