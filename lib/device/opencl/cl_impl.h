/* cl_impl.h - what the files of the OpenCL device share; the only header that
 * includes CL/cl.h.
 *
 * A step is prepared in two stages: cl_lower (cl_lowering.h) decides without allocating
 * anything which kernels run with which arguments (a list of launches), then
 * constants are uploaded and packed, and programs built as they are needed.
 * The order of the files is in README.md. */
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
/* All of the machine, as devices of `class`, which are not open. */
void cl_places_list(const struct device_class *class, void (*fn)(void *arg, const struct device *d),
		    void *arg);
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
/* May the device have matrix units that kernel `mma` can use?  Otherwise its items multiply themselves. */
bool cl_bf16_units(const struct cl_state *s);
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
/* The same, made anew, and the caller's. */
int cl_const_make(struct cl_state *s, const struct tensor *t, const struct cl_const_form *want,
		  bool f32, cl_mem *out, struct err *e) MUST_CHECK;
void cl_consts_release(struct cl_state *s);

/* ---- cl_launch.c ---- */

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

/* Start one kernel at once: buffers, arguments (whose places it sets), groups. */
int cl_launch_start(struct cl_state *s, struct cl_launch *l, cl_kernel kernel,
		    const struct cl_span *buf, struct err *e) MUST_CHECK;

/* What was launched since the last time is a batch, whose end busy_s will ask for. */
void cl_batch_end(struct cl_state *s);
/* Seconds of launches (direct) or batches since the last call. */
double cl_launches_busy_s(struct cl_state *s);

/* ---- cl_series.c: small launches as one ---- */

void cl_series_open(struct cl_state *s); /* where the device can; nothing otherwise */
void cl_series_close(struct cl_state *s);
/* Start one kernel, after those that were put off; a small one is put off with them. */
int cl_launch_run(struct cl_state *s, struct cl_launch *l, cl_kernel kernel,
		  const struct cl_span *buf, struct err *e) MUST_CHECK;
/* Levels of what is put off: launches of one do not depend on each other.  For tests. */
int cl_series_levels(const struct cl_state *s);
/* Start what was put off. */
int cl_series_end(struct cl_state *s, struct err *e) MUST_CHECK;

/* ---- cl_bf16.c: products in bf16 ---- */

/* Build the kernel and compare a small product with what it should be; ST_USAGE where that fails. */
int cl_bf16_try(struct cl_state *s, struct err *e) MUST_CHECK;

/* ---- cl_step.c ---- */

/* The memory that steps share while they run. */
void cl_temps_release(struct cl_state *s);
bool cl_step_supports(struct device *d, const struct step_spec *s, char *why, size_t cap);
enum fuse_answer cl_step_fuses(struct device *d, const struct step_spec *s);
int cl_step_prepare(struct device *d, const struct step_spec *s, struct step **out, struct err *e);
void cl_step_free(struct device *d, struct step *s);
void cl_step_memory(struct device *d, const struct step *s,
		    void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg);
void cl_step_explain(struct device *d, const struct step_spec *spec, const struct step *s,
		     char *dst, size_t cap);
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
