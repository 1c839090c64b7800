/* moments.h - what Adam knows of its past, as keys of a record: t, m f32, v f32. */
#ifndef HSDAG_LEARN_PARAMS_MOMENTS_H
#define HSDAG_LEARN_PARAMS_MOMENTS_H

#include "learn/params/params.h"
#include "stream/rec.h"

void moments_put(struct rec_writer *w, const struct adam *a);
/* Of as many values as a, which is initialised, has.  ST_INPUT, and a as it was. */
int moments_get(const struct val *map, struct adam *a, struct err *e) MUST_CHECK;

#endif
