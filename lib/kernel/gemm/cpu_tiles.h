/* cpu_tiles.h - products of bf16 operands with f32 sums by the processor's matrix tiles (AMX), single-threaded.
 *
 * C (m,n) = A (m,k) B (k,n), packed as cpu_pairs.h has it, where k is a multiple of PAIRS_K. */
#ifndef HSDAG_KERNEL_GEMM_CPU_TILES_H
#define HSDAG_KERNEL_GEMM_CPU_TILES_H

#include <stdbool.h>
#include <stdint.h>

/* Has the processor tiles, and does the kernel let this process use them?  Nothing else here may be called where not. */
bool tiles_there(void);

/* C's rows ldc apart; where that is at least n rounded up to PAIRS_N, what lies between them is overwritten. */
void tiles_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		    int64_t ldc);

#endif
