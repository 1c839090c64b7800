/* kernel_impl.h - inside the CPU kernels: what one is, and what they share. */
#ifndef HSDAG_KERNEL_KERNEL_IMPL_H
#define HSDAG_KERNEL_KERNEL_IMPL_H

#include "base/mem.h"
#include "kernel/kernel_list.h"
#include "kernel/kernel.h"

struct epilogue; /* epilogue.h */
struct unary_args;

struct kernel_call;
typedef int kernel_fn(const struct kernel_call *k, struct err *e);

/* ---- context (ctx.c) ---- */

struct cpu_scratch {
	void *p;
	size_t bytes;
};

/* Scratch slots behind those of the threads. */
enum { SLOT_CONVERT, SLOT_WHOLE, SLOT_EXTRA, SLOT_STEP, SLOT_FORMS, SLOT_TERMS, SLOT_SHARED };

struct cpu_ctx {
	struct pool *pool;       /* NULL: one thread */
	struct cpu_packs *packs; /* NULL: no sharing */
	int n_threads;
	struct cpu_scratch *scratch; /* (n_threads + SLOT_SHARED) */
	const atomic_bool *stop;     /* NULL: none */
	cpu_prepare_fn *prepare;     /* asked before the kernel's own; NULL: none */
	bool bf16_weights;           /* products with few rows may keep f32 weights as bf16 */
	bool bf16_products;          /* those with many round what they multiply */
	bool codes; /* those of numbers on grids of 8 bits are in integers; cpu_unary_args */
};

/* `bytes` of scratch of a thread, or of slot SLOT_x: 64-byte aligned, valid until the next
 * call for the same slot.  NULL: no memory. */
void *cpu_thread_scratch(struct cpu_ctx *c, int thread, size_t bytes);
void *cpu_slot_scratch(struct cpu_ctx *c, int slot, size_t bytes);
/* fn for every task < n_tasks, on all threads. */
void cpu_parallel(struct cpu_ctx *c, int n_tasks, void (*fn)(void *arg, int task, int thread),
		  void *arg);
/* How many tasks of at least `grain` items n items make (at most 1 << 16), and their ranges. */
int cpu_tasks(int64_t n, int64_t grain);
void cpu_range(int64_t n, int n_tasks, int task, int64_t *begin, int64_t *end);
int cpu_no_memory(struct err *e);

/* ---- packed weights (pack.c) ---- */

/* A packed form of a constant; the layout is the kernel's. */
struct cpu_pack {
	const void *key;    /* address of the constant's data */
	uint64_t layout[6]; /* the rest of the key: kind of packing, sizes */
	void *data;
	uint64_t bytes;
	int users;
	struct cpu_packs *owner;
	struct cpu_region *region; /* that data was cut from; NULL: memory of its own */
	struct cpu_pack *next;
};
/* The pack for (key, layout), with one user more; when there is none yet, one of `bytes`
 * is made and filled by fill(arg, data).  NULL: no memory. */
struct cpu_pack *cpu_pack_get(struct cpu_packs *p, const void *key, const uint64_t layout[6],
			      uint64_t bytes, void (*fill)(void *arg, void *data), void *arg);
void cpu_pack_drop(struct cpu_pack *k);

struct cpu_prep {
	struct cpu_pack *pack; /* may be NULL */
	uint32_t owns;         /* bit i: run does not read input i */
	bool unchecked;        /* shapes depend on values that only run sees */
	/* Prepared elsewhere (cpu_prepare_fn): what runs in place of the kernel, and what it needs.
	 * It applies kernel_call.post itself if the kernel does. */
	kernel_fn *run; /* NULL: the kernel */
	void *more;
	void (*more_free)(void *more);
	uint64_t more_bytes;
};

/* ---- kernels ---- */

struct kernel_call {
	const struct op *op;
	const struct cpu_prep *prep;
	const struct tensor *in, *out;
	struct cpu_ctx *ctx;
	struct tensor *actual; /* (op->n_out) of a bounded operator: shapes made; else NULL */
	/* To be applied to output 0 (epilogue.h), or NULL; only for kernels that say
	 * POSTS.  Products of codes take input 0 as codes, too (elem EL_U8), and where out[0].data is NULL, nothing
	 * but the post wants the output. */
	const struct epilogue *post;
};

