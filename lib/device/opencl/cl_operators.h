/* cl_operators.h - the table of operators that OpenCL devices run, a line each: which function
 * lowers it to kernel launches.  Operators without a line have no OpenCL kernel.
 *
 *   X(KIND, FN, ...): int cl_lower_FN(struct cl_lowering *) lowers OP_KIND.  Behind it the other
 *   members of struct cl_operator; of element-wise operators op, f32 and flags. */
#ifndef HSDAG_DEVICE_OPENCL_CL_OPERATORS_H
#define HSDAG_DEVICE_OPENCL_CL_OPERATORS_H

#include "device/opencl/programs/cl_programs.h"
#include "op/op.h"

enum cl_operator_flags {
	CHAIN = 1,  /* element-wise operators of f32 that kernel `elem` applies in chains */
	POST = 2,   /* ... and that chains behind products, windows and normalisations have, too */
	INT = 4,    /* kernel elem_int has it for integers */
	CL_HEAD = 8 /* a chain may follow it */
};

struct cl_operator {
	int op;                /* enum elem_op, or reduce_op of reductions */
	enum cl_kernel_id f32; /* element-wise on f32, outside chains; K_COUNT: none */
	unsigned flags;
	uint32_t f16_constants; /* bit i: constant input i may be f16 although the graph says f32 */
};
/* What the line says behind FN; zeros where there is none. */
const struct cl_operator *cl_operator(enum op_kind kind);

