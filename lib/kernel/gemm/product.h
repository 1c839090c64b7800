/* product.h - one matrix product on packed operands, and stacks of matrices as operands:
 * what MatMul, attention and the recurrent cells share. */
#ifndef HSDAG_KERNEL_GEMM_PRODUCT_H
#define HSDAG_KERNEL_GEMM_PRODUCT_H

#include "kernel/gemm/gemm.h"
#include "kernel/kernel_impl.h"

/* One operand as a stack of matrices (rows, cols) with element strides. */
struct operand {
	const struct tensor *t;
	int64_t rows, cols, row, col;
	struct tensor batch; /* the leading dims */
};
struct operand operand_of(const struct tensor *t, bool transpose, bool left);
/* Element number `element` of t. */
const void *operand_at(const struct tensor *t, int64_t element);
/* Number of the matrix of an operand with batch dims o that meets number i of the output's. */
int64_t operand_batch(const struct tensor *out, const struct tensor *o, int64_t i);

/* C (m,n) = A (m,k) B (k,n), and what becomes of C. */
struct product {
	int64_t m, n, k;
	const float *a; /* packed; with m = 1 the row itself, unless as_many */
	const void *b;  /* packed */
	bool b_half;
	float *c;
	int64_t ldc;
	const struct epilogue *post; /* NULL: none */
	int64_t row;                 /* of the epilogue's matrix: the first one of C */
	bool as_many;                /* few rows are summed in the order of many */
	const struct qpanels *q;     /* B in few bits (qpanel.h), in place of b; NULL: b */
	int64_t lda; /* 0: a is packed; else its rows lie there, lda apart (b f32, m > GEMM_M) */
};

/* f32 operands into the packed forms of gemm.h; with m = 1 A is only made contiguous. */
void product_pack_a(float *dst, const float *src, int64_t m, int64_t k, int64_t row, int64_t col);
void product_pack_b(float *dst, const float *src, int64_t k, int64_t n, int64_t row, int64_t col);
/* A panel of A of m <= GEMM_M rows of k floats, `row` apart; rows behind the last stay as they are. */
void product_pack_few(float *dst, const float *src, int64_t m, int64_t k, int64_t row);
int64_t product_a_floats(int64_t m, int64_t k);

/* Panels of GEMM_N columns from first to last - 1 of C.  unpacked: PRODUCT_SCRATCH floats, aligned;
 * may be NULL when b is f32. */
enum { PRODUCT_K = 768, PRODUCT_SCRATCH = PRODUCT_K * GEMM_N };
void product_panels(const struct product *p, int64_t first, int64_t last, float *unpacked);
int64_t product_n_panels(int64_t n);

#endif
