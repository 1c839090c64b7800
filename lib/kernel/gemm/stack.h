/* stack.h - stacks of small matrix products in bf16, of operands that are both computed: what windows and heads of
 * attention multiply.  Operands are rounded as they are packed, sums are f32. */
#ifndef HSDAG_KERNEL_GEMM_STACK_H
#define HSDAG_KERNEL_GEMM_STACK_H

#include "kernel/gemm/product.h"

/* Does the context multiply in bf16, and is each product of a stack so small that a call of a library takes about as
 * long as the product?  Both operands f32, the rows of A contiguous, of B the rows or the columns. */
bool stack_fits(const struct cpu_ctx *c, const struct operand *a, const struct operand *b);
/* Output 0 of a MatMul with such operands and these batch dims, and its epilogue.  -1: ST_RUNTIME. */
int stack_run(const struct kernel_call *k, const struct operand *a, const struct operand *b,
	      const struct tensor *batch, struct err *e) MUST_CHECK;

#endif
