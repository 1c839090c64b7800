/* cover_net.c - a network drawn by bytes, and its runs: on one core, and on two as the bytes place it.  Results must be
 * alike, but for what another order of sums makes. */
#include "cover.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec/executor.h"
#include "exec/npy.h"
#include "ir/ir.h"

enum { MOST_TENSORS = 40, MOST_OPS = 16, MOST_ELEMENTS = 4096, TEXT = 1 << 17, WEIGHTS = 1 << 20 };

struct value {
	uint32_t rank, layer, port;
	int64_t dim[4];
	bool read;
};

static struct net {
	const uint8_t *data;
	size_t left;
	char layers[TEXT], edges[TEXT];
	size_t n_layers_text, n_edges_text;
	uint32_t n_layers, n_values;
	struct value value[MOST_TENSORS];
	float weight[WEIGHTS / 4];
	size_t n_weights;
	uint32_t noise;
} net;

/* The next byte, below a bound; 0 behind the last one. */
static uint32_t draw(uint32_t bound)
{
	if (net.left == 0)
		return 0;
	net.left--;
	return *net.data++ % bound;
}

static void put(bool edge, const char *fmt, ...)
{
	char *text = edge ? net.edges : net.layers;
	size_t *n = edge ? &net.n_edges_text : &net.n_layers_text;
	va_list ap;
	va_start(ap, fmt);
	int k = vsnprintf(text + *n, TEXT - *n, fmt, ap);
	va_end(ap);
	if (k < 0 || *n + (size_t)k >= TEXT)
		abort();
	*n += (size_t)k;
}

static int64_t elements(const struct value *v)
{
	int64_t n = 1;
	for (uint32_t i = 0; i < v->rank; i++)
		n *= v->dim[i];
	return n;
}

static void put_port(uint32_t id, const struct value *v, const char *precision)
{
	put(false, "<port id=\"%u\" precision=\"%s\">", id, precision);
	for (uint32_t i = 0; i < v->rank; i++)
		put(false, "<dim>%ld</dim>", (long)v->dim[i]);
	put(false, "</port>");
}

static uint32_t constant(const struct value *shape, bool whole, const int64_t *number)
{
	size_t n = (size_t)elements(shape), bytes = n * (whole ? 8 : 4);
	net.n_weights += whole && net.n_weights % 2;
	if (net.n_weights + bytes / 4 > WEIGHTS / 4)
		abort();
	float *to = net.weight + net.n_weights;
	for (size_t i = 0; i < n; i++)
		if (whole) {
			memcpy(to + 2 * i, &number[i], 8);
		} else {
			net.noise = net.noise * 1664525u + 1013904223u;
			to[i] = (float)(int32_t)(net.noise & ~255u) * 0x1p-31f;
		}
	put(false,
	    "<layer id=\"%u\" name=\"c%u\" type=\"Const\" version=\"opset1\"><data "
	    "element_type=\"%s\" shape=\"",
	    net.n_layers, net.n_layers, whole ? "i64" : "f32");
	for (uint32_t i = 0; i < shape->rank; i++)
		put(false, "%s%ld", i ? "," : "", (long)shape->dim[i]);
	put(false, "\" offset=\"%zu\" size=\"%zu\"/><output>", net.n_weights * 4, bytes);
	put_port(0, shape, whole ? "I64" : "FP32");
	put(false, "</output></layer>");
	net.n_weights += bytes / 4;
	return net.n_layers++;
}

static uint32_t numbers(const int64_t *number, uint32_t n)
{
	const struct value shape = {.rank = 1, .dim = {n}};
	return constant(&shape, true, number);
}

/* A layer that reads a value, up to three constants or one more value, and makes `made` outputs like `out`. */
struct input {
	uint32_t layer, port;
	struct value shape;
	bool whole;
};

