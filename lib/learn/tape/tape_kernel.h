/* tape_kernel.h - the inner loops of the tape over row-major f32 rows.
 *
 * Compiled for several instruction sets and chosen at run time.  Sums run in 16
 * fixed lanes and no product is fused with a sum, so that every instruction
 * set gives the same bits. */
#ifndef HSDAG_LEARN_TAPE_TAPE_KERNEL_H
#define HSDAG_LEARN_TAPE_TAPE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* y (n) += x, y = a * b, y += a * b, y += s * x */
void kern_add(float *y, const float *x, size_t n);
void kern_mul(float *y, const float *a, const float *b, size_t n);
void kern_mul_add(float *y, const float *a, const float *b, size_t n);
void kern_axpy(float *y, float s, const float *x, size_t n);
float kern_dot(const float *a, const float *b, size_t n);

/* y (rows,n) += b (n) in every row, then max(0, .) when relu; b may be NULL. */
void kern_bias_relu(float *y, const float *b, size_t rows, size_t n, bool relu);

/* y (n) = bits >= threshold ? y * scale : 0 */
void kern_drop(float *y, const uint8_t *bits, uint8_t threshold, float scale, size_t n);

/* sum (n) += the rows of g (rows,n), in order. */
void kern_colsum(float *sum, const float *g, size_t rows, size_t n);

/* g (rows,n) = y > 0 ? g * scale : 0, the derivative of ReLU followed by dropout; sum (n), unless NULL, += its rows. */
void kern_relu_back(float *g, const float *y, float scale, float *sum, size_t rows, size_t n);

/* LayerNorm of rows: a = x (+ b in every row) (+ r), xhat = a with mean 0 and variance 1,
 * y = gain * xhat + bias, then max(0, .) when relu; all (rows,n) but b, gain, bias (n).  b, r
 * and xhat may be NULL; x may be y or xhat.  rstd (rows) = 1 / sqrt(variance + eps). */
struct norm_row {
	const float *b, *gain, *bias;
	size_t n;
	bool relu;
};
void kern_norm(float *y, float *xhat, float *rstd, const float *x, const float *r, size_t rows,
	       const struct norm_row *p);

/* Its derivative: g (rows,n) with respect to y becomes that with respect to a. */
struct norm_back {
	const float *y; /* with relu, then dropout; NULL without */
	float scale;    /* of dropout */
	const float *xhat, *rstd, *gain;
	float *ggain, *gbias; /* (n) += */
	float *gb;            /* (n) += gradient of a's b; or NULL */
};
void kern_norm_back(float *g, const struct norm_back *p, size_t rows, size_t n);

/* y (n) = sum over e < n_edges of weight[e] * row adj[e] of x (.,n) */
void kern_gather_sum(float *y, const float *x, const uint32_t *adj, const float *weight,
		     size_t n_edges, size_t n);

/* ---- tanh, exp, sums (tape_kernel_seq.c) ---- */

/* y (n) = tanh(x), within 4e-7 */
void kern_tanh(float *y, const float *x, size_t n);

/* Sum of x (n), in double precision. */
double kern_sum(const float *x, size_t n);

/* y (n) = exp(factor * x - shift), of what lies within +-80, else that of +-80 */
void kern_exp(float *y, const float *x, float factor, float shift, size_t n);

#endif
