/* net_rows.h - how each operator may stand in a drawn network (net_draw.c): one line a way, a few for some operators.
 *
 *   X(KIND, OPSET, OUTPUTS, FLAGS, ATTRIBUTES, INPUTS)
 *
 *   OUTPUTS     their number; 0: one to three, drawn, and '%' stands for it
 *   FLAGS       SMOOTH: last bits of the inputs move those of the outputs alone; RANDOM: two runs may differ; 0: neither
 *   ATTRIBUTES  key=A|B|C: one of these.  In it #N is a number below N, $X the size X, @ an axis of input 0, % the number of outputs
 *   INPUTS      [?]FROM TYPE : DIMS [<BOUND] [=VALUES]
 *     ?         may be left out, and all behind it
 *     FROM      v any value, c a constant, w weights: a constant, perhaps in few bits or f16 and unpacked
 *     TYPE      f real and a any, the same for all inputs that say so; t any, i integer, l i64, u u8, b boolean, p u1
 *     DIMS      '.' a scalar, '@' anything, '*' as input 0, '~' broadcast to it; else numbers and sizes: 3, H, 2H, H+1.
 *               R is the rank of input 0, A the number of axes that are drawn, others are what the first input makes them
 *     BOUND     integers are below this number or size
 *     VALUES    a list of numbers and sizes with ';', or axis, axes, perm, small, ones, steps, shape, dims, ends, split, scale,
 *               sorted, parts, positive, image */
#ifndef HSDAG_TESTS_NET_ROWS_H
#define HSDAG_TESTS_NET_ROWS_H

/* clang-format off */
#define WINDOW2 \
	"strides=1,1|2,2|1,2 dilations=1,1|1,1|2,1 pads_begin=0,0|1,1|#3,#2 pads_end=0,0|1,1|#2,#3 " \
	"auto_pad=explicit|explicit|same_upper|same_lower|valid"
#define POOL2 \
	"kernel=2,2|3,3|1,2|1,1 strides=1,1|2,2|1,2 pads_begin=0,0|1,1|#2,#2 pads_end=0,0|1,1|#2,#2"
#define CELL "hidden_size=$H clip=0|0|0.5 activations="
#define RESIZE \
	"coordinate_transformation_mode=half_pixel|asymmetric|align_corners|pytorch_half_pixel|tf_half_pixel_for_nn " \
	"nearest_mode=round_prefer_floor|round_prefer_ceil|floor|ceil|simple antialias=false|false|true " \
	"cube_coeff=-0.75 pads_begin=0,0,0,0|0,0,#2,#2 pads_end=0,0,0,0|0,0,#2,#2"
#define NMS_SETS \
	"sort_result_type=classid|score|none sort_result_across_batch=false|true output_type=i64|i32 iou_threshold=0.5 " \
	"score_threshold=0|0.3 nms_top_k=-1|2 keep_top_k=-1|3 background_class=-1|0 normalized=true|false nms_eta=1|0.9 " \
	"decay_function=linear|gaussian gaussian_sigma=2 post_threshold=0|0.2"
#define TYPES "f32|f16|bf16|f64|i64|i32|i16|i8|u8|boolean|u64|u32|u16|i4|u4|u1|nf4|f8e4m3|f8e5m2|u2|u6|u3|f4e2m1|f8e8m0"

#define UNARY_ROWS(Y) \
	Y(ABS) Y(NEGATIVE) Y(RELU) Y(SIGMOID) Y(TANH) Y(ERF) Y(HSIGMOID) Y(HSWISH) Y(MISH) Y(SOFT_PLUS) Y(SOFT_SIGN) Y(SIN) Y(COS) Y(ATAN)
#define WILD_ROWS(Y) \
	Y(ACOS) Y(ACOSH) Y(ASIN) Y(ASINH) Y(ATANH) Y(CEILING) Y(COSH) Y(ERF_INV) Y(EXP) Y(FLOOR) Y(LOG) Y(SIGN) Y(SINH) Y(SQRT) Y(TAN)
#define REDUCE_ROWS(Y) \
	Y(REDUCE_L1, SMOOTH) Y(REDUCE_L2, 0) Y(REDUCE_MAX, SMOOTH) Y(REDUCE_MEAN, SMOOTH) Y(REDUCE_MIN, SMOOTH) Y(REDUCE_PROD, 0) \
	Y(REDUCE_SUM, SMOOTH)
#define BINARY_ROWS(Y) \
	Y(ADD, SMOOTH, a) Y(SUBTRACT, SMOOTH, a) Y(MULTIPLY, SMOOTH, a) Y(MAXIMUM, SMOOTH, a) Y(MINIMUM, SMOOTH, a) \
	Y(SQUARED_DIFFERENCE, SMOOTH, a) Y(DIVIDE, 0, a) Y(FLOOR_MOD, 0, a) Y(MOD, 0, a) Y(POWER, 0, a) Y(EQUAL, 0, a) Y(GREATER, 0, a) \
	Y(GREATER_EQUAL, 0, a) Y(LESS, 0, a) Y(LESS_EQUAL, 0, a) Y(NOT_EQUAL, 0, a) Y(BITWISE_AND, 0, i) Y(BITWISE_OR, 0, i) \
	Y(BITWISE_XOR, 0, i) Y(BITWISE_LEFT_SHIFT, 0, i) Y(BITWISE_RIGHT_SHIFT, 0, i) Y(LOGICAL_AND, 0, b) Y(LOGICAL_OR, 0, b) \
	Y(LOGICAL_XOR, 0, b)
