/* cpu_widened.h - products in bf16 whose right-hand side stays in few bits: panel by panel it is widened, rounded to bf16 and
 * multiplied by all rows (cpu_pairs.h).  For many rows, of contexts whose products are in bf16. */
#ifndef HSDAG_KERNEL_GEMM_CPU_WIDENED_H
#define HSDAG_KERNEL_GEMM_CPU_WIDENED_H

#include "kernel/cpu_impl.h"
#include "kernel/gemm/cpu_qpanel.h"

bool widened_fits(const struct cpu_ctx *c, int64_t m);
/* Output 0 (m, q->n) of a product whose left-hand side is a (m, q->k), row-major, and its epilogue.  -1: ST_RUNTIME. */
int widened_run(const struct kernel_call *k, const struct qpanels *q, const float *a, int64_t m,
		struct err *e) MUST_CHECK;

#endif
