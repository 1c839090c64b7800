/* onednn_primitive.c - primitives: made for one thread, run with memory objects that stay. */
#include "kernel/onednn/onednn_api.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static void one_thread(void)
{
	if (onednn_api()->omp_set_num_threads)
		onednn_api()->omp_set_num_threads(1);
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
		onednn_api()->memory_destroy(b->arg[i].memory);
	if (b->stream)
		onednn_api()->stream_destroy(b->stream);
	mem_free(b);
}

/* NULL: the library says no. */
static struct onednn_bound *bound_new(const struct onednn_arg *arg, int n)
{
	struct onednn_bound *b = MEM_NEW(struct onednn_bound);
	dnnl_status_t s = onednn_api()->stream_create(&b->stream, onednn_api()->engine,
						      dnnl_stream_default_flags);
	while (s == dnnl_success && b->n < n) {
		int i = b->n;
		b->arg[i].arg = arg[i].what;
		b->data[i] = arg[i].data;
		s = onednn_api()->memory_create(&b->arg[i].memory, arg[i].desc,
						onednn_api()->engine,
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

/* x of pd, which is given away; NULL: there is none.  false: it is the library's plain reference, or none. */
static bool take(struct onednn_primitive *x, dnnl_primitive_desc_t pd)
{
	const char *name = "";
	if (pd &&
	    onednn_api()->primitive_desc_query(pd, dnnl_query_impl_info_str, 0, (void *)&name) ==
		    dnnl_success &&
	    !strstr(name, "ref") && onednn_api()->primitive_create(&x->p, pd) == dnnl_success) {
		x->src = onednn_md_copy(
			onednn_api()->primitive_desc_query_md(pd, dnnl_query_src_md, 0));
		x->weights = onednn_md_copy(
			onednn_api()->primitive_desc_query_md(pd, dnnl_query_weights_md, 0));
		x->dst = onednn_md_copy(
			onednn_api()->primitive_desc_query_md(pd, dnnl_query_dst_md, 0));
		x->gemm = strstr(name, "gemm") && !strstr(name, "brgemm");
		x->depthwise = strstr(name, "dw");
		x->scratch = onednn_md_bytes(
			onednn_api()->primitive_desc_query_md(pd, dnnl_query_scratchpad_md, 0));
		x->bounds = MEM_NEW(struct onednn_bounds);
	} else {
		x->p = NULL;
	}
	if (pd)
		onednn_api()->primitive_desc_destroy(pd);
	return x->p;
}

/* With the caller's scratch memory; NULL: the library says no. */
static dnnl_primitive_attr_t attr_new(void)
{
	dnnl_primitive_attr_t attr = NULL;
	one_thread();
	if (onednn_api()->primitive_attr_create(&attr) != dnnl_success)
		return NULL;
	onednn_api()->primitive_attr_set_scratchpad_mode(attr, dnnl_scratchpad_mode_user);
	return attr;
}

bool onednn_matmul_new(struct onednn_primitive *x, const onednn_md *a, const onednn_md *b,
		       const onednn_md *c)
{
	dnnl_primitive_attr_t attr = attr_new();
	*x = (struct onednn_primitive){0};
	bool ok = attr && a && b && c && take(x, onednn_matmul_desc(a, b, c, attr));
	if (attr)
		onednn_api()->primitive_attr_destroy(attr);
	return ok;
}

static bool set_eltwise(const struct onednn_eltwise *f, dnnl_primitive_attr_t attr)
{
	dnnl_post_ops_t ops = NULL;
	if (!f->is_there)
		return true;
	bool ok = onednn_api()->post_ops_create(&ops) == dnnl_success &&
		  onednn_append_eltwise(ops, f) == dnnl_success &&
		  onednn_api()->primitive_attr_set_post_ops(attr, ops) == dnnl_success;
	if (ops)
		onednn_api()->post_ops_destroy(ops);
	return ok;
}

bool onednn_convolution_new(struct onednn_primitive *x, const struct onednn_conv_desc *d)
{
	dnnl_primitive_attr_t attr = attr_new();
	*x = (struct onednn_primitive){0};
	bool ok = attr && d->src && d->weights && d->dst && onednn_set_scales(d, attr, x) &&
		  set_eltwise(&d->eltwise, attr) && take(x, onednn_convolution_desc(d, attr));
	if (attr)
		onednn_api()->primitive_attr_destroy(attr);
	return ok;
}

void onednn_primitive_release(struct onednn_primitive *x)
{
	if (x->p)
		onednn_api()->primitive_destroy(x->p);
	bounds_free(x->bounds);
	onednn_md_free(x->src);
	onednn_md_free(x->weights);
	onednn_md_free(x->dst);
	for (int i = 0; i < x->n_more; i++)
		onednn_md_free((onednn_md *)(uintptr_t)x->more[i].desc);
	*x = (struct onednn_primitive){0};
}

static int execute(dnnl_primitive_t p, const struct onednn_arg *arg, int n, struct err *e)
{
	dnnl_exec_arg_t args[ONEDNN_ARGS];
	dnnl_stream_t stream = NULL;
	int made = 0;
	one_thread();
	dnnl_status_t s = onednn_api()->stream_create(&stream, onednn_api()->engine,
						      dnnl_stream_default_flags);
	while (s == dnnl_success && made < n) {
		args[made].arg = arg[made].what;
		s = onednn_api()->memory_create(&args[made].memory, arg[made].desc,
						onednn_api()->engine,
						(void *)(uintptr_t)arg[made].data);
		made += s == dnnl_success;
	}
	if (s == dnnl_success)
		s = onednn_api()->primitive_execute(p, stream, n, args);
	for (int i = 0; i < made; i++)
		onednn_api()->memory_destroy(args[i].memory);
	if (stream)
		onednn_api()->stream_destroy(stream);
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
		s = onednn_api()->memory_set_data_handle(b->arg[i].memory,
							 (void *)(uintptr_t)arg[i].data);
	}
	if (s == dnnl_success)
		s = onednn_api()->primitive_execute(x->p, b->stream, n, b->arg);
	return s == dnnl_success ? 0 : err_set(e, ST_RUNTIME, "oneDNN: status %d", (int)s);
}

int onednn_primitive_run(const struct onednn_primitive *x, const struct onednn_arg *arg, int n,
			 void *scratch, struct err *e)
{
	struct onednn_arg all[ONEDNN_ARGS];
	onednn_md *desc = NULL;
	struct onednn_bound *b = bound_take(x->bounds);
	memcpy(all, arg, (size_t)n * sizeof *arg);
	for (int i = 0; i < x->n_more; i++)
		all[n++] = x->more[i];
	if (x->scratch > 0) {
		if (!b)
			desc = onednn_md_new(1, (const dnnl_dims_t){(dnnl_dim_t)x->scratch},
					     (const dnnl_dims_t){1}, dnnl_u8);
		all[n++] = (struct onednn_arg){DNNL_ARG_SCRATCHPAD, desc, scratch};
	}
	if (!b)
		b = bound_new(all, n);
	int rc = b ? execute_bound(x, b, all, n, e) : execute(x->p, all, n, e);
	if (b)
		bound_put(x->bounds, b);
	onednn_md_free(desc);
	return rc;
}

int onednn_reorder(const onednn_md *from, const void *src, const onednn_md *to, void *dst,
		   struct err *e)
{
	const struct onednn_arg arg[] = {{DNNL_ARG_SRC, from, src}, {DNNL_ARG_DST, to, dst}};
	dnnl_primitive_desc_t pd = NULL;
	dnnl_primitive_t p = NULL;
	one_thread();
	if (!from || !to)
		return err_set(e, ST_RUNTIME, "oneDNN: no memory descriptor");
	dnnl_status_t s = onednn_api()->reorder_primitive_desc_create(
		&pd, from, onednn_api()->engine, to, onednn_api()->engine, NULL);
	if (s == dnnl_success)
		s = onednn_api()->primitive_create(&p, pd);
	int rc = s == dnnl_success
			 ? execute(p, arg, 2, e)
			 : err_set(e, ST_RUNTIME, "oneDNN: no reorder, status %d", (int)s);
	if (p)
		onednn_api()->primitive_destroy(p);
	if (pd)
		onednn_api()->primitive_desc_destroy(pd);
	return rc;
}
