/* onednn_api.c - loading oneDNN, and its instruction sets. */
#include "kernel/onednn/onednn_api.h"
#include "base/tiles.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if DNNL_VERSION_MAJOR == 2
#define LIBRARY "libdnnl.so.2"
#else
#define LIBRARY "libdnnl.so.3"
#endif

static struct onednn_api api;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool is_open;
static enum onednn_speed speed;

const struct onednn_api *onednn_api(void)
{
	return &api;
}

/* ---- instructions ---- */

static enum onednn_speed find_speed(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl"))
		return ONEDNN_CONVERTED;
	if (tiles_of_processor() == TILES_USABLE)
		return ONEDNN_AMX;
	if (__builtin_cpu_supports("avx512bf16"))
		return __builtin_cpu_is("intel") ? ONEDNN_SLOW_BF16 : ONEDNN_BF16;
#endif
	return ONEDNN_CONVERTED;
}

enum onednn_speed onednn_speed(void)
{
	return speed;
}

bool onednn_multiplies(void)
{
	const char *always = getenv("HSDAG_BF16_PRODUCTS");
	return is_open && (speed == ONEDNN_AMX || speed == ONEDNN_BF16 ||
			   (always && strcmp(always, "1") == 0));
}

bool onednn_multiplies_codes(void)
{
#if defined(__x86_64__)
	return is_open &&
	       (__builtin_cpu_supports("avx512vnni") || __builtin_cpu_supports("avxvnni"));
#else
	return false;
#endif
}

/* ---- loading ---- */

static int load(struct err *e)
{
	void *lib = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return err_set(e, ST_USAGE,
			       "oneDNN (" LIBRARY ") is not installed; on Debian "
			       "libdnnl-dev brings it");
#define LOAD(f) \
	api.f = (__typeof__(dnnl_##f) *)dlsym(lib, "dnnl_" #f); \
	if (!api.f) \
		return err_set(e, ST_RUNTIME, LIBRARY " has no function dnnl_" #f);
	ONEDNN_FUNCTIONS(LOAD)
#undef LOAD
	*(void **)&api.omp_set_num_threads = dlsym(lib, "omp_set_num_threads");
	speed = find_speed();
	if (tiles_of_processor() == TILES_HIDDEN)
		api.set_max_cpu_isa(dnnl_cpu_isa_avx512_core_bf16);
	if (api.engine_create(&api.engine, dnnl_cpu, 0) != dnnl_success)
		return err_set(e, ST_RUNTIME, "oneDNN has no engine for this processor");
	return 0;
}

int onednn_open(struct err *e)
{
	pthread_mutex_lock(&lock);
	int rc = is_open ? 0 : load(e);
	is_open = rc == 0;
	pthread_mutex_unlock(&lock);
	return rc;
}

size_t onednn_md_bytes(const onednn_md *d)
{
	return api.memory_desc_get_size(d);
}