static void layer(const char *type, const char *opset, const char *attributes, uint32_t n_in,
		  const struct input *in, uint32_t made, const struct value *out)
{
	if (net.n_values + made > MOST_TENSORS || elements(out) > MOST_ELEMENTS ||
	    elements(out) < 1)
		return;
	put(false, "<layer id=\"%u\" name=\"n%u\" type=\"%s\" version=\"%s\"><data %s/><input>",
	    net.n_layers, net.n_layers, type, opset, attributes);
	for (uint32_t i = 0; i < n_in; i++) {
		put_port(i, &in[i].shape, in[i].whole ? "I64" : "FP32");
		put(true,
		    "<edge from-layer=\"%u\" from-port=\"%u\" to-layer=\"%u\" to-port=\"%u\"/>",
		    in[i].layer, in[i].port, net.n_layers, i);
		for (uint32_t v = 0; v < net.n_values; v++)
			if (net.value[v].layer == in[i].layer && net.value[v].port == in[i].port)
				net.value[v].read = true;
	}
	put(false, "</input><output>");
	for (uint32_t i = 0; i < made; i++) {
		put_port(n_in + i, out, "FP32");
		net.value[net.n_values] = *out;
		net.value[net.n_values].layer = net.n_layers;
		net.value[net.n_values].port = n_in + i;
		net.value[net.n_values++].read = false;
	}
	put(false, "</output></layer>");
	net.n_layers++;
}

static struct input of_value(const struct value *v)
{
	return (struct input){v->layer, v->port, *v, false};
}

static struct input of_constant(const struct value *shape)
{
	return (struct input){constant(shape, false, NULL), 0, *shape, false};
}

static struct input of_numbers(const int64_t *number, uint32_t n)
{
	return (struct input){numbers(number, n), 0, {.rank = 1, .dim = {n}}, true};
}

static bool same_shape(const struct value *a, const struct value *b)
{
	return a->rank == b->rank && memcmp(a->dim, b->dim, a->rank * sizeof *a->dim) == 0;
}

/* ---- operators ---- */

static void add_unary(struct value x)
{
	static const struct {
		const char *type, *opset, *attributes;
	} kinds[] = {{"ReLU", "opset1", ""},
		     {"Sigmoid", "opset1", ""},
		     {"Tanh", "opset1", ""},
		     {"Abs", "opset1", ""},
		     {"Negative", "opset1", ""},
		     {"HSwish", "opset4", ""},
		     {"Gelu", "opset7", "approximation_mode=\"ERF\""},
		     {"Swish", "opset4", ""},
		     {"Clamp", "opset1", "min=\"-0.5\" max=\"0.5\""},
		     {"Elu", "opset1", "alpha=\"1\""},
		     {"SoftPlus", "opset4", ""}};
	uint32_t k = draw(sizeof kinds / sizeof *kinds);
	struct input in = of_value(&x);
	layer(kinds[k].type, kinds[k].opset, kinds[k].attributes, 1, &in, 1, &x);
}

static void add_binary(struct value x)
{
	static const char *const kinds[] = {"Add", "Multiply", "Subtract", "Maximum", "Minimum"};
	const char *kind = kinds[draw(5)];
	struct input in[2] = {of_value(&x)};
	const struct value *other = &net.value[draw(net.n_values)];
	if (same_shape(other, &x)) {
		in[1] = of_value(other);
	} else {
		struct value shape = x;
		uint32_t ones = draw(16);
		for (uint32_t i = 0; i < x.rank; i++)
			shape.dim[i] = ones >> i & 1 ? 1 : x.dim[i];
		in[1] = of_constant(&shape);
	}
	layer(kind, "opset1", "auto_broadcast=\"numpy\"", 2, in, 1, &x);
}

static void add_concat(struct value x)
{
	char attributes[40];
	uint32_t axis = x.rank ? draw(x.rank) : 0;
	const struct value *other = &net.value[draw(net.n_values)];
	if (x.rank == 0 || !same_shape(other, &x))
		other = &x;
	if (x.rank == 0)
		return;
	struct input in[2] = {of_value(&x), of_value(other)};
	snprintf(attributes, sizeof attributes, "axis=\"%u\"", axis);
	struct value out = x;
	out.dim[axis] *= 2;
	layer("Concat", "opset1", attributes, 2, in, 1, &out);
}