/* Element types that a kernel computes in; inputs and outputs of other types are converted
 * around it (real ones to f32, integers to i64). */
enum native {
	NATIVE_ANY,  /* whatever comes: looks itself */
	NATIVE_MOVE, /* moves elements of whole bytes, which it does not look at: those of fewer bits are bytes around it */
	NATIVE_F32,  /* f32 only; integers are converted too */
	NATIVE_REAL, /* real numbers as f32; integers as they come */
	NATIVE_WIDE, /* f32, f64, i32, i64, u64 */
	NATIVE_TEST  /* as WIDE, and booleans as they are */
};

struct kernel {
	enum native native;
	kernel_fn *run;
	int (*prepare)(const struct op *op, const struct tensor *in, const struct tensor *out,
		       struct cpu_ctx *c, struct cpu_prep **prep, struct err *e); /* may be NULL */
	bool (*supports)(const struct op *op, const char **reason);               /* may be NULL */
	/* May constant input i be t, as the file holds it, although the graph says f32? may be NULL */
	bool (*takes)(const struct op *op, int i, const struct tensor *t);
	unsigned flags; /* enum kernel_flags */
	uint32_t reals; /* bit i: input i must be of real numbers, which the kernel reads as f32 */
};
enum kernel_flags {
	FUSES = 1, /* element-wise, with an f32 form that fused steps and epilogues apply in passing */
	HEAD = 2, /* a fused step may begin with it: its output is worth changing before it is
	            * written */
	POSTS = 4 /* run applies kernel_call.post itself */
};

/* cpu_kernel_run_sized for a call that is filled in, with its epilogue; call is used up. */
int cpu_kernel_call(struct kernel_call *call, struct err *e) MUST_CHECK;

#define DECLARE_RUN(kind, native, fn, ...) kernel_fn run_##fn;
CPU_KERNELS(DECLARE_RUN)
#undef DECLARE_RUN

/* Has the window at most three dims? */
bool supports_window(const struct op *op, const char **reason);
/* Are what GroupedMatMul multiplies real numbers? */
bool supports_grouped(const struct op *op, const char **reason);
int prepare_matmul(const struct op *op, const struct tensor *in, const struct tensor *out,
		   struct cpu_ctx *c, struct cpu_prep **prep, struct err *e);
int prepare_conv(const struct op *op, const struct tensor *in, const struct tensor *out,
		 struct cpu_ctx *c, struct cpu_prep **prep, struct err *e);
int prepare_conv_backprop(const struct op *op, const struct tensor *in, const struct tensor *out,
			  struct cpu_ctx *c, struct cpu_prep **prep, struct err *e);
int prepare_einsum(const struct op *op, const struct tensor *in, const struct tensor *out,
		   struct cpu_ctx *c, struct cpu_prep **prep, struct err *e);
int prepare_recurrent(const struct op *op, const struct tensor *in, const struct tensor *out,
		      struct cpu_ctx *c, struct cpu_prep **prep, struct err *e);

bool matmul_takes(const struct op *op, int i, const struct tensor *t);
bool conv_takes(const struct op *op, int i, const struct tensor *t);
bool gather_takes(const struct op *op, int i, const struct tensor *t);

/* Does any node read output i of this one? */
bool cpu_output_used(const struct op *op, int i);
/* n elements from src to dst, converting (integers wrap; real numbers to integers
 * truncate, those beyond 32 bits as on x86); packed types too.  Single-threaded. */
void cpu_convert(enum elem to, void *dst, enum elem from, const void *src, int64_t n);
/* The same from integers to i8 or u8, limited to the type's range. */
void cpu_convert_saturated(enum elem to, void *dst, enum elem from, const void *src, int64_t n);
/* The type of output 0 in the graph, where there is one: out may be another, that the kernel computes in. */
static inline enum elem cpu_graph_elem(const struct kernel_call *k)
{
	const struct graph *g = k->op->g;
	return g && k->op->v < g->n ? (enum elem)g->out_elem[g->out_ptr[k->op->v]] : k->out[0].elem;
}
/* Does OpenVINO fold it by its reference implementations?  Integers of 8 bits are left to its plugin. */
static inline bool cpu_is_folded(const struct kernel_call *k)
{
	return k->op->folded && elem_bits(cpu_graph_elem(k)) > 8;
}
/* What an operator that computes in f32 gives as integers, as in OpenVINO's CPU plugin: rounded, halves
 * to even.  What the type does not hold is -2^31, or by cpu_limited the greatest f32 below 2^31 where
 * it is too large; the caller keeps the low bits.  Tensors of i8 and u8 are limited to their range. */
