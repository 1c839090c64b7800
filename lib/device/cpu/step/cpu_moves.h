/* cpu_moves.h - several nodes that only move elements, as one copy for each tensor that leaves.
 *
 * Transpose, Split, VariadicSplit, Slice, StridedSlice and Gather of one index each say where an element of the output lies in the
 * input, at strides; so do several of them, one behind another, with views between.  As the heads of an attention, which are cut
 * out of one product and turned. */
#ifndef HSDAG_DEVICE_CPU_STEP_CPU_MOVES_H
#define HSDAG_DEVICE_CPU_STEP_CPU_MOVES_H

#include "device/cpu/step/cpu_kind.h"

/* ---- for other kinds of steps that begin with such nodes ---- */

enum { MOVES_NODES = 8 };

/* Element (i0, i1, ..) of a tensor is element offset + sum i_d stride[d] of an input of the step. */
struct moves_seen {
	uint32_t input;
	int64_t offset;
	uint32_t rank;
	int64_t dim[COPY_DIMS], stride[COPY_DIMS];
};
/* What the first nodes of s see. */
struct moves_seeing {
	const struct step_spec *s;
	struct moves_seen node[MOVES_NODES]; /* output 0, but of Split its input */
};
/* Node i < MOVES_NODES, behind all before it; false: it does more than move elements of one input. */
bool moves_see_node(struct moves_seeing *v, uint32_t i);
/* An argument that is an output of these nodes, in the shape that it is read in. */
bool moves_see_argument(const struct moves_seeing *v, const struct step_arg *a,
			struct moves_seen *x);

#endif