static void add_transpose(struct value x)
{
	int64_t order[4] = {0, 1, 2, 3};
	for (uint32_t i = x.rank; i > 1; i--) {
		uint32_t j = draw(i);
		int64_t t = order[i - 1];
		order[i - 1] = order[j];
		order[j] = t;
	}
	if (x.rank == 0)
		return;
	struct value out = x;
	for (uint32_t i = 0; i < x.rank; i++)
		out.dim[i] = x.dim[order[i]];
	struct input in[2] = {of_value(&x), of_numbers(order, x.rank)};
	layer("Transpose", "opset1", "", 2, in, 1, &out);
}

static void add_split(struct value x)
{
	char attributes[40];
	if (x.rank == 0)
		return;
	int64_t axis = draw(x.rank), parts = 2 + draw(2);
	if (x.dim[axis] % parts)
		return;
	struct value out = x;
	out.dim[axis] /= parts;
	const struct value scalar = {0};
	struct input in[2] = {of_value(&x), {constant(&scalar, true, &axis), 0, scalar, true}};
	snprintf(attributes, sizeof attributes, "num_splits=\"%ld\"", (long)parts);
	layer("Split", "opset1", attributes, 2, in, (uint32_t)parts, &out);
}

static void add_softmax(struct value x)
{
	char attributes[40];
	if (x.rank == 0)
		return;
	struct input in = of_value(&x);
	snprintf(attributes, sizeof attributes, "axis=\"%u\"", draw(x.rank));
	layer("SoftMax", "opset1", attributes, 1, &in, 1, &x);
}

static void add_reduce(struct value x)
{
	static const char *const kinds[] = {"ReduceMean", "ReduceMax", "ReduceSum", "ReduceMin"};
	if (x.rank == 0)
		return;
	const char *kind = kinds[draw(4)];
	int64_t axis = draw(x.rank);
	bool keep = draw(2);
	struct value out = x;
	if (keep) {
		out.dim[axis] = 1;
	} else {
		out.rank--;
		for (uint32_t i = (uint32_t)axis; i < out.rank; i++)
			out.dim[i] = x.dim[i + 1];
	}
	struct input in[2] = {of_value(&x), of_numbers(&axis, 1)};
	layer(kind, "opset1", keep ? "keep_dims=\"true\"" : "keep_dims=\"false\"", 2, in, 1, &out);
}

static void add_reshape(struct value x)
{
	int64_t n = elements(&x), a = 1 + draw(8), b = 1 + draw(8);
	a = n % a ? 1 : a;
	b = n / a % b ? 1 : b;
	struct value out = {.rank = 1 + draw(4), .dim = {n, 1, 1, 1}};
	if (out.rank > 1)
		out.dim[0] = a, out.dim[1] = n / a;
	if (out.rank > 2)
		out.dim[1] = b, out.dim[2] = n / a / b;
	struct input in[2] = {of_value(&x), of_numbers(out.dim, out.rank)};
	layer("Reshape", "opset1", "special_zero=\"false\"", 2, in, 1, &out);
}

static void add_product(struct value x)
{
	if (x.rank < 2)
		return;
	struct value weights = {.rank = 2, .dim = {x.dim[x.rank - 1], 1 + draw(20)}}, out = x;
	bool turned = draw(2);
	out.dim[x.rank - 1] = weights.dim[1];
	if (turned) {
		weights.dim[1] = weights.dim[0];
		weights.dim[0] = out.dim[x.rank - 1];
	}
	struct input in[2] = {of_value(&x), of_constant(&weights)};
	layer("MatMul", "opset1",
	      turned ? "transpose_a=\"false\" transpose_b=\"true\""
		     : "transpose_a=\"false\" transpose_b=\"false\"",
	      2, in, 1, &out);
}

