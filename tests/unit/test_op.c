/* test_op.c - the operator table (decoding, shape inference, costs, constants), vector
 * functions against libm, packed products against plain loops, and kernels on several threads.
 * That operators compute what OpenVINO computes is ops.bats' part. */
#include "kernel/gemm/gemm.h"
#include "kernel/ops/fft.h"
#include "kernel/isa_level.h"
#include "kernel/vec.h"
#include "dynamic/host_eval.h"
#include "record/graphrec.h"
#include "op/optype.h"
#include "op/minifloat.h"
#include "op/slice.h"
#include "tap.h"
#include "written_graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- decoding and inference ---- */

/* Decode one node of this type with n parameters in front of it. */
static int decode_one(const char *type, const char *opset, int n, const char *attrs, struct op *op,
		      struct err *e)
{
	static const char *const inputs[] = {"", "0", "0,1", "0,1,2", "0,1,2,3", "0,1,2,3,4"};
	graph_begin();
	for (int i = 0; i < n; i++)
		node("Parameter", "opset1", "", EL_F32, "1", "");
	return op_decode(g, node(type, opset, inputs[n], EL_F32, "1", attrs), op, e);
}

/* Inference as text: "f32[..]", or "error". */
static const char *inferred(const char *type, const char *opset, const char *attrs, int n_in,
			    struct tensor *in)
{
	static char text[200];
	struct err e = ERR_INIT;
	struct op op;
	struct tensor out[4];
	const char *s = "error";
	if (decode_one(type, opset, n_in, attrs, &op, &e) == 0 && op_infer(&op, in, out, &e) == 0)
		s = tensor_text(&out[0], text, sizeof text);
	graph_free(g);
	return s;
}

static struct tensor shaped(const char *shape)
{
	struct tensor t = {.elem = EL_F32};
	t.rank = numbers(shape, t.dim);
	return t;
}

/* A list of integers as a tensor. */
static struct tensor listed(const char *values)
{
	static int64_t store[16][TENSOR_DIMS];
	static int next;
	int64_t *p = store[next++ % 16];
	struct tensor t = {.elem = EL_I64, .rank = 1, .data = p};
	t.dim[0] = numbers(values, p);
	return t;
}

static void infers(const char *want, const char *type, const char *opset, const char *attrs, int n,
		   struct tensor a, struct tensor b, struct tensor c, struct tensor d)
{
	struct tensor in[] = {a, b, c, d};
	const char *got = inferred(type, opset, attrs, n, in);
	if (!tap(strcmp(got, want) == 0, "%s(%s) makes %s", type, attrs, want))
		printf("# %s\n", got);
}

/* Indices that reach over the data in dims that they do not choose from, and other numbers of updates, are refused for all devices. */
static void test_index_shapes(void)
{
	struct tensor data = shaped("2,4,3"), axis = listed("1"), no = {.elem = EL_DYNAMIC};
	axis.rank = 0;
	infers("f32[2,4,3]", "ScatterElementsUpdate", "opset3", "", 4, data, shaped("2,9,3"),
	       shaped("2,9,3"), axis);
	infers("error", "ScatterElementsUpdate", "opset3", "", 4, data, shaped("3,1,3"),
	       shaped("3,1,3"), axis);
	infers("error", "ScatterElementsUpdate", "opset3", "", 4, data, shaped("2,1,3"),
	       shaped("2,2,3"), axis);
	infers("f32[2,4,3]", "ScatterUpdate", "opset3", "", 4, data, shaped("5"), shaped("2,5,3"),
	       axis);
	infers("error", "ScatterUpdate", "opset3", "", 4, data, shaped("5"), shaped("2,4,3"), axis);
	infers("f32[2,4,3]", "ScatterNDUpdate", "opset3", "", 3, data, shaped("7,2"), shaped("7,3"),
	       no);
	infers("error", "ScatterNDUpdate", "opset3", "", 3, data, shaped("7,2"), shaped("7,2"), no);
	infers("error", "ScatterNDUpdate", "opset3", "", 3, data, shaped("7,4"), shaped("7"), no);
	infers("f32[2,9,3]", "GatherElements", "opset6", "axis=1", 2, data, shaped("2,9,3"), no,
	       no);
	infers("error", "GatherElements", "opset6", "axis=1", 2, data, shaped("2,9,4"), no, no);
	infers("f32[2,5,3]", "GatherND", "opset8", "batch_dims=1", 2, data, shaped("2,5,1"), no,
	       no);
	infers("error", "GatherND", "opset8", "batch_dims=1", 2, data, shaped("3,5,1"), no, no);
	infers("f32[2,5,3]", "Gather", "opset8", "batch_dims=1", 3, data, shaped("2,5"), axis, no);
	infers("error", "Gather", "opset8", "batch_dims=1", 3, data, shaped("3,5"), axis, no);
	for (int fits = 0; fits < 2; fits++) {
		struct tensor limit = shaped(fits ? "1,4,1" : "1,2,1"),
			      in[] = {data, limit, limit, limit, limit};
		const char *got = inferred("FakeQuantize", "opset1", "levels=256", 5, in);
		tap(strcmp(got, fits ? "f32[2,4,3]" : "error") == 0, "limits: %s", got);
	}
	for (int fits = 0; fits < 2; fits++) {
		struct tensor limit = shaped("4"), wide = shaped("2,1,1"), one = shaped("1,4,3"),
			      x = fits ? shaped("2,4,3") : one,
			      in[] = {x, limit, limit, fits ? limit : wide, limit};
		const char *got = inferred("FakeQuantize", "opset1",
					   "levels=256;auto_broadcast=pdpd;axis=1", 5, in);
		tap(strcmp(got, fits ? "f32[2,4,3]" : "error") == 0, "limits along an axis: %s",
		    got);
	}
}

