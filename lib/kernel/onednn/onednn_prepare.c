/* onednn_prepare.c - which operators oneDNN may run. */
#include "kernel/onednn/onednn_api.h"

int onednn_prepare(const struct op *op, const struct tensor *in, const struct tensor *out,
		   struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	switch (op->kind) {
	case OP_MATMUL: return onednn_matmul_prepare(op, in, out, c, prep, e);
	case OP_CONVOLUTION:
	case OP_GROUP_CONVOLUTION: return onednn_conv_prepare(op, in, out, c, prep, e);
	default: /* its own kernel */ return 0;
	}
}