static void add_convolution(struct value x)
{
	char attributes[200];
	if (x.rank != 4)
		return;
	int64_t size = 1 + 2 * draw(2), pad = draw(2), stride = 1 + draw(2),
		channels = 1 + draw(20);
	struct value weights = {.rank = 4, .dim = {channels, x.dim[1], size, size}}, out = x;
	out.dim[1] = channels;
	for (int i = 2; i < 4; i++) {
		if (x.dim[i] + 2 * pad < size)
			return;
		out.dim[i] = (x.dim[i] + 2 * pad - size) / stride + 1;
	}
	struct input in[2] = {of_value(&x), of_constant(&weights)};
	snprintf(attributes, sizeof attributes,
		 "strides=\"%d,%d\" dilations=\"1,1\" pads_begin=\"%d,%d\" pads_end=\"%d,%d\" "
		 "auto_pad=\"explicit\"",
		 (int)stride, (int)stride, (int)pad, (int)pad, (int)pad, (int)pad);
	layer("Convolution", "opset1", attributes, 2, in, 1, &out);
}

static void add_pool(struct value x)
{
	char attributes[240];
	if (x.rank != 4)
		return;
	bool mean = draw(2);
	int size = 1 + (int)draw(3), stride = 1 + (int)draw(2);
	struct value out = x;
	for (int i = 2; i < 4; i++) {
		if (x.dim[i] < size)
			return;
		out.dim[i] = (x.dim[i] - size) / stride + 1;
	}
	struct input in = of_value(&x);
	snprintf(attributes, sizeof attributes,
		 "kernel=\"%d,%d\" strides=\"%d,%d\" pads_begin=\"0,0\" pads_end=\"0,0\" "
		 "rounding_type=\"floor\" "
		 "auto_pad=\"explicit\"%s",
		 size, size, stride, stride, mean ? " exclude-pad=\"true\"" : "");
	layer(mean ? "AvgPool" : "MaxPool", "opset1", attributes, 1, &in, 1, &out);
}

static void add_slice(struct value x)
{
	if (x.rank == 0)
		return;
	int64_t axis = draw(x.rank), start, stop, step = 1 + draw(2);
	start = (int64_t)draw((uint32_t)x.dim[axis]);
	stop = start + 1 + (int64_t)draw((uint32_t)(x.dim[axis] - start));
	struct value out = x;
	out.dim[axis] = (stop - start + step - 1) / step;
	struct input in[5] = {of_value(&x), of_numbers(&start, 1), of_numbers(&stop, 1),
			      of_numbers(&step, 1), of_numbers(&axis, 1)};
	layer("Slice", "opset8", "", 5, in, 1, &out);
}

static void add_gather(struct value x)
{
	if (x.rank == 0)
		return;
	int64_t axis = draw(x.rank), index[4], n = 1 + draw(4);
	for (int64_t i = 0; i < n; i++)
		index[i] = (int64_t)draw((uint32_t)x.dim[axis]);
	struct value out = x;
	out.dim[axis] = n;
	const struct value scalar = {0};
	struct input in[3] = {of_value(&x),
			      of_numbers(index, (uint32_t)n),
			      {constant(&scalar, true, &axis), 0, scalar, true}};
	layer("Gather", "opset8", "batch_dims=\"0\"", 3, in, 1, &out);
}

static void add_pad(struct value x)
{
	int64_t before[4], after[4];
	struct value out = x;
	if (x.rank == 0)
		return;
	for (uint32_t i = 0; i < x.rank; i++) {
		before[i] = draw(2);
		after[i] = draw(2);
		out.dim[i] += before[i] + after[i];
	}
	struct input in[3] = {of_value(&x), of_numbers(before, x.rank), of_numbers(after, x.rank)};
	layer("Pad", "opset1", "pad_mode=\"constant\"", 3, in, 1, &out);
}

