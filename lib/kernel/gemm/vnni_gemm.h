/* vnni_gemm.h - single-threaded products of bf16 operands with f32 sums, two steps of k an instruction
 * (AVX512_BF16), or by tiles (amx_tiles.h).
 *
 * C (m,n) = A (m,k) B (k,n).  A is in blocks of PAIRS_M rows by PAIRS_K columns, a row of a block a line of the cache:
 *   block i / PAIRS_M, then k / PAIRS_K, then i % PAIRS_M, then k % PAIRS_K
 * B is in panels of PAIRS_N columns; a panel has for each two rows of B, k = 2p and 2p + 1, their elements side by side:
 *   panel j / PAIRS_N, then k / 2, then j % PAIRS_N, then k % 2
 * A's last block is whole, but may have anything in the rows behind the last.  Both have zeros behind the last k, B those behind the last column, too.  Sums are f32, over k in order: whole blocks
 * and panels may be cut freely. */
#ifndef HSDAG_KERNEL_GEMM_VNNI_GEMM_H
#define HSDAG_KERNEL_GEMM_VNNI_GEMM_H

#include <stdbool.h>
#include <stdint.h>

enum { PAIRS_M = 16, PAIRS_N = 32, PAIRS_K = 32 };

/* Has the processor these instructions?  Nothing else here may be called where it has not. */
bool pairs_there(void);

int64_t pairs_a_elements(int64_t m, int64_t k); /* of whole blocks */
int64_t pairs_b_elements(int64_t k, int64_t n); /* of all panels of B */

/* x (m,k), times `by`, rounded to nearest even: blocks of A. */
void pairs_pack_a(uint16_t *a, const float *x, int64_t m, int64_t k, float by);
/* Scores (rows, k), ld apart, that become weights of a softmax.  First the n_add rows add[..], add_step apart, are added to
 * each.  least: a further score of each row, least_step apart, to which nothing belongs; NULL: none. */
struct pairs_scores {
	float *x;
	int64_t ld, rows, k;
	int n_add; /* <= 2 */
	const float *add[2];
	int64_t add_step[2];
	const float *least;
	int64_t least_step;
};
/* e^(x - top), with an error of 2^-12 of it, rounded: blocks of A.  top (rows): the greatest of each row, or 0 if that is
 * minus infinity; sum (rows): of what belongs to all scores, before rounding. */
void pairs_weights(uint16_t *a, const struct pairs_scores *s, float *top, float *sum);
/* x (k,n) or, turned, (n,k): panels of B. */
void pairs_pack_b(uint16_t *b, const float *x, int64_t k, int64_t n, bool turned);
/* The same from rows that lie ld floats apart. */
void pairs_pack_a_of(uint16_t *a, const float *x, int64_t ld, int64_t m, int64_t k, float by);
void pairs_pack_b_of(uint16_t *b, const float *x, int64_t ld, int64_t k, int64_t n, bool turned);

/* C, rows ldc apart; where that is at least n rounded up to PAIRS_N, what lies between rows is overwritten. */
void pairs_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		    int64_t ldc);
/* C = or += A B, of one panel, n <= PAIRS_N; nothing but C is written. */
void pairs_panel(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		 int64_t ldc, bool add);
/* C (m,n) += X^T Y, of panels of X (k,m) and of Y (k,n), packed as a B is; nothing but C is written. */
void pairs_outer(const uint16_t *x, const uint16_t *y, int64_t m, int64_t n, int64_t k, float *c,
		 int64_t ldc);

#endif
