/* nhwc_form.h - f32 tensors that lie in other forms (mem_form.h), piece by piece.
 *
 * A tensor is seen as (images, channels, pixels): dims 0, 1 and the product of the others; with two dims or
 * fewer it has one pixel an image.  Plain form has channels before pixels, `pixels` form behind. */
#ifndef HSDAG_KERNEL_NHWC_NHWC_FORM_H
#define HSDAG_KERNEL_NHWC_NHWC_FORM_H

#include "kernel/nhwc/mem_form.h"

/* Forms that are not plain have at most so many channels, and codes lie in pixels. */
enum { FORM_CHANNELS = 4096 };

struct form_shape {
	int64_t images, channels, pixels;
};
struct form_shape form_shape_of(const struct tensor *t);

/* Pixels first .. first + n - 1 of one image of a tensor at `data`, as f32 (n,channels). */
void form_read(const struct mem_form *f, const struct form_shape *s, const void *data,
	       int64_t image, int64_t first, int64_t n, float *dst);
/* The same into a tensor; codes are rounded and limited. */
void form_write(const struct mem_form *f, const struct form_shape *s, void *data, int64_t image,
		int64_t first, int64_t n, const float *src);
/* Pixels first .. first + n - 1 of one image of a plain tensor, as codes (n,channels) of *f. */
void form_turn(const struct mem_form *f, const struct form_shape *s, const float *src,
	       int64_t image, int64_t first, int64_t n, void *dst);
int64_t form_size(enum elem elem);         /* bytes of an element */
struct mem_form form_nhwc(enum elem elem); /* of numbers, with channels last */
/* Do tensors of one shape lie the same in both? */
bool form_same(const struct mem_form *a, const struct mem_form *b);
bool form_in_codes(const struct mem_form *f);
/* Pixels that fit into a tile of NHWC_FLOATS, one at least: as much as stays in the first-level cache beside what is made of it. */
enum { NHWC_FLOATS = 4096 };
int64_t nhwc_tile(const struct form_shape *s);
/* n rows of `bytes` each, x_step bytes apart, to rows y_step apart. */
void form_copy_rows(const void *x, int64_t x_step, int64_t n, int64_t bytes, void *y,
		    int64_t y_step);
/* n pixels of floats (n,channels), of which the first channel is number `first` of the tensor, to codes of f->elem. */
void form_codes_pixels(const struct mem_form *f, int64_t first, int64_t channels, const float *src,
		       int64_t n, void *dst);
/* The same of HSwish of them, whole pixels, to codes of 8 bits. */
void form_codes_hswish(const struct mem_form *f, int64_t channels, const float *src, int64_t n,
		       void *dst);
/* The code of zero, in channel i where codes have a scale for each. */
float form_zero(const struct mem_form *f, int64_t i);
/* n floats to codes of f->elem, which have one scale. */
void form_codes(const struct mem_form *f, const float *src, int64_t n, void *dst);
/* n codes of two forms, added, in a third form; at least `low` times its scale. */
void form_add(const struct mem_form *fa, const void *a, const struct mem_form *fb, const void *b,
	      int64_t n, const struct mem_form *f, float low, void *dst);
/* The larger of n codes of type `elem`, or floats, x and y each, into y. */
void form_max(enum elem elem, const void *x, int64_t n, void *y);
/* n columns of rows that lie `step` elements apart, codes of type `elem` as numbers, without their scale, or floats, added
 * to y, row by row. */
void form_sum(enum elem elem, const void *x, int64_t rows, int64_t step, int64_t n, float *y);
/* A whole tensor to plain f32. */
void form_plain(const struct mem_form *f, const struct form_shape *s, const void *data, float *dst);

#endif