#define NET_ROWS(X) \
	X(CLAMP, 1, 1, SMOOTH, "min=-0.5|0|-2 max=0.5|1|3|6", "va:@") \
	X(ELU, 1, 1, SMOOTH, "alpha=1|0.5", "va:@") \
	X(GELU, 7, 1, SMOOTH, "approximation_mode=erf|tanh", "va:@") \
	X(ROUND, 5, 1, 0, "mode=half_to_even|half_away_from_zero", "va:@") \
	X(SWISH, 4, 1, SMOOTH, "", "va:@ ?ca:.") \
	X(HARD_SIGMOID, 1, 1, SMOOTH, "", "va:@ ca:. ca:.") \
	X(SELU, 1, 1, SMOOTH, "", "va:@ ca:. ca:.") \
	X(BITWISE_NOT, 13, 1, 0, "", "vi:@") \
	X(LOGICAL_NOT, 1, 1, 0, "", "vb:@") \
	X(IS_FINITE, 10, 1, 0, "", "vf:@") \
	X(IS_NAN, 10, 1, 0, "", "vf:@") \
	X(IS_INF, 10, 1, 0, "detect_negative=true|false detect_positive=true|false", "vf:@") \
	X(CONVERT, 1, 1, 0, "destination_type=" TYPES, "va:@") \
	X(CONVERT, 1, 1, 0, "destination_type=f32", "va:@") \
	X(CONVERT_LIKE, 1, 1, 0, "", "va:@ vt:@") \
	X(CONVERT_PROMOTE_TYPES, 14, 2, 0, "promote_unsafe=true|false pytorch_scalar_promotion=true|false", "va:@ vt:@") \
	X(PRELU, 1, 1, SMOOTH, "", "vf:@ cf:~") \
	X(PRELU, 1, 1, SMOOTH, "", "vf:N,C,H,W cf:C") \
	X(SELECT, 1, 1, SMOOTH, "auto_broadcast=numpy|numpy|pdpd", "vb:@ va:~ va:~") \
	X(FAKE_QUANTIZE, 1, 1, 0, "levels=256|256|255|16|2", "vf:@ cf:.=-1 cf:.=1 cf:.=-1 cf:.=1") \
	X(FAKE_QUANTIZE, 1, 1, 0, "levels=256", "vf:@ cf:.=0 cf:.=3 cf:.=0 cf:.=3") \
	X(FAKE_QUANTIZE, 1, 1, 0, "levels=256|255", "vf:N,C,H,W cf:1,C,1,1=low cf:1,C,1,1=positive cf:1,C,1,1=low cf:1,C,1,1=positive") \
	X(FAKE_CONVERT, 13, 1, 0, "destination_type=f8e4m3|f8e5m2", "vf:@ cf:. ?cf:.") \
	X(REDUCE_LOGICAL_AND, 1, 1, 0, "keep_dims=true|false", "vb:@ ci:A=axes") \
	X(REDUCE_LOGICAL_OR, 1, 1, 0, "keep_dims=true|false", "vb:@ ci:A=axes") \
	X(MATMUL, 1, 1, SMOOTH, "", "vf:N,K wf:K,M") \
	X(MATMUL, 1, 1, SMOOTH, "transpose_b=true", "vf:N,K wf:M,K") \
	X(MATMUL, 1, 1, SMOOTH, "transpose_b=true", "vf:B,N,K wf:M,K") \
	X(MATMUL, 1, 1, SMOOTH, "", "vf:B,N,K wf:K,M") \
	X(MATMUL, 1, 1, SMOOTH, "", "vf:B,N,K vf:B,K,M") \
	X(MATMUL, 1, 1, SMOOTH, "transpose_b=true", "vf:B,D,N,K vf:B,D,M,K") \
	X(MATMUL, 1, 1, SMOOTH, "", "vf:B,D,N,K vf:B,D,K,M") \
	X(MATMUL, 1, 1, SMOOTH, "transpose_a=true", "vf:K,N vf:K,M") \
	X(MATMUL, 1, 1, SMOOTH, "", "vf:K vf:K,M") \
	X(MATMUL, 1, 1, SMOOTH, "", "vf:N,K vf:K") \
	X(GROUPED_MATMUL, 17, 1, SMOOTH, "", "vf:G,N,K wf:G,M,K") \
	X(GROUPED_MATMUL, 17, 1, SMOOTH, "", "vf:N,K wf:G,M,K vi:G<N+1") \
	X(ATTENTION, 13, 1, SMOOTH, "causal=false|true", "vf:B,H,L,E vf:B,H,S,E vf:B,H,S,V ?vf:L,S ?cf:.") \
	X(ATTENTION, 13, 1, SMOOTH, "causal=false|true", "vf:B,L,E vf:B,S,E vf:B,S,V ?vb:L,S") \
	X(CONVOLUTION, 1, 1, SMOOTH, WINDOW2, "vf:N,C,H,W wf:O,C,3,3") \
	X(CONVOLUTION, 1, 1, SMOOTH, WINDOW2, "vf:N,C,H,W wf:O,C,1,1") \
	X(CONVOLUTION, 1, 1, SMOOTH, "strides=1,1 dilations=1,1 pads_begin=0,0 pads_end=0,0", "vf:N,C,H,W wf:O,C,1,1") \
	X(CONVOLUTION, 1, 1, SMOOTH, "strides=1,1 dilations=1,1 pads_begin=1,1 pads_end=1,1", "vf:N,C,H,W wf:O,C,3,3") \
	X(CONVOLUTION, 1, 1, SMOOTH, WINDOW2, "vf:N,C,H,W wf:O,C,Y,X") \
	X(CONVOLUTION, 1, 1, SMOOTH, "strides=1|2 dilations=1|2 pads_begin=0|1 pads_end=#3", "vf:N,C,W wf:O,C,X") \
	X(CONVOLUTION, 1, 1, SMOOTH, "strides=1,1,1|1,2,2 dilations=1,1,1 pads_begin=#2,#2,#2 pads_end=#2,#2,#2", "vf:N,C,D,H,W wf:O,C,Z,Y,X") \
	X(GROUP_CONVOLUTION, 1, 1, SMOOTH, WINDOW2, "vf:N,C,H,W wf:C,1,1,3,3") \
	X(GROUP_CONVOLUTION, 1, 1, SMOOTH, WINDOW2, "vf:N,C,H,W wf:C,1,1,Y,X") \
	X(GROUP_CONVOLUTION, 1, 1, SMOOTH, WINDOW2, "vf:N,2G,H,W wf:G,O,2,Y,X") \
	X(GROUP_CONVOLUTION, 1, 1, SMOOTH, "strides=1|2 dilations=1 pads_begin=#2 pads_end=#2", "vf:N,C,W wf:C,1,1,X") \
	X(CONVOLUTION_BACKPROP, 1, 1, SMOOTH, WINDOW2 " output_padding=0,0|#2,#2", "vf:N,C,H,W wf:C,O,Y,X ?ci:2=ones") \
	X(CONVOLUTION_BACKPROP, 1, 1, SMOOTH, "strides=2,2 dilations=1,1 pads_begin=0,0 pads_end=0,0", "vf:N,C,H,W wf:C,O,2,2") \
	X(GROUP_CONVOLUTION_BACKPROP, 1, 1, SMOOTH, WINDOW2, "vf:N,C,H,W wf:C,1,O,Y,X") \
	X(AVG_POOL, 1, 1, SMOOTH, POOL2 " exclude-pad=true|false rounding_type=floor|ceil auto_pad=explicit|explicit|same_upper", "vf:N,C,H,W") \
	X(AVG_POOL, 1, 1, SMOOTH, "kernel=2|3 strides=1|2 pads_begin=0|1 pads_end=0|1 exclude-pad=true|false", "vf:N,C,W") \
	X(MAX_POOL, 1, 1, SMOOTH, POOL2 " rounding_type=floor|ceil auto_pad=explicit|explicit|valid", "vf:N,C,H,W") \
	X(MAX_POOL, 8, 2, 0, POOL2 " dilations=1,1|2,1 index_element_type=i64|i32 axis=0|2", "vf:N,C,H,W") \
	X(ADAPTIVE_AVG_POOL, 8, 1, SMOOTH, "", "vf:N,C,H,W ci:2=ones") \
	X(ADAPTIVE_MAX_POOL, 8, 2, 0, "index_element_type=i64|i32", "vf:N,C,H,W ci:2=ones") \
	X(SOFTMAX, 8, 1, SMOOTH, "axis=@|-1", "vf:@") \
	X(LOG_SOFTMAX, 5, 1, SMOOTH, "axis=@", "vf:@") \
	X(MVN, 6, 1, 0, "eps=0.01|1e-5 normalize_variance=true|false eps_mode=inside_sqrt|outside_sqrt", "vf:@ ci:A=axes") \
	X(MVN, 6, 1, 0, "eps=0.01 normalize_variance=true eps_mode=inside_sqrt", "vf:N,C,H,W ci:2=2;3") \
	X(MVN, 6, 1, 0, "eps=0.01 normalize_variance=true eps_mode=inside_sqrt", "vf:B,N,C ci:1=-1") \
	X(MVN, 1, 1, 0, "eps=0.01 normalize_variance=true|false across_channels=true|false", "vf:N,C,H,W") \
	X(LRN, 1, 1, SMOOTH, "alpha=0.01 beta=0.75|0.5 bias=1|2 size=3|1|2", "vf:N,C,H,W ci:A=axes") \
	X(NORMALIZE_L2, 1, 1, 0, "eps=0.01 eps_mode=add|max", "vf:@ ci:A=axes") \
	X(BATCH_NORM, 5, 1, SMOOTH, "epsilon=0.01", "vf:N,C,H,W cf:C cf:C cf:C cf:C=positive") \
	X(GROUP_NORM, 12, 1, 0, "num_groups=$G epsilon=0.01", "vf:N,2G,H,W cf:2G cf:2G") \
	X(RMS, 14, 1, 0, "epsilon=0.01", "vf:N,K cf:K") \
	X(RMS, 14, 1, 0, "epsilon=0.01", "vf:B,N,K cf:K") \
	X(RESHAPE, 1, 1, SMOOTH, "special_zero=false|true", "va:@ ci:K=shape") \
	X(RESHAPE, 1, 1, SMOOTH, "special_zero=false", "va:@ ci:K=shape") \
	X(SQUEEZE, 1, 1, SMOOTH, "", "va:1,N ci:1=0") \
	X(SQUEEZE, 1, 1, SMOOTH, "", "va:N,1,M ?ci:1=1") \
	X(UNSQUEEZE, 1, 1, SMOOTH, "", "va:@ ci:1=small") \
	X(BATCH_TO_SPACE, 2, 1, SMOOTH, "", "va:4N,C,H,W cl:4=1;1;2;2 cl:4=0;0;0;0 cl:4=0;0;1;0") \
	X(SPACE_TO_BATCH, 2, 1, SMOOTH, "", "va:N,C,2H,2W cl:4=1;1;2;2 cl:4=0;0;0;0 cl:4=0;0;0;0") \
	X(SPACE_TO_BATCH, 2, 1, SMOOTH, "", "va:N,2H cl:2=1;2 cl:2=0;1 cl:2=0;1") \
	X(DEPTH_TO_SPACE, 1, 1, SMOOTH, "block_size=2|1 mode=blocks_first|depth_first", "va:N,4C,H,W") \
	X(SPACE_TO_DEPTH, 1, 1, SMOOTH, "block_size=2|1 mode=blocks_first|depth_first", "va:N,C,2H,2W") \
	X(BROADCAST, 3, 1, SMOOTH, "mode=numpy|bidirectional", "va:@ ci:R=dims") \
	X(BROADCAST, 3, 1, SMOOTH, "mode=numpy|bidirectional", "va:1,N ci:3=2;3;N") \
	X(BROADCAST, 3, 1, SMOOTH, "mode=explicit", "va:N ci:2=3;N ci:1=1") \
	X(CONCAT, 1, 1, SMOOTH, "axis=@", "va:@ va:*") \
	X(CONCAT, 1, 1, SMOOTH, "axis=@", "va:@ va:* va:*") \
	X(CONCAT, 1, 1, SMOOTH, "axis=1", "va:N,C,H,W va:N,D,H,W") \
	X(CUM_SUM, 3, 1, SMOOTH, "exclusive=false|true reverse=false|true", "va:@ ?ci:.=axis") \
	X(GATHER, 8, 1, SMOOTH, "batch_dims=0", "va:N,M vi:K<N ci:.=0") \
	X(GATHER, 8, 1, SMOOTH, "batch_dims=0", "wf:N,M vi:B,K<N ci:.=0") \
	X(GATHER, 8, 1, SMOOTH, "batch_dims=0", "va:N,M vi:J,K<M ci:.=1") \
	X(GATHER, 8, 1, SMOOTH, "batch_dims=0", "va:N,C,H,W vi:.<C ci:.=1") \
	X(GATHER, 8, 1, SMOOTH, "batch_dims=1", "va:B,N,M vi:B,K<N ci:.=1") \
	X(GATHER_ELEMENTS, 6, 1, SMOOTH, "axis=0", "va:N,M vi:K,M<N") \
	X(GATHER_ELEMENTS, 6, 1, SMOOTH, "axis=-1", "va:N,M vi:N,K<M") \
	X(GATHER_ND, 8, 1, SMOOTH, "batch_dims=0", "va:N,M vi:K,1<N") \
	X(GATHER_ND, 8, 1, SMOOTH, "batch_dims=0", "va:N,N vi:K,2<N") \
	X(GATHER_ND, 8, 1, SMOOTH, "batch_dims=1", "va:B,N,M vi:B,K,1<N") \
	X(GATHER_ND, 5, 1, SMOOTH, "batch_dims=1", "va:B,N vi:B,1<N") \
	X(ONE_HOT, 1, 1, 0, "axis=-1|0", "vi:@<5 cl:.=4 ca:. ca:.") \
	X(ONE_HOT, 16, 1, 0, "axis=-1|0 negative_indices_mode=normalize|ignore_negative", "vi:N<5 cl:.=5 ca:. ca:.") \
	X(PAD, 1, 1, SMOOTH, "pad_mode=constant|edge|reflect|symmetric", "va:@ ci:R=small ci:R=small ?ca:.") \
	X(PAD, 1, 1, SMOOTH, "pad_mode=constant|edge|reflect", "vf:N,C,H,W ci:4=0;0;1;1 ci:4=0;0;1;1") \
	X(PAD, 12, 1, SMOOTH, "pad_mode=constant|edge", "va:@ ci:R=signed ci:R=signed ?ca:.") \
	X(REVERSE_SEQUENCE, 1, 1, SMOOTH, "batch_axis=0 seq_axis=1", "va:B,T,M vi:B<T+1") \
	X(REVERSE_SEQUENCE, 1, 1, SMOOTH, "batch_axis=1 seq_axis=0", "va:T,B,M vi:B<T+1") \
	X(ROLL, 7, 1, SMOOTH, "", "va:@ ci:A=signed ci:A=axes") \
	X(SCATTER_ELEMENTS_UPDATE, 12, 1, SMOOTH, "reduction=none|sum|prod|min|max|mean use_init_val=true|false", "va:N,M vi:N,M<N va:N,M ci:.=0") \
	X(SCATTER_ELEMENTS_UPDATE, 3, 1, SMOOTH, "", "va:N,M vi:N,K<M va:N,K ci:.=1") \
	X(SCATTER_ND_UPDATE, 15, 1, SMOOTH, "reduction=none|sum|sub|prod|min|max", "va:N,M vi:K,1<N va:K,M") \
	X(SCATTER_ND_UPDATE, 15, 1, SMOOTH, "reduction=none|sum", "va:N,N vi:K,2<N va:K") \
	X(SCATTER_UPDATE, 3, 1, SMOOTH, "", "va:N,M vi:K<N va:K,M ci:.=0") \
	X(SCATTER_UPDATE, 3, 1, SMOOTH, "", "va:N,M vi:K<M va:N,K ci:.=1") \
	X(SHUFFLE_CHANNELS, 1, 1, SMOOTH, "axis=1 group=2|1", "va:N,2C,H,W") \
	X(SLICE, 8, 1, SMOOTH, "", "va:@ ci:A=small ci:A=ends ci:A=steps ci:A=axes") \
	X(SLICE, 8, 1, SMOOTH, "", "va:@ ci:1=small ci:1=ends ci:1=1 ci:1=axis") \
	X(SLICE, 8, 1, SMOOTH, "", "va:@ ci:R=small ci:R=ends ci:R=steps") \
	X(STRIDED_SLICE, 1, 1, SMOOTH, "begin_mask=#2,#2,#2 end_mask=#2,#2,#2 new_axis_mask=0,0|0,#2 shrink_axis_mask=0|#2,#2 ellipsis_mask=0|0,#2", \
	  "va:@ ci:R=small ci:R=ends ?ci:R=steps") \
	X(SPLIT, 1, 0, SMOOTH, "num_splits=%", "va:@ ci:.=axis") \
	X(VARIADIC_SPLIT, 1, 0, SMOOTH, "", "va:@ ci:.=axis ci:%=split") \
	X(TILE, 1, 1, SMOOTH, "", "va:@ ci:R=ones") \
	X(TOP_K, 11, 2, 0, "axis=@ mode=max|min sort=none|value|index index_element_type=i32|i64 stable=false|true", "va:@ ci:.=ones") \
	X(TRANSPOSE, 1, 1, SMOOTH, "", "va:@ ci:R=perm") \
	X(TRANSPOSE, 1, 1, SMOOTH, "", "va:N,C,H,W ci:4=0;2;3;1") \
	X(TRANSPOSE, 1, 1, SMOOTH, "", "va:N,C,H,W ci:4=0;3;1;2") \
	X(TRANSPOSE, 1, 1, SMOOTH, "", "va:N,C,H,W ci:4=0;2;1;3") \
	X(INTERPOLATE, 4, 1, 0, "mode=nearest|linear|linear_onnx|cubic shape_calculation_mode=sizes|scales " RESIZE, "vf:N,C,H,W ci:2=ones cf:2=scale ?ci:2=2;3") \
	X(INTERPOLATE, 11, 1, 0, "mode=nearest|linear|linear_onnx|cubic|bilinear_pillow|bicubic_pillow shape_calculation_mode=sizes " RESIZE, "vf:N,C,H,W ci:2=ones ci:2=2;3") \
	X(INTERPOLATE, 11, 1, 0, "mode=nearest|linear|linear_onnx|cubic|bilinear_pillow shape_calculation_mode=scales " RESIZE, "vf:N,C,H,W cf:2=scale ci:2=2;3") \
	X(INTERPOLATE, 1, 1, 0, "mode=nearest|linear|cubic axes=2,3 align_corners=true|false antialias=false", "vf:N,C,H,W ci:2=ones") \
	X(GRN, 1, 1, 0, "bias=0.1", "vf:N,C,H,W") \
	X(INVERSE, 14, 1, 0, "adjoint=false|true", "vf:B,N,N") \
	X(INVERSE, 14, 1, 0, "adjoint=false|true", "vf:N,N") \
	X(DEFORMABLE_CONVOLUTION, 8, 1, 0, "strides=1,1 pads_begin=0,0 pads_end=0,0 dilations=1,1 group=1 deformable_group=1 bilinear_interpolation_pad=true|false", "vf:N,C,H,W vf:N,2,H,W wf:O,C,1,1 ?vf:N,1,H,W") \
	X(DEFORMABLE_CONVOLUTION, 8, 1, 0, "strides=1,1 pads_begin=1,1 pads_end=1,1 dilations=1,1 group=1 deformable_group=1|2 bilinear_interpolation_pad=true|false", "vf:N,C,H,W vf:N,18,H,W wf:O,C,3,3 ?vf:N,9,H,W") \
	X(BINARY_CONVOLUTION, 1, 1, 0, WINDOW2 " mode=xnor-popcount pad_value=0|1|-1", "vf:N,C,H,W cp:O,C,Y,X") \
	X(EXTRACT_IMAGE_PATCHES, 3, 1, SMOOTH, "sizes=2,2|1,3|3,3 strides=1,1|2,2 rates=1,1|2,1 auto_pad=valid|same_upper|same_lower", "va:N,C,H,W") \
	X(COL2IM, 15, 1, SMOOTH, "strides=1,1 dilations=1,1 pads_begin=0,0 pads_end=0,0", "va:N,4C,4 cl:2=3;3 cl:2=2;2") \
	X(COL2IM, 15, 1, SMOOTH, "strides=2,2 dilations=1,1 pads_begin=0,0 pads_end=0,0", "va:4C,4 cl:2=4;4 cl:2=2;2") \
	X(GATHER_TREE, 1, 1, 0, "", "vi:T,B,K<K vi:T,B,K<K vi:B<T+1 ci:.=1") \
	X(REVERSE, 1, 1, SMOOTH, "mode=index", "va:@ ci:A=axes") \
	X(SLICE_SCATTER, 15, 1, SMOOTH, "", "va:N,M va:N,M ci:1=0 ci:1=N ci:1=1 ci:1=0") \
	X(SLICE_SCATTER, 15, 1, SMOOTH, "", "va:2N,M va:N,M ci:1=0 ci:1=2N ci:1=2 ci:1=0") \
	X(SLICE_SCATTER, 15, 1, SMOOTH, "", "va:N,M va:N,1 ci:1=-1 ci:1=-9 ci:1=-9 ?ci:1=1") \
	X(IDENTITY, 16, 1, SMOOTH, "", "va:@") \
	X(EINSUM, 7, 1, SMOOTH, "equation=ij,jk->ik|ij,jk->ki|ij,jk", "vf:I,J vf:J,K") \
	X(EINSUM, 7, 1, SMOOTH, "equation=bij,bjk->bik|bij,bjk->ik|bij,bjk->bki", "vf:B,I,J vf:B,J,K") \
	X(EINSUM, 7, 1, SMOOTH, "equation=ii->i|ii->", "vf:I,I") \
	X(EINSUM, 7, 1, SMOOTH, "equation=...ij->...ji|bhij->bhji|bhij->ij|bhij->ih", "vf:B,H,I,J") \
	X(EINSUM, 7, 1, SMOOTH, "equation=ij,kj,k->ik|ij,kj,k->j", "vf:I,J vf:K,J vf:K") \
	X(GRID_SAMPLE, 9, 1, 0, "mode=bilinear|bicubic|nearest padding_mode=zeros|border|reflection align_corners=true|false", "vf:N,C,H,W vf:N,Y,X,2") \
	X(REORG_YOLO, 2, 1, SMOOTH, "stride=2|1", "vf:N,4C,2H,2W") \
	X(REGION_YOLO, 1, 1, SMOOTH, "axis=1 end_axis=3|2|-1 classes=1 coords=4 num=2 do_softmax=true|false mask=0,1|0", "vf:N,12,H,W") \
	X(BUCKETIZE, 3, 1, 0, "output_type=i64|i32 with_right_bound=true|false", "va:@ cf:K=sorted") \
	X(SEARCH_SORTED, 15, 1, 0, "output_type=i64|i32 right_mode=true|false", "cf:K=sorted vf:M") \
	X(SEARCH_SORTED, 15, 1, 0, "output_type=i64|i32 right_mode=true|false", "vf:N,K vf:N,M") \
	X(UNIQUE, 10, 4, 0, "sorted=true|false index_element_type=i64|i32 count_element_type=i64|i32", "va:@ ?ci:.=axis") \
	X(SPARSE_FILL_EMPTY_ROWS, 16, 3, 0, "", "va:N ci:2=4;3 vi:N,2<3 ca:.") \
	X(NV12_TO_RGB, 8, 1, 0, "", "vu:N,6,4,1") \
	X(NV12_TO_RGB, 8, 1, 0, "", "vf:N,2H,2W,1 vf:N,H,W,2") \
	X(NV12_TO_BGR, 8, 1, 0, "", "vu:N,2H,2W,1 vu:N,H,W,2") \
	X(I420_TO_RGB, 8, 1, 0, "", "vu:N,6,4,1") \
	X(I420_TO_RGB, 8, 1, 0, "", "vu:N,2H,2W,1 vu:N,H,W,1 vu:N,H,W,1") \
	X(I420_TO_BGR, 8, 1, 0, "", "vf:N,2H,2W,1 vf:N,H,W,1 vf:N,H,W,1") \
	X(EMBEDDING_OFFSETS_SUM, 3, 1, SMOOTH, "", "vf:N,M vi:K<N vi:B=parts ?ci:.=0 ?vf:K") \
	X(EMBEDDING_OFFSETS, 15, 1, SMOOTH, "reduction=sum|mean", "vf:N,M vi:K<N vi:B=parts ?ci:.=0 ?vf:K") \
	X(EMBEDDING_PACKED_SUM, 3, 1, SMOOTH, "", "vf:N,M vi:B,K<N ?vf:B,K") \
	X(EMBEDDING_PACKED, 15, 1, SMOOTH, "reduction=sum|mean", "vf:N,M vi:B,K<N ?vf:B,K") \
	X(EMBEDDING_SEGMENTS_SUM, 3, 1, SMOOTH, "", "vf:N,M vi:K<N ci:K=parts ci:.=5 ?ci:.=0 ?vf:K") \
	X(SEGMENT_MAX, 16, 1, SMOOTH, "fill_mode=zero|lowest", "vf:N,M ci:N=parts ?ci:.=4") \
	X(CTC_GREEDY_DECODER, 1, 1, 0, "ctc_merge_repeated=true|false", "vf:T,N,C vf:T,N") \
	X(CTC_GREEDY_DECODER_SEQ_LEN, 6, 2, 0, "merge_repeated=true|false classes_index_type=i32|i64 sequence_length_type=i32|i64", "vf:N,T,C vi:N<T+1 ?ci:.=0") \
	X(CTC_LOSS, 4, 1, 0, "preprocess_collapse_repeated=true|false ctc_merge_repeated=true|false unique=false|true", "vf:N,T,C vi:N<T+1 vi:N,T<C vi:N<T+1 ?ci:.=0") \
	X(DFT, 7, 1, SMOOTH, "", "vf:N,H,2 ci:1=1 ?ci:1=ones") \
	X(DFT, 7, 1, SMOOTH, "", "vf:N,H,W,2 ci:2=1;2") \
	X(IDFT, 7, 1, SMOOTH, "", "vf:N,H,W,2 ci:2=0;-1 ?ci:2=ones") \
	X(RDFT, 9, 1, SMOOTH, "", "vf:N,H,W ci:2=1;2 ?ci:2=ones") \
	X(RDFT, 9, 1, SMOOTH, "", "vf:N,W ci:1=-1") \
	X(IRDFT, 9, 1, SMOOTH, "", "vf:N,W,2 ci:1=1 ?ci:1=ones") \
	X(STFT, 15, 1, SMOOTH, "transpose_frames=true|false", "vf:N,16 cf:4 ci:.=4 ci:.=2") \
	X(STFT, 15, 1, SMOOTH, "transpose_frames=true|false", "vf:9 cf:3 ci:.=5 ci:.=1") \
	X(ISTFT, 16, 1, 0, "center=true|false normalized=true|false", "vf:N,3,F,2 cf:4 ci:.=4 ci:.=2 ?ci:.=8") \
	X(PRIOR_BOX, 8, 1, 0, "min_size=2|1,3 max_size=|4 aspect_ratio=|2|2,3 flip=true|false clip=true|false step=0|2 offset=0.5 variance=|0.1|0.1,0.1,0.2,0.2 scale_all_sizes=true|false density=|2 fixed_size=|3 fixed_ratio=|1", "ci:2=2;3 ci:2=20;30") \
	X(PRIOR_BOX_CLUSTERED, 1, 1, 0, "width=2,3 height=1,4 clip=true|false step=0|2 step_w=0|1 step_h=0|1 offset=0.5 variance=|0.1", "ci:2=2;3 ci:2=20;30") \
	X(DETECTION_OUTPUT, 8, 1, 0, "background_label_id=0|-1 top_k=-1|3 keep_top_k=2|-1 nms_threshold=0.5 confidence_threshold=0|0.3 code_type=caffe.PriorBoxParameter.CORNER|caffe.PriorBoxParameter.CENTER_SIZE normalized=true share_location=true variance_encoded_in_target=false clip_before_nms=true|false clip_after_nms=true|false decrease_label_id=true|false objectness_score=0", "vf:N,4P vf:N,2P vf:1,2,4P") \
	X(DETECTION_OUTPUT, 1, 1, 0, "num_classes=2 background_label_id=0|-1 top_k=3 keep_top_k=2 nms_threshold=0.5 normalized=true share_location=false variance_encoded_in_target=true code_type=caffe.PriorBoxParameter.CENTER_SIZE objectness_score=0.2", "vf:N,8P vf:N,2P vf:1,1,4P ?vf:N,2P vf:N,8P") \
	X(NON_MAX_SUPPRESSION, 9, 3, 0, "box_encoding=corner|center sort_result_descending=true|false output_type=i64|i32", "vf:B,N,4 vf:B,C,N ?ci:.=ones cf:.=0.5 cf:.=0 ?cf:.=0.2") \
	X(NON_MAX_SUPPRESSION, 3, 1, 0, "box_encoding=corner|center sort_result_descending=true|false", "vf:B,N,4 vf:B,C,N ci:.=ones cf:.=0.5 cf:.=0") \
	X(NMS_ROTATED, 13, 3, 0, "sort_result_descending=true|false output_type=i64|i32 clockwise=true|false", "vf:B,N,5 vf:B,C,N ci:.=ones cf:.=0.5 cf:.=0") \
	X(MATRIX_NMS, 8, 3, 0, NMS_SETS, "vf:B,N,4 vf:B,C,N") \
	X(MULTICLASS_NMS, 9, 3, 0, NMS_SETS, "vf:B,N,4 vf:B,C,N") \
	X(MULTICLASS_NMS, 9, 3, 0, NMS_SETS, "vf:C,N,4 vf:C,N vi:2<N+1") \
	X(PROPOSAL, 4, 2, 0, "base_size=4 pre_nms_topn=5|0 post_nms_topn=3 nms_thresh=0.7 feat_stride=1|2 min_size=1|0 ratio=1 scale=2|1 clip_before_nms=true|false clip_after_nms=true|false normalize=true|false box_coordinate_scale=1 box_size_scale=1 framework=|tensorflow", "vf:N,2,H,W vf:N,4,H,W cf:3=image") \
	X(GENERATE_PROPOSALS, 9, 3, 0, "min_size=0|1 nms_threshold=0.5 pre_nms_count=5|1 post_nms_count=3 normalized=true|false nms_eta=1|0.9 roi_num_type=i64|i32", "vf:N,3 vf:H,W,A,4 vf:N,4A,H,W vf:N,A,H,W") \
	X(DETECTRON_PROPOSALS, 6, 2, 0, "min_size=0|1 nms_threshold=0.5 pre_nms_count=5|1 post_nms_count=3", "cf:3=image vf:H,4 vf:4,1,H vf:1,1,H") \
	X(DETECTRON_DETECTION_OUTPUT, 6, 3, 0, "score_threshold=0|0.1 nms_threshold=0.5 num_classes=2 post_nms_count=3|-1 max_detections_per_image=2|5 class_agnostic_box_regression=false max_delta_log_wh=4 deltas_weights=10,10,5,5", "vf:K,4 vf:K,8 vf:K,2 cf:1,3=image") \
	X(DETECTRON_TOP_ROIS, 6, 1, 0, "max_rois=1|3|0", "vf:K,4 vf:K") \
	X(DETECTRON_PRIOR_GRID, 6, 1, 0, "flatten=true|false h=0|2 w=0|3 stride_x=0|2 stride_y=0|2", "vf:P,4 vf:1,C,H,W vf:1,D,Y,X") \
	X(DETECTRON_ROI_FEATURES, 6, 2, 0, "output_size=2|1 sampling_ratio=2|0 pyramid_scales=4,8 aligned=false|true", "vf:K,4 vf:1,C,H,W ?vf:1,C,Y,X") \
	X(ROI_ALIGN, 9, 1, 0, "pooled_h=2|1 pooled_w=2|3 sampling_ratio=2|0 spatial_scale=1|0.5 mode=avg|max aligned_mode=asymmetric|half_pixel_for_nn|half_pixel", "vf:N,C,H,W vf:K,4 vi:K<N") \
	X(ROI_ALIGN_ROTATED, 15, 1, 0, "pooled_h=2|1 pooled_w=2|3 sampling_ratio=2|0 spatial_scale=1 clockwise_mode=true|false", "vf:N,C,H,W vf:K,5 vi:K<N") \
	X(ROI_POOLING, 2, 1, 0, "output_size=2,2|1,3 pooled_h=2 pooled_w=2 spatial_scale=1|0.5 method=max|bilinear", "vf:1,C,H,W vf:K,5=boxes") \
	X(PSROI_POOLING, 1, 1, 0, "output_dim=1|2 group_size=2|1 spatial_scale=1 mode=average|bilinear spatial_bins_x=2 spatial_bins_y=2", "vf:1,4C,H,W vf:K,5=boxes") \
	X(DEFORMABLE_PSROI_POOLING, 1, 1, 0, "output_dim=1 group_size=2|1 part_size=2|1 spatial_scale=1 mode=bilinear_deformable spatial_bins_x=1|2 spatial_bins_y=1|2 trans_std=0.1", "vf:1,4C,H,W vf:K,5=boxes ?vf:K,2,2,2") \
	X(RANDOM_UNIFORM, 8, 1, RANDOM, "output_type=f32|f16|i64|i32 global_seed=1|0 op_seed=2|0 alignment=tensorflow|pytorch", "cl:2=ones cf:.=0 cf:.=1") \
	X(RANDOM_UNIFORM, 8, 1, RANDOM, "output_type=i64 global_seed=1|0 op_seed=2|0", "cl:3=ones cl:.=0 cl:.=9") \
	X(MULTINOMIAL, 13, 1, RANDOM, "convert_type=i64|i32 with_replacement=true|false log_probs=true|false global_seed=1|0 op_seed=2", "vf:N,M ci:.=ones") \
	X(RANGE, 4, 1, 0, "output_type=i64|f32|i32", "ci:.=small ci:.=ones ci:.=1") \
	X(SHAPE_OF, 3, 1, 0, "output_type=i64|i32", "va:@") \
	X(EYE, 9, 1, 0, "output_type=f32|i32|u8", "ci:.=ones ci:.=ones ci:.=small ?ci:1=2") \
	X(NON_ZERO, 3, 1, 0, "output_type=i64|i32", "va:@") \
	X(LSTM_CELL, 4, 2, SMOOTH, CELL "sigmoid,tanh,tanh|sigmoid,relu,tanh", "vf:N,I vf:N,H vf:N,H wf:4H,I wf:4H,H cf:4H") \
	X(GRU_CELL, 3, 1, SMOOTH, CELL "sigmoid,tanh|relu,tanh linear_before_reset=false", "vf:N,I vf:N,H wf:3H,I wf:3H,H cf:3H") \
	X(GRU_CELL, 3, 1, SMOOTH, CELL "sigmoid,tanh linear_before_reset=true", "vf:N,I vf:N,H wf:3H,I wf:3H,H cf:4H") \
	X(RNN_CELL, 1, 1, SMOOTH, CELL "tanh|relu|sigmoid", "vf:N,I vf:N,H wf:H,I wf:H,H cf:H") \
	X(LSTM_SEQUENCE, 5, 3, SMOOTH, CELL "sigmoid,tanh,tanh direction=forward|reverse", "vf:N,T,I vf:N,1,H vf:N,1,H vi:N<T+1 wf:1,4H,I wf:1,4H,H cf:1,4H") \
	X(LSTM_SEQUENCE, 5, 3, SMOOTH, CELL "sigmoid,tanh,tanh direction=bidirectional", "vf:N,T,I vf:N,2,H vf:N,2,H vi:N<T+1 wf:2,4H,I wf:2,4H,H cf:2,4H") \
	X(GRU_SEQUENCE, 5, 2, SMOOTH, CELL "sigmoid,tanh direction=forward|reverse linear_before_reset=false", "vf:N,T,I vf:N,1,H vi:N<T+1 wf:1,3H,I wf:1,3H,H cf:1,3H") \
	X(GRU_SEQUENCE, 5, 2, SMOOTH, CELL "sigmoid,tanh direction=bidirectional linear_before_reset=true", "vf:N,T,I vf:N,2,H vi:N<T+1 wf:2,3H,I wf:2,3H,H cf:2,4H") \
	X(RNN_SEQUENCE, 5, 2, SMOOTH, CELL "tanh|relu direction=forward|reverse", "vf:N,T,I vf:N,1,H vi:N<T+1 wf:1,H,I wf:1,H,H cf:1,H") \
	X(READ_VALUE, 6, 1, RANDOM, "variable_id=s|t", "va:@") \
	X(ASSIGN, 6, 1, RANDOM, "variable_id=s|t", "va:@")
/* clang-format on */

#endif
