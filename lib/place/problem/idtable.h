/* idtable.h - numbers for the values of JSON keys such as `id` and `colocate`. */
#ifndef HSDAG_PLACE_PROBLEM_IDTABLE_H
#define HSDAG_PLACE_PROBLEM_IDTABLE_H

#include "base/mem.h"
#include "stream/rec.h"

/* Numbers for values; 1 and "1" differ, 1 and 1.0 do not.  Ids are integers of any size or texts;
 * colours may be any values. */
struct id_table;
struct id_table *id_table_new(struct arena *a);
void id_table_free(struct id_table *t);
bool val_is_id(const struct val *v); /* v may be NULL: no */
/* The number of a value, a new one when it is new (*is_new). */
uint32_t id_table_add(struct id_table *t, const struct val *v, bool *is_new);
/* UINT32_MAX when it is not there. */
uint32_t id_table_find(struct id_table *t, const struct val *v);

#endif
