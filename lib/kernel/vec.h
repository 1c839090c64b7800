/* vec.h - vector loops over f32 arrays, for the best instructions of this processor.
 * Single-threaded; results do not depend on how an array is cut into calls. */
#ifndef HSDAG_KERNEL_VEC_H
#define HSDAG_KERNEL_VEC_H

#include "op/op.h"

/* Parameters of element-wise operators. */
struct unary_args {
	/* As struct op_act_args has them (op/op.h). */
	float a, b;
	bool gelu_tanh, half_away, boolean;
	/* Sigmoid, Swish and Gelu for what is rounded to bf16 or to codes of 8 bits: relative errors of 2^-11 at most where the result is above
	 * 2^-8. */
	bool coarse;
	bool neg_inf, pos_inf;
};

/* y[i] = f(x[i]); y may be x.  False: this operator has no vector form. */
bool vec_unary(enum op_kind kind, const struct unary_args *u, const float *x, float *y, int64_t n);
/* y[i] = f(a[i * sa], b[i * sb]); strides 0 or 1; y may be a or b. */
bool vec_binary(enum op_kind kind, const float *a, int sa, const float *b, int sb, float *y,
		int64_t n);

/* Is one of n f32 (half: bf16) at least 2^50, infinite, or not a number? */
bool vec_any_huge(bool half, const void *x, int64_t n);
/* y = x rounded, halves to even; -2^31 for what i32 does not hold. */
void vec_to_integers(const float *x, int32_t *y, int64_t n);
void vec_fill(float v, float *y, int64_t n);

/* FakeQuantize: p[0] data, p[1..2] input range, p[3..4] output range, strides s[5] 0 or 1; y may be
 * p[0]. */
void vec_quantize(const float *const *p, const int *s, int64_t levels, float *y, int64_t n);

/* FakeConvert: p[0] data, p[1] scales, p[2] shifts, strides s[3] 0 or 1.  x = data * scale - shift is
 * rounded to f16 and to the nearest number of 8 bits, e4m3 (`fraction` 3) or e5m2 (2), limited to the
 * greatest finite one; y = (x + shift) / scale. */
void vec_fake_convert(int fraction, const float *const *p, const int *s, float *y, int64_t n);

/* y[i] = f32 of 16-bit x[i]. */
void vec_from_half(const uint16_t *x, float *y, int64_t n);
void vec_from_bf16(const uint16_t *x, float *y, int64_t n);
/* n floats, rounded to the nearest, to even between two; NaN stays NaN.  Below 2^-126 perhaps 0, as the processor's
 * instruction makes it. */
void vec_to_bf16(const float *x, uint16_t *y, int64_t n);

float vec_sum(const float *x, int64_t n);       /* 0 for n = 0 */
float vec_sum_sizes(const float *x, int64_t n); /* of |x| */
float vec_product(const float *x, int64_t n);
/* y[r] = n floats from x + r ld on reduced as a Reduce operator of this kind does, r < rows <= 16;
 * L2 without the root.  The bits of the functions for one row. */
void vec_reduce_rows(enum op_kind kind, const float *x, int64_t ld, int64_t n, int rows, float *y);
/* y[i] = y[i] and x[i] joined as a Reduce operator of this kind joins them; L2 without the root. */
void vec_join(enum op_kind kind, const float *x, float *y, int64_t n);
float vec_max(const float *x, int64_t n); /* -inf for n = 0 */
float vec_min(const float *x, int64_t n);
float vec_sum_squares(const float *x, float mean, int64_t n); /* sum (x - mean)^2 */
float vec_dot(const float *x, const float *y, int64_t n);
/* y[i] = exp(x[i] - shift), 0 where that is below 1e-38; returns their sum.  y may be x. */
float vec_exp_sum(const float *x, float shift, float *y, int64_t n);
/* y[i] = exp(x[i]) over the sum of all, as by vec_exp_sum.  y may be x. */
void vec_softmax(const float *x, float *y, int64_t n);
/* y = x * scale + shift */
void vec_scale_shift(const float *x, float scale, float shift, float *y, int64_t n);
void vec_axpy(float a, const float *x, float *y, int64_t n); /* y += a x */
/* y[i] = x[i * stride]; y is another array than x. */
void vec_every(const float *x, int64_t stride, float *y, int64_t n);
/* y[i] = x[i % rows * ld + i / rows]; y is another array than x. */
void vec_interleave(const float *x, int64_t ld, int64_t rows, float *y, int64_t n);
/* y[i] = max(y[i], x[i * stride]), or y[i] += x[i * stride]. */
void vec_join_strided(bool max, const float *x, int64_t stride, float *y, int64_t n);
/* y[i] = sum over t < taps of weight[t * ld + i] * x[at[t * ld + i]]; at < 0 stands for a zero. */
void vec_gather_sum(const float *x, const int32_t *at, const float *weight, int taps, int64_t ld,
		    float *y, int64_t n);
/* y[i] = sum over t < taps of weight[t * step] * x[at[t * step] * ld + i], i < n: the bits of
 * vec_gather_sum with several taps, where all n that are read at one position lie together. */
void vec_pixel_sum(const float *x, const int32_t *at, const float *weight, int taps, int64_t step,
		   int64_t ld, float *y, int64_t n);
/* Does box b (x0, y0, x1, y1, area) overlap one of n by more than `least` (intersection over union)?
 * The n boxes: rows of x0, y0, x1, y1 and area, ld floats apart.  Sides of intersections are longer by
 * `offset`, where boxes meet. */
bool vec_overlaps_any(const float *b, const float *rows, int64_t ld, int64_t n, float offset,
		      float least);
/* y[i] = sum over t < taps of weight[t] * x[at[t] + s * i].  With s = 1 up to 15 more elements are
 * read and written. */
void vec_tap_sums(const float *x, const int64_t *at, const float *weight, int taps, int64_t s,
		  float *y, int64_t n);
/* y = sum over t < taps (>= 1) of weight[t] * x[t] */
void vec_mix(const float *const *x, const float *weight, int taps, float *y, int64_t n);

/* y[i] = a[i * sa] divided by b[i * sb], strides 0 or 1: the quotient towards zero, or what is left
 * of it, with the sign of b (floor) or a; 0 where b is 0.  Returns how many elements are done; the
 * one behind them is within 64 of a number that is too large for this.  y may be a or b. */
int64_t vec_divide_i64(bool quotient, bool floor, const int64_t *a, int sa, const int64_t *b,
		       int sb, int64_t *y, int64_t n);
int64_t vec_divide_i32(bool quotient, bool floor, const int32_t *a, int sa, const int32_t *b,
		       int sb, int32_t *y, int64_t n);

#endif
