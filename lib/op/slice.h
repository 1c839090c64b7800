/* slice.h - what Slice and StridedSlice select, dim by dim; and other readings of shape
 * inputs that inference and kernels share. */
#ifndef HSDAG_OP_SLICE_H
#define HSDAG_OP_SLICE_H

#include "op/op.h"

/* Along one input dim: elements start, start + step, ... (count of them). */
struct op_range {
	int64_t start, step, count;
};

/* Ranges r[in[0].rank] and the output's type and shape of a Slice or StridedSlice. */
int op_slice_ranges(const struct op *op, const struct tensor *in, struct op_range *r,
		    struct tensor *out, struct err *e) MUST_CHECK;

/* Gather's axis (of the data) and batch_dims, both >= 0; -1 when they do not fit. */
int op_gather_axes(const struct op *op, const struct tensor *in, int *axis,
		   int *batch_dims) MUST_CHECK;

/* Transpose: output dim i is input dim perm[i]. */
int op_permutation(const struct tensor *in, const struct tensor *order, int64_t *perm,
		   struct err *e) MUST_CHECK;
/* Does an order (its numbers there) of `rank` dims move dim `from` to `to`, and leave all others in order? */
bool op_moves_dim(const struct tensor *order, uint32_t rank, uint32_t from, uint32_t to);

/* Integers of tensor t (a shape, a list of axes) into dst[max]; their number, or -1 with an
 * error.  The data must be there. */
int op_ints(const struct tensor *t, int64_t *dst, int max, struct err *e);
/* Bit set of the axes in t, which may be negative, for a tensor of that rank. */
int op_axes(const struct tensor *t, uint32_t rank, uint32_t *set, struct err *e);
/* Axes of a Fourier transform into axes[TENSOR_DIMS], all >= 0 and different; their number. */
int op_fft_axes(const struct op *op, const struct tensor *in, int64_t *axes, struct err *e);
/* Is the optional input i there? */
bool op_has_input(const struct op *op, const struct tensor *in, int i);

#endif
