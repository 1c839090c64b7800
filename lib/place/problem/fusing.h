/* fusing.h - which operations of a model a device runs as one kernel.
 *
 * Rules that runtimes have in common (oneDNN Graph, TensorRT, XLA and TorchInductor document theirs), for costs from a
 * specification: what an operation hands to another of its kernel neither leaves the processor nor comes back, and the
 * kernel is launched once.
 *
 *   epilogues  element-wise operations behind a product or convolution whose result nothing else reads, also a gate
 *              (x * sigmoid(x)); transposes and broadcasts that only a product reads are its strides
 *   pointwise  element-wise operations, reductions, norms, and slices, joins, transposes and broadcasts between them
 *   attention  two products with a softmax between them: scores stay inside
 *   caches     what is appended to a cache, an input or variable that becomes a result or variable, is written in
 *              place, and reordering its rows costs nothing */
#ifndef HSDAG_PLACE_PROBLEM_FUSING_H
#define HSDAG_PLACE_PROBLEM_FUSING_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "graph/graph.h"

enum {
	KERNELS_EPILOGUES = 1,
	KERNELS_POINTWISE = 2,
	KERNELS_ATTENTION = 4,
	KERNELS_CACHES = 8,
	KERNELS_ALL = 15
};

/* `text`: "all", "none" or names of kinds with commas between them; NULL: none.  ST_INPUT names one that there is not. */
int fusing_parse(const char *text, unsigned *kinds, struct err *e) MUST_CHECK;

struct fusing {
	uint32_t *
		kernel; /* (n) the first node of the kernel that runs each node; of one that does not run, itself */
	uint32_t *size; /* (n) nodes of the kernel with that first node */
	bool *launches; /* (n) whose launch is the kernel's; the Gather of a cache has none */
	bool *in_place; /* (n) writes what it appends, input 0 stays where it is */
	uint32_t *root; /* (outputs) the output whose bytes it has: its own, or what a view is of */
	uint32_t *made_by; /* (outputs) the node that makes these bytes */
	bool *inside;      /* (outputs) all that read it are in its node's kernel */
};

/* Kernels of g by the rules of `kinds`, where runs (n) says which nodes run.  No two kernels wait for each other.  Memory from a. */
void fusing_find(const struct graph *g, const bool *runs, unsigned kinds, struct arena *a,
		 struct fusing *out);

#endif
