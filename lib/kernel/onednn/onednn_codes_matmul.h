/* onednn_codes_matmul.h - MatMul of numbers on a grid by constant weights on grids, in integers. */
#ifndef HSDAG_KERNEL_ONEDNN_ONEDNN_CODES_MATMUL_H
#define HSDAG_KERNEL_ONEDNN_ONEDNN_CODES_MATMUL_H

#include "kernel/quantize.h"
#include "kernel/kernel_impl.h"

/* Does this processor add up products of bytes exactly (VNNI), and have many rows of a product of these sizes enough to
 * gain by it? */
bool onednn_codes_pay(int64_t rows, int64_t columns, int64_t depth);

struct codes_matmul_spec {
	const struct op *op;
	const struct tensor *in,
		*out; /* in[0], out[0]: f32; all rows of in[0], or columns, are one matrix (m,k) */
	struct code_grid grid; /* that in[0] lies on */
	const int8_t *weights; /* (n,k) of -127 .. 127, read by the call */
	const float *scale;    /* (n) of the weights */
};
/* As cpu_prepare_fn; the run does not read input 1, and gives the sums of the f32 product but for the rounding of f32. */
int onednn_codes_matmul(const struct codes_matmul_spec *s, struct cpu_ctx *c,
			struct cpu_prep **prep, struct err *e) MUST_CHECK;
/* The grid of the codes that such a node takes as input 0, too (struct kernel_call); NULL: it is another.  prep may be NULL. */
const struct code_grid *onednn_codes_of_input(const struct cpu_prep *prep);

#endif
