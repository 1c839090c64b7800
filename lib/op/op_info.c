/* op_info.c - what the list of operators says of each beside functions: its name, its category, counts of its ports. */
#include "op/op.h"

static const struct op_info table[OP_COUNT] = {[OP_UNKNOWN] = {"", OPC_OTHER, 0, -1, -1, 0, 0, 0},
#define OP(kind, type, category, min, max, out, values, scalars, cost, w, flags, attrs, shapes) \
	[OP_##kind] = {type, OPC_##category, min, max, out, values, scalars, flags},
					       OP_LIST(OP)
#undef OP
};

const struct op_info *op_info(enum op_kind kind)
{
	return &table[op_kind_listed(kind)];
}

int op_n_data(enum op_kind kind)
{
	switch (op_info(kind)->category) {
	case OPC_UNARY: return 1;
	/* clang-format off */
	case OPC_BINARY: case OPC_COMPARE: return 2;
	/* clang-format on */
	case OPC_TERNARY: return op_info(kind)->max_in;
	default: /* no element-wise operator */ return 0;
	}
}

bool op_is_view(const struct op *op)
{
	return table[op->kind].category == OPC_VIEW;
}

bool op_is_bounded(const struct op *op)
{
	return table[op->kind].flags & OPF_BOUNDED;
}
