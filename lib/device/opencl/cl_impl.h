/* cl_impl.h - what the files of the OpenCL device share; the only header that
 * includes CL/cl.h.
 *
 * A step is prepared in two stages: cl_lower decides without allocating
 * anything which kernels run with which arguments (a list of launches), then
 * constants are uploaded and packed, and programs built as they are needed. */
#ifndef HSDAG_DEVICE_OPENCL_CL_IMPL_H
#define HSDAG_DEVICE_OPENCL_CL_IMPL_H

#include <CL/cl.h>
#include <pthread.h>

#include "base/mem.h"
#include "device/device.h"
#include "op/op.h"

#include "device/opencl/cl_operators.h"

/* ---- cl_error.c ---- */

const char *cl_error_name(cl_int code); /* "CL_OUT_OF_RESOURCES"; "unknown error" */
/* "clFinish: CL_OUT_OF_RESOURCES", ST_RUNTIME; returns -1 always. */
int cl_err(struct err *e, const char *function, cl_int code);

extern const struct device_class opencl_device_class; /* cl_device.c */

/* ---- cl_name.c: names and places ---- */

struct cl_place {
	cl_platform_id platform;
	cl_device_id device; /* a sub-device when `sub` */
	bool sub;
	bool half;      /* f32 as f16 */
	bool bf16;      /* operands of products as bf16 */
	unsigned units; /* compute units */
};
int cl_check_name(const char *name, struct err *e) MUST_CHECK;
void cl_list_machine(void (*fn)(void *arg, const struct device *d), void *arg);
/* PoCL's affinity and kernels that fit any local size: read when the driver loads. */
void cl_set_environment(const char *const *names, uint32_t n);
int cl_place_find(const char *name, struct cl_place *out, struct err *e) MUST_CHECK;
void cl_place_release(struct cl_place *p);
/* Fills description, mem_bytes, align and cpus of d from the place. */
void cl_place_describe(const char *name, const struct cl_place *p, struct device *d);
/* A string that the platform or device tells about itself; "" when it does not. */
char *cl_device_text(cl_device_id dev, cl_device_info what, char *dst, size_t cap);
bool cl_device_has(cl_device_id dev, const char *extension);

/* ---- cl_program.c: kernels ---- */

/* How kernels are shaped for a device (see cl_prelude.cl and cl_gemm.cl). */
struct cl_shape {
	int vw, ls; /* floats in a vector, work-items in a group */
	int gemm_ls, mr, nr, kc, mc;
	const char *split_std;        /* the OpenCL C that splits take; NULL: nothing is split */
	int counts;                   /* work-groups whose products may be split (cl_split.cl) */
	int window_local, window_out; /* floats of local memory of the window kernel */
};

/* Where something begins in a buffer of the device. */
struct cl_span {
	cl_mem mem;
	size_t offset; /* bytes */
	size_t bytes;  /* of a value; 0: a constant, or not known */
};

enum { CL_BLOBS = 2, CL_TEMPS = 5, CL_PARTS = CL_TEMPS - 1 };
struct cl_const;
struct cl_state {
	struct cl_place place;
	cl_context context;
	cl_command_queue queue;
	struct cl_shape shape;
	bool fp64, unified; /* unified: host and device share memory */
	bool direct;        /* ... and the device is the host's processor: its buffers lie in memory
	                          * that the host may touch whenever the queue is empty */
	cl_event last;      /* direct: of the newest launch */
	bool half;          /* what the graph calls f32 is f16 here */
	cl_mem wide;        /* half: f32 on its way to the host; bytes of it */
	size_t wide_bytes;
	size_t align, max_alloc;
	cl_program program[P_COUNT];
	cl_kernel kernel[K_COUNT];
	struct cl_const *consts; /* uploaded and packed constants */
	size_t n_consts, cap_consts;
	struct cl_pinned *pinned;
	pthread_mutex_t lock; /* of what follows up to `lost` */
	pthread_cond_t idle;  /* n_transfers became 0 */
	pthread_cond_t more;  /* for the waiter */
	pthread_t waiter;     /* looks for the end of pinned transfers; started with the first */
	bool has_waiter, waiter_quits;
	struct cl_transfer *waited; /* in the order of the queue */
	unsigned n_transfers;       /* whose end has not been noticed yet */
	cl_int lost;                /* what a command that failed late had to say */
	cl_mem temp[CL_TEMPS];      /* shared by the steps, which run one after another */
	size_t temp_bytes[CL_TEMPS];
	/* (n_timed) events whose time nobody has asked for yet: of launches where `direct`, else pairs,
	 * of a batch's first launch and its end */
	cl_event *timed;
	size_t n_timed, cap_timed;
	struct cl_series *series; /* launches that are put off; NULL: none are */
	bool in_batch;            /* not direct: launches since the queue was handed over last */
};

