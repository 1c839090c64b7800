/* oplist.h - the list of operators, one line each: all that is known about an operator outside
 * the kernels.  op_kind.h makes the enum from it, op/op.c the table, op/optype.c the vocabulary of
 * features.  What the columns from `category` on mean is op/op.h's and its room's.
 * To add an operator, add its line here and a kernel (lib/kernel/README.md).
 *
 *   kind        OP_KIND
 *   type        as IR files spell it
 *   category    OPC_CATEGORY (op/op.h)
 *   min, max    least and greatest number of inputs; max -1: any
 *   out         number of outputs; -1: as many as the node has
 *   values      bit i: the value of input i decides the shapes of the outputs
 *   scalars     bit i: input i is a single value
 *   cost, w     operations: w times what cost_COST counts (opcost.c); a multiply-add counts 2, a
 *               transcendental function or a division chain 8
 *   flags       OPF_x (op.h); 0: none
 *   attrs       attr_ATTRS decodes them
 *   shapes      infer_SHAPES infers the outputs */
#ifndef HSDAG_GRAPH_OPLIST_H
#define HSDAG_GRAPH_OPLIST_H

/* clang-format off */
#define OP_LIST(X) \
	/* kind, type, category, min, max, out, values, scalars, cost, w, flags, attrs, shapes */ \
	X(PARAMETER, "Parameter", SOURCE, 0, 0, 1, 0, 0, none, 0, 0, none, recorded) \
	X(CONST, "Const", SOURCE, 0, 0, 1, 0, 0, none, 0, 0, none, recorded) \
	X(RESULT, "Result", SINK, 1, 1, -1, 0, 0, none, 0, 0, none, same) \
	X(READ_VALUE, "ReadValue", SOURCE, 0, 1, 1, 0, 0, none, 0, 0, variable, read_value) \
	X(ASSIGN, "Assign", SINK, 1, 1, -1, 0, 0, none, 0, 0, variable, same) \
	/* element-wise, one input */ \
	X(ABS, "Abs", UNARY, 1, 1, 1, 0, 0, out, 1, 0, none, same) \
	X(ACOS, "Acos", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(ACOSH, "Acosh", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(ASIN, "Asin", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(ASINH, "Asinh", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(ATAN, "Atan", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(ATANH, "Atanh", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(BITWISE_NOT, "BitwiseNot", UNARY, 1, 1, 1, 0, 0, out, 1, OPF_BITWISE, none, same) \
	X(CEILING, "Ceiling", UNARY, 1, 1, 1, 0, 0, out, 1, 0, none, same) \
	X(CLAMP, "Clamp", UNARY, 1, 1, 1, 0, 0, out, 1, 0, act, same) \
	X(CONVERT, "Convert", UNARY, 1, 1, 1, 0, 0, out, 1, 0, convert, convert) \
	X(CONVERT_LIKE, "ConvertLike", UNARY, 2, 2, 1, 0, 0, out, 8, 0, none, convert_like) \
	X(CONVERT_PROMOTE_TYPES, "ConvertPromoteTypes", MOVE, 2, 2, 2, 0, 0, none, 0, 0, none, \
	  promote) \
	X(COS, "Cos", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(COSH, "Cosh", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(ELU, "Elu", UNARY, 1, 1, 1, 0, 0, out, 8, 0, act, same) \
	X(ERF, "Erf", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(ERF_INV, "ErfInv", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(EXP, "Exp", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(FLOOR, "Floor", UNARY, 1, 1, 1, 0, 0, out, 1, 0, none, same) \
	X(GELU, "Gelu", UNARY, 1, 1, 1, 0, 0, out, 8, 0, act, same) \
	X(HARD_SIGMOID, "HardSigmoid", UNARY, 3, 3, 1, 0, 6, out, 4, 0, none, same) \
	X(HSIGMOID, "HSigmoid", UNARY, 1, 1, 1, 0, 0, out, 4, 0, none, same) \
	X(HSWISH, "HSwish", UNARY, 1, 1, 1, 0, 0, out, 4, 0, none, same) \
	X(IS_FINITE, "IsFinite", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, test) \
	X(IS_INF, "IsInf", UNARY, 1, 1, 1, 0, 0, out, 8, 0, act, test) \
	X(IS_NAN, "IsNaN", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, test) \
	X(LOG, "Log", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(LOGICAL_NOT, "LogicalNot", UNARY, 1, 1, 1, 0, 0, out, 1, 0, none, test) \
	X(MISH, "Mish", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(NEGATIVE, "Negative", UNARY, 1, 1, 1, 0, 0, out, 1, 0, none, same) \
	X(RELU, "ReLU", UNARY, 1, 1, 1, 0, 0, out, 1, 0, none, same) \
	X(ROUND, "Round", UNARY, 1, 1, 1, 0, 0, out, 1, 0, act, same) \
	X(SELU, "Selu", UNARY, 3, 3, 1, 0, 6, out, 8, 0, none, same) \
	X(SIGMOID, "Sigmoid", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(SIGN, "Sign", UNARY, 1, 1, 1, 0, 0, out, 1, 0, none, same) \
	X(SIN, "Sin", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(SINH, "Sinh", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(SOFT_PLUS, "SoftPlus", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(SOFT_SIGN, "SoftSign", UNARY, 1, 1, 1, 0, 0, out, 4, 0, none, same) \
	X(SQRT, "Sqrt", UNARY, 1, 1, 1, 0, 0, out, 4, 0, none, same) \
	X(SWISH, "Swish", UNARY, 1, 2, 1, 0, 2, out, 8, 0, none, same) \
	X(TAN, "Tan", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	X(TANH, "Tanh", UNARY, 1, 1, 1, 0, 0, out, 8, 0, none, same) \
	/* element-wise, two inputs */ \
	X(ADD, "Add", BINARY, 2, 2, 1, 0, 0, out, 1, 0, broadcast, binary) \
	X(BITWISE_AND, "BitwiseAnd", BINARY, 2, 2, 1, 0, 0, out, 1, OPF_BITWISE, broadcast, \
	  binary) \
	X(BITWISE_LEFT_SHIFT, "BitwiseLeftShift", BINARY, 2, 2, 1, 0, 0, out, 1, OPF_BITWISE, \
	  broadcast, binary) \
	X(BITWISE_OR, "BitwiseOr", BINARY, 2, 2, 1, 0, 0, out, 1, OPF_BITWISE, broadcast, binary) \
	X(BITWISE_RIGHT_SHIFT, "BitwiseRightShift", BINARY, 2, 2, 1, 0, 0, out, 1, \
	  OPF_BITWISE, broadcast, binary) \
	X(BITWISE_XOR, "BitwiseXor", BINARY, 2, 2, 1, 0, 0, out, 1, OPF_BITWISE, broadcast, \
	  binary) \
	X(DIVIDE, "Divide", BINARY, 2, 2, 1, 0, 0, out, 1, 0, broadcast, binary) \
	X(FLOOR_MOD, "FloorMod", BINARY, 2, 2, 1, 0, 0, out, 8, 0, broadcast, binary) \
	X(MAXIMUM, "Maximum", BINARY, 2, 2, 1, 0, 0, out, 1, 0, broadcast, binary) \
	X(MINIMUM, "Minimum", BINARY, 2, 2, 1, 0, 0, out, 1, 0, broadcast, binary) \
	X(MOD, "Mod", BINARY, 2, 2, 1, 0, 0, out, 8, 0, broadcast, binary) \
	X(MULTIPLY, "Multiply", BINARY, 2, 2, 1, 0, 0, out, 1, 0, broadcast, binary) \
	X(POWER, "Power", BINARY, 2, 2, 1, 0, 0, out, 8, 0, broadcast, binary) \
	X(PRELU, "PReLU", BINARY, 2, 2, 1, 0, 0, out, 1, 0, none, prelu) \
	X(SQUARED_DIFFERENCE, "SquaredDifference", BINARY, 2, 2, 1, 0, 0, out, 1, 0, \
	  broadcast, binary) \
	X(SUBTRACT, "Subtract", BINARY, 2, 2, 1, 0, 0, out, 1, 0, broadcast, binary) \
	X(EQUAL, "Equal", COMPARE, 2, 2, 1, 0, 0, out, 1, 0, broadcast, compare) \
	X(GREATER, "Greater", COMPARE, 2, 2, 1, 0, 0, out, 1, 0, broadcast, compare) \
	X(GREATER_EQUAL, "GreaterEqual", COMPARE, 2, 2, 1, 0, 0, out, 1, 0, broadcast, compare) \
	X(LESS, "Less", COMPARE, 2, 2, 1, 0, 0, out, 1, 0, broadcast, compare) \
	X(LESS_EQUAL, "LessEqual", COMPARE, 2, 2, 1, 0, 0, out, 1, 0, broadcast, compare) \
	X(LOGICAL_AND, "LogicalAnd", COMPARE, 2, 2, 1, 0, 0, out, 1, 0, broadcast, compare) \
	X(LOGICAL_OR, "LogicalOr", COMPARE, 2, 2, 1, 0, 0, out, 1, 0, broadcast, compare) \
	X(LOGICAL_XOR, "LogicalXor", COMPARE, 2, 2, 1, 0, 0, out, 1, 0, broadcast, compare) \
	X(NOT_EQUAL, "NotEqual", COMPARE, 2, 2, 1, 0, 0, out, 1, 0, broadcast, compare) \
	X(SELECT, "Select", TERNARY, 3, 3, 1, 0, 0, out, 1, 0, broadcast, select) \
	X(FAKE_QUANTIZE, "FakeQuantize", TERNARY, 5, 5, 1, 0, 0, out, 8, 0, quantize, fake_quantize) \
	X(FAKE_CONVERT, "FakeConvert", TERNARY, 2, 3, 1, 0, 0, out, 8, 0, convert, same) \
	/* reductions */ \
	X(REDUCE_L1, "ReduceL1", REDUCE, 2, 2, 1, 2, 0, in, 1, 0, reduce, reduce) \
	X(REDUCE_L2, "ReduceL2", REDUCE, 2, 2, 1, 2, 0, in, 1, 0, reduce, reduce) \
	X(REDUCE_LOGICAL_AND, "ReduceLogicalAnd", REDUCE, 2, 2, 1, 2, 0, in, 1, 0, reduce, \
	  reduce) \
	X(REDUCE_LOGICAL_OR, "ReduceLogicalOr", REDUCE, 2, 2, 1, 2, 0, in, 1, 0, reduce, reduce) \
	X(REDUCE_MAX, "ReduceMax", REDUCE, 2, 2, 1, 2, 0, in, 1, 0, reduce, reduce) \
	X(REDUCE_MEAN, "ReduceMean", REDUCE, 2, 2, 1, 2, 0, in, 1, 0, reduce, reduce) \
	X(REDUCE_MIN, "ReduceMin", REDUCE, 2, 2, 1, 2, 0, in, 1, 0, reduce, reduce) \
	X(REDUCE_PROD, "ReduceProd", REDUCE, 2, 2, 1, 2, 0, in, 1, 0, reduce, reduce) \
	X(REDUCE_SUM, "ReduceSum", REDUCE, 2, 2, 1, 2, 0, in, 1, 0, reduce, reduce) \
	/* products, convolutions, pooling */ \
	X(MATMUL, "MatMul", MATMUL, 2, 2, 1, 0, 0, matmul, 2, 0, matmul, matmul) \
	X(GROUPED_MATMUL, "GroupedMatMul", MATMUL, 2, 3, 1, 0, 0, grouped, 2, 0, none, \
	  grouped_matmul) \
	X(ATTENTION, "ScaledDotProductAttention", MATMUL, 3, 6, 1, 0, 16, attention, 4, 0, \
	  attention, attention) \
	X(CONVOLUTION, "Convolution", CONV, 2, 2, 1, 0, 0, conv, 2, 0, window, conv) \
	X(GROUP_CONVOLUTION, "GroupConvolution", CONV, 2, 2, 1, 0, 0, conv, 2, OPF_GROUPED, \
	  window, conv) \
	X(CONVOLUTION_BACKPROP, "ConvolutionBackpropData", CONV, 2, 3, 1, 4, 0, conv, 2, \
	  OPF_TRANSPOSED, window, conv_backprop) \
	X(GROUP_CONVOLUTION_BACKPROP, "GroupConvolutionBackpropData", CONV, 2, 3, 1, 4, 0, \
	  conv, 2, OPF_GROUPED | OPF_TRANSPOSED, window, conv_backprop) \
	X(AVG_POOL, "AvgPool", POOL, 1, 1, 1, 0, 0, window, 1, 0, window, pool) \
	X(MAX_POOL, "MaxPool", POOL, 1, 1, -1, 0, 0, window, 1, 0, window, pool) \
	X(ADAPTIVE_AVG_POOL, "AdaptiveAvgPool", POOL, 2, 2, 1, 2, 0, in, 1, 0, none, \
	  adaptive_pool) \
	X(ADAPTIVE_MAX_POOL, "AdaptiveMaxPool", POOL, 2, 2, 2, 2, 0, in, 1, 0, none, \
	  adaptive_pool) \
	X(BINARY_CONVOLUTION, "BinaryConvolution", CONV, 2, 2, 1, 0, 0, conv, 2, 0, window, conv) \
	X(DEFORMABLE_CONVOLUTION, "DeformableConvolution", CONV, 3, 4, 1, 0, 0, deformable, 2, \
	  0, window, deformable_conv) \
	X(EINSUM, "Einsum", MATMUL, 1, -1, 1, 0, 0, matmul, 2, 0, none, einsum) \
	X(INVERSE, "Inverse", MATMUL, 1, 1, 1, 0, 0, matmul, 2, 0, inverse, same) \
	/* normalisations */ \
	X(GRN, "GRN", NORM, 1, 1, 1, 0, 0, out, 8, 0, lrn, same) \
	X(SOFTMAX, "SoftMax", NORM, 1, 1, 1, 0, 0, out, 12, 0, axis, same) \
	X(LOG_SOFTMAX, "LogSoftmax", NORM, 1, 1, 1, 0, 0, out, 12, 0, axis, same) \
	X(MVN, "MVN", NORM, 1, 2, 1, 0, 0, out, 8, 0, norm, same) \
	X(LRN, "LRN", NORM, 2, 2, 1, 0, 0, out, 8, 0, lrn, same) \
	X(NORMALIZE_L2, "NormalizeL2", NORM, 2, 2, 1, 0, 0, out, 8, 0, norm, same) \
	X(BATCH_NORM, "BatchNormInference", NORM, 5, 5, 1, 0, 0, out, 8, 0, norm, batch_norm) \
	X(GROUP_NORM, "GroupNormalization", NORM, 3, 3, 1, 0, 0, out, 8, 0, norm, same) \
	X(RMS, "RMS", NORM, 2, 2, 1, 0, 0, out, 8, OPF_NO_OPSET, norm, same) \
	/* views and movement */ \
	X(RESHAPE, "Reshape", VIEW, 2, 2, 1, 2, 0, none, 0, 0, reshape, reshape) \
	X(SQUEEZE, "Squeeze", VIEW, 1, 2, 1, 2, 0, none, 0, 0, none, squeeze) \
	X(UNSQUEEZE, "Unsqueeze", VIEW, 2, 2, 1, 2, 0, none, 0, 0, none, unsqueeze) \
	X(BATCH_TO_SPACE, "BatchToSpace", MOVE, 4, 4, 1, 14, 0, none, 0, 0, none, batch_to_space) \
	X(BROADCAST, "Broadcast", MOVE, 2, 3, 1, 6, 0, none, 0, 0, broadcast, broadcast) \
	X(CONCAT, "Concat", MOVE, 1, -1, 1, 0, 0, none, 0, 0, axis, concat) \
	X(CUM_SUM, "CumSum", MOVE, 1, 2, 1, 0, 2, out, 1, 0, axis, same) \
	X(DEPTH_TO_SPACE, "DepthToSpace", MOVE, 1, 1, 1, 0, 0, none, 0, 0, block, depth_to_space) \
	X(GATHER, "Gather", MOVE, 3, 3, 1, 4, 4, none, 0, OPF_READS_PART, axis, gather) \
	X(GATHER_ELEMENTS, "GatherElements", MOVE, 2, 2, 1, 0, 0, none, 0, OPF_READS_PART, \
	  axis, gather_elements) \
	X(GATHER_ND, "GatherND", MOVE, 2, 2, 1, 0, 0, none, 0, OPF_READS_PART, axis, gather_nd) \
	X(ONE_HOT, "OneHot", MOVE, 4, 4, 1, 2, 14, none, 0, 0, onehot, one_hot) \
	X(PAD, "Pad", MOVE, 3, 4, 1, 6, 8, none, 0, 0, pad, pad) \
	X(REVERSE_SEQUENCE, "ReverseSequence", MOVE, 2, 2, 1, 0, 0, none, 0, 0, onehot, same) \
	X(ROLL, "Roll", MOVE, 3, 3, 1, 0, 0, none, 0, 0, none, same) \
	X(SCATTER_ELEMENTS_UPDATE, "ScatterElementsUpdate", MOVE, 4, 4, 1, 0, 8, none, 0, 0, \
	  scatter, scatter) \
	X(SCATTER_ND_UPDATE, "ScatterNDUpdate", MOVE, 3, 3, 1, 0, 0, none, 0, 0, scatter, scatter) \
	X(SCATTER_UPDATE, "ScatterUpdate", MOVE, 4, 4, 1, 0, 8, none, 0, 0, none, scatter) \
	X(SHUFFLE_CHANNELS, "ShuffleChannels", MOVE, 1, 1, 1, 0, 0, none, 0, 0, block, same) \
	X(SLICE, "Slice", MOVE, 4, 5, 1, 30, 0, none, 0, OPF_READS_PART, none, slice) \
	X(SPACE_TO_BATCH, "SpaceToBatch", MOVE, 4, 4, 1, 14, 0, none, 0, 0, none, space_to_batch) \
	X(SPACE_TO_DEPTH, "SpaceToDepth", MOVE, 1, 1, 1, 0, 0, none, 0, 0, block, space_to_depth) \
	X(SPLIT, "Split", MOVE, 2, 2, -1, 2, 2, none, 0, 0, split, split) \
	X(STRIDED_SLICE, "StridedSlice", MOVE, 3, 4, 1, 14, 0, none, 0, OPF_READS_PART, slice, \
	  strided_slice) \
	X(TILE, "Tile", MOVE, 2, 2, 1, 2, 0, none, 0, 0, none, tile) \
	X(TOP_K, "TopK", MOVE, 2, 2, 2, 2, 2, none, 0, 0, topk, topk) \
	X(TRANSPOSE, "Transpose", MOVE, 2, 2, 1, 2, 0, none, 0, 0, none, transpose) \
	X(VARIADIC_SPLIT, "VariadicSplit", MOVE, 3, 3, -1, 6, 2, none, 0, 0, none, \
	  variadic_split) \
	X(INTERPOLATE, "Interpolate", MOVE, 2, 4, 1, 14, 0, out, 4, 0, resize, interpolate) \
	X(REVERSE, "Reverse", MOVE, 2, 2, 1, 0, 0, none, 0, 0, onehot, same) \
	X(GATHER_TREE, "GatherTree", MOVE, 4, 4, 1, 0, 0, none, 0, 0, none, same) \
	X(SLICE_SCATTER, "SliceScatter", MOVE, 5, 6, 1, 0, 0, none, 0, 0, none, same) \
	X(IDENTITY, "Identity", MOVE, 1, 1, 1, 0, 0, none, 0, 0, none, same) \
	X(GRID_SAMPLE, "GridSample", MOVE, 2, 2, 1, 0, 0, none, 0, 0, sample, grid_sample) \
	X(EXTRACT_IMAGE_PATCHES, "ExtractImagePatches", MOVE, 1, 1, 1, 0, 0, none, 0, 0, \
	  window, patches) \
	X(COL2IM, "Col2Im", MOVE, 3, 3, 1, 6, 0, none, 0, 0, window, col2im) \
	X(REORG_YOLO, "ReorgYolo", MOVE, 1, 1, 1, 0, 0, none, 0, 0, yolo, reorg_yolo) \
	X(NV12_TO_RGB, "NV12toRGB", MOVE, 1, 2, 1, 0, 0, none, 0, 0, none, color) \
	X(NV12_TO_BGR, "NV12toBGR", MOVE, 1, 2, 1, 0, 0, none, 0, 0, none, color) \
	X(I420_TO_RGB, "I420toRGB", MOVE, 1, 3, 1, 0, 0, none, 0, 0, none, color) \
	X(I420_TO_BGR, "I420toBGR", MOVE, 1, 3, 1, 0, 0, none, 0, 0, none, color) \
	/* searches, bags of embeddings, sequences */ \
	X(BUCKETIZE, "Bucketize", MOVE, 2, 2, 1, 0, 0, none, 0, 0, search, search) \
	X(SEARCH_SORTED, "SearchSorted", MOVE, 2, 2, 1, 0, 0, none, 0, 0, search, search) \
	X(UNIQUE, "Unique", MOVE, 1, 2, 4, 2, 2, none, 0, OPF_BOUNDED, search, unique) \
	X(EMBEDDING_OFFSETS_SUM, "EmbeddingBagOffsetsSum", MOVE, 3, 5, 1, 0, 0, none, 0, 0, \
	  embedding, embedding_offsets) \
	X(EMBEDDING_OFFSETS, "EmbeddingBagOffsets", MOVE, 3, 5, 1, 0, 0, none, 0, 0, \
	  embedding, embedding_offsets) \
	X(EMBEDDING_PACKED_SUM, "EmbeddingBagPackedSum", MOVE, 2, 3, 1, 0, 0, none, 0, 0, \
	  embedding, embedding_packed) \
	X(EMBEDDING_PACKED, "EmbeddingBagPacked", MOVE, 2, 3, 1, 0, 0, none, 0, 0, embedding, \
	  embedding_packed) \
	X(EMBEDDING_SEGMENTS_SUM, "EmbeddingSegmentsSum", MOVE, 4, 6, 1, 8, 0, none, 0, 0, \
	  embedding, embedding_segments) \
	X(SEGMENT_MAX, "SegmentMax", MOVE, 2, 3, 1, 6, 0, none, 0, 0, embedding, segment_max) \
	X(CTC_GREEDY_DECODER, "CTCGreedyDecoder", MOVE, 2, 2, 1, 0, 0, none, 0, 0, ctc, \
	  ctc_greedy) \
	X(CTC_GREEDY_DECODER_SEQ_LEN, "CTCGreedyDecoderSeqLen", MOVE, 2, 3, 2, 0, 0, none, 0, \
	  0, ctc, ctc_lengths) \
	X(CTC_LOSS, "CTCLoss", NORM, 4, 5, 1, 0, 0, out, 8, 0, ctc, ctc_loss) \
	X(SPARSE_FILL_EMPTY_ROWS, "SparseFillEmptyRows", MOVE, 4, 4, 3, 2, 0, none, 0, \
	  OPF_BOUNDED, none, sparse_fill) \
	/* Fourier transforms */ \
	X(DFT, "DFT", NORM, 2, 3, 1, 6, 0, out, 8, 0, fft, dft) \
	X(IDFT, "IDFT", NORM, 2, 3, 1, 6, 0, out, 8, 0, fft, dft) \
	X(RDFT, "RDFT", NORM, 2, 3, 1, 6, 0, out, 8, 0, fft, rdft) \
	X(IRDFT, "IRDFT", NORM, 2, 3, 1, 6, 0, out, 8, 0, fft, irdft) \
	X(STFT, "STFT", NORM, 4, 4, 1, 12, 12, out, 8, 0, fft, stft) \
	X(ISTFT, "ISTFT", NORM, 4, 5, 1, 28, 12, out, 8, 0, fft, istft) \
	/* detectors */ \
	X(PRIOR_BOX, "PriorBox", SHAPE, 2, 2, 1, 1, 0, none, 0, 0, prior, prior) \
	X(PRIOR_BOX_CLUSTERED, "PriorBoxClustered", SHAPE, 2, 2, 1, 1, 0, none, 0, 0, prior, \
	  prior) \
	X(DETECTION_OUTPUT, "DetectionOutput", MOVE, 3, 5, 1, 0, 0, none, 0, 0, detection, \
	  detection) \
	X(NON_MAX_SUPPRESSION, "NonMaxSuppression", MOVE, 2, 6, -1, 4, 60, none, 0, \
	  OPF_BOUNDED, nms, nms) \
	X(NMS_ROTATED, "NMSRotated", MOVE, 5, 5, 3, 4, 60, none, 0, OPF_BOUNDED, nms, nms) \
	X(MATRIX_NMS, "MatrixNms", MOVE, 2, 2, 3, 0, 0, none, 0, OPF_BOUNDED, nms, nms_sets) \
	X(MULTICLASS_NMS, "MulticlassNms", MOVE, 2, 3, 3, 0, 0, none, 0, OPF_BOUNDED, nms, \
	  nms_sets) \
	X(PROPOSAL, "Proposal", MOVE, 3, 3, -1, 0, 0, none, 0, 0, proposal, proposal) \
	X(GENERATE_PROPOSALS, "GenerateProposals", MOVE, 4, 4, 3, 0, 0, none, 0, OPF_BOUNDED, \
	  proposal, generate_proposals) \
	X(DETECTRON_PROPOSALS, "ExperimentalDetectronGenerateProposalsSingleImage", MOVE, 4, \
	  4, 2, 0, 0, none, 0, 0, proposal, detectron_proposals) \
	X(DETECTRON_DETECTION_OUTPUT, "ExperimentalDetectronDetectionOutput", MOVE, 4, 4, 3, \
	  0, 0, none, 0, 0, proposal, detectron_detection) \
	X(DETECTRON_TOP_ROIS, "ExperimentalDetectronTopKROIs", MOVE, 2, 2, 1, 0, 0, none, 0, \
	  0, proposal, top_rois) \
	X(DETECTRON_PRIOR_GRID, "ExperimentalDetectronPriorGridGenerator", SHAPE, 3, 3, 1, 0, \
	  0, none, 0, 0, grid, prior_grid) \
	X(DETECTRON_ROI_FEATURES, "ExperimentalDetectronROIFeatureExtractor", POOL, 2, -1, -1, \
	  0, 0, in, 1, 0, roi, roi_features) \
	X(ROI_ALIGN, "ROIAlign", POOL, 3, 3, 1, 0, 0, in, 1, 0, roi, roi_align) \
	X(ROI_ALIGN_ROTATED, "ROIAlignRotated", POOL, 3, 3, 1, 0, 0, in, 1, 0, roi, roi_align) \
	X(ROI_POOLING, "ROIPooling", POOL, 2, 2, 1, 0, 0, in, 1, 0, roi, roi_align) \
	X(PSROI_POOLING, "PSROIPooling", POOL, 2, 2, 1, 0, 0, in, 1, 0, roi, psroi) \
	X(DEFORMABLE_PSROI_POOLING, "DeformablePSROIPooling", POOL, 2, 3, 1, 0, 0, in, 1, 0, \
	  roi, psroi) \
	X(REGION_YOLO, "RegionYolo", MOVE, 1, 1, 1, 0, 0, none, 0, 0, yolo, region_yolo) \
	/* shapes */ \
	X(RANGE, "Range", SHAPE, 3, 3, 1, 7, 7, none, 0, 0, convert, range) \
	X(SHAPE_OF, "ShapeOf", SHAPE, 1, 1, 1, 0, 0, none, 0, OPF_READS_PART, convert, shape_of) \
	X(EYE, "Eye", SHAPE, 3, 4, 1, 11, 7, none, 0, 0, convert, eye) \
	X(NON_ZERO, "NonZero", SHAPE, 1, 1, 1, 0, 0, none, 0, OPF_BOUNDED, convert, non_zero) \
	/* recurrent cells */ \
	X(LSTM_CELL, "LSTMCell", RECURRENT, 6, 7, 2, 0, 0, cell, 2, 0, cell, cell) \
	X(GRU_CELL, "GRUCell", RECURRENT, 5, 5, 1, 0, 0, cell, 2, 0, cell, cell) \
	X(RNN_CELL, "RNNCell", RECURRENT, 5, 5, 1, 0, 0, cell, 2, 0, cell, cell) \
	X(LSTM_SEQUENCE, "LSTMSequence", RECURRENT, 7, 8, 3, 0, 0, sequence, 2, 0, cell, \
	  sequence) \
	X(GRU_SEQUENCE, "GRUSequence", RECURRENT, 6, 6, 2, 0, 0, sequence, 2, 0, cell, sequence) \
	X(RNN_SEQUENCE, "RNNSequence", RECURRENT, 6, 6, 2, 0, 0, sequence, 2, 0, cell, sequence) \
	/* with bodies: known here so that they are described, run by the executor */ \
	X(TENSOR_ITERATOR, "TensorIterator", CONTROL, 0, -1, -1, 0, 0, bodies, 1, 0, none, \
	  unknown) \
	X(LOOP, "Loop", CONTROL, 2, -1, -1, 0, 0, bodies, 1, 0, none, unknown) \
	X(IF, "If", CONTROL, 1, -1, -1, 0, 0, bodies, 1, 0, none, unknown) \
	/* random numbers: never constant */ \
	X(RANDOM_UNIFORM, "RandomUniform", OTHER, 3, 3, 1, 1, 6, out, 1, 0, random, random) \
	X(MULTINOMIAL, "Multinomial", OTHER, 2, 2, 1, 2, 2, out, 1, 0, random, multinomial)

/* Types of OpenVINO's opsets that have no line above: kinds of nodes, and in the vocabulary of
 * features, but no operators that op.h describes. */
#define OP_NAMES_ONLY(X) \
	X(AUGRU_CELL, "AUGRUCell") \
	X(AUGRU_SEQUENCE, "AUGRUSequence") \
	X(BGR_TO_NV12, "BGRtoNV12") \
	X(RGB_TO_NV12, "RGBtoNV12") \
	X(STRING_TENSOR_PACK, "StringTensorPack") \
	X(STRING_TENSOR_UNPACK, "StringTensorUnpack") \
	X(XOR, "Xor")

/* Kinds of nodes that problems in JSON tell (lib/place/problem/jsonproblem_dnnpart.c). */
#define OP_OF_PROBLEMS(X) X(BACKWARD, "Backward")
/* clang-format on */

#endif