static void draw_net(void)
{
	static void (*const add[])(struct value) = {
		add_unary,       add_binary,  add_binary, add_concat,  add_transpose,
		add_split,       add_softmax, add_reduce, add_reshape, add_product,
		add_convolution, add_pool,    add_slice,  add_gather,  add_pad};
	net.n_layers_text = net.n_edges_text = net.n_layers = net.n_values = 0;
	net.n_weights = 0;
	net.noise = 1;
	uint32_t inputs = 1 + draw(2);
	for (uint32_t i = 0; i < inputs; i++) {
		struct value v = {.rank = i ? net.value[0].rank : 2 + draw(3),
				  .layer = net.n_layers};
		for (uint32_t d = 0; d < v.rank; d++)
			v.dim[d] = i ? net.value[0].dim[d] : 1 + draw(d == 0 ? 2 : 8);
		put(false,
		    "<layer id=\"%u\" name=\"p%u\" type=\"Parameter\" version=\"opset1\"><data "
		    "element_type=\"f32\" shape=\"",
		    net.n_layers, i);
		for (uint32_t d = 0; d < v.rank; d++)
			put(false, "%s%ld", d ? "," : "", (long)v.dim[d]);
		put(false, "\"/><output>");
		put_port(0, &v, "FP32");
		put(false, "</output></layer>");
		net.value[net.n_values++] = v;
		net.n_layers++;
	}
	for (uint32_t ops = 1 + draw(MOST_OPS); ops > 0; ops--)
		add[draw(sizeof add / sizeof *add)](
			net.value[draw(4) ? net.n_values - 1 : draw(net.n_values)]);
	for (uint32_t v = 0; v < net.n_values; v++)
		if (!net.value[v].read || v + 1 == net.n_values) {
			put(false,
			    "<layer id=\"%u\" name=\"r%u\" type=\"Result\" "
			    "version=\"opset1\"><input>",
			    net.n_layers, v);
			put_port(0, &net.value[v], "FP32");
			put(false, "</input></layer>");
			put(true,
			    "<edge from-layer=\"%u\" from-port=\"%u\" to-layer=\"%u\" "
			    "to-port=\"0\"/>",
			    net.value[v].layer, net.value[v].port, net.n_layers++);
		}
}

/* ---- running it ---- */

/* Two cores; and two devices of one core, which one thread serves, so that nothing waits for a thread to wake: most networks
 * run there. */
enum { CORES, TURNS, N_PAIRS, CORES_ONE_IN = 16 };
static struct pair {
	struct device_list devices;
	struct executor *executor;
} pairs[N_PAIRS];
static int weights_fd, xml_fd;
static char weights_path[80], xml_path[80];

static void stop(const char *what, const struct err *e)
{
	fprintf(stderr, "%s: %s\n", what, e->msg);
	abort();
}

static int make_file(char *path, size_t size, const char *folder, const char *name)
{
	snprintf(path, size, "%s/%s", folder, name);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		abort();
	return fd;
}

static void open_pair(struct pair *x, const char *names, bool allow_shared)
{
	struct err e = ERR_INIT;
	if (device_list_parse(names, &x->devices, &e) < 0 ||
	    device_list_open(&x->devices, allow_shared, &e) < 0)
		stop("devices", &e);
	x->executor = executor_new(&x->devices);
}

static void start(const char *folder)
{
	xml_fd = make_file(xml_path, sizeof xml_path, folder, "data");
	weights_fd = make_file(weights_path, sizeof weights_path, folder, "weights");
	open_pair(&pairs[CORES], "cpu:0,cpu:1", true);
	cover_on_one_core(true);
	open_pair(&pairs[TURNS], "cpu:0,cpu", false); /* "cpu" is the cores that there are */
	cover_on_one_core(false);
}

static void write_net(void)
{
	if (ftruncate(xml_fd, 0) < 0 || lseek(xml_fd, 0, SEEK_SET) < 0 ||
	    dprintf(xml_fd,
		    "<?xml version=\"1.0\"?><net name=\"n\" version=\"11\"><layers>%s</layers>"
		    "<edges>%s</edges></net>",
		    net.layers, net.edges) < 0 ||
	    ftruncate(weights_fd, 0) < 0 ||
	    pwrite(weights_fd, net.weight, net.n_weights * 4, 0) != (ssize_t)(net.n_weights * 4))
		abort();
}

