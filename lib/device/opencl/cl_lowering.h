/* cl_lowering.h - from operators to launches: cl_lower decides, without allocating anything on the device, which
 * kernels run with which arguments.  Lowering and chains are asked by cl_step.c alone. */
#ifndef HSDAG_DEVICE_OPENCL_CL_LOWERING_H
#define HSDAG_DEVICE_OPENCL_CL_LOWERING_H

#include "device/opencl/cl_impl.h"
#include "kernel/window.h"

/* ---- cl_lower*.c: which kernels, with which arguments ---- */

/* Element-wise operators that a step ends with, or consists of: cl_chain.c. */
struct cl_chain {
	struct chain chain;
	int n_operands;
	struct cl_operand {
		struct cl_ref ref;
		struct tensor t; /* that broadcasts to the result (op_align) */
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
int cl_lower_depthwise(struct cl_lowering *p, const struct window *g) MUST_CHECK;
/* In three dimensions.  unfold: the number of the temporary memory with the image as
 * (batch, channels * places of the window, places of the result), or -1. */
int cl_lower_unfold(struct cl_lowering *p, const struct window *g) MUST_CHECK;
int cl_lower_pool_cube(struct cl_lowering *p, enum window_op op, const struct window *g) MUST_CHECK;
void cl_lower_release(struct cl_lowering *p);
/* Normalised dims of MVN: how many elements, when they are the last dims; 0 otherwise. */
int64_t cl_mvn_span(const struct op *op, const struct tensor *in);

/* ---- cl_chain.c: element-wise operators, fused with others or with each other ---- */

/* The posts of all nodes but the first; of all nodes when the first is element-wise and a
 * chain can do it.  False when these nodes are not one step.  No
 * allocation. */
bool cl_chain_build(struct cl_chain *c, const struct step_spec *s);
/* Append the operands' buffers to the launch, OPERANDS of them. */
void cl_chain_bufs(const struct cl_chain *c, struct cl_launch *l);
/* Operand t as a product's: the dims of `out` are n_z of batches, n_m of rows, and of columns.  False: it has no such strides. */
bool cl_chain_operand(const struct tensor *t, const struct tensor *out, int n_z, int n_m,
		      struct operand *at);
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

/* Strides of t, in elements, over the dims of `out`, that it broadcasts to; false: it does not. */
bool cl_broadcast_strides(const struct tensor *t, const struct tensor *out, int64_t *stride);

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

#endif