static void test_inference(void)
{
	const struct tensor no = {.elem = EL_DYNAMIC};
	struct tensor image = shaped("2,3,10,9"), w = shaped("8,3,3,3"), s245 = shaped("2,4,5");
	infers("f32[2,8,5,5]", "Convolution", "opset1", "strides=2,2;pads_begin=1,1;pads_end=1,1",
	       2, image, w, no, no);
	infers("f32[2,8,5,5]", "Convolution", "opset1", "strides=2, 2;auto_pad=same_upper", 2,
	       image, w, no, no);
	infers("f32[2,8,6,5]", "Convolution", "opset1", "auto_pad=valid;dilations=2,2", 2, image, w,
	       no, no);
	infers("error", "Convolution", "opset1", "", 2, image, shaped("8,4,3,3"), no, no);
	infers("error", "Convolution", "opset1", "", 2, image, shaped("8,3,11,3"), no, no);
	infers("f32[2,6,8,7]", "GroupConvolution", "opset1", "", 2, image, shaped("3,2,1,3,3"), no,
	       no);
	infers("f32[2,3,5,5]", "MaxPool", "opset1", "kernel=2,2;strides=2,2;rounding_type=ceil", 1,
	       image, no, no, no);
	infers("f32[2,3,5,4]", "AvgPool", "opset1", "kernel=2,2;strides=2,2", 1, image, no, no, no);
	infers("f32[2,4,3]", "MatMul", "opset1", "transpose_b=true", 2, s245, shaped("3,5"), no,
	       no);
	infers("error", "MatMul", "opset1", "", 2, s245, shaped("3,5"), no, no);
	infers("f32[4]", "MatMul", "opset1", "", 2, shaped("4,5"), shaped("5"), no, no);
	infers("f32[2,4,5]", "Add", "opset1", "", 2, s245, shaped("4,1"), no, no);
	infers("error", "Add", "opset1", "", 2, s245, shaped("3,1"), no, no);
	infers("boolean[2,4,5]", "Less", "opset1", "", 2, s245, shaped(""), no, no);
	infers("f32[2,4,5]", "Add", "opset1", "auto_broadcast=pdpd;axis=1", 2, s245,
	       shaped("4,1,1"), no, no);
	infers("error", "Add", "opset1", "auto_broadcast=pdpd;axis=0", 2, s245, shaped("4"), no,
	       no);
	infers("f32[2,4,5]", "Select", "opset1", "auto_broadcast=pdpd;axis=1", 3, shaped("4"), s245,
	       shaped("4,5"), no);
	infers("error", "Select", "opset1", "auto_broadcast=pdpd;axis=1", 3, shaped("4"), s245,
	       shaped("2,4"), no);
	infers("error", "Select", "opset1", "auto_broadcast=pdpd;axis=1", 3, shaped("5"), s245,
	       shaped("4"), no);
	infers("f32[2,20]", "Reshape", "opset1", "special_zero=true", 2, s245, listed("0,-1"), no,
	       no);
	infers("f32[0,20]", "Reshape", "opset1", "special_zero=true", 2, shaped("0,4,5"),
	       listed("0,-1"), no, no);
	infers("error", "Reshape", "opset1", "", 2, s245, listed("3,-1"), no, no);
	infers("error", "Reshape", "opset1", "", 2, s245, listed("-1,-1"), no, no);
	infers("f32[1,2,4,5,1]", "Unsqueeze", "opset1", "", 2, s245, listed("0,-1"), no, no);
	infers("f32[5,2,4]", "Transpose", "opset1", "", 2, s245, listed("2,0,1"), no, no);
	infers("error", "Transpose", "opset1", "", 2, s245, listed("2,0,0"), no, no);
	infers("f32[1,4,5]", "Slice", "opset8", "", 4, s245, listed("-1"), listed("-99"),
	       listed("-3"));
	infers("f32[2,5]", "StridedSlice", "opset1",
	       "begin_mask=1,0;end_mask=1,0;shrink_axis_mask=0,1", 3, s245, listed("0,2"),
	       listed("0,3"), no);
	infers("error", "StridedSlice", "opset1", "shrink_axis_mask=1", 3, s245, listed("7"),
	       listed("8"), no);
	infers("f32[2,7,6,5]", "Gather", "opset8", "", 3, s245, shaped("7,6"), listed("1"), no);
	infers("error", "Gather", "opset8", "", 3, s245, shaped("7,6"), listed("3"), no);
	infers("error", "Gather", "opset8", "", 3, s245, shaped("7,6"), listed("1,1"), no);
	infers("error", "Split", "opset1", "num_splits=1", 2, s245, shaped("1"), no, no);
	infers("f32[2,1,5]", "ReduceMean", "opset1", "keep_dims=true", 2, s245, listed("1"), no,
	       no);
	infers("f32[4]", "ReduceMean", "opset1", "keep_dims=0", 2, s245, listed("0,-1"), no, no);
	infers("i64[5]", "Range", "opset1", "", 3, listed("10"), listed("0"), listed("-2"), no);
	infers("error", "Range", "opset1", "", 3, listed("1"), listed("9"), listed("0"), no);
	infers("f32[4,4,10]", "Tile", "opset1", "", 2, s245, listed("2,1,2"), no, no);
	infers("error", "Tile", "opset1", "", 2, s245,
	       listed("4611686018427387904,4611686018427387904"), no, no);
	infers("error", "Broadcast", "opset3", "mode=numpy", 2, s245, listed("-4"), no, no);
}

/* Input i of an operator, of that shape, as numpy's broadcasting to `whole` wants it. */
static void aligns(const char *want, const char *type, const char *attrs, int n, int i,
		   const char *whole, const char *shape)
{
	char text[200] = "no";
	struct err e = ERR_INIT;
	struct op op;
	struct tensor w = shaped(whole), t = shaped(shape), got;
	if (decode_one(type, "opset1", n, attrs, &op, &e) == 0 && op_align(&op, &w, i, &t, &got))
		tensor_text(&got, text, sizeof text);
	tap(strcmp(text, want) == 0, "%s(%s): [%s] lies in [%s] as %s", type, attrs, shape, whole,
	    want);
	graph_free(g);
}

