/* qpanel.h - right-hand sides of products that stay in few bits: packed once, widened in
 * registers (few rows on the left: the time goes into reading them) or panel by panel.
 *
 * B (k,n) = (code - zero) * scale in panels of GEMM_N columns, as in gemm.h.  Rows come in
 * groups that share a column's zero and scale.  A panel is its groups one after another; a group is
 *   scales (GEMM_N) halves or floats; zeros (GEMM_N) int8 (and as many bytes of nothing) or floats;
 *   blocks of QBLOCK rows: codes of 4 bits as (GEMM_N) uint32, row i in bits 4 i to 4 i + 3; codes
 *   of 8 bits as (QBLOCK, GEMM_N) int8; bf16 as (QBLOCK, GEMM_N) uint16.
 * What all columns have in common is left out: no scales for bf16, no zeros where they are the same
 * (4 bits: the level of each code has it already) or none. */
#ifndef HSDAG_KERNEL_GEMM_QPANEL_H
#define HSDAG_KERNEL_GEMM_QPANEL_H

#include "kernel/gemm/gemm.h"
#include "op/quant.h"

enum { QBLOCK = 8 };

struct qpanels {
	enum elem code;        /* EL_U4: codes of 4 bits, EL_I8: of 8; EL_BF16 */
	enum elem scale, zero; /* EL_F16 or EL_F32; EL_I8 or EL_F32; EL_DYNAMIC: none */
	int64_t k, n, group;   /* the last group may have fewer rows */
	int64_t scale_bytes, zero_bytes, block_bytes, group_bytes, panel_bytes;
	float level[16];  /* of codes of 4 bits */
	const char *data; /* panels, 64-byte aligned */
};

/* Can b (quantised, or bf16), the right-hand side of a product or its transpose, be packed? */
bool qpanels_fit(const struct tensor *b, bool transpose);
/* What the panels of b are like, all but data. */
void qpanels_plan(const struct tensor *b, bool transpose, struct qpanels *q);
uint64_t qpanels_bytes(const struct qpanels *q);
/* Fill `data` (qpanels_bytes, 64-byte aligned); q->data is set. */
void qpanels_pack(struct qpanels *q, const struct tensor *b, bool transpose, char *data);

/* As thin_panel (thin.h), panel number `panel`. */
void qpanel_thin(const struct qpanels *q, int64_t panel, int m, int nr, const float *a, float *c,
		 int64_t ldc);
/* Rows k0 .. k0 + kc - 1 of a panel as (kc, GEMM_N) floats; k0 a multiple of QBLOCK. */
void qpanel_unpack(const struct qpanels *q, int64_t panel, int64_t k0, int64_t kc, float *dst);

#endif
