/* amx_product.h - a product of rows with constant weights in bf16, by matrix tiles (amx_tiles.h). */
#ifndef HSDAG_KERNEL_GEMM_AMX_PRODUCT_H
#define HSDAG_KERNEL_GEMM_AMX_PRODUCT_H

#include "kernel/gemm/product.h"

/* Does the context multiply in bf16, by tiles, and is B one constant matrix, not in few bits, for a's rows, which are
 * contiguous and more than a few? */
bool tiled_fits(const struct cpu_ctx *c, const struct operand *a, const struct operand *b);
/* b (k,n), f32, f16 or bf16, rounded to panels; tiled_run is what its user runs.  NULL: no memory. */
struct cpu_pack *tiled_pack(const struct operand *b, struct cpu_ctx *c);
bool tiled_made(const struct cpu_pack *p); /* by tiled_pack, of a MatMul's packs? */
/* Output 0 of a MatMul whose preparation has that pack, and its epilogue: all rows of the left in one product. */
kernel_fn tiled_run;

#endif