static void test_align(void)
{
	const char *pdpd = "auto_broadcast=pdpd;axis=1";
	aligns("f32[3]", "PReLU", "", 2, 1, "2,5,4,3", "3");
	aligns("f32[5,1,1]", "PReLU", "", 2, 1, "2,5,4,3", "5");
	aligns("f32[5,1,1]", "Add", pdpd, 2, 1, "2,5,4,3", "5");
	aligns("f32[2,5,4,3]", "Add", pdpd, 2, 0, "2,5,4,3", "2,5,4,3");
	aligns("f32[5]", "Add", "", 2, 1, "2,5,4,3", "5");
	aligns("no", "Add", "auto_broadcast=pdpd;axis=3", 2, 1, "2,5,4,3", "4,3");
	aligns("f32[5,1,1]", "Select", pdpd, 3, 0, "2,5,4,3", "5");
	aligns("f32[2,5]", "Select", pdpd, 3, 1, "2,5", "2,5");
	aligns("f32[5,4,1]", "FakeQuantize", pdpd, 5, 3, "2,5,4,3", "5,4");
	tap(op_n_data(OP_SELU) == 1 && op_n_data(OP_LESS) == 2 &&
		    op_n_data(OP_FAKE_QUANTIZE) == 5 && op_n_data(OP_MATMUL) == 0,
	    "inputs that are data");
}

static void test_table(void)
{
	struct op op;
	struct err e = ERR_INIT;
	tap(op_kind("relu") == OP_RELU && op_kind("Constant") == OP_CONST &&
		    op_kind("softmax") == OP_SOFTMAX && op_kind("Nonsense") == OP_UNKNOWN,
	    "types in any case, with aliases");
	bool same = true;
	for (int k = 1; k < OP_COUNT; k++)
		same = same && (int)op_kind(op_info((enum op_kind)k)->type) == k;
	tap(same, "every operator is found under its name");
	int n_columns = 0;
	for (int k = 1; k < OP_COUNT; k++) {
		const struct op_info *info = op_info((enum op_kind)k);
		int column = optype_of((enum op_kind)k);
		n_columns += column >= 0;
		same = same && (info->flags & OPF_NO_OPSET ? column < 0
							   : column == optype_find(info->type));
	}
	tap(same && n_columns < OPTYPE_COUNT && optype_of(OP_UNKNOWN) < 0 &&
		    optype_of(OP_BACKWARD) < 0 &&
		    optype_of(OP_AUGRU_CELL) == optype_find("AUGRUCell"),
	    "a kind's column of features is that of its name");
	tap(decode_one("augrucell", "opset1", 1, "", &op, &e) == 0 && op.kind == OP_UNKNOWN &&
		    g->kind[1] == OP_AUGRU_CELL && op_flops(g, 1) == 1 &&
		    op_info(g->kind[1]) == op_info(OP_UNKNOWN),
	    "a kind that is a name alone is unknown to the table");
	graph_free(g);
	tap(decode_one("Clamp", "opset1", 1, "min=-1.5;max=6", &op, &e) == 0 &&
		    op.a.act.lo == -1.5f && op.a.act.hi == 6 && op.version == 1,
	    "attributes are decoded");
	graph_free(g);
	tap(decode_one("MyOwnOp", "extension", 1, "", &op, &e) == 0 && op.kind == OP_UNKNOWN,
	    "an unknown operator is no error");
	graph_free(g);
	static const char *const bad[][3] = {{"Convolution", "strides=0,1", "2"},
					     {"Convolution", "strides=1,x", "2"},
					     {"Convolution", "strides=1,1;dilations=1", "2"},
					     {"MatMul", "transpose_a=perhaps", "2"},
					     {"Gelu", "approximation_mode=cubic", "1"},
					     {"Softmax", "axis=1e3", "1"},
					     {"Convolution", "auto_pad=same", "2"},
					     {"Add", "", "1"},
					     {"Convert", "destination_type=f99", "1"},
					     {"Clamp", "min=nan", "1"}};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		err_clear(&e);
		tap(decode_one(bad[i][0], "opset1", atoi(bad[i][2]), bad[i][1], &op, &e) == -1 &&
			    e.code == ST_INPUT,
		    "refused: %s %s", bad[i][0], bad[i][1]);
		graph_free(g);
	}
}

/* A Pad of those amounts in front of a convolution of 3x3 in 4x4 pixels: what its window's padding becomes, or "as it is". */
static void folds(const char *want, const char *pad_attrs, const char *lo, const char *hi,
		  float fill, const char *conv_attrs)
{
	struct op pad, conv, out;
	struct err e = ERR_INIT;
	char got[80] = "as it is";
	const struct tensor x = {.elem = EL_F32, .rank = 4, .dim = {1, 2, 4, 4}},
			    w = {.elem = EL_F32, .rank = 4, .dim = {3, 2, 3, 3}};
	struct tensor in[4] = {x, listed(lo), listed(hi), {.elem = EL_F32, .data = &fill}}, y = {0};
	if (decode_one("Pad", "opset1", 4, pad_attrs, &pad, &e) < 0 ||
	    op_infer(&pad, in, &y, &e) < 0 ||
	    (graph_free(g), decode_one("Convolution", "opset1", 2, conv_attrs, &conv, &e)) < 0)
		abort();
	if (op_fold_pad(&pad, in, &y, &conv, &w, &out))
		snprintf(got, sizeof got, "%d,%d %d,%d", (int)out.a.window.pad_begin[0],
			 (int)out.a.window.pad_begin[1], (int)out.a.window.pad_end[0],
			 (int)out.a.window.pad_end[1]);
	tap(strcmp(got, want) == 0, "Pad %s to %s of %g, Convolution(%s): %s, %s", lo, hi, fill,
	    conv_attrs, want, got);
	graph_free(g);
}

static void test_pads(void)
{
	const char *plain = "strides=2,2", *same = "strides=1,1;auto_pad=same_upper";
	folds("0,0 1,2", "pad_mode=constant", "0,0,0,0", "0,0,1,2", 0, plain);
	folds("1,1 2,0", "pad_mode=constant", "0,0,0,1", "0,0,1,0", 0,
	      "strides=1,1;pads_begin=1,0;pads_end=1,0");
	folds("2,1 1,1", "pad_mode=constant", "0,0,1,0", "0,0,0,0", 0, same);
	folds("as it is", "pad_mode=constant", "0,0,0,0", "0,0,1,1", 0.5f, plain);
	folds("as it is", "pad_mode=edge", "0,0,0,0", "0,0,1,1", 0, plain);
	folds("as it is", "pad_mode=constant", "0,1,0,0", "0,0,1,1", 0, plain);
	folds("as it is", "pad_mode=constant", "0,0,-1,0", "0,0,1,1", 0, plain);
	folds("as it is", "pad_mode=constant", "0,0,3,0", "0,0,1,1", 0, plain);
}