int64_t cpu_rounded(float x, enum elem to);
int64_t cpu_limited(float x, enum elem to);
void cpu_convert_rounded(enum elem to, void *dst, const float *x, int64_t n);
/* Size of an element in bytes; 0 for packed types and strings. */
size_t cpu_elem_size(enum elem t);
/* The type in which NATIVE_F32 or NATIVE_WIDE kernels see elements of type t. */
enum elem cpu_native_elem(enum native n, enum elem t);

/* y[i] = f(x[i * sx]) and f(a[i * sa], b[i * sb]) for f32, any unary or binary operator with f32
 * outputs, PReLU too; strides 0 or 1.  y may be x, a or b. */
void cpu_unary_f32(enum op_kind kind, const struct unary_args *u, const float *x, int sx, float *y,
		   int64_t n);
void cpu_binary_f32(enum op_kind kind, const float *a, int sa, const float *b, int sb, float *y,
		    int64_t n);
/* The parameters of a unary operator, the constants among them from in.  coarse (vec.h), with AVX-512: where products are
 * bf16, and where they are of codes and the result is rounded to some (op_mark_rounded), whatever the step has besides; without
 * ctx nowhere. */
struct unary_args cpu_unary_args(const struct op *op, const struct tensor *in,
				 const struct cpu_ctx *ctx);

/* The dims of a tensor in two groups, kept and reduced, outermost first, merged where they are one
 * run of memory; strides in elements. */
struct dim_split {
	int n_keep, n_red;
	int64_t keep[TENSOR_DIMS], keep_stride[TENSOR_DIMS];
	int64_t red[TENSOR_DIMS], red_stride[TENSOR_DIMS];
	int64_t n, count; /* products of keep and of red */
};
void cpu_split_dims(const struct tensor *t, uint32_t reduced_axes, struct dim_split *s);
/* Offset of the i-th element (row-major) of dims with these strides. */
int64_t cpu_offset(int64_t i, int n, const int64_t *dim, const int64_t *stride);

/* Numpy broadcasting of up to BCAST_MAX inputs to an output, as rows with constant strides (in
 * elements; 0 where an input is repeated).  Dims that all walk alike are merged. */
enum { BCAST_MAX = 5 };
struct bcast {
	int n;
	uint32_t rank; /* >= 1 */
	int64_t dim[TENSOR_DIMS], stride[BCAST_MAX][TENSOR_DIMS];
	const char *data[BCAST_MAX];
	size_t size[BCAST_MAX]; /* of an element */
};
void cpu_bcast_init(struct bcast *b, const struct tensor *out, const struct tensor *const *in,
		    int n);
/* fn for stretches of the output: elements out .. out + n - 1, of input j those from in[j] on, one
 * behind the other (stride[j] 1) or one for all (0).  Rows that are short come several at once; an
 * input that does not walk as they do is a copy then. */
typedef void bcast_fn(void *arg, int64_t out, const void *const *in, const int64_t *stride,
		      int64_t n);
void cpu_bcast_run(struct cpu_ctx *c, const struct bcast *b, bcast_fn *fn, void *arg);

/* Copy a strided block: dst is contiguous with dims dim[rank], rank <= COPY_DIMS; element
 * (i0, i1, ..) comes from src + sum i_d * stride[d] (bytes; may be 0 or negative). */
enum { COPY_DIMS = 2 * TENSOR_DIMS };
void cpu_copy_strided(struct cpu_ctx *c, size_t elem_size, uint32_t rank, const int64_t *dim,
		      const int64_t *stride, const char *src, char *dst);
/* The same to a strided block: element (i0, i1, ..) goes to dst + sum i_d * to[d]. */
void cpu_move_strided(struct cpu_ctx *c, size_t elem_size, uint32_t rank, const int64_t *dim,
		      const int64_t *stride, const char *src, const int64_t *to, char *dst);
/* Strides of a contiguous tensor, in bytes. */
void cpu_strides_of(const struct tensor *t, int64_t *stride);

#endif
