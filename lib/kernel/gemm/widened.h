/* widened.h - products of many rows whose right-hand side stays in few bits: panel by panel it is widened, and multiplied by all
 * rows.  In contexts whose products are in bf16 it is rounded to that (vnni_gemm.h), in those of codes rows are
 * quantised as they come (dynamic_quant.h). */
#ifndef HSDAG_KERNEL_GEMM_WIDENED_H
#define HSDAG_KERNEL_GEMM_WIDENED_H

#include "kernel/kernel_impl.h"
#include "kernel/gemm/qpanel.h"

bool widened_fits(const struct cpu_ctx *c, const struct qpanels *q, int64_t m);
/* Output 0 (m, q->n) of a product whose left-hand side is a (m, q->k), row-major, and its epilogue.  -1: ST_RUNTIME. */
int widened_run(const struct kernel_call *k, const struct qpanels *q, const float *a, int64_t m,
		struct err *e) MUST_CHECK;

#endif
