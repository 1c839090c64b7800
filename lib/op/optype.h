/* optype.h - the vocabulary of operator types: all of OpenVINO's opset1 .. opset17
 * in the spelling of IR files, in a fixed order.
 *
 * Reading an IR makes types canonical with it; features use it so that the
 * columns mean the same for every model.  New operators change OPTYPE_COUNT and
 * so the width of features: parameters trained before do not fit any more. */
#ifndef HSDAG_OP_OPTYPE_H
#define HSDAG_OP_OPTYPE_H

#include <stddef.h>

enum { OPTYPE_COUNT = 211 };

/* Index of a type, any case, with aliases ("Constant", "relu"); -1 when unknown. */
int optype_find(const char *name);
/* Canonical name of index i; "other" when out of range. */
const char *optype_name(int i);

#endif
