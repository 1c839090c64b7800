/* model_impl.h - shared by model.c (opening), model_value.c (constants) and model_step.c (steps as
 * devices see them).  Not for others. */
#ifndef HSDAG_EXEC_MODEL_IMPL_H
#define HSDAG_EXEC_MODEL_IMPL_H

#include "exec/model.h"

static inline bool model_is(const struct model *m, uint32_t v, enum op_kind k)
{
	return m->op[v].kind == k;
}

/* Does node v read or make tensors whose shapes are not known? */
bool model_is_dynamic(const struct model *m, uint32_t v);

/* ---- model_value.c ---- */

/* Is constant output o small, and everything that it is computed from? */
bool model_is_small(const struct model *m, uint32_t o);
/* Constant output o as input i of op on device d: as the graph has it, or, where the device takes
 * that, before a conversion or in few bits.  With data as for model_spec. */
int model_constant(struct model *m, uint32_t o, const struct op *op, uint32_t i, struct device *d,
		   enum model_data data, const struct tensor **out, struct err *e) MUST_CHECK;

#endif
