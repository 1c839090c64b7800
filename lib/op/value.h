/* value.h - elements of a tensor one at a time, whatever their type; for shape
 * inputs, folding and rare types, not for inner loops. */
#ifndef HSDAG_OP_VALUE_H
#define HSDAG_OP_VALUE_H

#include "op/tensor.h"

/* Element i as an integer (real numbers truncated towards zero, saturating) or as a
 * real number.  t->data must be there; 0 for strings. */
int64_t tensor_int(const struct tensor *t, int64_t i);
double tensor_real(const struct tensor *t, int64_t i);

/* Store into element i: integers wrap, real numbers are rounded to the nearest
 * (half to even) in f16 and bf16, truncated in integer types. */
void tensor_set_int(const struct tensor *t, int64_t i, int64_t value);
void tensor_set_real(const struct tensor *t, int64_t i, double value);

/* "f32[1,3,224,224]" into dst[cap]; returns dst. */
char *tensor_text(const struct tensor *t, char *dst, size_t cap);

/* ---- real numbers of 16 bits ---- */

float half_to_float(uint16_t h);   /* IEEE binary16, exact */
uint16_t half_from_float(float f); /* nearest, half to even */
float bf16_to_float(uint16_t h);
uint16_t bf16_from_float(float f); /* nearest, half to even */

#endif
