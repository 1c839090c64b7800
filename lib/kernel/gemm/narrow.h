/* narrow.h - products of many short rows with few columns, as between the heads of an attention: tiles of rows are turned
 * round, each column of the result is a sum of columns, and turned back. */
#ifndef HSDAG_KERNEL_GEMM_NARROW_H
#define HSDAG_KERNEL_GEMM_NARROW_H

#include "kernel/epilogue.h"
#include "kernel/kernel_impl.h"

struct narrow {
	int64_t m, n, k;
	const float *a; /* (m, k) */
	const float *b; /* element (i, j) at b[i * row + j * col] */
	int64_t row, col;
	float *c;                    /* (m, n) */
	const struct epilogue *post; /* over (m, n); NULL: none */
};

/* Has a product (m,k) (k,n) so few of both, and so many rows, that this is faster than packing A? */
bool narrow_fits(int64_t m, int64_t n, int64_t k);
/* -1: ST_RUNTIME. */
int narrow_run(struct cpu_ctx *ctx, const struct narrow *p, struct err *e) MUST_CHECK;

#endif