/* x -> Convolution(Convert(f16 w)) -> Add bias -> ReLU -> Reshape(shape) -> Result */
static void small_model(void)
{
	graph_begin();
	node("Parameter", "opset1", "", EL_F32, "1,3,8,8", "");
	node("Const", "opset1", "", EL_F16, "4,3,3,3", "");
	node("Convert", "opset1", "1", EL_F32, "4,3,3,3", "destination_type=f32");
	node("Convolution", "opset1", "0,2", EL_F32, "1,4,6,6",
	     "strides=1,1;pads_begin=0,0;pads_end=0,0;dilations=1,1");
	node("Const", "opset1", "", EL_F32, "1,4,1,1", "");
	node("Add", "opset1", "3,4", EL_F32, "1,4,6,6", "");
	node("ReLU", "opset1", "5", EL_F32, "1,4,6,6", "");
	node("Const", "opset1", "", EL_I64, "2", "");
	node("Reshape", "opset1", "6,7", EL_F32, "1,144", "special_zero=false");
	node("ShapeOf", "opset3", "8", EL_I64, "2", "output_type=i64");
	node("Result", "opset1", "8", EL_F32, "-", "");
	g->n_const = 3;
	g->const_node[0] = 1, g->const_offset[0] = 0, g->const_bytes[0] = 216;
	g->const_node[1] = 4, g->const_offset[1] = 217, g->const_bytes[1] = 16;
	g->const_node[2] = 7, g->const_offset[2] = 240, g->const_bytes[2] = 16;
}

static void test_costs(void)
{
	bool constant[NODES];
	small_model();
	op_constant_nodes(g, constant);
	tap(op_flops(g, 3) == 2 * 4 * 36 * 27 && op_flops(g, 6) == 144 && op_flops(g, 8) == 0,
	    "FLOPs");
	tap(op_bytes(g, 3) == 4 * (192 + 108 + 144) && op_bytes(g, 8) == 0, "bytes");
	tap(op_stored_bytes(g, g->out_ptr[2]) == 432 && op_stored_bytes(g, g->out_ptr[3]) == 576,
	    "bytes of f16 that is converted, and of what is computed");
	g->out_elem[g->out_ptr[1]] = EL_I8;
	tap(op_bytes(g, 3) == 4 * (192 + 144) + 108 && op_stored_bytes(g, g->out_ptr[2]) == 108,
	    "bytes of weights in 8 bits as they are stored");
	tap(constant[1] && constant[2] && constant[7] && constant[9] && !constant[0] &&
		    !constant[3] && !constant[10],
	    "constants, and shapes of static tensors");
	graph_free(g);
}

static void test_host_eval(void)
{
	struct err e = ERR_INIT;
	struct host_values h;
	unsigned char weights[256] = {0};
	float x[192], bias[4] = {1, -500, 3, 4};
	int64_t shape[] = {1, -1};
	for (int i = 0; i < 108; i++) {
		uint16_t w = half_from_float((float)(i % 7) - 3);
		memcpy(weights + 2 * i, &w, 2);
	}
	memcpy(weights + 217, bias, sizeof bias); /* not aligned */
	memcpy(weights + 240, shape, sizeof shape);
	for (int i = 0; i < 192; i++)
		x[i] = (float)(i % 5);
	small_model();
	struct cpu_ctx *c = cpu_ctx_new(NULL, NULL);
	host_values_init(&h, g, weights, sizeof weights, c);
	struct tensor in = shaped("1,3,8,8");
	in.data = x;
	host_values_set(&h, 0, &in);
	bool want[NODES] = {true, true, true, true, true, true, true, true, true, true};
	tap(host_eval(&h, want, &e) == 0, "a model is evaluated: %s", e.msg);
	float sum = bias[0];
	for (int i = 0; i < 27; i++)
		sum += x[i / 9 * 64 + i % 9 / 3 * 8 + i % 3] * (float)(i % 7 - 3);
	const float *y = h.value[8].data;
	tap(y && y[0] == (sum > 0 ? sum : 0) && y[36] == 0, "and right");
	tap(h.value[9].data && tensor_int(&h.value[9], 1) == 144, "shapes are values");
	host_values_release(&h);
	g->const_offset[1] = 250;
	host_values_init(&h, g, weights, sizeof weights, c);
	tap(host_eval_node(&h, 4, &e) == -1 && e.code == ST_INPUT && strstr(e.msg, "n4"),
	    "a constant outside the file is refused with its name");
	err_clear(&e);
	tap(host_eval_node(&h, 5, &e) == -1, "a node without inputs' values is refused");
	host_values_release(&h);
	struct op op;
	struct tensor out = shaped("1,4,6,7"), ins[2] = {shaped("1,3,8,8"), shaped("4,3,3,3")};
	err_clear(&e);
	tap(op_decode(g, 3, &op, &e) == 0 && op_check(&op, ins, &out, &e) == -1,
	    "recorded shapes that lie are noticed");
	cpu_ctx_free(c);
	graph_free(g);
}

/* ---- numbers ---- */

static void test_halves(void)
{
	bool back = true;
	for (uint32_t h = 0; h < 65536; h++) {
		float f = half_to_float((uint16_t)h);
		back = back &&
		       (f != f ? (h & 0x7c00) == 0x7c00 && (h & 0x3ff) : half_from_float(f) == h);
	}
	tap(back, "all halves survive f32");
	tap(half_from_float(65520) == 0x7c00 && half_from_float(65519) == 0x7bff &&
		    half_from_float(0x1p-25f) == 0 && half_from_float(0x1.8p-25f) == 1 &&
		    half_from_float(1 + 0x1p-11f) == 0x3c00 &&
		    half_from_float(1 + 0x3p-11f) == 0x3c02,
	    "halves round to the nearest even");
	tap(bf16_from_float(bf16_to_float(0x3f81)) == 0x3f81 &&
		    bf16_from_float(1 + 0x1p-8f) == 0x3f80,
	    "bf16");
	uint16_t h[40];
	float f[40];
	for (int i = 0; i < 40; i++)
		h[i] = (uint16_t)(i * 1637);
	vec_from_half(h, f, 37);
	bool same = true;
	for (int i = 0; i < 37; i++)
		same = same && (f[i] == half_to_float(h[i]) || f[i] != f[i]);
	tap(same, "vectors of halves");
}

