/* onednn_api.c - loading oneDNN, its instruction sets, and primitives. */
#include "kernel/onednn/onednn_api.h"
#include "base/tiles.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if DNNL_VERSION_MAJOR != 2
#error "oneDNN 2 is wanted; build with ONEDNN=0"
#endif

#define LIBRARY "libdnnl.so.2"

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
			       "oneDNN (" LIBRARY ") is not installed; on Debian the package "
			       "libdnnl2 has it");
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

/* ---- primitives ---- */

void onednn_layout_key(const dnnl_memory_desc_t *d, uint64_t key[5])
{
	const dnnl_blocking_desc_t *b = &d->format_desc.blocking;
	key[0] = (uint64_t)d->data_type << 16 | (uint64_t)d->ndims << 8 | (uint64_t)b->inner_nblks;
	key[1] = d->extra.flags;
	key[2] = key[3] = key[4] = 0;
	for (int i = 0; i < b->inner_nblks; i++)
		key[2] =
			key[2] << 13 | (uint64_t)b->inner_blks[i] << 3 | (uint64_t)b->inner_idxs[i];
	for (int i = 0; i < d->ndims; i++) {
		key[3] = key[3] * 0x9e3779b97f4a7c15u + (uint64_t)d->dims[i];
		key[4] = key[4] * 0x9e3779b97f4a7c15u + (uint64_t)b->strides[i];
	}
}

static void one_thread(void)
{
	if (api.omp_set_num_threads)
		api.omp_set_num_threads(1);
}

/* The memory objects of a primitive's arguments, which take longer to make than a small primitive runs: for one thread at a time. */
struct onednn_bound {
	dnnl_stream_t stream;
	int n;
	dnnl_exec_arg_t arg[ONEDNN_ARGS];
	const void *data[ONEDNN_ARGS];
};

/* Those that no thread uses; of more threads at once some make their own. */
enum { BOUNDS = 16 };
struct onednn_bounds {
	_Atomic(struct onednn_bound *) free[BOUNDS];
};

static void bound_free(struct onednn_bound *b)
{
	if (!b)
		return;
	for (int i = 0; i < b->n; i++)
		api.memory_destroy(b->arg[i].memory);
	if (b->stream)
		api.stream_destroy(b->stream);
	mem_free(b);
}

/* NULL: the library says no. */
static struct onednn_bound *bound_new(const struct onednn_arg *arg, int n)
{
	struct onednn_bound *b = MEM_NEW(struct onednn_bound);
	dnnl_status_t s = api.stream_create(&b->stream, api.engine, dnnl_stream_default_flags);
	while (s == dnnl_success && b->n < n) {
		int i = b->n;
		b->arg[i].arg = arg[i].what;
		b->data[i] = arg[i].data;
		s = api.memory_create(&b->arg[i].memory, arg[i].desc, api.engine,
				      (void *)(uintptr_t)arg[i].data);
		b->n += s == dnnl_success;
	}
	if (s == dnnl_success)
		return b;
	bound_free(b);
	return NULL;
}

/* One that no thread uses; NULL: there is none. */
static struct onednn_bound *bound_take(struct onednn_bounds *s)
{
	struct onednn_bound *b = NULL;
	for (int i = 0; i < BOUNDS && !b; i++)
		if (atomic_load_explicit(&s->free[i], memory_order_relaxed))
			b = atomic_exchange(&s->free[i], NULL);
	return b;
}

static void bound_put(struct onednn_bounds *s, struct onednn_bound *b)
{
	for (int i = 0; i < BOUNDS; i++) {
		struct onednn_bound *none = NULL;
		if (atomic_compare_exchange_strong(&s->free[i], &none, b))
			return;
	}
	bound_free(b);
}

static void bounds_free(struct onednn_bounds *s)
{
	for (int i = 0; s && i < BOUNDS; i++)
		bound_free(s->free[i]);
	mem_free(s);
}

