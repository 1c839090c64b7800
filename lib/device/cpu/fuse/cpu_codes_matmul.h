/* cpu_codes_matmul.h - which MatMuls of a device of int8 are products of codes. */
#ifndef HSDAG_DEVICE_CPU_FUSE_CPU_CODES_MATMUL_H
#define HSDAG_DEVICE_CPU_FUSE_CPU_CODES_MATMUL_H

#include "device/device.h"
#include "kernel/cpu_impl.h"

#ifdef WITHOUT_ONEDNN
static inline int codes_matmul_prepare(const struct step_node *n, struct cpu_ctx *c,
				       struct cpu_prep **prep, struct err *e)
{
	(void)n, (void)c, (void)prep, (void)e;
	return 0;
}
static inline const struct code_grid *codes_of_input(const struct cpu_prep *prep)
{
	(void)prep;
	return NULL;
}
#else
/* 1: *prep runs node n, a MatMul whose left input lies on a grid (grid_of_values) and whose right one is a constant matrix on
 * one for each column of the output; 0: it is none; -1: ST_RUNTIME. */
int codes_matmul_prepare(const struct step_node *n, struct cpu_ctx *c, struct cpu_prep **prep,
			 struct err *e) MUST_CHECK;
/* The grid of the codes that such a MatMul takes as input 0, too; NULL: it is another node.  prep may be NULL. */
const struct code_grid *codes_of_input(const struct cpu_prep *prep);
#endif

#endif