/* Every number that a type has comes back, and what lies between two goes to the nearer one. */
static bool minifloats_round(double (*value)(unsigned), unsigned (*code)(float), unsigned n)
{
	bool good = true;
	for (unsigned c = 0; c < n; c++) {
		double x = value(c), y = c + 1 < n ? value(c + 1) : NAN;
		good = good &&
		       (isnan(x) ? isnan(value(code((float)x))) : value(code((float)x)) == x);
		if (isnan(x) || isnan(y) || isinf(y) || y <= x)
			continue;
		good = good && value(code((float)(x + (y - x) * 0.45))) == x &&
		       value(code((float)(x + (y - x) * 0.55))) == y;
	}
	return good;
}

static unsigned e4m3(float x)
{
	return f8e4m3_code(x);
}

static unsigned e5m2(float x)
{
	return f8e5m2_code(x);
}

static unsigned e8m0(float x)
{
	return f8e8m0_code(x);
}

static void test_minifloats(void)
{
	tap(minifloats_round(f8e4m3_value, e4m3, 128) && f8e4m3_code(-448) == 0xfe &&
		    f8e4m3_code(464) == 0x7e && (f8e4m3_code(465) & 0x7f) == 0x7f &&
		    (f8e4m3_code(-INFINITY) & 0x7f) == 0x7f && f8e4m3_code(1.0625f) == 0x38 &&
		    f8e4m3_code(1.1875f) == 0x3a && f8e4m3_code(-0.0f) == 0x80 &&
		    f8e4m3_code(0x1p-10f) == 0 && f8e4m3_code(0x3p-10f) == 2,
	    "f8e4m3: nearest, ties to even, NaN beyond 464");
	tap(minifloats_round(f8e5m2_value, e5m2, 128) && f8e5m2_code(INFINITY) == 0x7c &&
		    f8e5m2_code(61440) == 0x7c && f8e5m2_code(61000) == 0x7b &&
		    f8e5m2_code(-1.125f) == 0xbc && f8e5m2_code(1.375f) == 0x3e,
	    "f8e5m2: nearest, ties to even, infinity beyond 61440");
	tap(minifloats_round(f8e8m0_value, e8m0, 256) && f8e8m0_code(0) == 0 &&
		    f8e8m0_code(-3) == 0 && f8e8m0_code(1.5f) == 128 && f8e8m0_code(3) == 128 &&
		    f8e8m0_code(INFINITY) == 254 && f8e8m0_code(0x1.8p-127f) == 0,
	    "f8e8m0: nearest power, ties to the even exponent, none for what is not positive");
	tap(minifloats_round(f4e2m1_value, f4e2m1_code, 8) && f4e2m1_code(5) == 6 &&
		    f4e2m1_code(0.25f) == 0 && f4e2m1_code(-100) == 15 && f4e2m1_code(-0.75f) == 10,
	    "f4e2m1: nearest, ties to even, limited");
	tap(minifloats_round(nf4_value, nf4_code, 16) && nf4_code(9) == 15 && nf4_code(-9) == 0 &&
		    (float)nf4_value(6) == -0.09105003625154495f,
	    "nf4: the nearest level");
}

/* Each type with less than 8 bits: the bytes that OpenVINO writes for 0, 1, 2 ..., and back. */
static void test_packed(void)
{
	static const struct {
		enum elem t;
		int n;
		unsigned char bytes[3];
	} packed[] = {{EL_U1, 8, {0x55}},
		      {EL_U2, 4, {0xe4}},
		      {EL_U3, 8, {0x1b, 0x1b, 0x0f}},
		      {EL_U4, 2, {0x10}},
		      {EL_I4, 2, {0x10}}};
	for (size_t p = 0; p < sizeof packed / sizeof *packed; p++) {
		unsigned char bytes[6] = {0}, made[6] = {0};
		memcpy(bytes, packed[p].bytes, sizeof packed[p].bytes);
		const struct tensor in = {.elem = packed[p].t, .data = bytes},
				    out = {.elem = packed[p].t, .data = made};
		int mask = (1 << elem_bits(packed[p].t)) - 1;
		bool good = true;
		for (int i = 0; i < packed[p].n; i++) {
			good = good && tensor_int(&in, i) == (i & mask);
			tensor_set_int(&out, i, i);
		}
		tap(good && memcmp(bytes, made, sizeof made) == 0, "elements of %s",
		    elem_name(packed[p].t));
	}
	unsigned char bytes[6] = {0x12, 0x3c, 0x0b}, made[6] = {0};
	const struct tensor in = {.elem = EL_U6, .data = bytes},
			    out = {.elem = EL_U6, .data = made};
	static const int want[4] = {1, 2, 35, 60};
	bool good = true;
	for (int i = 0; i < 4; i++) {
		good = good && tensor_int(&in, i) == want[i];
		tensor_set_real(&out, i, want[i]);
		tensor_set_int(&out, 4 + i, 63 - i);
	}
	for (int i = 0; i < 4; i++)
		good = good && tensor_code(&out, 4 + i) == (unsigned)(63 - i);
	tap(good && memcmp(bytes, made, 3) == 0, "elements of u6");
}