/* The shape for this device.  For tests, HSDAG_CL_SHAPE=gpu or cpu overrides it, and
 * HSDAG_CL_PINNED=1 makes transfers go through pinned buffers where they need not. */
void cl_shape_choose(struct cl_state *s);
/* ---- cl_bf16.c: products in bf16 ---- */

/* May the device have matrix units that kernel `mma` can use?  Otherwise its items multiply themselves. */
bool cl_bf16_units(const struct cl_state *s);
/* Build the kernel and compare a small product with what it should be; ST_USAGE where that fails. */
int cl_bf16_try(struct cl_state *s, struct err *e) MUST_CHECK;

/* The kernel, its program built (or taken from the cache on disk) if need be. */
int cl_kernel_get(struct cl_state *s, enum cl_kernel_id k, cl_kernel *out,
		  struct err *e) MUST_CHECK;
void cl_kernels_release(struct cl_state *s);
const char *cl_kernel_name(enum cl_kernel_id k);
size_t cl_kernel_args(enum cl_kernel_id k); /* bytes of its struct of arguments */

/* ---- cl_cache.c: built programs on disk ---- */

/* The binary stored under `key` (a text that names all that it depends on), or
 * NULL; mem_free. */
unsigned char *cl_cache_load(const char *key, size_t *bytes);
/* Best effort: a cache that cannot be written is no error. */
void cl_cache_store(const char *key, const unsigned char *binary, size_t bytes);
void cl_cache_drop(const char *key);

/* ---- cl_lower*.c: which kernels, with which arguments ---- */

enum cl_ref_kind {
	REF_NONE,
	REF_IN,
	REF_OUT,
	REF_PACK_A,
	REF_PACK_B,
	REF_SHAPE,
	REF_BLOB, /* data that the lowering made, number `port` */
	REF_TEMP  /* memory that the step needs while it runs, number `port` */
};
struct cl_ref {
	enum cl_ref_kind kind;
	int port; /* of the node; REF_SHAPE: the shape of this input */
	int node; /* of the step */
};

struct cl_launch {
	enum cl_kernel_id kernel;
	int n_buf;
	struct cl_ref buf[CL_BUFS];
	size_t groups[3];
	size_t copy_bytes; /* K_copy: buf[0] -> buf[1] */
	union cl_args args;
};

/* Element-wise operators that a step ends with, or consists of: cl_chain.c. */
struct cl_chain {
	struct chain chain;
	int n_operands;
	struct cl_operand {
		struct cl_ref ref;
		const struct tensor *t;
		int shift; /* its dim 0 is dim `shift` of the result */
	} operand[OPERANDS];
	int saved;            /* the node whose result E_SAVE keeps; -1 */
	int after[POSTS + 2]; /* posts up to and with those of a node */
};

struct cl_lowering {
	const struct cl_state *s;
	const struct op *op;
	const struct tensor *in, *out; /* data where an input is constant */
	const bool *constant;          /* (op->n_in) also where the data is not at hand */
	const bool *half;              /* (op->n_in) f16 constants that count as f32 */
	const bool *wanted;            /* (op->n_out) outputs that leave the step */
	const struct cl_chain *chain;  /* what follows the node in its step; never NULL */
	struct cl_launch *launch;
	size_t n, cap;
	struct {
		void *data; /* mem_free */
		size_t bytes;
	} blob[CL_BLOBS];
	int n_blobs;
	size_t temp[CL_TEMPS]; /* bytes; number CL_PARTS: sums of parts of products */
	int n_temps;
	char why[200];
};

/* Fill p->launch; -1 and p->why when there is no way. */
int cl_lower(struct cl_lowering *p) MUST_CHECK;
int cl_lower_depthwise(struct cl_lowering *p, const int64_t *pad) MUST_CHECK;
/* In three dimensions; kernel[3] and pad[3] from the outermost.  unfold: the number of the temporary
 * memory with the image as (batch, channels * places of the window, places of the result), or -1. */
int cl_lower_unfold(struct cl_lowering *p, const int64_t *kernel, const int64_t *pad) MUST_CHECK;
int cl_lower_pool_cube(struct cl_lowering *p, enum window_op op, const int64_t *pad) MUST_CHECK;
void cl_lower_release(struct cl_lowering *p);
/* Normalised dims of MVN: how many elements, when they are the last dims; 0 otherwise. */
int64_t cl_mvn_span(const struct op *op, const struct tensor *in);

/* ---- cl_chain.c: element-wise operators, fused with others or with each other ---- */

/* The posts of all nodes but the first; of all nodes when the first is element-wise and a
 * chain can do it (cl_chain_starts).  False when these nodes are not one step.  No
 * allocation. */
