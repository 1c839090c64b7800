/* test_cl.c - OpenCL kernels against the CPU's, operator by operator, in both
 * shapes of the kernels: one wide work-item, and groups of many (with pinned
 * buffers for transfers).  Kernels whose code is the same in both shapes are
 * not compiled twice.  Then products in bf16, against the CPU's of rounded operands. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/rng.h"
#include "device/device.h"
#include "kernel/kernel.h"
#include "one_node.h"
#include "op/value.h"
#include "tap.h"

/* One node, and which of its inputs are constant. */
struct fixture {
	struct one_node one;
	char text[400];
	bool constant[ONE_PORTS];
};

/* A case: type, opset, attributes "k=v k=v", inputs, outputs.  An input is
 * "f32[2,3]", random; with "c" behind the type it is constant; "=1,2" are its values; "%9" limits
 * them to 0 .. 8; "+" makes them positive. */
struct sample {
	const char *type, *opset, *attrs, *in;
	int n_out;
	double tol; /* of the largest magnitude; 0: 1e-5, integers exact */
};

static const struct sample samples[] = {
	{"ReLU", "opset1", "", "f32[2,3,17]", 1, 0},
	{"Abs", "opset1", "", "f32[1000]", 1, 0},
	{"Abs", "opset1", "", "i32[33]", 1, 0},
	{"Negative", "opset1", "", "f32[]", 1, 0},
	{"Clamp", "opset1", "min=-0.5 max=0.25", "f32[5,70]", 1, 0},
	{"Sqrt", "opset1", "", "f32[31]+", 1, 0},
	{"Exp", "opset1", "", "f32[3,50]", 1, 0},
	{"Log", "opset1", "", "f32[3,50]+", 1, 0},
	{"Sigmoid", "opset1", "", "f32[2,650]", 1, 0},
	{"Tanh", "opset1", "", "f32[2,650]", 1, 0},
	{"Erf", "opset1", "", "f32[99]", 1, 0},
	{"Gelu", "opset7", "approximation_mode=ERF", "f32[1,9,300]", 1, 0},
	{"Gelu", "opset7", "approximation_mode=TANH", "f32[1,9,30]", 1, 0},
	{"HSwish", "opset4", "", "f32[1,16,112,7]", 1, 0},
	{"HSigmoid", "opset5", "", "f32[1,16,1,1]", 1, 0},
	{"Swish", "opset4", "", "f32[40]", 1, 0},
	{"Mish", "opset4", "", "f32[40]", 1, 0},
	{"SoftPlus", "opset4", "", "f32[40]", 1, 0},
	{"Elu", "opset1", "alpha=0.7", "f32[40]", 1, 0},
	{"Floor", "opset1", "", "f32[40]", 1, 0},
	{"Ceiling", "opset1", "", "f32[40]", 1, 0},
	{"Round", "opset5", "mode=half_to_even", "f32[40]", 1, 0},
	{"Sign", "opset1", "", "f32[40]", 1, 0},
	{"Sin", "opset1", "", "f32[40]", 1, 0},
	{"Cos", "opset1", "", "f32[40]", 1, 0},
	{"LogicalNot", "opset1", "", "boolean[7]", 1, 0},
	{"IsNaN", "opset10", "", "f32[7]", 1, 0},
	{"Add", "opset1", "auto_broadcast=numpy", "f32[2,64,7,7] f32c[1,64,1,1]", 1, 0},
	{"Add", "opset1", "auto_broadcast=numpy", "f32[4,1,6] f32[3,1]", 1, 0},
	{"Add", "opset1", "auto_broadcast=numpy", "f32[2,5000] f32[2,5000]", 1, 0},
	{"Add", "opset1", "auto_broadcast=numpy", "f32[2,1,3,1,2,1,3] f32[1,2,1,2,1,3,1]", 1, 0},
	{"Add", "opset1", "auto_broadcast=numpy", "i32[] i32[3]", 1, 0},
	{"Subtract", "opset1", "auto_broadcast=numpy", "f32[3,100] f32[100]", 1, 0},
	{"Multiply", "opset1", "auto_broadcast=numpy", "f32[1,40,9,9] f32[1,40,1,1]", 1, 0},
	{"Multiply", "opset1", "auto_broadcast=numpy", "f32[1,1] f32[37,3]", 1, 0},
	{"Multiply", "opset1", "auto_broadcast=numpy", "i64[2,1,4] i64[4]", 1, 0},
	{"Divide", "opset1", "auto_broadcast=numpy", "f32[3,10] f32[1,10]+", 1, 0},
	{"Divide", "opset1", "auto_broadcast=numpy m_pythondiv=true", "i32=-7,7,-8,5 i32=2,-2,4,3",
	 1, 0},
	{"Divide", "opset1", "auto_broadcast=numpy m_pythondiv=false", "i32=-7,7,-8,5 i32=2,-2,4,3",
	 1, 0},
	{"Mod", "opset1", "auto_broadcast=numpy", "i32=-7,7,-8,5 i32=2,-2,3,3", 1, 0},
	{"FloorMod", "opset1", "auto_broadcast=numpy", "i32=-7,7,-8,5 i32=2,-2,3,3", 1, 0},
	{"FloorMod", "opset1", "auto_broadcast=numpy", "f32[9] f32[9]+", 1, 0},
	{"Power", "opset1", "auto_broadcast=numpy", "f32[9,4]+ f32[4]", 1, 0},
	{"Power", "opset1", "auto_broadcast=numpy", "i32[9] i32=2", 1, 0},
	{"Minimum", "opset1", "auto_broadcast=numpy", "f32[9,4] f32[4]", 1, 0},
	{"Maximum", "opset1", "auto_broadcast=numpy", "i64[9,4] i64[4]", 1, 0},
	{"SquaredDifference", "opset1", "auto_broadcast=numpy", "f32[9,4] f32[9,1]", 1, 0},
	{"PReLU", "opset1", "", "f32[2,5,3,3] f32c[5]", 1, 0},
	{"PReLU", "opset1", "", "f32[2,5,4,3] f32c[3]", 1, 0},
	{"PReLU", "opset1", "", "f32[2,5,4,3] f32c[1]", 1, 0},
	{"Add", "opset1", "auto_broadcast=pdpd axis=1", "f32[2,5,4,3] f32c[5,4,1]", 1, 0},
	{"Add", "opset1", "auto_broadcast=pdpd axis=0", "f32[2,3,4] f32[2,1,1,1]", 1, 0},
	{"Multiply", "opset1", "auto_broadcast=pdpd axis=-1", "f32[2,5,4,3] f32[4,3]", 1, 0},
	{"Maximum", "opset1", "auto_broadcast=pdpd axis=1", "i32[2,5,4] i32[5]", 1, 0},
	{"Select", "opset1", "auto_broadcast=pdpd axis=1", "boolean[5] f32[2,5,4] f32[5,4]", 1, 0},
	{"Select", "opset1", "auto_broadcast=pdpd axis=0", "boolean[2] f32[2,5,4] f32[2,5]", 1, 0},
	{"FakeQuantize", "opset1", "levels=256 auto_broadcast=numpy",
	 "f32[2,3,4] f32c(=-2 f32c[3,1]+ f32c(=-2 f32c(=2", 1, 0},
	{"FakeQuantize", "opset1", "levels=16 auto_broadcast=pdpd axis=1",
	 "f32[2,3,4] f32c=-4,-3,-2 f32c=4,3,2 f32c=-4,-3,-2 f32c=4,3,2", 1, 0},
	{"BatchNormInference", "opset5", "epsilon=0.001",
	 "f32[2,3,4,5] f32c[3]+ f32c[3] f32c[3] f32c[3]+", 1, 0},
	{"Less", "opset1", "auto_broadcast=numpy", "f32[9,4] f32[4]", 1, 0},
	{"GreaterEqual", "opset1", "auto_broadcast=numpy", "i64[1,1,4,1] i64[1,1,1,5]", 1, 0},
	{"Equal", "opset1", "auto_broadcast=numpy", "i32[50] i32[50]", 1, 0},
	{"BitwiseAnd", "opset13", "auto_broadcast=numpy", "boolean[] boolean[2,1,3,3]", 1, 0},
	{"BitwiseXor", "opset13", "auto_broadcast=numpy", "i32[9] i32[9]", 1, 0},
	{"LogicalOr", "opset1", "auto_broadcast=numpy", "boolean[3,1] boolean[4]", 1, 0},
	{"Select", "opset1", "auto_broadcast=numpy", "boolean[2,1,3,5] f32[] f32[]", 1, 0},
	{"Select", "opset1", "auto_broadcast=numpy", "boolean[4,1] i64[4,3] i64[3]", 1, 0},
	{"Convert", "opset1", "destination_type=f32", "f16c[7,41]", 1, 0},
	{"Convert", "opset1", "destination_type=f32", "i64[9]", 1, 0},
	{"Convert", "opset1", "destination_type=f16", "f32[99]", 1, 0},
	{"Convert", "opset1", "destination_type=i32", "f32[99]", 1, 0},
	{"Convert", "opset1", "destination_type=i32", "boolean[9]", 1, 0},
	{"Convert", "opset1", "destination_type=boolean", "i64[2,9]", 1, 0},
	{"Convert", "opset1", "destination_type=u8", "i32[9]%200", 1, 0},
	{"ReduceMean", "opset1", "keep_dims=true", "f32[1,37,7,7] i64=2,3", 1, 0},
	{"ReduceMean", "opset1", "keep_dims=false", "f32[5,6,7] i64=0,2", 1, 0},
	{"ReduceSum", "opset1", "keep_dims=false", "f32[5,600] i64=-1", 1, 0},
	{"ReduceMax", "opset1", "keep_dims=true", "f32[5,6,70] i64=1", 1, 0},
	{"ReduceMin", "opset1", "keep_dims=true", "f32[5,33] i64=0,1", 1, 0},
	{"ReduceL2", "opset4", "keep_dims=true", "f32[5,33] i64=1", 1, 0},
	{"ReduceL1", "opset4", "keep_dims=true", "f32[5,33] i64=1", 1, 0},
	{"ReduceProd", "opset1", "keep_dims=true", "i32[4] i32=0", 1, 0},
	{"ReduceSum", "opset1", "keep_dims=false", "i64[4,3] i32=1", 1, 0},
	{"ReduceLogicalAnd", "opset1", "keep_dims=false", "boolean[4,3] i32=1", 1, 0},
	{"SoftMax", "opset8", "axis=-1", "f32[1,12,9,9]", 1, 0},
	{"SoftMax", "opset8", "axis=1", "f32[2,30,5]", 1, 0},
	{"LogSoftmax", "opset5", "axis=-1", "f32[3,1000]", 1, 0},
	{"MVN", "opset6", "eps=1e-12 eps_mode=INSIDE_SQRT normalize_variance=true",
	 "f32[1,9,768] i32=-1", 1, 0},
	{"MVN", "opset6", "eps=0.001 eps_mode=OUTSIDE_SQRT normalize_variance=true",
	 "f32[2,3,5,7] i32=2,3", 1, 0},
	{"MVN", "opset6", "eps=0.001 eps_mode=OUTSIDE_SQRT normalize_variance=false",
	 "f32[2,31] i32=1", 1, 0},
	{"Reshape", "opset1", "special_zero=true", "f32[2,12] i64=0,3,-1", 1, 0},
	{"Unsqueeze", "opset1", "", "f32[2,12] i64=1", 1, 0},
	{"Squeeze", "opset1", "", "f32[2,1,12] i64=1", 1, 0},
	{"Transpose", "opset1", "", "f32[1,9,12,64] i32=0,2,1,3", 1, 0},
	{"Transpose", "opset1", "", "f32[2,33,47] i32=2,1,0", 1, 0},
	{"Transpose", "opset1", "", "i64[2,3,4,5] i32=3,1,0,2", 1, 0},
	{"Concat", "opset1", "axis=1", "f32[2,3,35] f32[2,1,35] f32[2,4,35]", 1, 0},
	{"Concat", "opset1", "axis=-1", "f32[2,3] f32[2,5]", 1, 0},
	{"Concat", "opset1", "axis=0", "i32[1] i32[1]", 1, 0},
	{"Split", "opset1", "num_splits=2", "i32[2] i32()=0", 2, 0},
	{"VariadicSplit", "opset1", "", "f32[2,260] i64()=1 i32=65,65,-1,10", 4, 0},
	{"Slice", "opset8", "", "i64[1,20] i64=2 i64=11 i64=1 i64=1", 1, 0},
	{"Slice", "opset8", "", "f32[7,20] i64=6,18 i64=0,-15 i64=-2,-3 i64=0,1", 1, 0},
	{"StridedSlice", "opset1",
	 "begin_mask=0,1 end_mask=0,0 new_axis_mask=0,0 shrink_axis_mask=1,0",
	 "f32[7,20] i64=3,0 i64=4,9 i64=1,2", 1, 0},
	{"Broadcast", "opset3", "mode=bidirectional", "boolean[1,1,3,1] i64=2,1,1,4", 1, 0},
	{"Broadcast", "opset3", "mode=numpy", "i32[1] i32=5", 1, 0},
	{"Broadcast", "opset3", "mode=explicit", "f32[3,4] i32=2,3,5,4 i32=1,3", 1, 0},
	{"Tile", "opset1", "", "f32[2,3,4] i64=2,1,3", 1, 0},
	{"Gather", "opset8", "batch_dims=0", "f32[100,64] i32[2,9]%100 i32()=0", 1, 0},
	{"Gather", "opset8", "batch_dims=0", "f32[3,20,5] i64()=7 i64()=1", 1, 0},
	{"Gather", "opset8", "batch_dims=0", "i64[4] i64=-1 i64()=0", 1, 0},
	{"Gather", "opset8", "batch_dims=0", "boolean[5,6] i32[2,3]%6 i32()=1", 1, 0},
	{"Gather", "opset8", "batch_dims=1", "f32[3,7,2] i32[3,4]%7 i32()=1", 1, 0},
	{"ShapeOf", "opset3", "output_type=i32", "f32[3,4,5]", 1, 0},
	{"ShapeOf", "opset3", "output_type=i64", "f32[3,4,5]", 1, 0},
	{"Range", "opset4", "output_type=i64", "i32()=3 i64()=20 i32()=2", 1, 0},
	{"Range", "opset4", "output_type=f32", "f32()=1 f32()=4 f32()=0.25", 1, 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[9,70] f32c[130,70]", 1, 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[9,3100] f32c[70,3100]", 1,
	 0},
	{"MatMul", "opset1", "transpose_a=true transpose_b=false", "f32[300,16] f32c[300,34]", 1,
	 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[17,70] f16c[34,70]", 1, 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=false", "f32[37,300] f32[300,65]", 1,
	 0},
	{"MatMul", "opset1", "transpose_a=true transpose_b=false", "f32[50,20] f32c[50,33]", 1, 0},
	{"MatMul", "opset1", "transpose_a=true transpose_b=true", "f32c[50,20] f32[33,50]", 1, 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[1,650] f16c[700,650]", 1,
	 0},
	/* products shared out between groups, rows few and many, where a GPU has units left */
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[2,1100] f32c[70,1100]", 1,
	 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[3,1100] f16c[67,1100]", 1,
	 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[2,20,515] f32[2,30,515]", 1,
	 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[1,9,64] f16c[130,64]", 1,
	 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[30,64] f16c[130,64]", 1, 0},
	{"MatMul", "opset1", "transpose_a=true transpose_b=false", "f32[2,64,3] f16c[2,64,70]", 1,
	 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[3,5,70] f32c[40,70]", 1, 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=false", "f32[1,12,9,64] f32[1,12,64,9]",
	 1, 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=true", "f32[2,1,9,64] f32[3,7,64]", 1,
	 0},
	{"MatMul", "opset1", "transpose_a=true transpose_b=false", "f32[2,3,5,6] f32c[2,1,5,7]", 1,
	 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=false", "f32[20] f32[20,5]", 1, 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=false", "f32[4,20] f32[20]", 1, 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=false", "f32[20] f32[20]", 1, 0},
	{"MatMul", "opset1", "transpose_a=false transpose_b=false", "f32[3,4,20] f32[20]", 1, 0},
	/* large tiles, also where a GPU has 132 units */
	{"MatMul", "opset1", "transpose_a=false transpose_b=false", "f32[67,256,33] f32[67,33,254]",
	 1, 0},
	{"Convolution", "opset1",
	 "strides=1,1 dilations=1,1 pads_begin=0,0 pads_end=0,0 auto_pad=explicit",
	 "f32[1,64,14,14] f32c[70,64,1,1]", 1, 0},
	{"Convolution", "opset1",
	 "strides=1,1 dilations=1,1 pads_begin=1,1 pads_end=1,1 auto_pad=explicit",
	 "f32[2,16,28,28] f16c[33,16,3,3]", 1, 0},
	{"Convolution", "opset1",
	 "strides=1,1 dilations=1,1 pads_begin=1,1 pads_end=1,1 auto_pad=explicit",
	 "f32[1,40,7,7] f32c[33,40,3,3]", 1, 0},
	{"Convolution", "opset1",
	 "strides=2,2 dilations=1,1 pads_begin=3,3 pads_end=3,3 auto_pad=explicit",
	 "f32[1,3,45,37] f32c[20,3,7,7]", 1, 0},
	{"Convolution", "opset1",
	 "strides=1,2 dilations=2,1 pads_begin=0,0 pads_end=0,0 auto_pad=same_upper",
	 "f32[1,4,19,23] f32[5,4,3,4]", 1, 0},
	{"Convolution", "opset1",
	 "strides=1,1 dilations=1,1 pads_begin=0,3 pads_end=0,3 auto_pad=explicit",
	 "f32[1,8,17,17] f32c[9,8,1,7]", 1, 0},
	{"Convolution", "opset1", "strides=2 dilations=1 pads_begin=1 pads_end=2 auto_pad=explicit",
	 "f32[2,8,30] f32c[9,8,4]", 1, 0},
	{"Convolution", "opset1",
	 "strides=1,1 dilations=1,1 pads_begin=0,0 pads_end=0,0 auto_pad=valid",
	 "f32[3,4,20,20] f32[5,4,1,1]", 1, 0},
	{"GroupConvolution", "opset1",
	 "strides=1,1 dilations=1,1 pads_begin=1,1 pads_end=1,1 auto_pad=explicit",
	 "f32[2,16,28,28] f32c[16,1,1,3,3]", 1, 0},
	{"GroupConvolution", "opset1",
	 "strides=2,2 dilations=1,1 pads_begin=2,2 pads_end=2,2 auto_pad=explicit",
	 "f32[1,16,27,29] f32c[16,1,1,5,5]", 1, 0},
	{"GroupConvolution", "opset1",
	 "strides=1,1 dilations=2,3 pads_begin=2,3 pads_end=2,3 auto_pad=explicit",
	 "f32[1,6,90,99] f32c[6,1,1,3,3]", 1, 0},
	{"GroupConvolution", "opset1",
	 "strides=3,3 dilations=2,2 pads_begin=1,0 pads_end=2,3 auto_pad=explicit",
	 "f32[1,6,20,20] f32c[6,1,1,3,3]", 1, 0},
	{"GroupConvolution", "opset1",
	 "strides=1,1 dilations=1,1 pads_begin=1,1 pads_end=1,1 auto_pad=explicit",
	 "f32[2,12,9,9] f32c[3,5,4,3,3]", 1, 0},
	{"GroupConvolution", "opset1",
	 "strides=1,1 dilations=1,1 pads_begin=0,0 pads_end=0,0 auto_pad=explicit",
	 "f32[1,6,9,9] f32[6,2,1,3,3]", 1, 0},
	{"GroupConvolution", "opset1",
	 "strides=1 dilations=1 pads_begin=1 pads_end=1 auto_pad=explicit",
	 "f32[1,6,50] f32c[6,1,1,3]", 1, 0},
	{"MaxPool", "opset1",
	 "strides=2,2 kernel=3,3 pads_begin=1,1 pads_end=1,1 "
	 "rounding_type=floor auto_pad=explicit",
	 "f32[1,20,56,56]", 1, 0},
	{"MaxPool", "opset14",
	 "strides=2,2 dilations=1,1 kernel=3,3 pads_begin=0,0 pads_end=0,0 "
	 "rounding_type=ceil_torch auto_pad=explicit index_element_type=i64 axis=0",
	 "f32[2,4,28,27]", 2, 0},
	{"MaxPool", "opset8",
	 "strides=1,1 dilations=2,2 kernel=2,3 pads_begin=1,1 pads_end=0,1 "
	 "rounding_type=floor auto_pad=explicit index_element_type=i64 axis=0",
	 "f32[2,4,28,27]", 2, 0},
	{"MaxPool", "opset1",
	 "strides=1 kernel=3 pads_begin=0 pads_end=0 rounding_type=floor auto_pad=same_lower",
	 "f32[2,4,28]", 1, 0},
	{"AvgPool", "opset1",
	 "strides=1,1 kernel=3,3 pads_begin=1,1 pads_end=1,1 exclude-pad=false "
	 "rounding_type=floor auto_pad=explicit",
	 "f32[1,30,35,35]", 1, 0},
	{"AvgPool", "opset1",
	 "strides=2,2 kernel=3,3 pads_begin=1,1 pads_end=1,1 exclude-pad=true "
	 "rounding_type=ceil auto_pad=explicit",
	 "f32[1,5,18,19]", 1, 0},
	{"AvgPool", "opset1",
	 "strides=1,1 kernel=8,8 pads_begin=0,0 pads_end=0,0 exclude-pad=true "
	 "rounding_type=floor auto_pad=explicit",
	 "f32[1,50,8,8]", 1, 0},
	{"Convolution", "opset1",
	 "strides=1,2,1 dilations=1,1,2 pads_begin=1,0,2 pads_end=1,1,2 auto_pad=explicit",
	 "f32[2,3,5,9,8] f32c[7,3,3,2,3]", 1, 0},
	{"GroupConvolution", "opset1",
	 "strides=1,1,1 dilations=1,1,1 pads_begin=1,1,1 pads_end=1,1,1 auto_pad=explicit",
	 "f32[2,4,4,5,6] f32[4,1,1,3,3,3]", 1, 0},
	{"MaxPool", "opset1",
	 "strides=2,1,3 kernel=3,2,3 pads_begin=1,0,1 pads_end=1,1,1 "
	 "rounding_type=ceil auto_pad=explicit",
	 "f32[2,3,6,7,8]", 1, 0},
	{"AvgPool", "opset1",
	 "strides=2,2,1 kernel=3,3,2 pads_begin=1,1,1 pads_end=1,1,0 "
	 "exclude-pad=true rounding_type=floor auto_pad=explicit",
	 "f32[2,3,6,7,8]", 1, 0},
	{"AvgPool", "opset1",
	 "strides=2,2,1 kernel=3,3,2 pads_begin=1,1,1 pads_end=1,1,0 "
	 "exclude-pad=false rounding_type=floor auto_pad=explicit",
	 "f32[2,3,6,7,8]", 1, 0},
};

/* ---- building ---- */

static const char *parse_dims(const char *s, struct tensor *t)
{
	while (*s && *s != ']') {
		t->dim[t->rank++] = strtol(s, (char **)&s, 10);
		s += *s == ',';
	}
	return *s ? s + 1 : s;
}

static void random_fill(struct tensor *t, int limit, bool positive, uint32_t stream)
{
	struct rng_addr r = {.seed = 7, .stream = RNG_INPUT | stream};
	for (int64_t i = 0; i < tensor_elements(t); i++) {
		double u = rng_uniform(&r, (uint32_t)i);
		if (limit)
			tensor_set_int(t, i, (int64_t)(u * limit));
		else if (elem_is_real(t->elem))
			tensor_set_real(t, i, positive ? 0.1 + 2.0 * u : 8.0 * u - 4.0);
		else
			tensor_set_int(t, i,
				       t->elem == EL_BOOLEAN ? u < 0.5 : (int64_t)(u * 9.0) - 4);
	}
}

static void parse_input(const char *s, struct fixture *f, int i, uint32_t stream)
{
	char elem[12] = "";
	struct tensor *t = &f->one.in[i];
	size_t n = strcspn(s, "[=(");
	snprintf(elem, sizeof elem, "%.*s", (int)n, s);
	if (n && elem[n - 1] == 'c') {
		f->constant[i] = true;
		elem[n - 1] = 0;
	}
	t->elem = (enum elem)elem_parse(elem);
	s += n;
	if (*s == '[') {
		s = parse_dims(s + 1, t);
		t->data = mem_try((size_t)tensor_bytes(t) + 64);
		random_fill(t, *s == '%' ? atoi(s + 1) : 0, *s == '+', stream);
		return;
	}
	double value[16];
	int count = 0;
	bool scalar = *s == '(';
	for (s = strchr(s, '=') + 1; *s; s += *s == ',')
		value[count++] = strtod(s, (char **)&s);
	t->rank = !scalar;
	t->dim[0] = count;
	t->data = mem_try((size_t)tensor_bytes(t) + 64);
	for (int j = 0; j < count; j++)
		tensor_set_real(t, j, value[j]);
	f->constant[i] = true;
}

static void build(struct fixture *f, const struct sample *s)
{
	char *save = NULL;
	uint32_t n_in = 0;
	memset(f, 0, sizeof *f);
	one_node_init(&f->one, s->type, s->opset, 0, (uint32_t)s->n_out);
	snprintf(f->text, sizeof f->text, "%s", s->attrs);
	for (char *a = strtok_r(f->text, " ", &save); a; a = strtok_r(NULL, " ", &save)) {
		char *value = strchr(a, '=');
		*value++ = 0;
		one_node_attr(&f->one, a, value);
	}
	char text[200];
	snprintf(text, sizeof text, "%s", s->in);
	for (char *a = strtok_r(text, " ", &save); a; a = strtok_r(NULL, " ", &save)) {
		parse_input(a, f, (int)n_in, n_in);
		n_in++;
	}
	f->one.in_ptr[1] = n_in;
}

static void release(struct fixture *f)
{
	for (int i = 0; i < ONE_PORTS; i++) {
		mem_free(f->one.in[i].data);
		mem_free(f->one.out[i].data);
	}
}

/* Expected outputs by the CPU's kernel; inputs that are f16 for OpenCL to widen are widened
 * first; bf16: all are rounded to bf16 first. */
static int expect(struct fixture *f, bool bf16, struct err *e)
{
	struct tensor in[ONE_PORTS], wide[ONE_PORTS] = {{0}};
	struct cpu_prep *prep = NULL;
	const char *why = "";
	if (op_decode(&f->one.g, 0, &f->one.op, e))
		return -1;
	for (int i = 0; i < f->one.op.n_in; i++) {
		in[i] = f->one.in[i];
		if (!bf16 && (in[i].elem != EL_F16 || f->one.op.kind == OP_CONVERT))
			continue;
		wide[i] = in[i];
		wide[i].elem = EL_F32;
		wide[i].data = mem_try((size_t)tensor_bytes(&wide[i]) + 64);
		for (int64_t j = 0; j < tensor_elements(&wide[i]); j++) {
			float x = (float)tensor_real(&in[i], j);
			((float *)wide[i].data)[j] = bf16 ? bf16_to_float(bf16_from_float(x)) : x;
		}
		in[i] = wide[i];
	}
	if (op_infer(&f->one.op, in, f->one.out, e))
		return -1;
	if (!cpu_kernel_supports(&f->one.op, &why))
		return err_set(e, ST_INPUT, "cpu: %s", why);
	for (int i = 0; i < f->one.op.n_out; i++)
		f->one.out[i].data = mem_try((size_t)tensor_bytes(&f->one.out[i]) + 64);
	struct cpu_ctx *c = cpu_ctx_new(NULL, NULL);
	int rc = cpu_kernel_prepare(&f->one.op, in, f->one.out, c, &prep, e);
	if (!rc)
		rc = cpu_kernel_run(&f->one.op, prep, in, f->one.out, c, e);
	cpu_prep_free(prep);
	cpu_ctx_free(c);
	for (int i = 0; i < ONE_PORTS; i++)
		mem_free(wide[i].data);
	return rc;
}

/* ---- running on the device ---- */

static void count_done(void *arg, bool ok)
{
	if (ok)
		__atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static int n_outputs(const struct fixture *f) /* indices of MaxPool are not asked for */
{
	return f->one.op.kind == OP_MAX_POOL ? 1 : f->one.op.n_out;
}

static int run_step(struct device *d, const struct fixture *f, const struct step_spec *s,
		    void **result, struct err *e)
{
	const struct device_class *k = d->class;
	struct step *step = NULL;
	struct devmem *in[ONE_PORTS] = {NULL}, *out[ONE_PORTS] = {NULL};
	int done = 0, want = 0, rc = 0;
	if (k->prepare(d, s, &step, e))
		return -1;
	uint32_t n = 0;
	for (uint32_t i = 0; !rc && i < s->node[0].n_in; i++) {
		if (s->node[0].in[i].from != FROM_INPUT)
			continue;
		size_t bytes = (size_t)tensor_bytes(&f->one.in[i]);
		rc = k->alloc(d, bytes, &in[n], e) ||
		     k->upload(d, in[n], f->one.in[i].data, bytes, count_done, &done, e);
		n++;
		want++;
	}
	for (uint32_t i = 0; !rc && i < s->n_out; i++)
		rc = k->alloc(d, (size_t)tensor_bytes(&f->one.out[i]), &out[i], e);
	rc = rc || k->run(d, step, in, out, e);
	for (uint32_t i = 0; !rc && i < s->n_out; i++, want++)
		rc = k->download(d, out[i], result[i], (size_t)tensor_bytes(&f->one.out[i]),
				 count_done, &done, e);
	rc = rc || k->flush(d, e) || k->finish(d, e);
	/* completions may come a little after finish */
	for (int i = 0; !rc && __atomic_load_n(&done, __ATOMIC_SEQ_CST) != want && i < 2000; i++)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	if (!rc && __atomic_load_n(&done, __ATOMIC_SEQ_CST) != want)
		rc = err_set(e, ST_RUNTIME, "%d of %d transfers ended", done, want);
	for (int i = 0; i < ONE_PORTS; i++) {
		k->release(d, in[i]);
		k->release(d, out[i]);
	}
	k->step_free(d, step);
	return rc;
}

/* Largest difference over the largest magnitude. */
static double difference(const struct tensor *want, const void *got)
{
	struct tensor t = *want;
	double worst = 0, scale = 1e-3;
	t.data = (void *)got;
	for (int64_t i = 0; i < tensor_elements(want); i++) {
		double a = tensor_real(want, i), b = tensor_real(&t, i);
		if (!(fabs(a - b) <= worst) && !(isinf(a) && a == b))
			worst = isnan(a - b) ? INFINITY : fabs(a - b);
		if (isfinite(a) && fabs(a) > scale)
			scale = fabs(a);
	}
	return worst / scale;
}

/* f is kept by the caller until the device is closed: constants are known by their address. */
static bool check(struct device *d, const struct sample *s, struct fixture *f, bool bf16,
		  struct err *e)
{
	struct step_arg arg[ONE_PORTS] = {{.from = FROM_NONE}};
	const struct tensor *input[ONE_PORTS];
	struct step_out out[ONE_PORTS];
	void *result[ONE_PORTS] = {NULL};
	uint32_t n = 0;
	char why[200] = "";
	bool ok = true;
	build(f, s);
	if (expect(f, bf16, e))
		return false;
	for (int i = 0; i < f->one.op.n_in; i++) {
		arg[i] = (struct step_arg){f->constant[i] ? FROM_CONST : FROM_INPUT, n, 0,
					   &f->one.in[i]};
		if (!f->constant[i])
			input[n++] = &f->one.in[i];
	}
	struct step_node node = {&f->one.g,
				 0,
				 &f->one.op,
				 (uint32_t)f->one.op.n_in,
				 (uint32_t)f->one.op.n_out,
				 arg,
				 f->one.out,
				 NULL,
				 NULL};
	struct step_spec spec = {1, &node, n, (uint32_t)n_outputs(f), input, out};
	for (int i = 0; i < n_outputs(f); i++) {
		out[i] = (struct step_out){0, (uint32_t)i};
		result[i] = mem_alloc((size_t)tensor_bytes(&f->one.out[i]) + 8, 1);
	}
	if (!d->class->supports(d, &spec, why, sizeof why))
		ok = err_set(e, ST_RUNTIME, "not supported: %s", why);
	ok = ok && !run_step(d, f, &spec, result, e);
	for (int i = 0; ok && i < n_outputs(f); i++) {
		double diff = difference(&f->one.out[i], result[i]);
		double tol = s->tol > 0 ? s->tol : elem_is_real(f->one.out[i].elem) ? 1e-5 : 0;
		if (!(diff <= tol))
			ok = err_set(e, ST_RUNTIME, "output %d differs by %.3g", i, diff) == 0;
	}
	for (int i = 0; i < ONE_PORTS; i++)
		mem_free(result[i]);
	return ok;
}

/* Does the kernel of this sample have work-items that work together, or other code for them? */
static bool differs_in_groups(const struct sample *s)
{
	static const char *const types[] = {"MatMul",     "Convolution", "GroupConvolution",
					    "MaxPool",    "AvgPool",     "SoftMax",
					    "LogSoftmax", "MVN",         "ReduceMean",
					    "ReduceMax",  "Transpose",   "Gather",
					    "HSwish"};
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(s->type, types[i]))
			return true;
	return false;
}

/* Is it computed by products whose operands a device in bf16 rounds?  Not of one channel a group. */
static bool is_product(const struct sample *s)
{
	if (!strcmp(s->type, "GroupConvolution"))
		return strstr(s->in, "c[3,5,4,") != NULL;
	return !strcmp(s->type, "MatMul") || !strcmp(s->type, "Convolution");
}

static void test_samples(const char *shape, bool groups, bool bf16)
{
	const char *name = bf16 ? "cl:0.0/precision=bf16" : "cl:0.0";
	enum { N = sizeof samples / sizeof *samples };
	struct device_list l;
	struct err e = ERR_INIT;
	static struct fixture fixtures[N];
	memset(fixtures, 0, sizeof fixtures);
	setenv("HSDAG_CL_SHAPE", shape, 1);
	setenv("HSDAG_CL_PINNED", groups ? "1" : "0", 1);
	if (device_list_parse(name, &l, &e) || device_list_open(&l, false, &e)) {
		printf("# %s\n", e.msg);
		tap(false, "open %s", name);
		return;
	}
	for (int i = 0; i < N; i++) {
		struct err w = ERR_INIT;
		if ((groups && !differs_in_groups(&samples[i])) ||
		    (bf16 && !is_product(&samples[i])))
			continue;
		if (!tap(check(&l.dev[0], &samples[i], &fixtures[i], bf16, &w), "%s: %s (%s) %s",
			 bf16 ? "bf16" : shape, samples[i].type, samples[i].in, samples[i].attrs))
			printf("# %s\n", w.msg);
	}
	double busy = l.dev[0].class->busy_s(&l.dev[0]);
	tap(busy > 0 && busy < 60, "%s: time of launches is known", shape);
	device_list_close(&l);
	for (int i = 0; i < N; i++)
		release(&fixtures[i]);
}

static void seen(void *arg, const struct device *d)
{
	(void)d;
	++*(int *)arg;
}

int main(void)
{
	int n = 0;
	device_class_of_name("cl:")->list_machine(seen, &n);
	if (!n) {
		tap(true, "OpenCL kernels # SKIP no OpenCL device");
		return tap_end();
	}
	/* PoCL takes minutes to optimise a GPU's kernels for a processor; tests/oracle/ops.bats has the processor's optimised. */
	setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0);
	const char *shape = getenv("HSDAG_CL_SHAPE");
	setenv("HSDAG_CL_BF16", "1", 1);
	if (shape) { /* a GPU has too little local memory for the panels of a CPU */
		test_samples(shape, false, false);
		test_samples(shape, false, true);
		return tap_end();
	}
	test_samples("cpu", false, false);
	test_samples("gpu", true, false);
	test_samples("gpu", false, true);
	return tap_end();
}