/* clang-format off */
#define CL_OPERATORS(X) \
	X(ABS, elem, E_ABS, K_elem, CHAIN | POST | INT) \
	X(NEGATIVE, elem, E_NEG, K_elem, CHAIN | POST | INT) \
	X(RELU, elem, E_RELU, K_elem, CHAIN | POST | INT) \
	X(CLAMP, elem, E_CLAMP, K_elem, CHAIN | POST | INT) \
	X(SIGN, elem, E_SIGN, K_elem, CHAIN | INT) \
	X(ROUND, elem, E_COPY, K_elem, CHAIN | INT) \
	X(SQRT, elem, E_SQRT, K_elem, CHAIN | POST) \
	X(CEILING, elem, E_CEIL, K_elem, CHAIN) \
	X(FLOOR, elem, E_FLOOR, K_elem, CHAIN) \
	X(HSWISH, elem, E_HSWISH, K_elem, CHAIN | POST) \
	X(HSIGMOID, elem, E_HSIGMOID, K_elem, CHAIN | POST) \
	X(HARD_SIGMOID, elem, E_HARD_SIGMOID, K_elem, CHAIN | POST) \
	X(SOFT_SIGN, elem, E_SOFT_SIGN, K_elem, CHAIN) \
	X(EXP, elem, E_EXP, K_elem, CHAIN) \
	X(LOG, elem, E_LOG, K_elem, CHAIN) \
	X(SIGMOID, elem, E_SIGMOID, K_elem, CHAIN | POST) \
	X(TANH, elem, E_TANH, K_elem, CHAIN | POST) \
	X(GELU, elem, E_GELU_ERF, K_elem, CHAIN | POST) \
	X(ERF, elem, E_ERF, K_elem, CHAIN) \
	X(SWISH, elem, E_SWISH, K_elem, CHAIN | POST) \
	X(SOFT_PLUS, elem, E_SOFT_PLUS, K_elem, CHAIN) \
	X(MISH, elem, E_MISH, K_elem, CHAIN) \
	X(ELU, elem, E_ELU, K_elem, CHAIN | POST) \
	X(SELU, elem, E_SELU, K_elem, CHAIN) \
	X(ERF_INV, elem, E_ERF_INV, K_elem_rare, 0) \
	X(SIN, elem, E_SIN, K_elem_rare, 0) \
	X(COS, elem, E_COS, K_elem_rare, 0) \
	X(TAN, elem, E_TAN, K_elem_rare, 0) \
	X(ASIN, elem, E_ASIN, K_elem_rare, 0) \
	X(ACOS, elem, E_ACOS, K_elem_rare, 0) \
	X(ATAN, elem, E_ATAN, K_elem_rare, 0) \
	X(SINH, elem, E_SINH, K_elem_rare, 0) \
	X(COSH, elem, E_COSH, K_elem_rare, 0) \
	X(ASINH, elem, E_ASINH, K_elem_rare, 0) \
	X(ACOSH, elem, E_ACOSH, K_elem_rare, 0) \
	X(ATANH, elem, E_ATANH, K_elem_rare, 0) \
	X(IS_NAN, elem, E_IS_NAN, K_elem_test, 0) \
	X(IS_INF, elem, E_IS_INF, K_elem_test, 0) \
	X(IS_FINITE, elem, E_IS_FINITE, K_elem_test, 0) \
	X(BITWISE_NOT, elem, E_BIT_NOT, K_COUNT, INT) \
	X(LOGICAL_NOT, elem, E_NOT, K_COUNT, INT) \
	X(CONVERT, convert) \
	X(CONVERT_LIKE, convert) \
	/* element-wise, two inputs and more */ \
	X(ADD, elem, E_ADD, K_elem, CHAIN | POST | INT) \
	X(SUBTRACT, elem, E_SUB, K_elem, CHAIN | POST | INT) \
	X(MULTIPLY, elem, E_MUL, K_elem, CHAIN | POST | INT) \
	X(DIVIDE, elem, E_DIV, K_elem, CHAIN | POST | INT) \
	X(MINIMUM, elem, E_MIN, K_elem, CHAIN | POST | INT) \
	X(MAXIMUM, elem, E_MAX, K_elem, CHAIN | POST | INT) \
	X(SQUARED_DIFFERENCE, elem, E_SQUARED_DIFF, K_elem, CHAIN | POST | INT) \
	X(PRELU, elem, E_PRELU, K_elem, CHAIN | POST | INT) \
	X(FLOOR_MOD, elem, E_FLOOR_MOD, K_elem, CHAIN | INT) \
	X(POWER, elem, E_POW, K_elem_rare, INT) \
	X(MOD, elem, E_MOD, K_elem_rare, INT) \
	X(EQUAL, elem, E_EQ, K_elem_test, INT) \
	X(NOT_EQUAL, elem, E_NE, K_elem_test, INT) \
	X(LESS, elem, E_LT, K_elem_test, INT) \
	X(LESS_EQUAL, elem, E_LE, K_elem_test, INT) \
	X(GREATER, elem, E_GT, K_elem_test, INT) \
	X(GREATER_EQUAL, elem, E_GE, K_elem_test, INT) \
	X(BITWISE_AND, elem, E_BIT_AND, K_COUNT, INT) \
	X(BITWISE_OR, elem, E_BIT_OR, K_COUNT, INT) \
	X(BITWISE_XOR, elem, E_BIT_XOR, K_COUNT, INT) \
	X(BITWISE_LEFT_SHIFT, elem, E_SHL, K_COUNT, INT) \
	X(BITWISE_RIGHT_SHIFT, elem, E_SHR, K_COUNT, INT) \
	X(LOGICAL_AND, elem, E_AND, K_COUNT, INT) \
	X(LOGICAL_OR, elem, E_OR, K_COUNT, INT) \
	X(LOGICAL_XOR, elem, E_XOR, K_COUNT, INT) \
	X(SELECT, select) \
	X(FAKE_QUANTIZE, five) \
	/* reductions */ \
	X(REDUCE_SUM, reduce, R_SUM) \
	X(REDUCE_MEAN, reduce, R_SUM) \
	X(REDUCE_PROD, reduce, R_PROD) \
	X(REDUCE_MIN, reduce, R_MIN) \
	X(REDUCE_MAX, reduce, R_MAX) \
	X(REDUCE_L1, reduce, R_L1) \
	X(REDUCE_L2, reduce, R_L2) \
	X(REDUCE_LOGICAL_AND, reduce, R_AND) \
	X(REDUCE_LOGICAL_OR, reduce, R_OR) \
	/* products, convolutions, pooling */ \
	X(MATMUL, matmul, .flags = CL_HEAD, .f16_constants = 3) \
	X(ATTENTION, attention) \
	X(CONVOLUTION, conv, .flags = CL_HEAD, .f16_constants = 2) \
	X(GROUP_CONVOLUTION, conv, .flags = CL_HEAD, .f16_constants = 2) \
	X(CONVOLUTION_BACKPROP, deconv) \
	X(GROUP_CONVOLUTION_BACKPROP, deconv) \
	X(AVG_POOL, pool, .flags = CL_HEAD) \
	X(MAX_POOL, pool, .flags = CL_HEAD) \
	/* normalisations */ \
	X(SOFTMAX, softmax) \
	X(LOG_SOFTMAX, softmax) \
	X(MVN, mvn, .flags = CL_HEAD) \
	X(RMS, rms) \
	X(BATCH_NORM, five) \
	X(GROUP_NORM, group_norm) \
	X(LRN, lrn) \
	X(NORMALIZE_L2, normalize_l2) \
	/* views and movement */ \
	X(RESHAPE, view) \
	X(SQUEEZE, view) \
	X(UNSQUEEZE, view) \
	X(TRANSPOSE, transpose) \
	X(CONCAT, concat) \
	X(SPLIT, split) \
	X(VARIADIC_SPLIT, split) \
	X(SLICE, slice) \
	X(STRIDED_SLICE, slice) \
	X(BROADCAST, broadcast) \
	X(TILE, tile) \
	X(DEPTH_TO_SPACE, blocks) \
	X(SPACE_TO_DEPTH, blocks) \
	X(SHUFFLE_CHANNELS, shuffle) \
	X(PAD, pad) \
	X(ROLL, roll) \
	X(INTERPOLATE, interpolate) \
	X(GATHER, gather) \
	X(GATHER_ELEMENTS, gather_elements) \
	X(GATHER_ND, gather_nd) \
	X(SCATTER_UPDATE, scatter) \
	X(SCATTER_ND_UPDATE, scatter_nd) \
	X(SCATTER_ELEMENTS_UPDATE, scatter_elements) \
	X(ONE_HOT, one_hot) \
	X(CUM_SUM, cum_sum) \
	X(TOP_K, top_k) \
	X(REVERSE_SEQUENCE, reverse_sequence) \
	X(SHAPE_OF, shape_of) \
	X(RANGE, range) \
	/* recurrent cells */ \
	X(LSTM_CELL, cell) \
	X(GRU_CELL, cell) \
	X(RNN_CELL, cell) \
	X(LSTM_SEQUENCE, cell) \
	X(GRU_SEQUENCE, cell) \
	X(RNN_SEQUENCE, cell)
/* clang-format on */

struct cl_lowering;
#define CL_DECLARE(kind, fn, ...) int cl_lower_##fn(struct cl_lowering *p) MUST_CHECK;
CL_OPERATORS(CL_DECLARE)
#undef CL_DECLARE

#endif
