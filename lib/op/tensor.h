/* tensor.h - a dense tensor on the host, or only its description.
 *
 * One type for shape inference, constant folding, kernels and devices.
 * Elements are row-major without gaps; sub-byte types are packed, first
 * element in the low bits. */
#ifndef HSDAG_OP_TENSOR_H
#define HSDAG_OP_TENSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

enum { TENSOR_DIMS = 8 }; /* largest rank that is executed */

struct quant;
struct tensor {
	enum elem elem;
	uint32_t rank;             /* 0: a scalar */
	int64_t dim[TENSOR_DIMS];  /* (rank) >= 0; DIM_DYNAMIC only in descriptions */
	void *data;                /* 64-byte aligned; NULL: only a description */
	const struct quant *quant; /* a constant in few bits: data holds codes of type elem, in
	                              * this shape, and quant says what they stand for
	                              * (op/quant.h); NULL: elements are values */
};

/* Description of output o (an index into g->out_*); false when its rank is
 * dynamic or above TENSOR_DIMS.  Dimensions may be DIM_DYNAMIC. */
bool tensor_describe(const struct graph *g, uint32_t o, struct tensor *t);
bool tensor_is_static(const struct tensor *t);
int64_t tensor_elements(const struct tensor *t); /* -1: dynamic, or more than int64 holds */
int64_t tensor_bytes(const struct tensor *t);    /* -1: as above, or a type without a size */
bool tensor_same_shape(const struct tensor *a, const struct tensor *b);

#endif
