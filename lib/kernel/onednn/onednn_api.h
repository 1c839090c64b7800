/* onednn_api.h - oneDNN's C library, loaded when a device asks for it, and its primitives as this
 * room uses them: one thread each, scratch memory of the caller.  Internal to lib/kernel/onednn.
 *
 * Source: oneDNN 2.6 and 3.2, oneapi/dnnl/dnnl.h.  What the two major versions have in different ways is in onednn_v2.c and
 * onednn_v3.c; the headers that a build finds decide.  Debian's library uses OpenMP; every primitive is made
 * and run with one OpenMP thread, so that no team of its own ever starts: threads are the pool's. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_API_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_API_H

#include <oneapi/dnnl/dnnl.h>

#include "kernel/onednn/onednn.h"

/* A memory descriptor: a structure in version 2, hidden in version 3.  Always on the heap, see onednn_md_free. */
#if DNNL_VERSION_MAJOR == 2
typedef dnnl_memory_desc_t onednn_md;
/* clang-format off */
#define ONEDNN_VERSION_FUNCTIONS(X) \
	X(memory_desc_init_by_strides) X(memory_desc_init_by_tag) X(primitive_attr_set_output_scales) X(primitive_attr_set_zero_points) \
	X(primitive_desc_create) X(dilated_convolution_forward_desc_init) X(matmul_desc_init)
#elif DNNL_VERSION_MAJOR == 3
typedef struct dnnl_memory_desc onednn_md;
#define ONEDNN_VERSION_FUNCTIONS(X) \
	X(memory_desc_create_with_strides) X(memory_desc_create_with_tag) X(memory_desc_clone) X(memory_desc_destroy) \
	X(memory_desc_query) X(memory_desc_create_submemory) X(primitive_attr_set_scales_mask) X(primitive_attr_set_zero_points_mask) \
	X(convolution_forward_primitive_desc_create) X(matmul_primitive_desc_create)
#else
#error "oneDNN 2 or 3 is wanted; build with ONEDNN=0"
#endif
#define ONEDNN_FUNCTIONS(X) \
	ONEDNN_VERSION_FUNCTIONS(X) X(set_max_cpu_isa) X(engine_create) X(stream_create) X(stream_destroy) X(memory_create) \
	X(memory_destroy) X(memory_set_data_handle) X(memory_desc_get_size) X(primitive_attr_create) X(primitive_attr_destroy) \
	X(primitive_attr_set_post_ops) X(post_ops_create) X(post_ops_append_eltwise) X(post_ops_destroy) \
	X(primitive_attr_set_scratchpad_mode) X(primitive_desc_destroy) X(primitive_desc_query) X(primitive_desc_query_md) \
	X(primitive_create) X(primitive_destroy) X(primitive_execute) X(reorder_primitive_desc_create)
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

/* ---- memory descriptors ---- */

/* Elements of n dims with these strides, or in whatever layout a primitive wants: strides NULL.  NULL: the library says no. */
onednn_md *onednn_md_new(int n, const dnnl_dims_t dims, const dnnl_dims_t strides,
			 dnnl_data_type_t type);
onednn_md *onednn_md_copy(const onednn_md *d);
void onednn_md_free(onednn_md *d); /* NULL: nothing */
size_t onednn_md_bytes(const onednn_md *d);
/* The layout of the first `cols` columns of the weights (k,n) of bf16 or s8 that lie as `whole` says, and bytes of them; NULL:
 * they are no whole blocks that lie one behind the other. */
onednn_md *onednn_md_columns(const onednn_md *whole, int64_t cols, size_t *bytes);

/* In the first word of the layout of a pack (pack.c). */
#define ONEDNN_PACK ((uint64_t)1 << 32)
/* Five words of it: what tells the layout `d` from others of a constant. */
void onednn_layout_key(const onednn_md *d, uint64_t key[5]);

/* ---- primitives ---- */

/* What a primitive reads and writes. */
struct onednn_arg {
	int what; /* DNNL_ARG_x */
	const onednn_md *desc;
	const void *data;
};
enum { ONEDNN_ARGS = 8 };

/* A primitive, or none: p NULL. */
struct onednn_primitive {
	dnnl_primitive_t p;
	onednn_md *src, *weights, *dst; /* as the primitive wants them */
	size_t scratch;                 /* bytes */
	bool gemm;                      /* windows are laid out, and multiplied as matrices */
	bool depthwise;                 /* made for one channel a group, and for nothing else */
	struct onednn_bounds *bounds;   /* memory objects of runs before */
	/* Scales and zero-points are arguments in version 3; their descriptors are the primitive's. */
	struct onednn_arg more[2];
	int n_more;
};

/* What comes behind the sums of a convolution. */
struct onednn_eltwise {
	bool is_there;
	dnnl_alg_kind_t alg;
	float alpha, beta;
};
/* A convolution of channels-last tensors; dilations are the gaps between taps. */
struct onednn_conv_desc {
	const onednn_md *src, *weights, *bias, *dst; /* bias NULL: there is none */
	dnnl_dims_t stride, dilation, pad, pad_end;
	/* The output is (sum + bias) * scale in version 2, sum * scale + bias in version 3 (onednn_scales_sums). */
	const float
		*scale; /* (n_scale), one a channel, as long as the primitive lives; NULL: none */
	int64_t n_scale;
	bool grouped;        /* weights have a dim of groups */
	const int32_t *zero; /* the zero-point of src, as long as the primitive lives; NULL: 0 */
	struct onednn_eltwise eltwise;
};
/* Is a bias added behind the scale? */
bool onednn_scales_sums(void);
/* The primitive of (m,k) x (k,n), or of a convolution, when the library has one that is not its plain reference.  false: there is
 * none; x->p stays NULL, x is to be released in either case. */
bool onednn_matmul_new(struct onednn_primitive *x, const onednn_md *a, const onednn_md *b,
		       const onednn_md *c);
bool onednn_convolution_new(struct onednn_primitive *x, const struct onednn_conv_desc *d);
void onednn_primitive_release(struct onednn_primitive *x);

/* Of onednn_v2.c or onednn_v3.c, for onednn_primitive.c: the descriptor of a primitive, or NULL. */
dnnl_primitive_desc_t onednn_matmul_desc(const onednn_md *a, const onednn_md *b, const onednn_md *c,
					 dnnl_primitive_attr_t attr);
dnnl_primitive_desc_t onednn_convolution_desc(const struct onednn_conv_desc *d,
					      dnnl_primitive_attr_t attr);
/* Scales and zero-points of d into the attributes, or into x->more. */
bool onednn_set_scales(const struct onednn_conv_desc *d, dnnl_primitive_attr_t attr,
		       struct onednn_primitive *x);
dnnl_status_t onednn_append_eltwise(dnnl_post_ops_t ops, const struct onednn_eltwise *f);

/* scratch: x->scratch bytes, 64-byte aligned.  All runs of a primitive have the same arguments, whose data may lie elsewhere each time;
 * any number of threads may run it at once.  ST_RUNTIME: the library says no. */
int onednn_primitive_run(const struct onednn_primitive *x, const struct onednn_arg *arg, int n,
			 void *scratch, struct err *e) MUST_CHECK;

/* The prepare functions of single operators: as cpu_prepare_fn. */
cpu_prepare_fn onednn_matmul_prepare, onednn_conv_prepare;

/* Bring data from one layout and type into another, once. */
int onednn_reorder(const onednn_md *from, const void *src, const onednn_md *to, void *dst,
		   struct err *e) MUST_CHECK;

#endif
