/* blas.c - loading OpenBLAS without threads. */
#include "linear/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

static struct blas functions;
static const char *missing = "libopenblas.so.0"; /* NULL: nothing is */

const struct blas *blas(void)
{
	return &functions;
}

void *blas_dlopen(const char *name)
{
	cpu_set_t before, one;
	int core = sched_getcpu();
	bool alone = core >= 0 && sched_getaffinity(0, sizeof before, &before) == 0;
	CPU_ZERO(&one);
	if (alone)
		CPU_SET(core, &one);
	alone = alone && sched_setaffinity(0, sizeof one, &one) == 0;
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (alone)
		sched_setaffinity(0, sizeof before, &before);
	return library;
}

static void load(void)
{
	void *library = blas_dlopen(missing);
	if (!library)
		return;
#define LOOK_UP(f) \
	if (!(*(void **)&functions.f = dlsym(library, missing = #f))) \
		return;
	BLAS_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
	missing = NULL;
}

const struct blas *blas_open(struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load);
	if (!missing)
		return &functions;
	err_set(e, ST_RUNTIME,
		"cannot load '%s' for linear algebra; install OpenBLAS (Debian: libopenblas0)",
		missing);
	return NULL;
}
