/* vec.c - the vector loops, compiled for each level of instructions. */
#include "kernel/vec.h"

#define LEVEL_FILE "kernel/elem_loops.h"
#include "kernel/isa_dispatch.h"
#undef LEVEL_FILE
#define LEVEL_FILE "kernel/int_loops.h"
#include "kernel/isa_dispatch.h"

bool vec_unary(enum op_kind kind, const struct unary_args *u, const float *x, float *y, int64_t n)
{
	return LEVEL_CALL(unary, kind, u, x, y, n);
}

bool vec_binary(enum op_kind kind, const float *a, int sa, const float *b, int sb, float *y,
		int64_t n)
{
	return LEVEL_CALL(binary, kind, a, sa, b, sb, y, n);
}

bool vec_any_huge(bool half, const void *x, int64_t n)
{
	return LEVEL_CALL(any_huge, half, x, n);
}

void vec_to_integers(const float *x, int32_t *y, int64_t n)
{
	LEVEL_CALL(to_integers, x, y, n);
}

void vec_fill(float v, float *y, int64_t n)
{
	LEVEL_CALL(fill, v, y, n);
}

void vec_quantize(const float *const *p, const int *s, int64_t levels, float *y, int64_t n)
{
	LEVEL_CALL(quantize, p, s, (float)(levels - 1), y, n);
}

void vec_fake_convert(int fraction, const float *const *p, const int *s, float *y, int64_t n)
{
	LEVEL_CALL(fake_convert, fraction, p, s, y, n);
}

void vec_from_half(const uint16_t *x, float *y, int64_t n)
{
	LEVEL_CALL(from_half, x, y, n);
}

float vec_sum(const float *x, int64_t n)
{
	return LEVEL_CALL(sum, x, n);
}

void vec_reduce_rows(enum op_kind kind, const float *x, int64_t ld, int64_t n, int rows, float *y)
{
	LEVEL_CALL(reduce_rows, kind, x, ld, n, rows, y);
}

float vec_sum_sizes(const float *x, int64_t n)
{
	return LEVEL_CALL(sum_sizes, x, n);
}

float vec_product(const float *x, int64_t n)
{
	return LEVEL_CALL(product, x, n);
}

void vec_join(enum op_kind kind, const float *x, float *y, int64_t n)
{
	LEVEL_CALL(join, kind, x, y, n);
}

float vec_max(const float *x, int64_t n)
{
	return LEVEL_CALL(max, x, n);
}

float vec_min(const float *x, int64_t n)
{
	return LEVEL_CALL(min, x, n);
}

float vec_sum_squares(const float *x, float mean, int64_t n)
{
	return LEVEL_CALL(sum_squares, x, mean, n);
}

float vec_dot(const float *x, const float *y, int64_t n)
{
	return LEVEL_CALL(dot, x, y, n);
}

float vec_exp_sum(const float *x, float shift, float *y, int64_t n)
{
	return LEVEL_CALL(exp_sum, x, shift, y, n);
}

void vec_softmax(const float *x, float *y, int64_t n)
{
	LEVEL_CALL(softmax, x, y, n);
}

void vec_scale_shift(const float *x, float scale, float shift, float *y, int64_t n)
{
	LEVEL_CALL(scale_shift, x, scale, shift, y, n);
}

void vec_axpy(float a, const float *x, float *y, int64_t n)
{
	LEVEL_CALL(axpy, a, x, y, n);
}

void vec_every(const float *x, int64_t stride, float *y, int64_t n)
{
	LEVEL_CALL(every, x, stride, y, n);
}

void vec_join_strided(bool max, const float *x, int64_t stride, float *y, int64_t n)
{
	LEVEL_CALL(join_strided, max, x, stride, y, n);
}

void vec_gather_sum(const float *x, const int32_t *at, const float *weight, int taps, int64_t ld,
		    float *y, int64_t n)
{
	LEVEL_CALL(gather_sum, x, at, weight, taps, ld, y, n);
}

void vec_pixel_sum(const float *x, const int32_t *at, const float *weight, int taps, int64_t step,
		   int64_t ld, float *y, int64_t n)
{
	LEVEL_CALL(pixel_sum, x, at, weight, taps, step, ld, y, n);
}

void vec_interleave(const float *x, int64_t ld, int64_t rows, float *y, int64_t n)
{
	LEVEL_CALL(interleave, x, ld, rows, y, n);
}

void vec_mix(const float *const *x, const float *weight, int taps, float *y, int64_t n)
{
	LEVEL_CALL(mix, x, weight, taps, y, n);
}

bool vec_overlaps_any(const float *b, const float *rows, int64_t ld, int64_t n, float offset,
		      float least)
{
	return LEVEL_CALL(overlaps_any, b, rows, ld, n, offset, least);
}

void vec_tap_sums(const float *x, const int64_t *at, const float *weight, int taps, int64_t s,
		  float *y, int64_t n)
{
	LEVEL_CALL(tap_sums, x, at, weight, taps, s, y, n);
}

int64_t vec_divide_i64(bool quotient, bool floor, const int64_t *a, int sa, const int64_t *b,
		       int sb, int64_t *y, int64_t n)
{
	return LEVEL_CALL(divide_i64, quotient, floor, a, sa, b, sb, y, n);
}

int64_t vec_divide_i32(bool quotient, bool floor, const int32_t *a, int sa, const int32_t *b,
		       int sb, int32_t *y, int64_t n)
{
	return LEVEL_CALL(divide_i32, quotient, floor, a, sa, b, sb, y, n);
}
