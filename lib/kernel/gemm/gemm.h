/* gemm.h - single-threaded matrix products on packed operands.
 *
 * C (m,n) = A (m,k) B (k,n).  A is packed in panels of GEMM_M rows, B in panels of GEMM_N columns,
 * both with k outermost inside a panel and zeros behind the last row or column:
 *   A: panel i / GEMM_M, then k, then i % GEMM_M     (m_panels, k, GEMM_M)
 *   B: panel j / GEMM_N, then k, then j % GEMM_N     (n_panels, k, GEMM_N)
 * Either may hold IEEE halves, for weights; B's are converted in registers, A's panel by panel.
 * The order in which an element of C is summed depends on its column alone (the last columns of a
 * narrow panel have an order of their own): rows may be cut freely, columns at panels.
 * Source of the scheme: Goto and van de Geijn, "Anatomy of high-performance matrix
 * multiplication", ACM TOMS 34(3), 2008. */
#ifndef HSDAG_KERNEL_GEMM_GEMM_H
#define HSDAG_KERNEL_GEMM_GEMM_H

#include <stdbool.h>
#include <stdint.h>

#include "graph/graph.h"

enum { GEMM_M = 12, GEMM_N = 32, GEMM_K = 512 }; /* GEMM_K: rows of B that stay in cache */

/* Elements of a packed operand. */
int64_t gemm_a_elements(int64_t m, int64_t k);
int64_t gemm_b_elements(int64_t k, int64_t n);

/* Pack src, element (i, j) at src[i * row + j * col]; `elem` is EL_F32, or EL_F16 or EL_BF16.  The
 * packed form is f32 for EL_F32 and EL_BF16, half for EL_F16. */
void gemm_pack_a(void *dst, enum elem elem, const void *src, int64_t m, int64_t k, int64_t row,
		 int64_t col);
/* The same, f32 whatever elem is. */
void gemm_pack_a_f32(float *dst, enum elem elem, const void *src, int64_t m, int64_t k, int64_t row,
		     int64_t col);
void gemm_pack_b(void *dst, enum elem elem, const void *src, int64_t k, int64_t n, int64_t row,
		 int64_t col);

/* Panels of B, n columns, from kc separate rows: element (k, j) is row[k][at + j]. */
void gemm_gather_panels(const float *const *row, int64_t kc, int64_t at, int64_t n, float *dst);

/* The same where row k's columns come in pieces: columns at .. at + n - 1 are row[k][from] and on.
 * Pieces in order and without gaps from column 0. */
struct gemm_piece {
	int64_t from, at, n;
};
void gemm_gather_pieces(const float *const *row, int64_t kc, int64_t n, int n_pieces,
			const struct gemm_piece *piece, float *dst);

/* The same from shifted planes: element (k, j) is row[k][at + j] where bit j % 16 of word
 * bits[(tap0 + k) % taps * words + j / 16] is set, else 0; bits behind column n - 1 are not.  Only
 * where gemm_gathers_shifted(). */
bool gemm_gathers_shifted(void);
void gemm_gather_shifted(const float *const *row, int64_t kc, int64_t at, int64_t n,
			 const uint16_t *bits, int64_t tap0, int64_t taps, int64_t words,
			 float *dst);

/* The same from every other float: column piece.at + i is row[k][piece.from + 2 * i] where bit 2 * (at % 16 +
 * i) of bits[(tap0 + k) % taps * n_pieces + piece] is set, else 0.  No piece in two vectors of 16
 * columns, odd bits 0.  Only where gemm_gathers_shifted(). */
void gemm_gather_halves(const float *const *row, int64_t kc, int64_t n, int n_pieces,
			const struct gemm_piece *piece, const uint32_t *bits, int64_t tap0,
			int64_t taps, float *dst);

/* What becomes of sums: min(max(sum' + bias[i] + residual[i * ld + j] + more[i * more_ld + j], lo),
 * hi), where sum' is (sum + before[j]) scale[j].  A bias of columns is a summand with ld 0.  Or, hswish, that
 * sum v times min(max(v + 3, 0), 6) / 6.  Or, swish not 0, v / (1 + e^(-swish v)). */
struct gemm_post {
	const float *scale;    /* (nr) NULL: 1 */
	const float *before;   /* (nr) NULL: 0; with scale alone */
	const float *bias;     /* (mr) */
	const float *residual; /* NULL: none */
	int64_t ld;
	const float *more; /* a second summand; NULL: none */
	int64_t more_ld;
	float lo, hi;
	bool hswish;
	float swish;
};

/* A block of C: mr <= GEMM_M rows, nr <= GEMM_N columns (more where ldb is not GEMM_N), += or =
 * over kc rows of one panel of A and rows of B, ldb elements apart.  B is read up to the next
 * multiple of 16 columns, except when gemm_is_thin(nr).  Halves in A only when gemm_is_thin.
 * A may stay in place instead, element (i, k) at a[i * a_row + k] or at a[k * a_col + i], where both
 * are f32. */
struct gemm_block {
	int mr, nr;
	int64_t kc;
	const void *a, *b;
	int64_t a_row, a_col; /* both 0: a panel */
	bool a_half, b_half;
	int64_t ldb;
	float *widened; /* halves of B are stored there as f32, kc rows ldb apart, when
				      * mr is GEMM_M and nr GEMM_N; NULL: not */
	float *c;
	int64_t ldc;
	bool add;
	const struct gemm_post *post; /* NULL: none */
	const void *ahead;  /* fetched into the second-level cache meanwhile, ahead_step */
	int64_t ahead_step; /* bytes for each k; never NULL, but the step may be 0 */
};
/* The same for `rows` <= GEMM_M rows of n finished sums each at c. */
void gemm_finish(const struct gemm_post *p, float *c, int64_t ldc, int rows, int64_t n);

enum { GEMM_THIN = 8 };
bool gemm_is_thin(int nr);
void gemm_multiply(const struct gemm_block *g);

#endif
