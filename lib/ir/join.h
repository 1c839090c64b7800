/* join.h - several models as one, which a placement then is about: they run at once on the same devices. */
#ifndef HSDAG_IR_JOIN_H
#define HSDAG_IR_JOIN_H

#include "base/err.h"
#include "ir/weights.h"

/* One of them.  Its operations, tensors and variables are called NAME/theirs, those of several copies NAME.1/, NAME.2/, ... */
struct ir_joined {
	const char *name;
	const struct graph *g;
	const struct weights *weights;
	uint32_t copies; /* of the model, with the same weights */
};

/* What operations of copy i of x begin with, without the slash; memory from a. */
const char *ir_joined_name(const struct ir_joined *x, uint32_t i, struct arena *a);

enum { IR_JOIN_MOST = 64 }; /* copies of all models together */

/* part[n], from IR, as the IR `xml` and `bin`, with the inputs and outputs of all.  ST_RUNTIME when something cannot be written,
 * ST_INPUT when a .bin does not hold its model's constants. */
int ir_join(const char *xml, const char *bin, const struct ir_joined *part, uint32_t n,
	    struct err *e) MUST_CHECK;

#endif
