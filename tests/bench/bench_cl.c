/* bench_cl.c - GFLOP/s of the large convolutions and products of resnet50, mobilenet_v3_large, bert_base
 * and vit_b_16 on one device, and the fraction of its peak.
 *
 * usage: bench_cl [DEVICE [PEAK_GFLOPS [PATTERN]]]   (default: cl:0.0, peak as the device tells)
 * A row is the least of 7 times that a step takes, ten in a row, of fewer where a step takes long; PATTERN selects cases by a part of
 * their name.  The peak of an OpenCL device is units x MHz x lanes x 2, where lanes is what one
 * unit multiplies in a clock: 2 native vectors on a CPU; not known on a GPU (give it). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/opencl/cl_impl.h"
#include "one_node.h"
#include "op/value.h"

enum { RUNS = 7, IN_A_ROW = 10 };
static const double LONG_S = 0.1; /* of a step */

/* Convolution: input (1,c,h,w), weights (m,c,kh,kw); depthwise: groups = c = m.
 * MatMul: (h,c) by (m,c) transposed, kh == 0. */
static const struct layer {
	const char *name;
	int c, h, w, m, kh, stride, groups, half;
} layers[] = {
	{"resnet50 conv 7x7/2 3-64", 3, 224, 224, 64, 7, 2, 1, 0},
	{"resnet50 conv 1x1 64-64", 64, 56, 56, 64, 1, 1, 1, 0},
	{"resnet50 conv 3x3 64-64", 64, 56, 56, 64, 3, 1, 1, 0},
	{"resnet50 conv 1x1 64-256", 64, 56, 56, 256, 1, 1, 1, 0},
	{"resnet50 conv 3x3 128-128", 128, 28, 28, 128, 3, 1, 1, 0},
	{"resnet50 conv 1x1 512-128", 512, 28, 28, 128, 1, 1, 1, 0},
	{"resnet50 conv 3x3 256-256", 256, 14, 14, 256, 3, 1, 1, 0},
	{"resnet50 conv 1x1 256-1024", 256, 14, 14, 1024, 1, 1, 1, 0},
	{"resnet50 conv 3x3/2 512-512", 512, 14, 14, 512, 3, 2, 1, 0},
	{"resnet50 conv 3x3 512-512", 512, 7, 7, 512, 3, 1, 1, 0},
	{"resnet50 conv 1x1 2048-512", 2048, 7, 7, 512, 1, 1, 1, 0},
	{"resnet50 conv 1x1/2 1024-2048", 1024, 14, 14, 2048, 1, 2, 1, 0},
	{"resnet50 product 1x2048-1000", 2048, 1, 1, 1000, 0, 1, 1, 1},
	{"mobilenet depthwise 3x3 64", 64, 112, 112, 64, 3, 2, 64, 0},
	{"mobilenet depthwise 5x5 120", 120, 28, 28, 120, 5, 1, 120, 0},
	{"bert product 9x768-768", 768, 9, 1, 768, 0, 1, 1, 1},
	{"bert product 9x768-3072", 768, 9, 1, 3072, 0, 1, 1, 1},
	{"bert product 128x768-768", 768, 128, 1, 768, 0, 1, 1, 0},
	{"bert product 128x3072-768", 3072, 128, 1, 768, 0, 1, 1, 0},
	{"vit product 197x768-768", 768, 197, 1, 768, 0, 1, 1, 0},
	{"vit product 197x768-3072", 768, 197, 1, 3072, 0, 1, 1, 0},
	{"vit product 197x3072-768", 3072, 197, 1, 768, 0, 1, 1, 0},
	{"product 1024x1024-1024", 1024, 1024, 1, 1024, 0, 1, 1, 0},
	{"product 2048x2048-2048", 2048, 2048, 1, 2048, 0, 1, 1, 0},
	{"product 4096x4096-4096", 4096, 4096, 1, 4096, 0, 1, 1, 0},
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A layer's node; its texts. */
struct layer_node {
	struct one_node one;
	char stride[24], pad[24];
};

static void layer_attributes(struct layer_node *x, const struct layer *l)
{
	struct one_node *n = &x->one;
	if (!l->kh) {
		one_node_attr(n, "transpose_a", "false");
		one_node_attr(n, "transpose_b", "true");
		return;
	}
	snprintf(x->stride, sizeof x->stride, "%d,%d", l->stride, l->stride);
	snprintf(x->pad, sizeof x->pad, "%d,%d", l->kh / 2, l->kh / 2);
	one_node_attr(n, "strides", x->stride);
	one_node_attr(n, "dilations", "1,1");
	one_node_attr(n, "pads_begin", x->pad);
	one_node_attr(n, "pads_end", x->pad);
	one_node_attr(n, "auto_pad", "explicit");
}

static int node_build(struct layer_node *x, const struct layer *l, struct err *e)
{
	struct one_node *n = &x->one;
	one_node_init(n,
		      !l->kh          ? "MatMul"
		      : l->groups > 1 ? "GroupConvolution"
				      : "Convolution",
		      "opset1", 2, 1);
	n->name = l->name;
	layer_attributes(x, l);
	if (!l->kh) {
		n->in[0] = (struct tensor){.elem = EL_F32, .rank = 2, .dim = {l->h, l->c}};
		n->in[1] = (struct tensor){.elem = EL_F32, .rank = 2, .dim = {l->m, l->c}};
	} else {
		n->in[0] = (struct tensor){.elem = EL_F32, .rank = 4, .dim = {1, l->c, l->h, l->w}};
		n->in[1] = (struct tensor){
			.elem = EL_F32, .rank = 4, .dim = {l->m, l->c, l->kh, l->kh}};
		if (l->groups > 1)
			n->in[1] = (struct tensor){
				.elem = EL_F32, .rank = 5, .dim = {l->m, 1, 1, l->kh, l->kh}};
	}
	if (op_decode(&n->g, 0, &n->op, e) || op_infer(&n->op, n->in, n->out, e))
		return -1;
	if (l->half)
		n->in[1].elem = EL_F16;
	for (int i = 0; i < 2; i++) {
		size_t bytes = (size_t)tensor_bytes(&n->in[i]);
		n->in[i].data = mem_alloc(bytes, 1);
		/* values that differ: some GPUs are faster where they do not */
		uint32_t value = 1 + (uint32_t)i;
		for (int64_t j = 0; j < tensor_elements(&n->in[i]); j++) {
			value = value * 1664525 + 1013904223;
			tensor_set_real(&n->in[i], j, (double)(value >> 8) / (1 << 23) - 1);
		}
	}
	return 0;
}

static void ended(void *arg, bool ok)
{
	__atomic_store_n((int *)arg, ok ? 1 : -1, __ATOMIC_SEQ_CST);
}

/* The least time of a run in seconds; negative when it fails. */
static double time_step(struct device *d, struct step *st, struct one_node *n, struct err *e)
{
	const struct device_class *k = d->class;
	struct devmem *in = NULL, *out = NULL;
	size_t in_bytes = (size_t)tensor_bytes(&n->in[0]);
	double best = -1;
	int flag = 0, in_a_row = 1;
	int rc =
		k->alloc(d, in_bytes, &in, e) || k->alloc(d, (size_t)tensor_bytes(n->out), &out, e);
	if (!rc && k->host)
		memcpy(k->host(d, in), n->in[0].data, in_bytes);
	else if (!rc)
		rc = k->upload(d, in, n->in[0].data, in_bytes, ended, &flag, e) || k->finish(d, e);
	/* the first one alone */
	for (int i = 0; !rc && i <= RUNS; i++) {
		double t0 = now();
		for (int j = 0; !rc && j < in_a_row; j++)
			rc = k->run(d, st, &in, &out, e);
		rc = rc || (k->finish && k->finish(d, e));
		double t = (now() - t0) / in_a_row;
		best = best < 0 || t < best ? t : best;
		if (t > LONG_S && i)
			break;
		in_a_row = t > LONG_S ? 1 : IN_A_ROW;
	}
	k->release(d, in);
	k->release(d, out);
	return rc ? -1 : best;
}

static int bench(struct device *d, const struct layer *l, double peak, struct err *e)
{
	/* the device knows constants by their address: they stay until the end of the process */
	struct layer_node *x = mem_alloc(1, sizeof *x);
	struct one_node *n = &x->one;
	struct step *st = NULL;
	if (node_build(x, l, e))
		return -1;
	struct step_arg arg[2] = {{FROM_INPUT, 0, 0, &n->in[0]}, {FROM_CONST, 0, 0, &n->in[1]}};
	struct step_node node = {&n->g, 0, &n->op, 2, 1, arg, n->out, NULL, NULL};
	const struct tensor *in = &n->in[0];
	struct step_out out = {0, 0};
	struct step_spec spec = {1, &node, 1, 1, &in, &out};
	if (d->class->prepare(d, &spec, &st, e))
		return -1;
	double t = time_step(d, st, n, e);
	d->class->step_free(d, st);
	if (t < 0)
		return -1;
	int64_t k = (int64_t)l->c / l->groups * (l->kh ? l->kh * l->kh : 1);
	double gflop = 2e-9 * (double)(tensor_elements(n->out) * k);
	printf("%-32s %9.1f us %8.1f GFLOP/s", l->name, t * 1e6, gflop / t);
	if (peak > 0)
		printf(" %5.1f %%", 100 * gflop / t / peak);
	puts("");
	fflush(stdout);
	return 0;
}

/* GFLOP/s; 0: not known. */
static double peak_of(struct device *d)
{
	if (strcmp(device_class_type(d->class), "opencl"))
		return 0;
	cl_device_id dev = ((struct cl_state *)d->state)->place.device;
	cl_uint units = 0, mhz = 0, width = 0;
	cl_device_type type = 0;
	clGetDeviceInfo(dev, CL_DEVICE_TYPE, sizeof type, &type, NULL);
	clGetDeviceInfo(dev, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
	clGetDeviceInfo(dev, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof mhz, &mhz, NULL);
	clGetDeviceInfo(dev, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof width, &width, NULL);
	return type & CL_DEVICE_TYPE_CPU ? 4e-3 * units * mhz * width : 0;
}

int main(int argc, char **argv)
{
	struct device_list l;
	struct err e = ERR_INIT;
	int rc = 0;
	if (device_list_parse(argc > 1 ? argv[1] : "cl:0.0", &l, &e) ||
	    device_list_open(&l, false, &e)) {
		fprintf(stderr, "bench_cl: error: %s\n", e.msg);
		return (int)e.code;
	}
	struct device *d = &l.dev[0];
	double peak = argc > 2 && atof(argv[2]) > 0 ? atof(argv[2]) : peak_of(d);
	printf("%s: %s", d->name, d->description);
	if (peak > 0)
		printf(", peak %.0f GFLOP/s", peak);
	puts("");
	for (size_t i = 0; !rc && i < sizeof layers / sizeof *layers; i++)
		if (argc < 4 || strstr(layers[i].name, argv[3]))
			rc = bench(d, &layers[i], peak, &e);
	if (rc)
		fprintf(stderr, "bench_cl: error: %s\n", e.msg);
	device_list_close(&l);
	return rc ? 1 : 0;
}
