/* amx_tiles.h - products by the processor's matrix tiles (AMX), single-threaded: of bf16 with sums of f32, of integers of 8 bits
 * with exact sums. */
#ifndef HSDAG_KERNEL_TILES_AMX_TILES_H
#define HSDAG_KERNEL_TILES_AMX_TILES_H

#include <stdbool.h>
#include <stdint.h>

/* For tests: as if there were none. */
extern bool tiles_off;
/* Has the processor tiles, and does the kernel let this process use them?  Nothing else here may be called where not. */
bool tiles_there(void);

enum {
	TILES_M = 16,
	TILES_N = 16,
	TILES_STEP = 64, /* bytes of a step at most */
	TILES_UNIT = 4   /* bytes that meet in a sum at a time: two bf16, four integers */
};

/* C (m,n) = A (m,k) B (k,n), packed as gemm/vnni_gemm.h has it, where k is a multiple of TILES_STEP / 2.
 * C's rows ldc apart; where that is at least n rounded up to 2 TILES_N, what lies between them is overwritten. */
void tiles_multiply(const uint16_t *a, const uint16_t *b, int64_t m, int64_t n, int64_t k, float *c,
		    int64_t ldc);

/* ---- sums of products whose left operand lies in steps ---- */

/* Of the left operand; the right is bf16, or i8 with integers. */
enum tiles_type { TILES_BF16, TILES_U8, TILES_I8 };

/* C = (or +=) the sum over `n` steps of A's rows, so many bytes each, times B's. */
struct tiles_sum {
	enum tiles_type type;
	const char *a[2];  /* of two tiles of rows: the first row */
	int64_t a_step;    /* bytes from one row to the next */
	const int64_t *at; /* (n): bytes from a[i] to each step */
	int64_t n;
	/* Of each step two tiles of TILES_N columns, the rows of units of each one behind the other. */
	const char *b;
	/* So many lines of what is read next come into the second-level cache at each step. */
	const char *ahead;
	int ahead_lines;
	bool add;
	void *c; /* (2, TILES_M, 2 TILES_N) f32 or i32, 64-byte aligned */
};
/* Sums of tiles of `rows` rows and steps of `step` bytes, a multiple of TILES_UNIT, come now, in this thread, up to
 * tiles_end. */
void tiles_begin(int rows, int64_t step);
void tiles_end(void);
/* m, n: 1 or 2 tiles of rows and of columns; step: as told. */
void tiles_sum(const struct tiles_sum *s, int m, int n, int64_t step);

/* What becomes of sums, when a constant a column is added: limits, or an operator, as coarsely as bf16 allows (struct unary_args).
 * integers: sums are; with the constant they are multiplied by another of their column first. */
enum tiles_unary { TILES_LIMITS, TILES_HSWISH, TILES_SIGMOID, TILES_SWISH, TILES_GELU };
struct tiles_post {
	enum tiles_unary unary;
	float lo, hi; /* TILES_LIMITS */
	float beta;   /* TILES_SWISH */
	bool integers;
};
/* Where they go: rows ld elements apart, rounded to bf16 or to the nearest integer within limits. */
enum tiles_form { TILES_TO_F32, TILES_TO_BF16, TILES_TO_U8, TILES_TO_I8 };
struct tiles_to {
	void *y;
	int64_t ld;
	enum tiles_form form;
	/* Rows as far apart, of this form, that are added then, with limits behind them; NULL: none.  To f32 and bf16 these are f32 or
	 * bf16.  Integers are added to integers: what was made is rounded to one of form `made` first; the sum is that times
	 * made_scale and these times add_scale. */
	const void *add;
	enum tiles_form add_form, made;
	float lo, hi, made_scale, add_scale;
	bool *odd; /* set if a sum is not finite; NULL: nobody asks */
};
/* `rows` rows of w columns at c, 2 TILES_N apart; bias, scale (2 TILES_N), scale with integers only. */
void tiles_finish(const struct tiles_post *p, const void *c, int rows, int64_t w, const float *bias,
		  const float *scale, const struct tiles_to *to);

#endif
