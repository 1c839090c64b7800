/* dynamic_quant.h - products of rows that are quantised as they come by weights in few bits, in integers (AVX-512 with VNNI).
 *
 * Every DYNAMIC_K numbers of a row, and what is left, have a scale: codes of -127 .. 127, as OpenVINO's dynamic quantisation has
 * them.  Weights are widened to 8 bits panel by panel (qpanel.h); sums over DYNAMIC_K are exact, those of them f32. */
#ifndef HSDAG_KERNEL_GEMM_DYNAMIC_QUANT_H
#define HSDAG_KERNEL_GEMM_DYNAMIC_QUANT_H

#include "kernel/gemm/qpanel.h"

enum { DYNAMIC_K = 32 };

/* Has the processor the instructions, and have the weights whole codes in groups of whole pieces?  Nothing else here may be called
 * where that is not so. */
bool dynamic_fits(const struct qpanels *q);

size_t dynamic_row_bytes(const struct qpanels *q);   /* of a row on the left: a multiple of 64 */
size_t dynamic_panel_bytes(const struct qpanels *q); /* of a panel on the right: a multiple of 64 */
/* m rows of q->k numbers, one behind the other, to rows at `to` (dynamic_row_bytes each). */
void dynamic_rows(const struct qpanels *q, const float *x, int64_t m, char *to);
/* Panel number `panel`, widened. */
void dynamic_panel(const struct qpanels *q, int64_t panel, char *to);
/* C (m, n <= GEMM_N), rows ldc apart, of m rows and a widened panel. */
void dynamic_multiply(const struct qpanels *q, const char *rows, const char *panel, int64_t m,
		      int64_t n, float *c, int64_t ldc);

#endif
