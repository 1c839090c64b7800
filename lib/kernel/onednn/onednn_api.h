/* onednn_api.h - oneDNN's C library, loaded when a device asks for it, and its primitives as this
 * room uses them: one thread each, scratch memory of the caller.  Internal to lib/kernel/onednn.
 *
 * Source: oneDNN 2.6, oneapi/dnnl/dnnl.h.  Debian's library uses OpenMP; every primitive is made
 * and run with one OpenMP thread, so that no team of its own ever starts: threads are the pool's. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_API_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_API_H

#include <oneapi/dnnl/dnnl.h>

#include "kernel/onednn/onednn.h"

/* clang-format off */
#define ONEDNN_FUNCTIONS(X) \
	X(set_max_cpu_isa) X(engine_create) X(stream_create) X(stream_destroy) X(memory_create) \
	X(memory_destroy) X(memory_set_data_handle) X(memory_desc_init_by_strides) X(memory_desc_init_by_tag) \
	X(memory_desc_get_size) X(primitive_attr_create) X(primitive_attr_destroy) \
	X(primitive_attr_set_output_scales) X(primitive_attr_set_zero_points) X(primitive_attr_set_post_ops) X(post_ops_create) \
	X(post_ops_append_eltwise) X(post_ops_destroy) X(primitive_attr_set_scratchpad_mode) X(primitive_desc_create) X(primitive_desc_destroy) \
	X(primitive_desc_query) X(primitive_desc_query_md) X(primitive_create) \
	X(primitive_destroy) X(primitive_execute) X(dilated_convolution_forward_desc_init) \
	X(matmul_desc_init) X(reorder_primitive_desc_create)
/* clang-format on */

struct onednn_api {
#define MEMBER(f) __typeof__(dnnl_##f) *f;
	ONEDNN_FUNCTIONS(MEMBER)
#undef MEMBER
	void (*omp_set_num_threads)(int n); /* NULL: the library has no OpenMP */
	dnnl_engine_t engine;
};
/* The library's functions; onednn_open must have succeeded. */
const struct onednn_api *onednn_api(void);

/* In the first word of the layout of a pack (pack.c). */
#define ONEDNN_PACK ((uint64_t)1 << 32)
/* Five words of it: what tells the layout `d` from others of a constant. */
void onednn_layout_key(const dnnl_memory_desc_t *d, uint64_t key[5]);

/* A primitive, or none: p NULL. */
struct onednn_primitive {
	dnnl_primitive_t p;
	dnnl_memory_desc_t src, weights, dst; /* as the primitive wants them */
	size_t scratch;                       /* bytes */
	bool gemm;                            /* windows are laid out, and multiplied as matrices */
	bool depthwise;               /* made for one channel a group, and for nothing else */
	struct onednn_bounds *bounds; /* memory objects of runs before */
};
/* The primitive of an operation descriptor, when the library has one that is not its plain reference.
 * attr may be NULL.  false: there is none; x->p stays NULL. */
bool onednn_primitive_new(struct onednn_primitive *x, const void *op_desc,
			  dnnl_primitive_attr_t attr);
void onednn_primitive_release(struct onednn_primitive *x);

/* What a primitive reads and writes. */
struct onednn_arg {
	int what; /* DNNL_ARG_x */
	const dnnl_memory_desc_t *desc;
	const void *data;
};
enum { ONEDNN_ARGS = 8 };
/* scratch: x->scratch bytes, 64-byte aligned.  All runs of a primitive have the same arguments, whose data may lie elsewhere each time;
 * any number of threads may run it at once.  ST_RUNTIME: the library says no. */
int onednn_primitive_run(const struct onednn_primitive *x, const struct onednn_arg *arg, int n,
			 void *scratch, struct err *e) MUST_CHECK;

/* The prepare functions of single operators: as cpu_prepare_fn. */
cpu_prepare_fn onednn_matmul_prepare, onednn_conv_prepare;

/* Bring data from one layout and type into another, once. */
int onednn_reorder(const dnnl_memory_desc_t *from, const void *src, const dnnl_memory_desc_t *to,
		   void *dst, struct err *e) MUST_CHECK;

#endif
