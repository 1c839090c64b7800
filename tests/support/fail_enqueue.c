/* fail_enqueue.c - an OpenCL device that is lost or full: preloaded, it lets the function that
 * HSDAG_FAIL names succeed HSDAG_FAIL_AFTER times and no more. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OUT_OF_RESOURCES = -5, ALLOCATION_FAILURE = -4, BUILD_FAILURE = -11, MAP_FAILURE = -12 };

/* Is this call of `function` to fail? */
static int fails(const char *function)
{
	static atomic_long calls;
	const char *name = getenv("HSDAG_FAIL"), *after = getenv("HSDAG_FAIL_AFTER");
	return name && !strcmp(name, function) &&
	       atomic_fetch_add(&calls, 1) >= (after ? atol(after) : 0);
}

static void *real(const char *function)
{
	return dlsym(RTLD_NEXT, function);
}

/* A wrapper with these parameters; `failed` is what it returns. */
#define WRAP(type, name, parameters, arguments, failed) \
	type name parameters; \
	type name parameters \
	{ \
		union { \
			void *p; \
			type(*f) parameters; \
		} u = {real(#name)}; \
		if (fails(#name)) { \
			failed; \
		} \
		return u.f arguments; \
	}

WRAP(int, clEnqueueNDRangeKernel,
     (void *q, void *k, unsigned n, const size_t *offset, const size_t *global, const size_t *local,
      unsigned n_wait, const void *wait, void *event),
     (q, k, n, offset, global, local, n_wait, wait, event), return OUT_OF_RESOURCES)
WRAP(int, clBuildProgram,
     (void *p, unsigned n, const void *devices, const char *options, void *notify, void *data),
     (p, n, devices, options, notify, data), return BUILD_FAILURE)
WRAP(void *, clCreateBuffer, (void *c, unsigned long flags, size_t bytes, void *host, int *rc),
     (c, flags, bytes, host, rc), *rc = ALLOCATION_FAILURE;
     return NULL)
WRAP(void *, clEnqueueMapBuffer,
     (void *q, void *m, unsigned blocking, unsigned long flags, size_t offset, size_t bytes,
      unsigned n_wait, const void *wait, void *event, int *rc),
     (q, m, blocking, flags, offset, bytes, n_wait, wait, event, rc), *rc = MAP_FAILURE;
     return NULL)
WRAP(int, clEnqueueWriteBuffer,
     (void *q, void *m, unsigned blocking, size_t offset, size_t bytes, const void *p,
      unsigned n_wait, const void *wait, void *event),
     (q, m, blocking, offset, bytes, p, n_wait, wait, event), return OUT_OF_RESOURCES)
WRAP(int, clEnqueueReadBuffer,
     (void *q, void *m, unsigned blocking, size_t offset, size_t bytes, void *p, unsigned n_wait,
      const void *wait, void *event),
     (q, m, blocking, offset, bytes, p, n_wait, wait, event), return OUT_OF_RESOURCES)
