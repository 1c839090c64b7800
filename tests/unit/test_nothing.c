/* test_nothing.c - operators of tensors without elements: what their outputs are where these have some, or that there are none;
 * and constants without values. */
#include "dynamic/host_eval.h"
#include "kernel/kernel.h"
#include "one_node.h"
#include "tap.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { ROOM = 256 };
static float given[ROOM] __attribute__((aligned(64)));

static struct tensor f32(float *data, uint32_t rank, const int64_t *dim)
{
	struct tensor t = {.elem = EL_F32, .rank = rank, .data = data};
	memcpy(t.dim, dim, rank * sizeof *dim);
	return t;
}

static struct tensor i64(int64_t *data, int64_t n)
{
	return (struct tensor){.elem = EL_I64, .rank = 1, .dim = {n}, .data = data};
}

#define F32(data, ...) \
	f32(data, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

/* Runs the node, whose inputs and attributes are there, into memory that holds other numbers; false: it is refused, as e says. */
static bool runs(struct one_node *n, float out[2][ROOM], struct err *e)
{
	struct cpu_ctx *c = cpu_ctx_new(NULL, NULL);
	struct cpu_prep *prep = NULL;
	bool ok = op_decode(&n->g, 0, &n->op, e) == 0 && op_infer(&n->op, n->in, n->out, e) == 0;
	for (int i = 0; i < n->op.n_out && ok; i++) {
		for (int k = 0; k < ROOM; k++)
			out[i][k] = 7;
		n->out[i].data = out[i];
	}
	ok = ok && cpu_kernel_prepare(&n->op, n->in, n->out, c, &prep, e) == 0 &&
	     cpu_kernel_run(&n->op, prep, n->in, n->out, c, e) == 0;
	cpu_prep_free(prep);
	cpu_ctx_free(c);
	return ok;
}

static bool are(const float *x, int64_t n, float value)
{
	for (int64_t i = 0; i < n; i++)
		if (x[i] != value)
			return false;
	return n > 0;
}

static float out[2][ROOM] __attribute__((aligned(64)));

static void convolution(void)
{
	struct one_node n;
	struct err e = ERR_INIT;
	one_node_init(&n, "ConvolutionBackpropData", "opset1", 2, 1);
	one_node_attr(&n, "strides", "2,2");
	n.in[0] = F32(given, 2, 0, 2, 3);
	n.in[1] = F32(given, 0, 3, 2, 2);
	bool ok = runs(&n, out, &e);
	tap(ok && are(out[0], tensor_elements(&n.out[0]), 0) &&
		    tensor_elements(&n.out[0]) == 2 * 3 * 4 * 6,
	    "a transposed convolution of no channels gives zeros (%s)", e.msg);
	err_clear(&e);
}

/* A sequence without inputs is one whose inputs have weights of zero. */
static void sequence(int64_t hidden, float first[2][ROOM], int64_t width)
{
	static float weights[ROOM * 8] __attribute__((aligned(64)));
	static int64_t lengths[3] = {3, 3, 1};
	char size[8];
	struct one_node n;
	struct err e = ERR_INIT;
	int64_t gates = 3 * hidden;
	snprintf(size, sizeof size, "%d", (int)hidden);
	one_node_init(&n, "GRUSequence", "opset5", 6, 2);
	one_node_attr(&n, "hidden_size", size);
	for (int i = 0; i < ROOM * 8; i++)
		weights[i] = (float)(i * 37 % 29) / 29 - 0.5f;
	n.in[0] = F32(given, 3, 3, width);
	n.in[1] = F32(weights, 3, 1, hidden);
	n.in[2] = i64(lengths, 3);
	n.in[3] = F32(given, 1, gates, width);
	n.in[4] = F32(weights, 1, gates, hidden);
	n.in[5] = F32(weights, 1, gates);
	tap(runs(&n, first, &e), "a sequence of %d, inputs of width %d, runs (%s)", (int)hidden,
	    (int)width, e.msg);
	err_clear(&e);
}

static void deformed(void)
{
	struct one_node n;
	struct err e = ERR_INIT;
	one_node_init(&n, "DeformableConvolution", "opset8", 3, 1);
	n.in[0] = F32(given, 2, 0, 4, 5);
	n.in[1] = F32(given, 2, 2, 4, 5);
	n.in[2] = F32(given, 6, 0, 1, 1);
	bool ok = runs(&n, out, &e);
	tap(ok && are(out[0], 2 * 6 * 4 * 5, 0), "a deformable one, too (%s)", e.msg);
	err_clear(&e);
}

static void sequences(void)
{
	static float plain[2][ROOM] __attribute__((aligned(64)));
	for (int64_t hidden = 1; hidden < 20; hidden += 6) {
		memset(given, 0, sizeof given);
		sequence(hidden, plain, 1);
		sequence(hidden, out, 0);
		bool same = true;
		for (int64_t i = 0; i < 9 * hidden; i++)
			same = same && fabsf(out[0][i] - plain[0][i]) < 1e-6f;
		tap(same, "of no inputs it is as of inputs that weigh nothing");
	}
}

static void spectrum(void)
{
	int64_t axis = 1;
	struct one_node n;
	struct err e = ERR_INIT;
	one_node_init(&n, "RDFT", "opset9", 2, 1);
	n.in[0] = F32(given, 3, 0);
	n.in[1] = i64(&axis, 1);
	bool ok = runs(&n, out, &e);
	tap(ok && tensor_elements(&n.out[0]) == 6 && are(out[0], 6, 0),
	    "the spectrum of no numbers is a bin of 0 (%s)", e.msg);
	err_clear(&e);
}

static void refused(void)
{
	int64_t size[2] = {2, 2}, one[2] = {0, 1}, none[2] = {0, 0};
	struct one_node n;
	struct err e = ERR_INIT;
	one_node_init(&n, "AdaptiveMaxPool", "opset8", 2, 2);
	n.in[0] = F32(given, 2, 3, 0, 4);
	n.in[1] = i64(size, 2);
	tap(!runs(&n, out, &e) && strstr(e.msg, "greatest of nothing"),
	    "there is no greatest of nothing (%s)", e.msg);
	err_clear(&e);
	one_node_init(&n, "Pad", "opset1", 3, 1);
	one_node_attr(&n, "pad_mode", "edge");
	n.in[0] = F32(given, 2, 0);
	n.in[1] = i64(one, 2);
	n.in[2] = i64(none, 2);
	tap(!runs(&n, out, &e) && strstr(e.msg, "edge of nothing"),
	    "an edge that is not there is not repeated (%s)", e.msg);
	err_clear(&e);
	n.in[1] = i64(none, 2);
	tap(runs(&n, out, &e), "nor is it asked for where nothing is added (%s)", e.msg);
	err_clear(&e);
}

/* A constant whose value cannot be had is not there when it is asked for again. */
static void failed_constant(void)
{
	struct one_node n;
	struct host_values h;
	struct err e = ERR_INIT;
	struct cpu_ctx *c = cpu_ctx_new(NULL, NULL);
	int told = 0;
	one_node_init(&n, "LogSoftmax", "opset5", 1, 1);
	one_node_attr(&n, "axis", "0");
	n.out_elem[0] = EL_F32;
	uint32_t in_ptr[3] = {0, 0, 1}, in_node[1] = {0}, in_port[1] = {0}, out_ptr[3] = {0, 1, 2},
		 dim_ptr[3] = {0, 0, 0}, attr_ptr[3] = {0, 0, 1};
	uint8_t elem[2] = {EL_F32, EL_F32}, rank[2] = {0, 0};
	const char *type[2] = {"Const", "LogSoftmax"}, *opset[2] = {"opset1", "opset5"},
		   *name[2] = {"a", "b"};
	enum op_kind kind[2] = {OP_CONST, OP_LOG_SOFTMAX};
	int64_t id[2] = {0, 1};
	uint32_t const_node = 0;
	uint64_t offset = 0, bytes = 4;
	struct graph g = n.g;
	g.n = 2;
	g.id = id;
	g.in_ptr = in_ptr;
	g.in_node = in_node;
	g.in_port = in_port;
	g.out_ptr = out_ptr;
	g.dim_ptr = dim_ptr;
	g.attr_ptr = attr_ptr;
	g.out_elem = elem;
	g.out_rank = rank;
	g.type = type;
	g.opset = opset;
	g.node_name = name;
	g.kind = kind;
	g.n_const = 1;
	g.const_node = &const_node;
	g.const_offset = &offset;
	g.const_bytes = &bytes;
	host_values_init(&h, &g, (const uint8_t *)given, sizeof given, c);
	bool known = host_eval_node(&h, 0, &e) == 0;
	for (int i = 0; i < 2; i++) {
		told += host_eval_node(&h, 1, &e) < 0 && !h.value[1].data;
		err_clear(&e);
	}
	tap(known && told == 2, "a value that cannot be computed is not known, %d of 2 times",
	    told);
	host_values_release(&h);
	/* One of no elements, where there is no file of weights. */
	int64_t dim = 0;
	uint32_t ends[3] = {0, 1, 1};
	g.dim = &dim;
	g.dim_ptr = ends;
	rank[0] = 1;
	bytes = 0;
	host_values_init(&h, &g, NULL, 0, c);
	tap(host_eval_node(&h, 0, &e) == 0 && h.value[0].data,
	    "a constant of no elements needs no weights (%s)", e.msg);
	err_clear(&e);
	host_values_release(&h);
	cpu_ctx_free(c);
}

/* Where the recorded shape is the most there can be, all behind what is unique is zero. */
static void unique(void)
{
	struct one_node n;
	struct err e = ERR_INIT;
	float x[] = {3, 1, 3, 1}, values[4] = {7, 7, 7, 7};
	int64_t ints[3][4] = {{7, 7, 7, 7}, {7, 7, 7, 7}, {7, 7, 7, 7}};
	struct cpu_ctx *c = cpu_ctx_new(NULL, NULL);
	struct cpu_prep *prep = NULL;
	one_node_init(&n, "Unique", "opset10", 1, 4);
	n.in[0] = F32(x, 4);
	n.out[0] = F32(values, 4);
	for (int i = 0; i < 3; i++)
		n.out[1 + i] = i64(ints[i], 4);
	bool ok = op_decode(&n.g, 0, &n.op, &e) == 0 &&
		  cpu_kernel_prepare(&n.op, n.in, n.out, c, &prep, &e) == 0 &&
		  cpu_kernel_run(&n.op, prep, n.in, n.out, c, &e) == 0;
	tap(ok && values[0] == 1 && values[1] == 3 && are(values + 2, 2, 0) && ints[0][2] == 0 &&
		    ints[2][1] == 2 && ints[2][3] == 0,
	    "two of four are unique: zeros behind them (%s)", e.msg);
	cpu_prep_free(prep);
	cpu_ctx_free(c);
	err_clear(&e);
}

/* A maximum is of what is no NaN, and at least -FLT_MAX, whichever way a pool goes: of one window that sees a plane, of planes
 * side by side, of rows apart. */
static void pool_of_nan(int64_t planes, int64_t h, int64_t w, const char *kernel,
			const char *strides)
{
	static float x[64 * ROOM] __attribute__((aligned(64))),
		y[64 * ROOM] __attribute__((aligned(64)));
	struct one_node n;
	struct err e = ERR_INIT;
	struct cpu_ctx *c = cpu_ctx_new(NULL, NULL);
	struct cpu_prep *prep = NULL;
	one_node_init(&n, "MaxPool", "opset1", 1, 1);
	one_node_attr(&n, "kernel", kernel);
	one_node_attr(&n, "strides", strides);
	one_node_attr(&n, "pads_begin", "0,0");
	one_node_attr(&n, "pads_end", "0,0");
	for (int64_t i = 0; i < planes * h * w; i++)
		x[i] = i / (h * w) % 2 ? -INFINITY : i % (h * w) < w ? NAN : 5;
	n.in[0] = F32(x, 1, planes, h, w);
	bool ok = op_decode(&n.g, 0, &n.op, &e) == 0 && op_infer(&n.op, n.in, n.out, &e) == 0;
	n.out[0].data = y;
	ok = ok && cpu_kernel_prepare(&n.op, n.in, n.out, c, &prep, &e) == 0 &&
	     cpu_kernel_run(&n.op, prep, n.in, n.out, c, &e) == 0;
	int64_t plane = tensor_elements(&n.out[0]) / planes;
	for (int64_t p = 0; p < planes && ok; p++)
		ok = are(y + p * plane, plane, p % 2 ? -FLT_MAX : 5);
	tap(ok, "MaxPool %s, strides %s of %d planes of %dx%d: NaN and -inf (%s)", kernel, strides,
	    (int)planes, (int)h, (int)w, e.msg);
	cpu_prep_free(prep);
	cpu_ctx_free(c);
	err_clear(&e);
}

static void pools(void)
{
	pool_of_nan(2, 7, 7, "7,7", "1,1");
	pool_of_nan(64, 7, 7, "7,7", "1,1");
	pool_of_nan(64, 2, 2, "2,2", "2,2");
	pool_of_nan(16, 4, 4, "4,2", "4,2");
	pool_of_nan(32, 4, 4, "4,2", "4,2");
	pool_of_nan(2, 9, 36, "9,9", "9,9");
	pool_of_nan(2, 9, 36, "9,9", "9,1");
	pool_of_nan(2, 5, 20, "5,3", "1,1");
}

int main(void)
{
	pools();
	unique();
	convolution();
	deformed();
	sequences();
	spectrum();
	refused();
	failed_constant();
	return tap_end();
}
