/* cpu_tiles.h - products of bf16 operands with f32 sums by the processor's matrix tiles (AMX), single-threaded. */
#ifndef HSDAG_KERNEL_TILES_CPU_TILES_H
#define HSDAG_KERNEL_TILES_CPU_TILES_H

#include <stdbool.h>
#include <stdint.h>

/* For tests: as if there were none. */
extern bool tiles_off;
/* Has the processor tiles, and does the kernel let this process use them?  Nothing else here may be called where not. */
bool tiles_there(void);

enum { TILES_M = 16, TILES_N = 16, TILES_MOST = 32 /* elements of a step, an even number */ };

/* C (m,n) = A (m,k) B (k,n), packed as gemm/cpu_pairs.h has it, where k is a multiple of TILES_MOST.
 * C's rows ldc apart; where that is at least n rounded up to 2 TILES_N, what lies between them is overwritten. */
void tiles_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		    int64_t ldc);

/* ---- sums of products whose left operand lies in steps ---- */

/* C = (or +=) the sum over `n` steps of A's rows, `step` elements each, times B's. */
struct tiles_sum {
	const uint16_t *a[2]; /* of two tiles of rows: the first row's first element */
	int64_t a_step;       /* elements from one row to the next */
	const int64_t *at;    /* (n): elements from a[i] to each step */
	int64_t n;
	/* Of each step two tiles of TILES_N columns, the pairs of rows of each one behind the other. */
	const uint16_t *b;
	/* So many lines of what is read next come into the second-level cache at each step. */
	const char *ahead;
	int ahead_lines;
	bool add;
	float *c; /* (2, TILES_M, 2 TILES_N), 64-byte aligned */
};
/* Sums of tiles of `rows` rows and such steps come now, in this thread, up to tiles_end. */
void tiles_begin(int rows, int64_t step);
void tiles_end(void);
/* m, n: 1 or 2 tiles of rows and of columns; step: as told. */
void tiles_sum(const struct tiles_sum *s, int m, int n, int64_t step);

/* What becomes of sums, when a constant a column is added: limits, or an operator, as coarsely as bf16 allows (struct unary_args). */
enum tiles_unary { TILES_LIMITS, TILES_HSWISH, TILES_SIGMOID, TILES_SWISH, TILES_GELU };
struct tiles_post {
	enum tiles_unary unary;
	float lo, hi; /* TILES_LIMITS */
	float beta;   /* TILES_SWISH */
};
/* Where they go: rows ld elements apart, f32 or rounded to bf16.  add: rows as far apart, f32 or bf16, which are added then,
 * with limits behind them; NULL: none. */
struct tiles_to {
	void *y;
	int64_t ld;
	bool bf16;
	const void *add;
	bool add_bf16;
	float lo, hi;
};
/* `rows` rows of w columns at c, 2 TILES_N apart. */
void tiles_finish(const struct tiles_post *p, const float *c, int rows, int64_t w,
		  const float *bias, const struct tiles_to *to);

#endif
