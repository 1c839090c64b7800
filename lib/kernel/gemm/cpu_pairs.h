/* cpu_pairs.h - single-threaded products of bf16 operands with f32 sums, two steps of k an instruction
 * (AVX512_BF16), or by tiles (cpu_tiles.h).
 *
 * C (m,n) = A (m,k) B (k,n).  A has its rows one behind the other, pairs_row(k) elements apart.  B is in
 * panels of PAIRS_N columns; a panel has for each two rows of B, k = 2p and 2p + 1, their elements side by side:
 *   panel j / PAIRS_N, then k / 2, then j % PAIRS_N, then k % 2
 * with zeros behind the last row and the last column; with tiles, A's rows end in zeros, too, and both go on up to a multiple of
 * TILES_K.  Sums are f32, over k in order: rows and panels may be cut freely. */
#ifndef HSDAG_KERNEL_GEMM_CPU_PAIRS_H
#define HSDAG_KERNEL_GEMM_CPU_PAIRS_H

#include <stdbool.h>
#include <stdint.h>

enum { PAIRS_N = 32 };

/* Has the processor these instructions?  Nothing else here may be called where it has not. */
bool pairs_there(void);

int64_t pairs_row(int64_t k);                   /* elements of a row of A */
int64_t pairs_b_elements(int64_t k, int64_t n); /* of all panels of B */

/* x (m,k), times `by`, rounded to nearest even: rows of A. */
void pairs_pack_a(uint16_t *a, const float *x, int64_t m, int64_t k, float by);
/* Zeros behind the k elements of a row of A that was not packed by pairs_pack_a. */
void pairs_end_row(uint16_t *row, int64_t k);
/* x (k,n) or, turned, (n,k): panels of B. */
void pairs_pack_b(uint16_t *b, const float *x, int64_t k, int64_t n, bool turned);

/* C, rows ldc apart. */
void pairs_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		    int64_t ldc);

#endif
