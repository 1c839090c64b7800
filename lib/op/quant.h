/* quant.h - constants in few bits: weights that stay as the file holds them, codes with a
 * zero point and a scale for every group of them, until a kernel reads them.
 *
 * In the graph they are subgraphs of constants:
 *   Const (u4, i4, u8, i8, nf4, f4e2m1, f8) -> Convert [-> Subtract zero] [-> Multiply scale]
 *   [-> Reshape] [-> Convert] -> MatMul, Gather, ...
 * where zero and scale are constants, perhaps converted, that numpy's rules broadcast to the shape
 * of the codes.  Such a tensor has the shape that its reader sees, the codes' type and data, and
 * stands for (code - zero) * scale.
 *
 * Source: OpenVINO's guide to weight compression; the subgraphs are those that NNCF writes. */
#ifndef HSDAG_OP_QUANT_H
#define HSDAG_OP_QUANT_H

#include "op/op.h"

struct quant {
	struct tensor codes;       /* as the file has them, before the Reshape */
	struct tensor zero, scale; /* EL_DYNAMIC: none */
};

/* The outputs that hold the parts of constant output o; false when it is no such subgraph. */
struct quant_parts {
	uint32_t codes, zero, scale;
}; /* GRAPH_NONE: none */
bool quant_find(const struct graph *g, const struct op *op, uint32_t o, struct quant_parts *p);

/* Output o as a tensor in few bits, from the values of the graph's outputs: *t refers to *q, both
 * borrow data. */
void quant_describe(const struct quant_parts *p, const struct tensor *value, uint32_t o,
		    struct quant *q, struct tensor *t);

/* Zero and scale at code number i. */
float quant_zero(const struct quant *q, int64_t i);
float quant_scale(const struct quant *q, int64_t i);
/* How many codes one after another, from a multiple of that number on, share zero and scale. */
int64_t quant_run(const struct quant *q);

/* n values from element `first` of t on, as f32. */
void quant_read(const struct tensor *t, int64_t first, int64_t n, float *dst);

#endif
