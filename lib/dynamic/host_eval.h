/* host_eval.h - values of nodes on the host: constants from the weights file,
 * and whatever depends on them, computed once with the CPU kernels.
 *
 * Serves constant folding at load, shape subgraphs with given inputs, and tests
 * (a whole model, one node after another).  It is not the executor: no
 * memory reuse, no prepared kernels.  */
#ifndef HSDAG_DYNAMIC_HOST_EVAL_H
#define HSDAG_DYNAMIC_HOST_EVAL_H

#include "kernel/kernel.h"

/* The values of a graph's outputs.  value[o] (o indexes out_* of the graph) has data once it is
 * known. */
struct host_values {
	const struct graph *g;
	const unsigned char *weights; /* the .bin, mapped; NULL when there is none */
	uint64_t weights_bytes;
	struct tensor *value; /* (n_out) */
	bool *owned;          /* (n_out) data was allocated here */
	struct cpu_ctx *ctx;  /* borrowed */
	/* (n_out) or NULL, borrowed: outputs that the graph calls f16 or bf16 and that are kept as
	 * computed, in f32.  Weights in few bits are unpacked so, as OpenVINO does it: it takes
	 * f16 between operators for a matter of the file. */
	const bool *wide;
};

/* Empty values for g; all borrowed.  Shapes are those that g records where static. */
void host_values_init(struct host_values *h, const struct graph *g, const void *weights,
		      uint64_t weights_bytes, struct cpu_ctx *ctx);
void host_values_release(struct host_values *h);

/* Give output o a value from outside (a Parameter's); borrowed, must outlive h. */
void host_values_set(struct host_values *h, uint32_t o, const struct tensor *t);

/* Compute node v from the values of its inputs, which must be there (only their shapes for
 * ShapeOf).  Const reads the weights (aligned data is borrowed from them, not copied).
 * -1: ST_INPUT for an operator without kernel or wrong data, with the node's name. */
int host_eval_node(struct host_values *h, uint32_t v, struct err *e) MUST_CHECK;

/* Types and shapes of node v's outputs into h->value, without data; values of inputs that the
 * shapes depend on must be there. */
int host_infer_node(struct host_values *h, uint32_t v, struct err *e) MUST_CHECK;

/* All nodes v with want[v], in order. */
int host_eval(struct host_values *h, const bool *want, struct err *e) MUST_CHECK;

/* Forget the data of output o when it was allocated here. */
void host_values_drop(struct host_values *h, uint32_t o);

#endif
