/* json.h - records as JSON text. */
#ifndef HSDAG_STREAM_JSON_H
#define HSDAG_STREAM_JSON_H

#include <stdio.h>

#include "stream/rec.h"

/* {"kind": ..., "map": {...}} on `out`, without a line end.  Unless `full`, tensors
 * become {"dtype", "shape", "min", "max"} and long lists their beginning and count. */
int json_record(FILE *out, const struct rec *r, bool full, struct err *e) MUST_CHECK;

/* nil, a bool or a number. */
void json_scalar(FILE *out, const struct val *v);

/* Element i of t. */
void json_element(FILE *out, const struct tensor_view *t, size_t i);

#endif
