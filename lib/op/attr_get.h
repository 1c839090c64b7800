/* attr_get.h - one attribute of a node from the string of the IR.
 *
 * All: *out keeps its value (the default) when the attribute is absent; 0, or -1 (ST_INPUT) for a
 * value that makes no sense, named with its attribute and operator. */
#ifndef HSDAG_OP_ATTR_GET_H
#define HSDAG_OP_ATTR_GET_H

#include "op/op.h"

/* An integer in lo .. 2^31 - 1. */
int op_get_int(const struct op *op, const char *key, int64_t lo, int64_t *out, struct err *e);
int op_get_real(const struct op *op, const char *key, double *out, struct err *e); /* not NaN */
int op_get_float(const struct op *op, const char *key, float *out, struct err *e);
int op_get_bool(const struct op *op, const char *key, bool *out, struct err *e);
/* Index of the attribute's value, in any case, among words separated by '|'. */
int op_get_choice(const struct op *op, const char *key, const char *words, int *out, struct err *e);
/* Up to max integers >= lo separated by commas and blanks; *n is their number, -1 when absent. */
int op_get_list(const struct op *op, const char *key, int64_t lo, int max, int64_t *out, int *n,
		struct err *e);
/* A list of at most OP_MAX_REALS finite numbers: only counted here, r->n = 0 when absent. */
int op_get_reals(const struct op *op, const char *key, struct op_reals *r, struct err *e);
/* The numbers of such a list into dst[OP_MAX_REALS]; their number. */
int op_reals(const struct op_reals *r, float *dst);
int op_get_elem(const struct op *op, const char *key, enum elem *out, struct err *e);
/* The error for a value that makes no sense; -1. */
int op_bad_attr(const struct op *op, const char *key, const char *value, struct err *e);

#endif