static double worst_error(enum op_kind kind, double (*f)(double), float lo, float hi)
{
	enum { N = 4096 };
	static float x[N], y[N];
	struct unary_args u = {.a = 1};
	double worst = 0;
	for (int i = 0; i < N; i++)
		x[i] = lo + (hi - lo) * (float)i / (N - 1);
	cpu_unary_f32(kind, &u, x, 1, y, N);
	for (int i = 0; i < N; i++) {
		double want = f((double)x[i]), err = fabs((double)y[i] - want);
		if (fabs(want) > 1e-37 && err / fabs(want) > worst)
			worst = err / fabs(want);
	}
	return worst;
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static void test_functions(int level)
{
	static const struct {
		enum op_kind kind;
		double (*f)(double);
		float lo, hi;
		const char *name;
	} all[] = {
		{OP_EXP, exp, -87, 88, "exp"},
		{OP_EXP, exp, -1, 1, "exp near 0"},
		{OP_TANH, tanh, -12, 12, "tanh"},
		{OP_TANH, tanh, -0.7f, 0.7f, "tanh near 0"},
		{OP_SIGMOID, sigmoid, -80, 80, "sigmoid"},
		{OP_ERF, erf, -5, 5, "erf"},
		{OP_ERF, erf, -1, 1, "erf near 0"},
		{OP_SIN, sin, -7, 7, "sin"},
		{OP_COS, cos, -7, 7, "cos"},
		{OP_SIN, sin, -1e-3f, 1e-3f, "sin near 0"},
		{OP_SIN, sin, -30000, 30000, "sin of many turns"},
		{OP_COS, cos, 29000, 40000, "cos of many turns, and of more"},
	};
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		double worst = worst_error(all[i].kind, all[i].f, all[i].lo, all[i].hi);
		tap(worst < 1e-6, "level %d: %s within %.1e", level, all[i].name, worst);
	}
	float x[] = {200, -200, NAN, 0}, y[4];
	cpu_unary_f32(OP_COS, &(struct unary_args){.a = 1}, x, 1, y, 4);
	tap(fabs(y[0] - cos(200)) < 1e-6 && y[0] == y[1] && isnan(y[2]) && y[3] == 1,
	    "level %d: cos beside what is not a number", level);
	vec_unary(OP_EXP, &(struct unary_args){.a = 1}, x, y, 4);
	tap(isinf(y[0]) && y[1] == 0 && isnan(y[2]) && y[3] == 1, "level %d: exp at its ends",
	    level);
}

/* C against plain loops, for A (m,k), B (k,n) f32 or half. */
static bool product_right(int m, int k, int n, bool half)
{
	float *a = MEM_NEWN(float, (size_t)(m * k)), *b = MEM_NEWN(float, (size_t)(k * n));
	uint16_t *h = MEM_NEWN(uint16_t, (size_t)(k * n));
	float *pa = mem_try((size_t)gemm_a_elements(m, k) * 4),
	      *c = MEM_NEWN(float, (size_t)(m * n));
	void *pb = mem_try((size_t)gemm_b_elements(k, n) * 4);
	bool right = true;
	for (int i = 0; i < m * k; i++)
		a[i] = (float)(i % 13 - 6);
	for (int i = 0; i < k * n; i++) {
		b[i] = (float)(i % 11 - 5);
		h[i] = half_from_float(b[i]);
	}
	gemm_pack_a(pa, EL_F32, a, m, k, k, 1);
	gemm_pack_b(pb, half ? EL_F16 : EL_F32, half ? (void *)h : (void *)b, k, n, n, 1);
	for (int j = 0; j < n; j += GEMM_N)
		for (int i = 0; i < m; i += GEMM_M)
			for (int k0 = 0; k0 < k; k0 += 7) {
				const char *panel = (const char *)pb +
						    (size_t)(j * k + k0 * GEMM_N) * (half ? 2 : 4);
				int kc = k - k0 < 7 ? k - k0 : 7;
				gemm_multiply(
					&(struct gemm_block){.mr = m - i < GEMM_M ? m - i : GEMM_M,
							     .nr = n - j < GEMM_N ? n - j : GEMM_N,
							     .kc = kc,
							     .a = pa + i * k + k0 * GEMM_M,
							     .b = panel,
							     .b_half = half,
							     .ldb = GEMM_N,
							     .c = c + i * n + j,
							     .ldc = n,
							     .add = k0 > 0,
							     .ahead = panel});
			}
	for (int i = 0; i < m; i++)
		for (int j = 0; j < n; j++) {
			float sum = 0;
			for (int l = 0; l < k; l++)
				sum += a[i * k + l] * b[l * n + j];
			right = right &&
				c[i * n + j] == sum; /* small integers: exact in any order */
		}
	mem_free(a), mem_free(b), mem_free(h), mem_free(pa), mem_free(pb), mem_free(c);
	return right;
}

static void test_products(int level)
{
	bool right = true;
	for (int m = 1; m <= 25; m++)
		right = right && product_right(m, 20, 37, m & 1) &&
			product_right(m, 3, 64, !(m & 1));
	tap(right, "level %d: products against plain loops", level);
}

/* ---- threads ---- */

/* Largest distance of a transform of `lines` lines of n from the sums that it stands for. */
static double fourier_error(int64_t n, int64_t lines, bool inverse)
{
	struct cpu_ctx *ctx = cpu_ctx_new(NULL, NULL);
	struct fft f;
	struct err e = ERR_INIT;
	float *room = MEM_NEWN(float, (size_t)(4 * n * lines));
	double *want = MEM_NEWN(double, (size_t)(2 * n * lines)), worst = 0;
	if (fft_init(&f, ctx, n, inverse, &e))
		return 1;
	for (int64_t i = 0; i < 2 * n * lines; i++)
		room[i] = sinf((float)i * 1.7f);
	for (int64_t k = 0; k < n; k++)
		for (int64_t i = 0; i < n; i++) {
			double a = (inverse ? 2 : -2) * acos(-1) * (double)(i * k % n) / (double)n;
			for (int64_t l = 0; l < lines; l++) {
				double re = (double)room[i * lines + l];
				double im = (double)room[(n + i) * lines + l];
				want[k * lines + l] += re * cos(a) - im * sin(a);
				want[(n + k) * lines + l] += re * sin(a) + im * cos(a);
			}
		}
	const float *y = fft_run(&f, room, room + 2 * n * lines, lines);
	for (int64_t i = 0; i < 2 * n * lines; i++)
		worst = fmax(worst, fabs((double)y[i] - want[i]));
	cpu_ctx_free(ctx);
	mem_free(room);
	mem_free(want);
	return worst / sqrt((double)n);
}

