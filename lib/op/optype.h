/* optype.h - the vocabulary of operator types: all of OpenVINO's opset1 .. opset17
 * in the spelling of IR files, in a fixed order.
 *
 * Reading an IR makes types canonical with it; features use it so that the
 * columns mean the same for every model.  A new name in graph/oplist.h changes OPTYPE_COUNT and
 * so the width of features: parameters trained before do not fit any more.  A name of
 * OP_NAMES_ONLY that gets its line there changes nothing. */
#ifndef HSDAG_OP_OPTYPE_H
#define HSDAG_OP_OPTYPE_H

#include "op/op.h"

#define OPTYPE_LISTED(kind, type, category, min, max, out, values, scalars, cost, w, flags, ...) \
	+!((flags)&OPF_NO_OPSET)
#define OPTYPE_NAME(kind, type) +1
enum { OPTYPE_COUNT = 0 OP_LIST(OPTYPE_LISTED) OP_NAMES_ONLY(OPTYPE_NAME) };
#undef OPTYPE_LISTED
#undef OPTYPE_NAME

/* Index of a type, any case, with aliases ("Constant", "relu"); -1 when unknown. */
int optype_find(const char *name);
/* The same of a kind; -1: of OP_UNKNOWN, and of what is of no opset. */
int optype_of(enum op_kind kind);
/* Canonical name of index i; "other" when out of range. */
const char *optype_name(int i);

#endif