bool cl_chain_build(struct cl_chain *c, const struct step_spec *s);
bool cl_chain_starts(const struct step_node *v);
/* The operands as a product's: the dims of `out` are n_z of batches, n_m of rows, and of
 * columns; with groups > 1, dim 1 stands for two: groups, which belong to z, and the rest.
 * at: NULL to ask only.  False when an operand has no such strides. */
bool cl_chain_operands(const struct cl_chain *c, const struct tensor *out, int n_z, int n_m,
		       int64_t groups, struct operand *at);
/* Does it broadcast to the dims of `out`? */
bool cl_chain_broadcasts(const struct cl_operand *q, const struct tensor *out);
/* Append the operands' buffers to the launch, OPERANDS of them. */
void cl_chain_bufs(const struct cl_chain *c, struct cl_launch *l);
/* One operand t, dim 0 of which is dim `shift` of out, as above. */
bool cl_chain_operand(const struct tensor *t, int shift, const struct tensor *out, int n_z, int n_m,
		      struct operand *at);
/* The n_z, n_m and groups of a node that a chain may follow. */
void cl_chain_split(const struct op *op, const struct tensor *in, const struct tensor *out,
		    int *n_z, int *n_m, int64_t *groups);
/* Chain and operands of the node into a launch whose other buffers are there. */
int cl_chain_fill(struct cl_lowering *p, struct cl_launch *l, struct chain *chain,
		  struct operand *at) MUST_CHECK;

struct cl_launch *cl_lower_launch(struct cl_lowering *p, enum cl_kernel_id k);      /* zeroed */
int cl_lower_refuse(struct cl_lowering *p, const char *fmt, ...) PRINTF_LIKE(2, 3); /* returns -1 */
void cl_lower_buf(struct cl_launch *l, enum cl_ref_kind kind, int port);
/* Zeroed data of the lowering's own: *port is what REF_BLOB calls it.  NULL: no memory. */
void *cl_lower_blob(struct cl_lowering *p, size_t bytes, int *port);
int cl_lower_temp(struct cl_lowering *p,
		  size_t bytes); /* its number for REF_TEMP, below CL_PARTS */
/* Work-items for n independent pieces, LS in a group. */
size_t cl_lower_groups(const struct cl_state *s, int64_t n);
/* An operand as matrices: rows x cols with strides, and batch dims before them. */
struct cl_matrices {
	int64_t rows, cols, rs, cs;
	int n_batch;
	const int64_t *batch;
};
/* A vector is a row of A, or a column of B. */
struct cl_matrices cl_matrices_of(const struct tensor *t, bool transpose, bool is_b);
/* Loops over the batch with numpy broadcasting into g; matrices of `as` and `bs` elements.
 * Returns their number, or -1. */
int64_t cl_lower_batches(struct cl_lowering *p, const struct cl_matrices *a,
			 const struct cl_matrices *b, int64_t as, int64_t bs, struct gemm_args *g);
/* Elements of m packed rows of A, k products each. */
int64_t cl_lower_packed_a(const struct cl_state *s, int64_t m, int64_t k);
/* A product g with its chain and operands; refs: a, b, c, then what at[] is about (those that are
 * not there repeat c). */
void cl_lower_product(struct cl_lowering *p, const struct gemm_args *g, int64_t n_batch,
		      const struct cl_ref *refs, int n_refs);
/* Value i of input `port`, which must be constant with its data. */
bool cl_lower_known(struct cl_lowering *p, int port);
int cl_elem_code(enum elem t); /* enum elem_code; -1: not known to kernels */
/* Type, log of the size and bytes as the device has them in memory, where f32 may be f16. */
int cl_code(const struct cl_lowering *p, enum elem t);
int cl_log(const struct cl_lowering *p, enum elem t);
size_t cl_bytes(const struct cl_lowering *p, const struct tensor *t);

/* Nested loops over several arrays, outermost first; merged where all strides allow. */
enum { LOOPS = 24, LOOP_ARRAYS = OPERANDS + 1 };
struct cl_loops {
	int rank, n_arrays;
	int64_t dim[LOOPS], stride[LOOP_ARRAYS][LOOPS];
};
void cl_loops_add(struct cl_loops *l, int64_t dim, const int64_t *stride);
/* Drop loops of one iteration, merge; afterwards rank >= 1, and the last loop is the innermost. */
void cl_loops_merge(struct cl_loops *l);
/* Share n_rows rows of `inner` elements out to work-groups; returns how many groups. */
size_t cl_rows_share(const struct cl_state *s, int64_t n_rows, int64_t inner, struct rows *r);

/* ---- cl_const.c ---- */