static float *run(struct executor *x, struct model *m, struct planner *pl, const uint16_t *device,
		  size_t *n)
{
	struct err e = ERR_INIT;
	struct plan p;
	struct exec_sample s = {0};
	float *all = NULL;
	size_t cap = 0;
	*n = 0;
	if (plan_make(pl, device, &p, &e) < 0)
		stop("plan", &e);
	if (executor_run(x, &p, &s, &e) < 0)
		stop("run", &e);
	for (uint32_t r = 0; r < m->n_results; r++) {
		struct tensor t;
		if (!tensor_describe(m->g, m->result_root[r], &t))
			abort();
		size_t k = (size_t)tensor_elements(&t);
		all = mem_grow(all, &cap, *n + k, sizeof *all);
		memcpy(all + *n, p.result[r], k * sizeof *all);
		*n += k;
	}
	plan_release(&p);
	return all;
}

/* Bytes of an own order of sums: a share of the largest number. */
static bool is_alike(const float *a, const float *b, size_t n)
{
	float largest = 1;
	for (size_t i = 0; i < n; i++)
		largest = isfinite(a[i]) && fabsf(a[i]) > largest ? fabsf(a[i]) : largest;
	for (size_t i = 0; i < n; i++)
		if (isfinite(a[i]) ? !(fabsf(a[i] - b[i]) <= 1e-3f * largest) : isfinite(b[i]) != 0)
			return false;
	return true;
}

void cover_net(const uint8_t *data, size_t size, const char *folder)
{
	static bool started;
	struct err e = ERR_INIT;
	struct model m;
	struct planner pl;
	if (!started)
		start(folder);
	started = true;
	net.data = data;
	net.left = size;
	draw_net();
	write_net();
	struct pair *on = &pairs[size % CORES_ONE_IN == 0 ? CORES : TURNS];
	const struct ir_options opt = {.weights = weights_path};
	struct graph *g = ir_read(xml_path, &opt, NULL, &e);
	if (!g)
		stop("network", &e);
	graph_colocate(g, CONST_FOLD, true);
	if (graph_check(g, &e) < 0 || model_open(&m, g, weights_path, &e) < 0 ||
	    model_complete(&m, &e) < 0 || planner_open(&pl, &m, &on->devices, &e) < 0)
		stop("model", &e);
	for (uint32_t i = 0; i < m.n_params; i++) {
		struct tensor t;
		if (!tensor_describe(g, g->out_ptr[m.param[i]], &t))
			abort();
		for (int64_t k = 0; k < tensor_elements(&t); k++)
			((float *)m.input[i])[k] = (float)((k * 37 + i) % 29) / 14 - 1;
	}
	uint16_t *device = MEM_NEWN(uint16_t, (size_t)g->n_sets + 1);
	size_t n, n_cut;
	memset(device, 0, g->n_sets * sizeof *device);
	float *whole = run(on->executor, &m, &pl, device, &n);
	for (uint32_t i = 0; i < g->n_sets; i++)
		device[i] = (uint16_t)((size ? data[size - 1 - i % size] : 0) >> i % 7 & 1);
	float *cut = run(on->executor, &m, &pl, device, &n_cut);
	if (n != n_cut || !is_alike(whole, cut, n)) {
		fprintf(stderr, "results differ\n");
		abort();
	}
	mem_free(whole);
	mem_free(cut);
	mem_free(device);
	planner_close(&pl);
	model_close(&m);
	graph_free(g);
}

/* ---- .npy ---- */

void cover_npy(const char *path, unsigned kind)
{
	static const enum elem types[] = {EL_F32, EL_F64, EL_F16,     EL_I64,
					  EL_I32, EL_U8,  EL_BOOLEAN, EL_BF16};
	static uint64_t room[16];
	struct err e = ERR_INIT;
	struct tensor t = {
		.elem = types[kind % 8], .rank = kind / 8 % 3, .dim = {2, 3}, .data = room};
	if (npy_read(path, &t, &e) < 0 &&
	    (e.code < ST_RUNTIME || e.code > ST_INPUT || e.msg[0] == '\0'))
		stop("npy", &e);
}
