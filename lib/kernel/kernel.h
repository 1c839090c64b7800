/* kernel.h - operators on host memory: tensor in, tensor out.
 *
 * The CPU device runs its nodes through this; every other part of the program
 * that needs a value on the host (constant folding, shape subgraphs) does too.
 *
 * Use: cpu_kernel_supports once per node; cpu_kernel_prepare once its input
 * shapes and constants are known; cpu_kernel_run for every inference.  Shapes
 * given to prepare and run are the same; op_infer computes them.
 * Results are the same bits for any number of threads. */
#ifndef HSDAG_KERNEL_KERNEL_H
#define HSDAG_KERNEL_KERNEL_H

#include <stdatomic.h>

#include "base/pool.h"
#include "op/op.h"

/* Packed weights, shared by all contexts and nodes that use the same constant in
 * the same way: the key is the address of the constant's data.  Thread-safe. */
struct cpu_packs;
struct cpu_packs *cpu_packs_new(void);
void cpu_packs_free(struct cpu_packs *p); /* after every cpu_prep that uses it */

/* What a caller brings: threads and scratch memory.  One context serves one
 * call at a time; scratch grows to the largest need and stays. */
struct cpu_ctx;
/* Both borrowed.  pool NULL: one thread; packs NULL: weights are packed for each node. */
struct cpu_ctx *cpu_ctx_new(struct pool *pool, struct cpu_packs *packs);
void cpu_ctx_free(struct cpu_ctx *c);
/* Once *stop is true, bodies end with an error after the node that they run; NULL: never. */
void cpu_ctx_watch(struct cpu_ctx *c, const atomic_bool *stop);
bool cpu_ctx_stopped(const struct cpu_ctx *c);
uint64_t cpu_ctx_bytes(const struct cpu_ctx *c); /* scratch held now */

/* What was prepared for one node: packed weights, lookup tables, the kernel chosen. */
struct cpu_prep;

/* Another way to run some nodes, asked before the table's: as cpu_kernel_prepare, but 1: *prep runs
 * the node; 0: the table's kernel does. */
typedef int cpu_prepare_fn(const struct op *op, const struct tensor *in, const struct tensor *out,
			   struct cpu_ctx *c, struct cpu_prep **prep, struct err *e);
/* Nodes prepared from now on may compute in bf16: f32 weights of products with few rows are kept
 * rounded to it, and `prepare`, when not NULL, is asked about every node.  products: the kernels' own products
 * with many rows are faster with operands in bf16, where the processor multiplies them. */
void cpu_ctx_allow_bf16(struct cpu_ctx *c, bool products, cpu_prepare_fn *prepare);

/* Products of numbers that FakeQuantize has put on grids may be in integers, where whoever prepares nodes knows
 * which these are; Sigmoid, Swish and Gelu that it rounds to 8 bits may be right to 11. */
void cpu_ctx_allow_codes(struct cpu_ctx *c);

/* May this node run here?  Otherwise *reason says why not (static text). */
bool cpu_kernel_supports(const struct op *op, const char **reason);

/* Is it element-wise, with an f32 form that fused steps and epilogues apply in passing? */
bool cpu_kernel_fuses(enum op_kind kind);
/* May a fused step begin with it?  Its output is worth changing before it is written. */
bool cpu_kernel_is_head(enum op_kind kind);

/* May input i, when it is constant, be t although the graph says f32 there?  Weights that the file
 * holds as f16 with a Convert in front of them, or in few bits (quant.h): pass t to prepare and
 * run and skip what is in front of them. */
bool cpu_kernel_takes(const struct op *op, int i, const struct tensor *t);

/* in[op->n_in]: data where the input is constant, NULL elsewhere.  out[op->n_out]: shapes.
 * *prep may come out NULL (nothing to keep).  Packed weights are copies: with
 * cpu_prep_owns true the constant's own memory is not read by run.
 * -1: ST_INPUT shapes not supported, ST_RUNTIME no memory. */
int cpu_kernel_prepare(const struct op *op, const struct tensor *in, const struct tensor *out,
		       struct cpu_ctx *c, struct cpu_prep **prep, struct err *e) MUST_CHECK;
void cpu_prep_free(struct cpu_prep *p);
uint64_t cpu_prep_bytes(const struct cpu_prep *p);   /* memory it holds; 0 for NULL */
bool cpu_prep_owns(const struct cpu_prep *p, int i); /* input i was copied: run ignores it */

/* All data pointers of in (but those that prep owns, and absent optional inputs) and out are there;
 * out buffers do not overlap in buffers, except where cpu_kernel_in_place allows it. */
int cpu_kernel_run(const struct op *op, const struct cpu_prep *prep, const struct tensor *in,
		   const struct tensor *out, struct cpu_ctx *c, struct err *e) MUST_CHECK;

/* As cpu_kernel_run.  For an operator whose output sizes depend on data (op_is_bounded) out has the
 * bounds of op_infer and room for them, and actual[op->n_out] comes out with the shapes that were
 * made, their elements row-major from the start of out's data.  For all others actual is out.
 * cpu_kernel_run of such an operator fills what is left with its padding. */
int cpu_kernel_run_sized(const struct op *op, const struct cpu_prep *prep, const struct tensor *in,
			 const struct tensor *out, struct tensor *actual, struct cpu_ctx *c,
			 struct err *e) MUST_CHECK;

/* out[0] may be the same buffer as in[i] (element-wise, same type and shape). */
bool cpu_kernel_in_place(const struct op *op, const struct tensor *in, const struct tensor *out,
			 int i);

#endif