/* A form of a constant: as it is (step 0), or packed `step` wide: `count` rows of k elements,
 * s_count and s_k apart, as f32, f16 or bf16. */
struct cl_const_form {
	int step, count, k, s_count, s_k;
	enum elem elem;
};
/* The constant t in the form that is wanted; uploaded when nobody had it so far.  f32: kernels
 * read f32, whatever the type of t. */
int cl_const_get(struct cl_state *s, const struct tensor *t, const struct cl_const_form *want,
		 bool f32, cl_mem *out, struct err *e) MUST_CHECK;
/* Keep a buffer with the constants; nobody finds it. */
void cl_const_keep(struct cl_state *s, cl_mem mem);
void cl_consts_release(struct cl_state *s);

/* ---- cl_launch.c ---- */

/* Start one kernel: buffers, arguments (whose places it sets), groups.  A small one is put off. */
int cl_launch_run(struct cl_state *s, struct cl_launch *l, cl_kernel kernel,
		  const struct cl_span *buf, struct err *e) MUST_CHECK;

/* The same at once. */
int cl_launch_start(struct cl_state *s, struct cl_launch *l, cl_kernel kernel,
		    const struct cl_span *buf, struct err *e) MUST_CHECK;

/* What was launched since the last time is a batch, whose end busy_s will ask for. */
void cl_batch_end(struct cl_state *s);
/* Seconds of launches (direct) or batches since the last call. */
double cl_busy(struct device *d);

/* ---- cl_series.c: small launches as one ---- */

void cl_series_open(struct cl_state *s); /* where the device can; nothing otherwise */
void cl_series_close(struct cl_state *s);
/* Put a small launch off (*taken), or start those that were. */
int cl_series_take(struct cl_state *s, const struct cl_launch *l, cl_kernel kernel,
		   const struct cl_span *buf, bool *taken, struct err *e) MUST_CHECK;
/* Levels of what is put off: launches of one do not depend on each other.  For tests. */
int cl_series_levels(const struct cl_state *s);
/* Start what was put off. */
int cl_series_end(struct cl_state *s, struct err *e) MUST_CHECK;

/* ---- cl_step.c ---- */

/* The memory that steps share while they run. */
void cl_temps_release(struct cl_state *s);
bool cl_step_supports(struct device *d, const struct step_spec *s, char *why, size_t cap);
enum fuse_answer cl_step_fuses(struct device *d, const struct step_spec *s);
int cl_step_prepare(struct device *d, const struct step_spec *s, struct step **out, struct err *e);
void cl_step_free(struct device *d, struct step *s);
void cl_step_memory(struct device *d, const struct step *s,
		    void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg);
uint64_t cl_step_scratch(struct device *d);
bool cl_step_takes(struct device *d, const struct op *op, uint32_t i, const struct tensor *t);
int cl_step_run(struct device *d, struct step *s, struct devmem *const *in,
		struct devmem *const *out, struct err *e);

/* ---- cl_memory.c ---- */

struct devmem {
	struct cl_span at; /* each devmem holds a reference to the buffer */
	char *host;        /* direct: where it lies */
	size_t bytes;
	/* On a device whose f32 is f16: what mem holds.  The host's bytes, until a step reads them
	 * as f32 and they are narrowed into a buffer beside; or what a step has left there. */
	enum { MEM_HOST, MEM_NARROWED, MEM_HALF } state;
	cl_mem narrow;
};
/* Where a step finds the f32 of m as f16, narrowed now if need be. */
int cl_memory_narrow(struct cl_state *s, struct devmem *m, struct cl_span *out,
		     struct err *e) MUST_CHECK;
/* Where the host can read what it calls f32. */
int cl_memory_widen(struct cl_state *s, struct devmem *m, size_t bytes, struct cl_span *out,
		    struct err *e) MUST_CHECK;
int cl_memory_alloc(struct device *d, size_t bytes, struct devmem **out, struct err *e);
int cl_memory_view(struct device *d, struct devmem *base, size_t offset, size_t bytes,
		   struct devmem **out, struct err *e);
void cl_memory_release(struct device *d, struct devmem *m);
/* A buffer with these bytes in it (blocking); for constants. */
int cl_memory_constant(struct cl_state *s, const void *data, size_t bytes, cl_mem *out,
		       struct err *e);

/* ---- cl_transfer.c ---- */

int cl_memory_upload(struct device *d, struct devmem *dst, const void *src, size_t bytes,
		     device_done_fn done, void *arg, struct err *e);
int cl_memory_download(struct device *d, struct devmem *src, void *dst, size_t bytes,
		       device_done_fn done, void *arg, struct err *e);
/* Wait for the transfers under way, then free the pinned buffers. */
void cl_transfers_release(struct cl_state *s);

#endif
