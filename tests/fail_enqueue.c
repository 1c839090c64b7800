/* fail_enqueue.c - an OpenCL device that is lost: preloaded, it lets HSDAG_KERNELS
 * kernels start and no more. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

typedef int (*enqueue_fn)(void *, void *, unsigned, const size_t *, const size_t *, const size_t *,
			  unsigned, const void *, void *);

int clEnqueueNDRangeKernel(void *queue, void *kernel, unsigned dims, const size_t *offset,
			   const size_t *global, const size_t *local, unsigned n_wait,
			   const void *wait, void *event)
{
	static atomic_long calls;
	const char *limit = getenv("HSDAG_KERNELS");
	if (atomic_fetch_add(&calls, 1) >= (limit ? atol(limit) : 0))
		return -5;   /* CL_OUT_OF_RESOURCES */
	union {
		void *p;
		enqueue_fn f;
	} real = {dlsym(RTLD_NEXT, "clEnqueueNDRangeKernel")};
	return real.f(queue, kernel, dims, offset, global, local, n_wait, wait, event);
}
