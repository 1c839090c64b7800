/* cpu_fuse_plan.h - the plan of a fused step: its nodes, its parts, where values lie.
 *
 * A part is one pass over a matrix: its nodes are applied to a tile in registers and the
 * first-level cache, then to the next tile.  Their outputs have the same number of elements.  A
 * node that reads an earlier value in another order (through a split, or with broadcasting) is in
 * a later part, which reads the value from memory:
 *
 *     MatMul --- Add --- Split -+- Sigmoid -+- Multiply
 *                               +- Tanh ----+
 *
 *     part 0   MatMul, Add               (n, 2h): what Add makes is stored
 *     (view)   Split                     says where in it part 1 reads; runs nothing
 *     part 1   Sigmoid, Tanh, Multiply   (n, h) */
#ifndef HSDAG_DEVICE_CPU_FUSE_CPU_FUSE_PLAN_H
#define HSDAG_DEVICE_CPU_FUSE_CPU_FUSE_PLAN_H

#include "kernel/epilogue.h"
#include "device/cpu/fuse/cpu_fuse.h"
#include "kernel/kernel_impl.h"

enum { FUSE_PARTS = 4, FUSE_COPIES = 8, FUSE_ALL = FUSE_NODES + FUSE_COPIES };

/* A tensor in place: element (i0, i1, ..) is `offset` + sum i_d * stride[d] elements behind the
 * start of a step's input, of a constant, or of a node's value. */
struct strided {
	enum epi_base base;
	uint32_t index;
	const void *data; /* BASE_CONST */
	int64_t offset;
	uint32_t rank;
	int64_t dim[TENSOR_DIMS], stride[TENSOR_DIMS];
};

/* How an operand t meets a matrix with `cols` columns whose elements are those of `out`, by numpy
 * broadcasting (cpu_address.c).  False: not along whole rows and columns.  o->data stays. */
bool cpu_address(const struct tensor *out, const struct strided *t, int64_t cols,
		 struct epi_operand *o);

enum fuse_role {
	ROLE_HEAD, /* a kernel, the first node; or the last of the nodes that it computes at once */
	ROLE_INSIDE, /* one of these before the last */
	ROLE_VIEW,   /* a split */
	ROLE_CODE    /* element-wise, or the copy of a split's output */
};

struct fuse_node {
	enum fuse_role role;
	const struct step_node *node; /* NULL: a copy */
	enum op_kind kind;
	int n_data;                       /* ROLE_CODE: inputs that are data */
	struct step_arg arg[EPI_SOURCES]; /* of them */
	const struct tensor *out;
	bool leaves, stored; /* is an output; a later part reads it from memory */
	uint32_t out_index;
	int64_t scratch; /* stored and not an output: bytes into scratch */
	int part;
	uint32_t last; /* the last node that reads it in its part */
};

struct fuse_part {
	bool head;
	uint32_t result; /* head: the node whose value takes the place of the output */
	int64_t elements;
	struct epilogue code;
	struct epi_place place[EPI_OPERANDS]; /* where each operand begins */
	int written_by[EPI_OPERANDS];         /* instruction, or -1 */
	int last_read[EPI_OPERANDS];          /* instruction, or -1 */
};

struct fuse_plan {
	uint32_t n;
	uint32_t head; /* the node, if the first part has one */
	struct fuse_node node[FUSE_ALL];
	int n_parts;
	struct fuse_part part[FUSE_PARTS];
	int64_t scratch_bytes;
	const struct cpu_ctx *ctx; /* of unary operators: cpu_unary_args */
};

/* Both false for what cpu_fuse.h excludes.  fuse_parts: roles and parts of all nodes
 * (cpu_fuse_parts.c); fuse_code: the program of every part (cpu_fuse_code.c). */
bool fuse_parts(const struct step_spec *s, struct fuse_plan *p);
bool fuse_code(struct fuse_plan *p, const struct cpu_ctx *ctx);
/* What argument `a`, seen with the shape of `t`, reads. */
bool fuse_resolve(const struct fuse_plan *p, const struct step_arg *a, const struct tensor *t,
		  struct strided *r);

/* ---- cpu_fuse_tokens.c ---- */

/* How many nodes from the first on one kernel computes that reads tokens: a transposition to planes,
 * a depthwise convolution, perhaps its bias, and the transposition back; without that, two.  0: they are something
 * else. */
uint32_t fuse_tokens_match(const struct step_spec *s);
struct fuse_tokens;
/* Of a step that matches.  *out is to be freed in either case. */
int fuse_tokens_new(const struct step_spec *s, struct cpu_ctx *ctx, struct fuse_tokens **out,
		    struct err *e) MUST_CHECK;
void fuse_tokens_free(struct fuse_tokens *t);
const struct cpu_prep *fuse_tokens_prep(
	const struct fuse_tokens *t); /* its weights, node 1's input 1 */
int fuse_tokens_run(const struct fuse_tokens *t, void *const *in, void *out,
		    const struct epilogue *post, struct err *e) MUST_CHECK;

#endif