static void test_fourier(int level)
{
	static const int64_t lengths[] = {1,  2,  3,  4,  5,  6,   7,   8,  9,
					  11, 16, 26, 30, 97, 128, 202, 480};
	double worst = 0;
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
		for (int64_t lines = 1; lines <= FFT_LINES; lines += 5)
			for (int inverse = 0; inverse < 2; inverse++)
				worst = fmax(worst, fourier_error(lengths[i], lines, inverse));
	tap(worst < 5e-6, "level %d: Fourier transforms of any length (%.1e)", level, worst);
}

/* Run one node on n_threads threads; its output in *bytes bytes, to be freed. */
static void *run_threads(uint32_t v, const struct tensor *in, struct tensor *out, int n_threads,
			 struct err *e)
{
	struct op op;
	struct cpu_prep *prep = NULL;
	struct pool *pool = pool_new(n_threads, NULL);
	struct cpu_ctx *c = cpu_ctx_new(pool, NULL);
	void *result = NULL;
	if (op_decode(g, v, &op, e) == 0 && op_infer(&op, in, out, e) == 0) {
		out->data = result = mem_try((size_t)tensor_bytes(out));
		if (cpu_kernel_prepare(&op, in, out, c, &prep, e) ||
		    cpu_kernel_run(&op, prep, in, out, c, e)) {
			mem_free(result);
			result = NULL;
		}
	}
	cpu_prep_free(prep);
	cpu_ctx_free(c);
	pool_free(pool);
	return result;
}

static void same_on_threads(const char *type, const char *attrs, int n_in, struct tensor a,
			    struct tensor b)
{
	struct tensor in[2] = {a, b}, out;
	struct err e = ERR_INIT;
	graph_begin();
	node("Parameter", "opset1", "", a.elem, "1", "");
	node("Parameter", "opset1", "", b.elem, "1", "");
	uint32_t v = node(type, "opset8", n_in == 1 ? "0" : "0,1", EL_F32, "1", attrs);
	void *one = run_threads(v, in, &out, 1, &e);
	bool same = one != NULL;
	for (int n = 2; n <= 4 && one; n++) {
		void *many = run_threads(v, in, &out, n, &e);
		same = same && many && memcmp(one, many, (size_t)tensor_bytes(&out)) == 0;
		mem_free(many);
	}
	tap(same, "%s: the same bits on 1 to 4 threads %s", type, e.msg);
	mem_free(one);
	graph_free(g);
}

/* Parents that are fewer than the steps lie elsewhere. */
static void test_beams(void)
{
	for (int fits = 0; fits < 2; fits++) {
		int64_t store[4][12] = {{0}};
		struct tensor in[4], out;
		struct err e = ERR_INIT;
		graph_begin();
		for (int i = 0; i < 4; i++) {
			in[i] = shaped(i == 0 || (i == 1 && fits) ? "2,3,2"
				       : i == 1                   ? "2,3,1"
								  : "3");
			in[i].elem = EL_I64;
			in[i].rank = i == 3 ? 0 : in[i].rank;
			in[i].data = store[i];
			node("Parameter", "opset1", "", EL_I64, "1", "");
			for (int j = 0; i == 2 && j < 3; j++)
				store[i][j] = 2;
		}
		void *beams = run_threads(node("GatherTree", "opset1", "0,1,2,3", EL_I64, "1", ""),
					  in, &out, 1, &e);
		tap((beams != NULL) == fits, "GatherTree: %s", beams ? "it runs" : e.msg);
		mem_free(beams);
		graph_free(g);
	}
}

static struct tensor filled(const char *shape)
{
	struct tensor t = shaped(shape);
	int64_t n = tensor_elements(&t);
	float *x = mem_try((size_t)n * sizeof *x);
	for (int64_t i = 0; i < n; i++)
		x[i] = (float)((i * 7919) % 2003) / 1001 - 1;
	t.data = x;
	return t;
}

/* What support refuses, given to its kernel nevertheless. */
static void test_missed(void)
{
	struct tensor in[2] = {filled("700"), filled("700")}, out;
	struct err e = ERR_INIT;
	graph_begin();
	node("Parameter", "opset1", "", EL_F32, "1", "");
	node("Parameter", "opset1", "", EL_F32, "1", "");
	uint32_t v = node("BitwiseAnd", "opset13", "0,1", EL_F32, "1", "");
	void *y = run_threads(v, in, &out, 2, &e);
	tap(!y && e.code == ST_RUNTIME && strstr(e.msg, "row_f32 has no case for"),
	    "an operator that the loops do not have is an error: %s", e.msg);
	mem_free(y);
	mem_free(in[0].data);
	mem_free(in[1].data);
	graph_free(g);
}

/* One plane of odd sizes, which several threads share, turned. */
static void test_turned_plane(void)
{
	enum { ROWS = 203, COLS = 331 };
	struct tensor x = filled("1,203,331"), order = listed("0,2,1"), out;
	struct tensor in[2] = {x, order};
	struct err e = ERR_INIT;
	graph_begin();
	node("Parameter", "opset1", "", EL_F32, "1", "");
	node("Parameter", "opset1", "", EL_I64, "1", "");
	uint32_t v = node("Transpose", "opset1", "0,1", EL_F32, "1", "");
	const float *from = x.data, *to = run_threads(v, in, &out, 3, &e);
	int64_t n_bad = to ? 0 : ROWS * COLS;
	for (int64_t i = 0; to && i < ROWS * COLS; i++)
		n_bad += to[i % COLS * ROWS + i / COLS] != from[i];
	tap(n_bad == 0, "Transpose of a plane of odd sizes %s", e.msg);
	mem_free(out.data), mem_free(x.data);
	graph_free(g);
}

