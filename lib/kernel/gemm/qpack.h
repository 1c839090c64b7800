/* qpack.h - constant right-hand sides in few bits, packed once and shared (pack.c). */
#ifndef HSDAG_KERNEL_GEMM_QPACK_H
#define HSDAG_KERNEL_GEMM_QPACK_H

#include "kernel/kernel_impl.h"
#include "kernel/gemm/qpanel.h"

/* b (k,n), or (n,k) with `transpose`: as it is, quantised or bf16; qpanels_fit says whether it can be.  With
 * one user more, as cpu_pack_get.  NULL: no memory. */
struct cpu_pack *qpack_quant(const struct tensor *b, bool transpose, struct cpu_ctx *c);
/* The same of f32, rounded to bf16. */
struct cpu_pack *qpack_rounded(const struct tensor *b, bool transpose, struct cpu_ctx *c);
/* The panels of such a pack; NULL: it is another kind of pack. */
const struct qpanels *qpack_panels(const struct cpu_pack *p);

#endif
