/* oplist.h - the list of operators, one row each; expanded by op.h (the enum) and
 * op.c (the table).  Columns:
 *   kind, type, category, least and greatest number of inputs (-1: any), outputs
 *   (-1: as many as the node has), inputs whose values decide the output shapes (bit i),
 *   attribute decoder, shape inference.  */
#ifndef HSDAG_OP_OPLIST_H
#define HSDAG_OP_OPLIST_H

#define OP_LIST(X) \
	X(PARAMETER, "Parameter", OPC_SOURCE, 0, 0, 1, 0, none, recorded) \
	X(CONST, "Const", OPC_SOURCE, 0, 0, 1, 0, none, recorded) \
	X(RESULT, "Result", OPC_SINK, 1, 1, -1, 0, none, same) \
	X(READ_VALUE, "ReadValue", OPC_SOURCE, 0, 1, 1, 0, variable, read_value) \
	X(ASSIGN, "Assign", OPC_SINK, 1, 1, -1, 0, variable, same) \
	/* element-wise, one input */ \
	X(ABS, "Abs", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(ACOS, "Acos", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(ACOSH, "Acosh", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(ASIN, "Asin", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(ASINH, "Asinh", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(ATAN, "Atan", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(ATANH, "Atanh", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(BITWISE_NOT, "BitwiseNot", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(CEILING, "Ceiling", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(CLAMP, "Clamp", OPC_UNARY, 1, 1, 1, 0, act, same) \
	X(CONVERT, "Convert", OPC_UNARY, 1, 1, 1, 0, convert, convert) \
	X(CONVERT_LIKE, "ConvertLike", OPC_UNARY, 2, 2, 1, 0, none, convert_like) \
	X(CONVERT_PROMOTE_TYPES, "ConvertPromoteTypes", OPC_MOVE, 2, 2, 2, 0, none, promote) \
	X(COS, "Cos", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(COSH, "Cosh", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(ELU, "Elu", OPC_UNARY, 1, 1, 1, 0, act, same) \
	X(ERF, "Erf", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(EXP, "Exp", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(FLOOR, "Floor", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(GELU, "Gelu", OPC_UNARY, 1, 1, 1, 0, act, same) \
	X(HARD_SIGMOID, "HardSigmoid", OPC_UNARY, 3, 3, 1, 0, none, same) \
	X(HSIGMOID, "HSigmoid", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(HSWISH, "HSwish", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(IS_FINITE, "IsFinite", OPC_UNARY, 1, 1, 1, 0, none, test) \
	X(IS_INF, "IsInf", OPC_UNARY, 1, 1, 1, 0, act, test) \
	X(IS_NAN, "IsNaN", OPC_UNARY, 1, 1, 1, 0, none, test) \
	X(LOG, "Log", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(LOGICAL_NOT, "LogicalNot", OPC_UNARY, 1, 1, 1, 0, none, test) \
	X(MISH, "Mish", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(NEGATIVE, "Negative", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(RELU, "ReLU", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(ROUND, "Round", OPC_UNARY, 1, 1, 1, 0, act, same) \
	X(SELU, "Selu", OPC_UNARY, 3, 3, 1, 0, none, same) \
	X(SIGMOID, "Sigmoid", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(SIGN, "Sign", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(SIN, "Sin", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(SINH, "Sinh", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(SOFT_PLUS, "SoftPlus", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(SOFT_SIGN, "SoftSign", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(SQRT, "Sqrt", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(SWISH, "Swish", OPC_UNARY, 1, 2, 1, 0, none, same) \
	X(TAN, "Tan", OPC_UNARY, 1, 1, 1, 0, none, same) \
	X(TANH, "Tanh", OPC_UNARY, 1, 1, 1, 0, none, same) \
	/* element-wise, two inputs */ \
	X(ADD, "Add", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(BITWISE_AND, "BitwiseAnd", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(BITWISE_LEFT_SHIFT, "BitwiseLeftShift", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(BITWISE_OR, "BitwiseOr", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(BITWISE_RIGHT_SHIFT, "BitwiseRightShift", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(BITWISE_XOR, "BitwiseXor", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(DIVIDE, "Divide", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(FLOOR_MOD, "FloorMod", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(MAXIMUM, "Maximum", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(MINIMUM, "Minimum", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(MOD, "Mod", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(MULTIPLY, "Multiply", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(POWER, "Power", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(PRELU, "PReLU", OPC_BINARY, 2, 2, 1, 0, none, prelu) \
	X(SQUARED_DIFFERENCE, "SquaredDifference", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(SUBTRACT, "Subtract", OPC_BINARY, 2, 2, 1, 0, broadcast, binary) \
	X(EQUAL, "Equal", OPC_COMPARE, 2, 2, 1, 0, broadcast, compare) \
	X(GREATER, "Greater", OPC_COMPARE, 2, 2, 1, 0, broadcast, compare) \
	X(GREATER_EQUAL, "GreaterEqual", OPC_COMPARE, 2, 2, 1, 0, broadcast, compare) \
	X(LESS, "Less", OPC_COMPARE, 2, 2, 1, 0, broadcast, compare) \
	X(LESS_EQUAL, "LessEqual", OPC_COMPARE, 2, 2, 1, 0, broadcast, compare) \
	X(LOGICAL_AND, "LogicalAnd", OPC_COMPARE, 2, 2, 1, 0, broadcast, compare) \
	X(LOGICAL_OR, "LogicalOr", OPC_COMPARE, 2, 2, 1, 0, broadcast, compare) \
	X(LOGICAL_XOR, "LogicalXor", OPC_COMPARE, 2, 2, 1, 0, broadcast, compare) \
	X(NOT_EQUAL, "NotEqual", OPC_COMPARE, 2, 2, 1, 0, broadcast, compare) \
	X(SELECT, "Select", OPC_TERNARY, 3, 3, 1, 0, broadcast, select) \
	X(FAKE_QUANTIZE, "FakeQuantize", OPC_TERNARY, 5, 5, 1, 0, quantize, same) \
	X(FAKE_CONVERT, "FakeConvert", OPC_TERNARY, 2, 3, 1, 0, convert, same) \
	/* reductions */ \
	X(REDUCE_L1, "ReduceL1", OPC_REDUCE, 2, 2, 1, 2, reduce, reduce) \
	X(REDUCE_L2, "ReduceL2", OPC_REDUCE, 2, 2, 1, 2, reduce, reduce) \
	X(REDUCE_LOGICAL_AND, "ReduceLogicalAnd", OPC_REDUCE, 2, 2, 1, 2, reduce, reduce) \
	X(REDUCE_LOGICAL_OR, "ReduceLogicalOr", OPC_REDUCE, 2, 2, 1, 2, reduce, reduce) \
	X(REDUCE_MAX, "ReduceMax", OPC_REDUCE, 2, 2, 1, 2, reduce, reduce) \
	X(REDUCE_MEAN, "ReduceMean", OPC_REDUCE, 2, 2, 1, 2, reduce, reduce) \
	X(REDUCE_MIN, "ReduceMin", OPC_REDUCE, 2, 2, 1, 2, reduce, reduce) \
	X(REDUCE_PROD, "ReduceProd", OPC_REDUCE, 2, 2, 1, 2, reduce, reduce) \
	X(REDUCE_SUM, "ReduceSum", OPC_REDUCE, 2, 2, 1, 2, reduce, reduce) \
	/* products, convolutions, pooling */ \
	X(MATMUL, "MatMul", OPC_MATMUL, 2, 2, 1, 0, matmul, matmul) \
	X(ATTENTION, "ScaledDotProductAttention", OPC_MATMUL, 3, 6, 1, 0, attention, attention) \
	X(CONVOLUTION, "Convolution", OPC_CONV, 2, 2, 1, 0, window, conv) \
	X(GROUP_CONVOLUTION, "GroupConvolution", OPC_CONV, 2, 2, 1, 0, window, conv) \
	X(CONVOLUTION_BACKPROP, "ConvolutionBackpropData", OPC_CONV, 2, 3, 1, 4, window, \
	  conv_backprop) \
	X(GROUP_CONVOLUTION_BACKPROP, "GroupConvolutionBackpropData", OPC_CONV, 2, 3, 1, 4, \
	  window, conv_backprop) \
	X(AVG_POOL, "AvgPool", OPC_POOL, 1, 1, 1, 0, window, pool) \
	X(MAX_POOL, "MaxPool", OPC_POOL, 1, 1, -1, 0, window, pool) \
	X(ADAPTIVE_AVG_POOL, "AdaptiveAvgPool", OPC_POOL, 2, 2, 1, 2, none, adaptive_pool) \
	X(ADAPTIVE_MAX_POOL, "AdaptiveMaxPool", OPC_POOL, 2, 2, 2, 2, none, adaptive_pool) \
	X(BINARY_CONVOLUTION, "BinaryConvolution", OPC_CONV, 2, 2, 1, 0, window, conv) \
	X(DEFORMABLE_CONVOLUTION, "DeformableConvolution", OPC_CONV, 3, 4, 1, 0, window, \
	  deformable_conv) \
	X(EINSUM, "Einsum", OPC_MATMUL, 1, -1, 1, 0, none, einsum) \
	X(INVERSE, "Inverse", OPC_MATMUL, 1, 1, 1, 0, inverse, same) \
	/* normalisations */ \
	X(GRN, "GRN", OPC_NORM, 1, 1, 1, 0, lrn, same) \
	X(SOFTMAX, "SoftMax", OPC_NORM, 1, 1, 1, 0, axis, same) \
	X(LOG_SOFTMAX, "LogSoftmax", OPC_NORM, 1, 1, 1, 0, axis, same) \
	X(MVN, "MVN", OPC_NORM, 1, 2, 1, 0, norm, same) \
	X(LRN, "LRN", OPC_NORM, 2, 2, 1, 0, lrn, same) \
	X(NORMALIZE_L2, "NormalizeL2", OPC_NORM, 2, 2, 1, 0, norm, same) \
	X(BATCH_NORM, "BatchNormInference", OPC_NORM, 5, 5, 1, 0, norm, batch_norm) \
	X(GROUP_NORM, "GroupNormalization", OPC_NORM, 3, 3, 1, 0, norm, same) \
	X(RMS, "RMS", OPC_NORM, 2, 2, 1, 0, norm, same) \
	/* views and movement */ \
	X(RESHAPE, "Reshape", OPC_VIEW, 2, 2, 1, 2, reshape, reshape) \
	X(SQUEEZE, "Squeeze", OPC_VIEW, 1, 2, 1, 2, none, squeeze) \
	X(UNSQUEEZE, "Unsqueeze", OPC_VIEW, 2, 2, 1, 2, none, unsqueeze) \
	X(BATCH_TO_SPACE, "BatchToSpace", OPC_MOVE, 4, 4, 1, 14, none, batch_to_space) \
	X(BROADCAST, "Broadcast", OPC_MOVE, 2, 3, 1, 6, broadcast, broadcast) \
	X(CONCAT, "Concat", OPC_MOVE, 1, -1, 1, 0, axis, concat) \
	X(CUM_SUM, "CumSum", OPC_MOVE, 1, 2, 1, 0, axis, same) \
	X(DEPTH_TO_SPACE, "DepthToSpace", OPC_MOVE, 1, 1, 1, 0, block, depth_to_space) \
	X(GATHER, "Gather", OPC_MOVE, 3, 3, 1, 4, axis, gather) \
	X(GATHER_ELEMENTS, "GatherElements", OPC_MOVE, 2, 2, 1, 0, axis, gather_elements) \
	X(GATHER_ND, "GatherND", OPC_MOVE, 2, 2, 1, 0, axis, gather_nd) \
	X(ONE_HOT, "OneHot", OPC_MOVE, 4, 4, 1, 2, onehot, one_hot) \
	X(PAD, "Pad", OPC_MOVE, 3, 4, 1, 6, pad, pad) \
	X(REVERSE_SEQUENCE, "ReverseSequence", OPC_MOVE, 2, 2, 1, 0, onehot, same) \
	X(ROLL, "Roll", OPC_MOVE, 3, 3, 1, 0, none, same) \
	X(SCATTER_ELEMENTS_UPDATE, "ScatterElementsUpdate", OPC_MOVE, 4, 4, 1, 0, scatter, same) \
	X(SCATTER_ND_UPDATE, "ScatterNDUpdate", OPC_MOVE, 3, 3, 1, 0, scatter, same) \
	X(SCATTER_UPDATE, "ScatterUpdate", OPC_MOVE, 4, 4, 1, 0, none, same) \
	X(SHUFFLE_CHANNELS, "ShuffleChannels", OPC_MOVE, 1, 1, 1, 0, block, same) \
	X(SLICE, "Slice", OPC_MOVE, 4, 5, 1, 30, none, slice) \
	X(SPACE_TO_BATCH, "SpaceToBatch", OPC_MOVE, 4, 4, 1, 14, none, space_to_batch) \
	X(SPACE_TO_DEPTH, "SpaceToDepth", OPC_MOVE, 1, 1, 1, 0, block, space_to_depth) \
	X(SPLIT, "Split", OPC_MOVE, 2, 2, -1, 2, split, split) \
	X(STRIDED_SLICE, "StridedSlice", OPC_MOVE, 3, 4, 1, 14, slice, strided_slice) \
	X(TILE, "Tile", OPC_MOVE, 2, 2, 1, 2, none, tile) \
	X(TOP_K, "TopK", OPC_MOVE, 2, 2, 2, 2, topk, topk) \
	X(TRANSPOSE, "Transpose", OPC_MOVE, 2, 2, 1, 2, none, transpose) \
	X(VARIADIC_SPLIT, "VariadicSplit", OPC_MOVE, 3, 3, -1, 6, none, variadic_split) \
	X(INTERPOLATE, "Interpolate", OPC_MOVE, 2, 4, 1, 14, resize, interpolate) \
	X(REVERSE, "Reverse", OPC_MOVE, 2, 2, 1, 0, onehot, same) \
	X(GATHER_TREE, "GatherTree", OPC_MOVE, 4, 4, 1, 0, none, same) \
	X(SLICE_SCATTER, "SliceScatter", OPC_MOVE, 5, 6, 1, 0, none, same) \
	X(IDENTITY, "Identity", OPC_MOVE, 1, 1, 1, 0, none, same) \
	X(GRID_SAMPLE, "GridSample", OPC_MOVE, 2, 2, 1, 0, sample, grid_sample) \
	X(EXTRACT_IMAGE_PATCHES, "ExtractImagePatches", OPC_MOVE, 1, 1, 1, 0, window, patches) \
	X(COL2IM, "Col2Im", OPC_MOVE, 3, 3, 1, 6, window, col2im) \
	X(REORG_YOLO, "ReorgYolo", OPC_MOVE, 1, 1, 1, 0, yolo, reorg_yolo) \
	X(NV12_TO_RGB, "NV12toRGB", OPC_MOVE, 1, 2, 1, 0, none, color) \
	X(NV12_TO_BGR, "NV12toBGR", OPC_MOVE, 1, 2, 1, 0, none, color) \
	X(I420_TO_RGB, "I420toRGB", OPC_MOVE, 1, 3, 1, 0, none, color) \
	X(I420_TO_BGR, "I420toBGR", OPC_MOVE, 1, 3, 1, 0, none, color) \
	/* searches, bags of embeddings, sequences */ \
	X(BUCKETIZE, "Bucketize", OPC_MOVE, 2, 2, 1, 0, search, search) \
	X(SEARCH_SORTED, "SearchSorted", OPC_MOVE, 2, 2, 1, 0, search, search) \
	X(UNIQUE, "Unique", OPC_MOVE, 1, 2, 4, 2, search, unique) \
	X(EMBEDDING_OFFSETS_SUM, "EmbeddingBagOffsetsSum", OPC_MOVE, 3, 5, 1, 0, embedding, \
	  embedding_offsets) \
	X(EMBEDDING_OFFSETS, "EmbeddingBagOffsets", OPC_MOVE, 3, 5, 1, 0, embedding, \
	  embedding_offsets) \
	X(EMBEDDING_PACKED_SUM, "EmbeddingBagPackedSum", OPC_MOVE, 2, 3, 1, 0, embedding, \
	  embedding_packed) \
	X(EMBEDDING_PACKED, "EmbeddingBagPacked", OPC_MOVE, 2, 3, 1, 0, embedding, \
	  embedding_packed) \
	X(EMBEDDING_SEGMENTS_SUM, "EmbeddingSegmentsSum", OPC_MOVE, 4, 6, 1, 8, embedding, \
	  embedding_segments) \
	X(SEGMENT_MAX, "SegmentMax", OPC_MOVE, 2, 3, 1, 6, embedding, segment_max) \
	X(CTC_GREEDY_DECODER, "CTCGreedyDecoder", OPC_MOVE, 2, 2, 1, 0, ctc, ctc_greedy) \
	X(CTC_GREEDY_DECODER_SEQ_LEN, "CTCGreedyDecoderSeqLen", OPC_MOVE, 2, 3, 2, 0, ctc, \
	  ctc_lengths) \
	X(CTC_LOSS, "CTCLoss", OPC_NORM, 4, 5, 1, 0, ctc, ctc_loss) \
	X(SPARSE_FILL_EMPTY_ROWS, "SparseFillEmptyRows", OPC_MOVE, 4, 4, 3, 2, none, sparse_fill) \
	/* Fourier transforms */ \
	X(DFT, "DFT", OPC_NORM, 2, 3, 1, 6, fft, dft) \
	X(IDFT, "IDFT", OPC_NORM, 2, 3, 1, 6, fft, dft) \
	X(RDFT, "RDFT", OPC_NORM, 2, 3, 1, 6, fft, rdft) \
	X(IRDFT, "IRDFT", OPC_NORM, 2, 3, 1, 6, fft, irdft) \
	X(STFT, "STFT", OPC_NORM, 4, 4, 1, 12, fft, stft) \
	X(ISTFT, "ISTFT", OPC_NORM, 4, 5, 1, 28, fft, istft) \
	/* detectors */ \
	X(PRIOR_BOX, "PriorBox", OPC_SHAPE, 2, 2, 1, 1, prior, prior) \
	X(PRIOR_BOX_CLUSTERED, "PriorBoxClustered", OPC_SHAPE, 2, 2, 1, 1, prior, prior) \
	X(DETECTION_OUTPUT, "DetectionOutput", OPC_MOVE, 3, 5, 1, 0, detection, detection) \
	X(NON_MAX_SUPPRESSION, "NonMaxSuppression", OPC_MOVE, 2, 6, -1, 4, nms, nms) \
	X(NMS_ROTATED, "NMSRotated", OPC_MOVE, 5, 5, 3, 4, nms, nms) \
	X(MATRIX_NMS, "MatrixNms", OPC_MOVE, 2, 2, 3, 0, nms, nms_sets) \
	X(MULTICLASS_NMS, "MulticlassNms", OPC_MOVE, 2, 3, 3, 0, nms, nms_sets) \
	X(PROPOSAL, "Proposal", OPC_MOVE, 3, 3, -1, 0, proposal, proposal) \
	X(GENERATE_PROPOSALS, "GenerateProposals", OPC_MOVE, 4, 4, 3, 0, proposal, \
	  generate_proposals) \
	X(DETECTRON_PROPOSALS, "ExperimentalDetectronGenerateProposalsSingleImage", OPC_MOVE, 4, \
	  4, 2, 0, proposal, detectron_proposals) \
	X(DETECTRON_DETECTION_OUTPUT, "ExperimentalDetectronDetectionOutput", OPC_MOVE, 4, 4, 3, \
	  0, proposal, detectron_detection) \
	X(DETECTRON_TOP_ROIS, "ExperimentalDetectronTopKROIs", OPC_MOVE, 2, 2, 1, 0, proposal, \
	  top_rois) \
	X(DETECTRON_PRIOR_GRID, "ExperimentalDetectronPriorGridGenerator", OPC_SHAPE, 3, 3, 1, 0, \
	  grid, prior_grid) \
	X(DETECTRON_ROI_FEATURES, "ExperimentalDetectronROIFeatureExtractor", OPC_POOL, 2, -1, -1, \
	  0, roi, roi_features) \
	X(ROI_ALIGN, "ROIAlign", OPC_POOL, 3, 3, 1, 0, roi, roi_align) \
	X(ROI_ALIGN_ROTATED, "ROIAlignRotated", OPC_POOL, 3, 3, 1, 0, roi, roi_align) \
	X(ROI_POOLING, "ROIPooling", OPC_POOL, 2, 2, 1, 0, roi, roi_align) \
	X(PSROI_POOLING, "PSROIPooling", OPC_POOL, 2, 2, 1, 0, roi, psroi) \
	X(DEFORMABLE_PSROI_POOLING, "DeformablePSROIPooling", OPC_POOL, 2, 3, 1, 0, roi, psroi) \
	X(REGION_YOLO, "RegionYolo", OPC_MOVE, 1, 1, 1, 0, yolo, region_yolo) \
	/* shapes */ \
	X(RANGE, "Range", OPC_SHAPE, 3, 3, 1, 7, convert, range) \
	X(SHAPE_OF, "ShapeOf", OPC_SHAPE, 1, 1, 1, 0, convert, shape_of) \
	X(EYE, "Eye", OPC_SHAPE, 3, 4, 1, 11, convert, eye) \
	X(NON_ZERO, "NonZero", OPC_SHAPE, 1, 1, 1, 0, convert, non_zero) \
	/* recurrent cells */ \
	X(LSTM_CELL, "LSTMCell", OPC_RECURRENT, 6, 7, 2, 0, cell, cell) \
	X(GRU_CELL, "GRUCell", OPC_RECURRENT, 5, 5, 1, 0, cell, cell) \
	X(RNN_CELL, "RNNCell", OPC_RECURRENT, 5, 5, 1, 0, cell, cell) \
	X(LSTM_SEQUENCE, "LSTMSequence", OPC_RECURRENT, 7, 8, 3, 0, cell, sequence) \
	X(GRU_SEQUENCE, "GRUSequence", OPC_RECURRENT, 6, 6, 2, 0, cell, sequence) \
	X(RNN_SEQUENCE, "RNNSequence", OPC_RECURRENT, 6, 6, 2, 0, cell, sequence) \
	/* with bodies: known here so that they are described, run by the executor */ \
	X(TENSOR_ITERATOR, "TensorIterator", OPC_CONTROL, 0, -1, -1, 0, none, unknown) \
	X(LOOP, "Loop", OPC_CONTROL, 2, -1, -1, 0, none, unknown) \
	X(IF, "If", OPC_CONTROL, 1, -1, -1, 0, none, unknown) \
	/* random numbers: never constant */ \
	X(RANDOM_UNIFORM, "RandomUniform", OPC_OTHER, 3, 3, 1, 1, random, random) \
	X(MULTINOMIAL, "Multinomial", OPC_OTHER, 2, 2, 1, 2, random, multinomial)

#endif
