/* value.h - elements of a tensor one at a time, whatever their type; for shape
 * inputs, folding and rare types, not for inner loops. */
#ifndef HSDAG_OP_VALUE_H
#define HSDAG_OP_VALUE_H

#include "op/minifloat.h"
#include "op/tensor.h"

/* Element i as an integer (real numbers truncated towards zero, saturating) or as a
 * real number.  t->data must be there, and elem_bits(t->elem) above 0: strings are no numbers. */
int64_t tensor_int(const struct tensor *t, int64_t i);
double tensor_real(const struct tensor *t, int64_t i);

/* Store into element i: integers wrap, real numbers are rounded to the nearest
 * (half to even) in types of few bits (minifloat.h), truncated in integer types. */
void tensor_set_int(const struct tensor *t, int64_t i, int64_t value);
void tensor_set_real(const struct tensor *t, int64_t i, double value);

/* The bits of element i of a type with less than 8 of them. */
unsigned tensor_code(const struct tensor *t, int64_t i);
void tensor_set_code(const struct tensor *t, int64_t i, unsigned code);

/* "f32[1,3,224,224]" into dst[cap]; returns dst. */
char *tensor_text(const struct tensor *t, char *dst, size_t cap);

#endif