bool onednn_primitive_new(struct onednn_primitive *x, const void *op_desc,
			  dnnl_primitive_attr_t attr)
{
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_attr_t own = NULL;
	const char *name = "";
	*x = (struct onednn_primitive){0};
	one_thread();
	if (!attr && api.primitive_attr_create(&own) == dnnl_success)
		attr = own;
	api.primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
	if (api.primitive_desc_create(&pd, op_desc, attr, api.engine, NULL) == dnnl_success &&
	    api.primitive_desc_query(pd, dnnl_query_impl_info_str, 0, (void *)&name) ==
		    dnnl_success &&
	    !strstr(name, "ref") && api.primitive_create(&x->p, pd) == dnnl_success) {
		x->src = *api.primitive_desc_query_md(pd, dnnl_query_src_md, 0);
		x->weights = *api.primitive_desc_query_md(pd, dnnl_query_weights_md, 0);
		x->dst = *api.primitive_desc_query_md(pd, dnnl_query_dst_md, 0);
		x->gemm = strstr(name, "gemm");
		x->depthwise = strstr(name, "dw");
		x->scratch = api.memory_desc_get_size(
			api.primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0));
		x->bounds = MEM_NEW(struct onednn_bounds);
	} else {
		x->p = NULL;
	}
	if (pd)
		api.primitive_desc_destroy(pd);
	if (own)
		api.primitive_attr_destroy(own);
	return x->p;
}

void onednn_primitive_release(struct onednn_primitive *x)
{
	if (x->p)
		api.primitive_destroy(x->p);
	x->p = NULL;
	bounds_free(x->bounds);
	x->bounds = NULL;
}

static int execute(dnnl_primitive_t p, const struct onednn_arg *arg, int n, struct err *e)
{
	dnnl_exec_arg_t args[ONEDNN_ARGS];
	dnnl_stream_t stream = NULL;
	int made = 0;
	one_thread();
	dnnl_status_t s = api.stream_create(&stream, api.engine, dnnl_stream_default_flags);
	while (s == dnnl_success && made < n) {
		args[made].arg = arg[made].what;
		s = api.memory_create(&args[made].memory, arg[made].desc, api.engine,
				      (void *)(uintptr_t)arg[made].data);
		made += s == dnnl_success;
	}
	if (s == dnnl_success)
		s = api.primitive_execute(p, stream, n, args);
	for (int i = 0; i < made; i++)
		api.memory_destroy(args[i].memory);
	if (stream)
		api.stream_destroy(stream);
	return s == dnnl_success ? 0 : err_set(e, ST_RUNTIME, "oneDNN: status %d", (int)s);
}

/* The same with memory objects that stay, x's and scratch's. */
static int execute_bound(const struct onednn_primitive *x, struct onednn_bound *b,
			 const struct onednn_arg *arg, int n, struct err *e)
{
	dnnl_status_t s = dnnl_success;
	one_thread();
	for (int i = 0; i < n && s == dnnl_success; i++) {
		if (b->data[i] == arg[i].data)
			continue; /* the library would write zeros behind the last channels of weights again */
		b->data[i] = arg[i].data;
		s = api.memory_set_data_handle(b->arg[i].memory, (void *)(uintptr_t)arg[i].data);
	}
	if (s == dnnl_success)
		s = api.primitive_execute(x->p, b->stream, n, b->arg);
	return s == dnnl_success ? 0 : err_set(e, ST_RUNTIME, "oneDNN: status %d", (int)s);
}

int onednn_primitive_run(const struct onednn_primitive *x, const struct onednn_arg *arg, int n,
			 void *scratch, struct err *e)
{
	struct onednn_arg all[ONEDNN_ARGS];
	dnnl_memory_desc_t desc;
	dnnl_dims_t bytes = {(dnnl_dim_t)x->scratch};
	struct onednn_bound *b = bound_take(x->bounds);
	memcpy(all, arg, (size_t)n * sizeof *arg);
	if (x->scratch > 0) {
		if (!b)
			api.memory_desc_init_by_tag(&desc, 1, bytes, dnnl_u8, dnnl_a);
		all[n++] = (struct onednn_arg){DNNL_ARG_SCRATCHPAD, &desc, scratch};
	}
	if (!b)
		b = bound_new(all, n);
	if (!b)
		return execute(x->p, all, n, e);
	int rc = execute_bound(x, b, all, n, e);
	bound_put(x->bounds, b);
	return rc;
}

int onednn_reorder(const dnnl_memory_desc_t *from, const void *src, const dnnl_memory_desc_t *to,
		   void *dst, struct err *e)
{
	const struct onednn_arg arg[] = {{DNNL_ARG_SRC, from, src}, {DNNL_ARG_DST, to, dst}};
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_t p = NULL;
	one_thread();
	dnnl_status_t s =
		api.reorder_primitive_desc_create(&pd, from, api.engine, to, api.engine, NULL);
	if (s == dnnl_success)
		s = api.primitive_create(&p, pd);
	int rc = s == dnnl_success
			 ? execute(p, arg, 2, e)
			 : err_set(e, ST_RUNTIME, "oneDNN: no reorder, status %d", (int)s);
	if (p)
		api.primitive_destroy(p);
	if (pd)
		api.primitive_desc_destroy(pd);
	return rc;
}
