/* kernel_list.h - the table of CPU kernels, one line an operator.  Operators without a line have no
 * kernel.  README.md says how to add one.
 *
 *   X(KIND, NATIVE, RUN, FLAGS, ...)
 *   NATIVE  the element types it computes in (enum native without NATIVE_)
 *   RUN     int run_RUN(const struct kernel_call *, struct err *) computes the outputs
 *   FLAGS   enum kernel_flags; behind them other members of struct kernel, where it has them */
#ifndef HSDAG_KERNEL_KERNEL_LIST_H
#define HSDAG_KERNEL_KERNEL_LIST_H

/* clang-format off */
#define CPU_KERNELS(X) \
	X(ABS, WIDE, unary, FUSES) \
	X(ACOS, WIDE, unary, FUSES) \
	X(ACOSH, WIDE, unary, FUSES) \
	X(ASIN, WIDE, unary, FUSES) \
	X(ASINH, WIDE, unary, FUSES) \
	X(ATAN, WIDE, unary, FUSES) \
	X(ATANH, WIDE, unary, FUSES) \
	X(BITWISE_NOT, TEST, unary, 0) \
	X(CEILING, WIDE, unary, FUSES) \
	X(CLAMP, WIDE, unary, FUSES) \
	X(COS, WIDE, unary, FUSES) \
	X(COSH, WIDE, unary, FUSES) \
	X(ELU, WIDE, unary, FUSES) \
	X(ERF, WIDE, unary, FUSES) \
	X(ERF_INV, WIDE, unary, FUSES) \
	X(EXP, WIDE, unary, FUSES) \
	X(FLOOR, WIDE, unary, FUSES) \
	X(GELU, WIDE, unary, FUSES) \
	X(HARD_SIGMOID, WIDE, unary, FUSES) \
	X(HSIGMOID, WIDE, unary, FUSES) \
	X(HSWISH, WIDE, unary, FUSES) \
	X(IS_FINITE, TEST, unary, 0) \
	X(IS_INF, TEST, unary, 0) \
	X(IS_NAN, TEST, unary, 0) \
	X(LOG, WIDE, unary, FUSES) \
	X(LOGICAL_NOT, TEST, unary, 0) \
	X(MISH, WIDE, unary, FUSES) \
	X(NEGATIVE, WIDE, unary, FUSES) \
	X(RELU, WIDE, unary, FUSES) \
	X(ROUND, WIDE, unary, FUSES) \
	X(SELU, WIDE, unary, FUSES) \
	X(SIGMOID, WIDE, unary, FUSES) \
	X(SIGN, WIDE, unary, FUSES) \
	X(SIN, WIDE, unary, FUSES) \
	X(SINH, WIDE, unary, FUSES) \
	X(SOFT_PLUS, WIDE, unary, FUSES) \
	X(SOFT_SIGN, WIDE, unary, FUSES) \
	X(SQRT, WIDE, unary, FUSES) \
	X(SWISH, WIDE, unary, FUSES) \
	X(TAN, WIDE, unary, FUSES) \
	X(TANH, WIDE, unary, FUSES) \
	X(CONVERT, ANY, convert, 0) \
	X(CONVERT_LIKE, ANY, convert, 0) \
	X(CONVERT_PROMOTE_TYPES, ANY, convert, 0) \
	X(ADD, WIDE, binary, FUSES) \
	X(BITWISE_AND, TEST, binary, 0) \
	X(BITWISE_LEFT_SHIFT, WIDE, binary, 0) \
	X(BITWISE_OR, TEST, binary, 0) \
	X(BITWISE_RIGHT_SHIFT, WIDE, binary, 0) \
	X(BITWISE_XOR, TEST, binary, 0) \
	X(DIVIDE, WIDE, binary, FUSES) \
	X(FLOOR_MOD, WIDE, binary, FUSES) \
	X(MAXIMUM, WIDE, binary, FUSES) \
	X(MINIMUM, WIDE, binary, FUSES) \
	X(MOD, WIDE, binary, FUSES) \
	X(MULTIPLY, WIDE, binary, FUSES) \
	X(POWER, WIDE, binary, FUSES) \
	X(SQUARED_DIFFERENCE, WIDE, binary, FUSES) \
	X(SUBTRACT, WIDE, binary, FUSES) \
	X(EQUAL, TEST, binary, 0) \
	X(GREATER, TEST, binary, 0) \
	X(GREATER_EQUAL, TEST, binary, 0) \
	X(LESS, TEST, binary, 0) \
	X(LESS_EQUAL, TEST, binary, 0) \
	X(LOGICAL_AND, TEST, binary, 0) \
	X(LOGICAL_OR, TEST, binary, 0) \
	X(LOGICAL_XOR, TEST, binary, 0) \
	X(NOT_EQUAL, TEST, binary, 0) \
	X(PRELU, F32, prelu, FUSES) \
	X(SELECT, MOVE, select, 0) \
	X(FAKE_QUANTIZE, F32, fake_quantize, FUSES) \
	X(FAKE_CONVERT, F32, fake_convert, 0) \
	X(REDUCE_L1, WIDE, reduce, HEAD) \
	X(REDUCE_L2, WIDE, reduce, HEAD) \
	X(REDUCE_LOGICAL_AND, TEST, reduce, HEAD) \
	X(REDUCE_LOGICAL_OR, TEST, reduce, HEAD) \
	X(REDUCE_MAX, WIDE, reduce, HEAD) \
	X(REDUCE_MEAN, WIDE, reduce, HEAD) \
	X(REDUCE_MIN, WIDE, reduce, HEAD) \
	X(REDUCE_PROD, WIDE, reduce, HEAD) \
	X(REDUCE_SUM, WIDE, reduce, HEAD) \
	X(MATMUL, F32, matmul, HEAD | POSTS, .prepare = prepare_matmul, .takes = matmul_takes) \
	X(GROUPED_MATMUL, REAL, grouped_matmul, 0, .supports = supports_grouped) \
	X(ATTENTION, F32, attention, HEAD) \
	X(CONVOLUTION, F32, conv, HEAD | POSTS, .prepare = prepare_conv, \
	  .supports = supports_window, .takes = conv_takes) \
	X(GROUP_CONVOLUTION, F32, conv, HEAD | POSTS, .prepare = prepare_conv, \
	  .supports = supports_window, .takes = conv_takes) \
	X(CONVOLUTION_BACKPROP, F32, conv_backprop, HEAD, .prepare = prepare_conv_backprop, .supports = supports_window) \
	X(GROUP_CONVOLUTION_BACKPROP, F32, conv_backprop, HEAD, .prepare = prepare_conv_backprop, .supports = supports_window) \
	X(AVG_POOL, F32, pool, HEAD, .supports = supports_window) \
	X(MAX_POOL, F32, pool, HEAD, .supports = supports_window) \
	X(ADAPTIVE_AVG_POOL, F32, adaptive_pool, 0) \
	X(SOFTMAX, F32, softmax, HEAD | POSTS) \
	X(LOG_SOFTMAX, F32, softmax, HEAD | POSTS) \
	X(MVN, F32, mvn, HEAD | POSTS) \
	X(LRN, F32, lrn, HEAD) \
	X(NORMALIZE_L2, F32, normalize_l2, HEAD | POSTS) \
	X(BATCH_NORM, F32, batch_norm, HEAD | POSTS) \
	X(GROUP_NORM, F32, group_norm, HEAD | POSTS) \
	X(RMS, F32, rms, HEAD | POSTS) \
	X(RESHAPE, ANY, copy, 0) \
	X(SQUEEZE, ANY, copy, 0) \
	X(UNSQUEEZE, ANY, copy, 0) \
	X(RESULT, ANY, copy, 0) \
	X(BATCH_TO_SPACE, MOVE, space, 0) \
	X(SPACE_TO_BATCH, MOVE, space, 0) \
	X(DEPTH_TO_SPACE, MOVE, space, 0) \
	X(SPACE_TO_DEPTH, MOVE, space, 0) \
	X(BROADCAST, MOVE, broadcast, 0) \
	X(CONCAT, MOVE, concat, HEAD) \
	X(CUM_SUM, WIDE, cum_sum, 0) \
	X(GATHER, MOVE, gather, 0, .takes = gather_takes) \
	X(GATHER_ELEMENTS, MOVE, gather_elements, 0) \
	X(GATHER_ND, MOVE, gather_nd, 0) \
	X(ONE_HOT, MOVE, one_hot, 0) \
	X(PAD, MOVE, pad, 0) \
	X(REVERSE_SEQUENCE, MOVE, reverse_sequence, 0) \
	X(ROLL, MOVE, roll, 0) \
	X(SCATTER_ELEMENTS_UPDATE, ANY, scatter, 0) \
	X(SCATTER_ND_UPDATE, MOVE, scatter, 0) \
	X(SCATTER_UPDATE, MOVE, scatter, 0) \
	X(SHUFFLE_CHANNELS, MOVE, shuffle, 0) \
	X(SLICE, MOVE, slice, 0) \
	X(STRIDED_SLICE, MOVE, slice, 0) \
	X(SPLIT, MOVE, split, 0) \
	X(VARIADIC_SPLIT, MOVE, split, 0) \
	X(TILE, MOVE, tile, 0) \
	X(TOP_K, ANY, top_k, 0) \
	X(TRANSPOSE, MOVE, transpose, HEAD) \
	X(INTERPOLATE, F32, resize, HEAD) \
	X(ADAPTIVE_MAX_POOL, REAL, adaptive_max_pool, 0, .reals = 1) \
	X(GRN, F32, grn, HEAD) \
	X(INVERSE, ANY, inverse, 0) \
	X(DEFORMABLE_CONVOLUTION, F32, deformable_conv, 0, .supports = supports_window) \
	X(BINARY_CONVOLUTION, F32, binary_conv, 0, .supports = supports_window) \
	X(EXTRACT_IMAGE_PATCHES, MOVE, image_patches, 0) \
	X(COL2IM, WIDE, col2im, 0) \
	X(GATHER_TREE, WIDE, gather_tree, 0) \
	X(REVERSE, MOVE, reverse, 0) \
	X(SLICE_SCATTER, MOVE, slice_scatter, 0) \
	X(EINSUM, WIDE, einsum, 0, .prepare = prepare_einsum) \
	X(GRID_SAMPLE, REAL, grid_sample, 0, .reals = 3) \
	X(REORG_YOLO, REAL, reorg_yolo, 0, .reals = 1) \
	X(REGION_YOLO, REAL, region_yolo, 0, .reals = 1) \
	X(BUCKETIZE, ANY, search, 0) \
	X(SEARCH_SORTED, ANY, search, 0) \
	X(UNIQUE, ANY, unique, 0) \
	X(SPARSE_FILL_EMPTY_ROWS, ANY, sparse_fill, 0) \
	X(NV12_TO_RGB, REAL, color, 0) \
	X(NV12_TO_BGR, REAL, color, 0) \
	X(I420_TO_RGB, REAL, color, 0) \
	X(I420_TO_BGR, REAL, color, 0) \
	X(EMBEDDING_OFFSETS_SUM, REAL, embedding_offsets, 0) \
	X(EMBEDDING_OFFSETS, REAL, embedding_offsets, 0) \
	X(EMBEDDING_PACKED_SUM, REAL, embedding_packed, 0) \
	X(EMBEDDING_PACKED, REAL, embedding_packed, 0) \
	X(EMBEDDING_SEGMENTS_SUM, REAL, embedding_segments, 0) \
	X(SEGMENT_MAX, REAL, segment_max, 0) \
	X(CTC_GREEDY_DECODER, REAL, ctc_greedy, 0, .reals = 3) \
	X(CTC_GREEDY_DECODER_SEQ_LEN, REAL, ctc_lengths, 0, .reals = 1) \
	X(CTC_LOSS, REAL, ctc_loss, HEAD, .reals = 1) \
	X(DFT, REAL, dft, HEAD, .reals = 1) \
	X(IDFT, REAL, dft, HEAD, .reals = 1) \
	X(RDFT, REAL, rdft, HEAD, .reals = 1) \
	X(IRDFT, REAL, irdft, HEAD, .reals = 1) \
	X(STFT, REAL, stft, HEAD, .reals = 3) \
	X(ISTFT, REAL, istft, HEAD, .reals = 3) \
	X(PRIOR_BOX, REAL, prior_box, 0) \
	X(PRIOR_BOX_CLUSTERED, REAL, prior_box_clustered, 0) \
	X(DETECTION_OUTPUT, REAL, detection, 0, .reals = 31) \
	X(NON_MAX_SUPPRESSION, REAL, nms, 0, .reals = 3) \
	X(NMS_ROTATED, REAL, nms, 0, .reals = 3) \
	X(MATRIX_NMS, REAL, nms_sets, 0, .reals = 3) \
	X(MULTICLASS_NMS, REAL, nms_sets, 0, .reals = 3) \
	X(PROPOSAL, REAL, proposal, 0, .reals = 7) \
	X(GENERATE_PROPOSALS, REAL, generate_proposals, 0, .reals = 15) \
	X(DETECTRON_PROPOSALS, REAL, detectron_proposals, 0, .reals = 15) \
	X(DETECTRON_DETECTION_OUTPUT, REAL, detectron_detection, 0, .reals = 15) \
	X(DETECTRON_TOP_ROIS, REAL, top_rois, 0, .reals = 3) \
	X(DETECTRON_PRIOR_GRID, REAL, prior_grid, 0, .reals = 7) \
	X(DETECTRON_ROI_FEATURES, REAL, roi_features, 0, .reals = ~0u) \
	X(ROI_ALIGN, REAL, roi_align, 0, .reals = 3) \
	X(ROI_ALIGN_ROTATED, REAL, roi_align, 0, .reals = 3) \
	X(ROI_POOLING, REAL, roi_pooling, 0, .reals = 3) \
	X(PSROI_POOLING, REAL, psroi_pooling, 0, .reals = 7) \
	X(DEFORMABLE_PSROI_POOLING, REAL, psroi_pooling, 0, .reals = 7) \
	X(RANDOM_UNIFORM, ANY, random_uniform, 0) \
	X(MULTINOMIAL, ANY, multinomial, 0) \
	X(IDENTITY, ANY, copy, 0) \
	X(RANGE, ANY, range, 0) \
	X(SHAPE_OF, ANY, shape_of, 0) \
	X(EYE, ANY, eye, 0) \
	X(NON_ZERO, ANY, non_zero, 0) \
	X(LSTM_CELL, F32, cell, 0, .prepare = prepare_recurrent) \
	X(GRU_CELL, F32, cell, 0, .prepare = prepare_recurrent) \
	X(RNN_CELL, F32, cell, 0, .prepare = prepare_recurrent) \
	X(LSTM_SEQUENCE, F32, sequence, 0, .prepare = prepare_recurrent) \
	X(GRU_SEQUENCE, F32, sequence, 0, .prepare = prepare_recurrent) \
	X(RNN_SEQUENCE, F32, sequence, 0, .prepare = prepare_recurrent)
/* clang-format on */

#endif
