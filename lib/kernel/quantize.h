/* quantize.h - numbers as codes of 8 bits, and exact sums of products of codes as numbers.
 * Single-threaded; results do not depend on how an array is cut into calls. */
#ifndef HSDAG_KERNEL_QUANTIZE_H
#define HSDAG_KERNEL_QUANTIZE_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers that lie on a grid: scale * (code - zero), with whole codes of 0 .. 255.  The code of x is x * by + shift, as FakeQuantize
 * computes it. */
struct code_grid {
	float scale, zero, by, shift;
};

/* y[i] = x[i] * by + shift, rounded to the nearest, to even between two, and limited to 0 .. 255;
 * what is no number becomes 0. */
void codes_of(const struct code_grid *g, const float *x, int64_t n, uint8_t *y);
/* The same of rows, whole ones, with a grid for each column, or 0 columns with one for all; signed: less 128.  First
 * HSwish is taken, if that is asked for. */
struct code_rows {
	int64_t columns;
	const float *by, *shift;
	bool is_signed, hswish;
};
void codes_of_rows(const struct code_rows *r, const float *x, int64_t n, void *y);
/* n sums of products of codes, i32, become f32 where they lie: (sum - shift[i]) * scale[i] + rest[i], the
 * difference in integers. */
void codes_scale_sums(void *sums, const int32_t *shift, const float *scale, const float *rest,
		      int64_t n);

/* Rows of n weights each as code[i] * scale[row] with codes of -127 .. 127, exactly but for
 * rounding; false: they do not lie on such grids. */
bool codes_of_weights(const float *w, int64_t rows, int64_t n, int8_t *code, float *scale);

#endif
