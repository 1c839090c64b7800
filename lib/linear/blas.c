/* blas.c - loading OpenBLAS without threads. */
#include "linear/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#define LIBRARY "libopenblas.so.0"

static struct blas functions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_open;

const struct blas *blas(void)
{
	return &functions;
}

void *blas_dlopen(const char *name)
{
	cpu_set_t before, one;
	int core = sched_getcpu();
	bool alone = core >= 0 && sched_getaffinity(0, sizeof before, &before) == 0;
	if (alone) {
		CPU_ZERO(&one);
		CPU_SET(core, &one);
		alone = sched_setaffinity(0, sizeof one, &one) == 0;
	}
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (alone)
		sched_setaffinity(0, sizeof before, &before);
	return library;
}

static int load(struct err *e)
{
	void *library = blas_dlopen(LIBRARY);
	if (!library)
		return err_set(e, ST_RUNTIME,
			       "cannot load '" LIBRARY "' for linear algebra; install OpenBLAS "
			       "(Debian: libopenblas0)");
#define LOOK_UP(f) \
	if (!(*(void **)&functions.f = dlsym(library, #f))) \
		return err_set(e, ST_RUNTIME, "'" LIBRARY "' has no function " #f);
	BLAS_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
	return 0;
}

const struct blas *blas_open(struct err *e)
{
	pthread_mutex_lock(&lock);
	is_open = is_open || load(e) == 0;
	bool there = is_open;
	pthread_mutex_unlock(&lock);
	return there ? &functions : NULL;
}