/* Both directions of an LSTM, two rows of a batch: on 1 and 3 threads step by step, else apart. */
static void test_sequence(void)
{
	enum { N_IN = 7, N_OUT = 3 };
	static const char *const shapes[N_IN] = {"2,9,40",   "2,2,96",   "2,2,96", "2",
						 "2,384,40", "2,384,96", "2,384"};
	struct tensor in[N_IN], out[N_OUT];
	float *result[4][N_OUT];
	struct err e = ERR_INIT;
	bool same = true;
	graph_begin();
	for (int i = 0; i < N_IN; i++) {
		in[i] = i == 3 ? listed("9,5") : filled(shapes[i]);
		node("Parameter", "opset1", "", in[i].elem, "1", "");
	}
	uint32_t v = node("LSTMSequence", "opset5", "0,1,2,3,4,5,6", EL_F32, "1",
			  "direction=bidirectional;hidden_size=96");
	for (uint32_t o; g->out_ptr[v + 1] < g->out_ptr[v] + N_OUT; g->out_ptr[v + 1]++) {
		o = g->out_ptr[v + 1];
		g->out_elem[o] = EL_F32;
		g->dim_ptr[o + 1] = g->dim_ptr[o];
	}
	for (int n = 0; n < 4; n++) {
		struct op op;
		struct pool *pool = pool_new(n + 1, NULL);
		struct cpu_ctx *c = cpu_ctx_new(pool, NULL);
		bool fine = op_decode(g, v, &op, &e) == 0 && op_infer(&op, in, out, &e) == 0;
		for (int i = 0; fine && i < N_OUT; i++)
			out[i].data = result[n][i] = mem_try((size_t)tensor_bytes(&out[i]));
		fine = fine && cpu_kernel_run(&op, NULL, in, out, c, &e) == 0;
		same = same && fine;
		for (int i = 0; same && i < N_OUT; i++)
			same = memcmp(result[0][i], result[n][i], (size_t)tensor_bytes(&out[i])) ==
			       0;
		cpu_ctx_free(c);
		pool_free(pool);
	}
	tap(same, "LSTMSequence: the same bits on 1 to 4 threads %s", e.msg);
	for (int i = 0; same && i < 4 * N_OUT; i++)
		mem_free(result[i / N_OUT][i % N_OUT]);
	for (int i = 0; i < N_IN; i++)
		if (i != 3)
			mem_free(in[i].data);
	graph_free(g);
}

static void test_threads(void)
{
	struct tensor image = filled("1,20,30,31"), w = filled("40,20,3,3"),
		      dw = filled("20,1,1,3,3"), p = filled("1,40,20,1,1");
	struct tensor a = filled("70,300"), b = filled("300,200"), row = filled("1,300");
	/* Tall for some numbers of threads: blocks of rows, else blocks of columns. */
	struct tensor tall = filled("769,40"), odd = filled("361,40"), narrow = filled("40,70");
	struct tensor plane = filled("1,37,50,71");
	p.rank = 4;
	p.dim[0] = 40, p.dim[1] = 20, p.dim[2] = p.dim[3] = 1;
	same_on_threads("Convolution", "strides=1,1;pads_begin=1,1;pads_end=1,1", 2, image, w);
	same_on_threads("Convolution", "strides=2,2", 2, image, p);
	same_on_threads("GroupConvolution", "strides=1,1;pads_begin=1,1;pads_end=1,1", 2, image,
			dw);
	same_on_threads("MatMul", "", 2, a, b);
	same_on_threads("MatMul", "", 2, row, b);
	same_on_threads("MatMul", "", 2, tall, narrow);
	same_on_threads("MatMul", "", 2, odd, narrow);
	same_on_threads("Concat", "axis=1", 2, plane, plane);
	same_on_threads("Concat", "axis=3", 2, plane, plane);
	same_on_threads("SoftMax", "axis=1", 1, image, image);
	same_on_threads("ReduceMean", "keep_dims=true", 2, image, listed("2,3"));
	same_on_threads("MVN", "eps=1e-5;eps_mode=inside_sqrt", 2, image, listed("1,2"));
	same_on_threads("MaxPool", "kernel=3,3;strides=2,2;pads_begin=1,1;pads_end=1,1", 1, image,
			image);
	same_on_threads("Add", "", 2, image, image);
	same_on_threads("Transpose", "", 2, image, listed("0,2,3,1"));
	same_on_threads("Transpose", "", 2, plane, listed("0,2,3,1"));
	mem_free(image.data), mem_free(w.data), mem_free(dw.data), mem_free(p.data);
	mem_free(a.data), mem_free(b.data), mem_free(row.data), mem_free(plane.data);
	mem_free(tall.data), mem_free(odd.data), mem_free(narrow.data);
}

/* Whole rows of floats as integers are what each is alone, on any number of elements. */
static void test_rounded(void)
{
	static const float edge[] = {0.5F,     1.5F,   2.5F,     -0.5F,    -1.5F,
				     127.5F,   128.5F, -128.5F,  254.5F,   255.5F,
				     300.F,    -300.F, 0x1p31F,  -0x1p31F, 0x1p40F,
				     -0x1p40F, NAN,    INFINITY, -INFINITY};
	enum { N = 2100, EDGES = sizeof edge / sizeof *edge };
	static const enum elem type[] = {EL_I8, EL_U8, EL_I32, EL_I16, EL_I64};
	float x[N];
	int32_t wrong = 0;
	for (int i = 0; i < N; i++)
		x[i] = edge[i % EDGES];
	for (size_t k = 0; k < sizeof type / sizeof *type; k++) {
		int64_t room[N];
		struct tensor t = {.elem = type[k], .data = room};
		int64_t lo = type[k] == EL_I8 ? -128 : type[k] == EL_U8 ? 0 : INT64_MIN;
		int64_t hi = type[k] == EL_I8 ? 127 : type[k] == EL_U8 ? 255 : INT64_MAX;
		cpu_convert_rounded(type[k], room, x, N);
		for (int i = 0; i < N; i++) {
			int64_t one, v = cpu_rounded(x[i], type[k]);
			struct tensor alone = {.elem = type[k], .data = &one};
			tensor_set_int(&alone, 0, v < lo ? lo : v > hi ? hi : v);
			wrong += tensor_int(&t, i) != tensor_int(&alone, 0);
		}
	}
	tap(wrong == 0, "floats to integers in rows: %d differ", wrong);
}

int main(void)
{
	test_table();
	test_inference();
	test_index_shapes();
	test_beams();
	test_align();
	test_pads();
	test_costs();
	test_host_eval();
	test_halves();
	test_minifloats();
	test_packed();
	int best = cpu_level;
	for (int level = 1; level <= best; level++) {
		if (level == 2)
			continue;
		cpu_level = level;
		test_functions(level);
		test_products(level);
		test_fourier(level);
		test_turned_plane();
	}
	test_threads();
	test_missed();
	test_sequence();
	test_rounded();
	return tap_end();
}
