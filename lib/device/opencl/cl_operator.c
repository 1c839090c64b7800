/* cl_operator.c - what the table of operators says beside how they are lowered. */
#include "device/opencl/cl_operators.h"

const struct cl_operator *cl_operator(enum op_kind kind)
{
	static const struct cl_operator table[OP_COUNT] = {
#define ROW(kind, fn, ...) [OP_##kind] = {__VA_ARGS__},
		CL_OPERATORS(ROW)
#undef ROW
	};
	return &table[kind];
}
