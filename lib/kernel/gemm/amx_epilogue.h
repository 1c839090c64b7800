/* amx_epilogue.h - epilogues that a product by tiles finishes together with its sums. */
#ifndef HSDAG_KERNEL_GEMM_AMX_EPILOGUE_H
#define HSDAG_KERNEL_GEMM_AMX_EPILOGUE_H

#include "kernel/epilogue.h"
#include "kernel/tiles/amx_tiles.h"

/* A constant a column, a unary operator, a tensor that is added. */
struct ending {
	struct tiles_post post;
	const float *bias, *add; /* (cols), (rows, cols); NULL: none */
};
/* What p, which may be NULL, comes to.  False: it is something else, and is to run over what is written. */
bool ending_of(const struct epilogue *p, struct ending *e);

#endif
