/* test_conv.c - the CPU's convolutions, by patches, depthwise and by minimal filtering, at every
 * level of vector instructions, against sums in double precision; epilogues; threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "kernel/conv/conv.h"
#include "kernel/isa_level.h"
#include "tap.h"

struct shape {
	const char *name;
	int64_t batch, groups, cin, h, w, cout, kh, kw, sh, sw, dh, dw, top, left, bottom, right;
};

/* A third spatial dim, in front. */
struct depth {
	int64_t in, kernel, stride, dilation, front, back;
};

/* cin, cout: of a group. */
static const struct shape shapes[] = {
	{"1x1", 1, 1, 20, 9, 11, 30, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0},
	{"1x1, few channels", 2, 1, 3, 13, 17, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0},
	{"1x1, plane 1x1", 1, 1, 600, 1, 1, 50, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0},
	{"3x4, the whole input", 3, 1, 20, 3, 4, 50, 3, 4, 1, 1, 1, 1, 0, 0, 0, 0},
	{"1x3, dilation 2, one pixel of as many as taps", 3, 1, 20, 1, 3, 50, 1, 3, 1, 1, 1, 2, 0,
	 0, 0, 2},
	{"4x3, one pixel of 3x4", 2, 1, 20, 3, 4, 50, 4, 3, 1, 2, 1, 1, 0, 0, 1, 0},
	{"3x3 on a padded pixel", 1, 1, 20, 1, 1, 30, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	{"1x1, plane 7x7", 1, 1, 70, 7, 7, 40, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0},
	{"1x1, stride 2", 1, 1, 33, 14, 15, 13, 1, 1, 2, 2, 1, 1, 0, 0, 0, 0},
	{"1x1, padded", 1, 1, 5, 6, 6, 7, 1, 1, 1, 1, 1, 1, 1, 2, 0, 1},
	{"7x7, stride 2, three channels", 1, 1, 3, 37, 41, 20, 7, 7, 2, 2, 1, 1, 3, 3, 3, 3},
	{"3x3, stride 2", 1, 1, 24, 15, 15, 26, 3, 3, 2, 2, 1, 1, 0, 0, 1, 1},
	{"5x4, stride 2, three channels", 1, 1, 3, 37, 41, 20, 5, 4, 2, 2, 1, 1, 2, 2, 2, 1},
	{"3x3, stride 2, two tiles", 1, 1, 64, 46, 58, 13, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1},
	{"3x3, strides 1 and 2, dilation 2", 1, 1, 9, 12, 19, 13, 3, 3, 1, 2, 1, 2, 1, 3, 1, 2},
	{"3x3, strides 3 and 1", 1, 1, 8, 15, 15, 9, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1},
	{"3x3, dilation 2, same width", 1, 1, 12, 16, 18, 14, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2},
	{"3x3, dilation 3, no padding", 1, 1, 6, 15, 19, 14, 3, 3, 1, 1, 3, 3, 0, 0, 0, 0},
	{"3x3, dilation 24, only the centre sees the input", 1, 1, 12, 20, 18, 14, 3, 3, 1, 1, 24,
	 24, 24, 24, 24, 24},
	{"3x3, dilation 12 by 24", 2, 2, 9, 20, 18, 14, 3, 3, 1, 1, 12, 24, 12, 24, 12, 24},
	{"3x3, dilation 8, the first taps see padding", 1, 1, 9, 7, 8, 14, 3, 3, 1, 1, 8, 8, 16, 16,
	 0, 0},
	{"3x3, dilation 8, the last taps see padding", 1, 1, 9, 7, 8, 14, 3, 3, 1, 1, 8, 8, 0, 0,
	 16, 16},
	{"3x3, dilation 7, products of taps", 2, 1, 40, 13, 11, 38, 3, 3, 1, 1, 7, 7, 7, 7, 7, 7},
	{"3x3, dilation 30 by 12, groups", 1, 2, 33, 66, 40, 45, 3, 3, 1, 1, 30, 12, 30, 12, 30,
	 12},
	{"5x3, dilation 4, uneven padding, long sums", 1, 1, 530, 9, 8, 34, 5, 3, 1, 1, 4, 4, 9, 6,
	 5, 3},
	{"7x7, stride 2, plane 2x3", 1, 1, 9, 2, 3, 14, 7, 7, 2, 2, 1, 1, 3, 3, 3, 3},
	{"5x5, dilation 3, stride 2, plane 4x5", 1, 2, 9, 4, 5, 14, 5, 5, 2, 2, 3, 3, 7, 8, 6, 7},
	{"5x5, same width", 1, 1, 10, 12, 13, 15, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2},
	{"1x7", 1, 1, 16, 17, 17, 24, 1, 7, 1, 1, 1, 1, 0, 3, 0, 3},
	{"7x1", 1, 1, 16, 17, 17, 24, 7, 1, 1, 1, 1, 1, 3, 0, 3, 0},
	{"1x3 of 8x8", 1, 1, 40, 8, 8, 24, 1, 3, 1, 1, 1, 1, 0, 1, 0, 1},
	{"4x4, same width by uneven padding", 1, 1, 9, 10, 10, 11, 4, 4, 1, 1, 1, 1, 1, 2, 2, 1},
	{"3x3, kernel above the input", 1, 1, 9, 2, 2, 11, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	{"long sums", 1, 1, 130, 6, 6, 13, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1},
	{"groups", 2, 3, 8, 9, 9, 10, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1},
	{"depthwise", 1, 20, 1, 14, 14, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	{"depthwise, stride 2", 2, 7, 1, 15, 14, 1, 5, 5, 2, 2, 1, 1, 2, 2, 2, 2},
	{"depthwise, large blocks of rows", 1, 3, 1, 27, 18, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	{"depthwise, a large block above the plane", 1, 3, 1, 13, 20, 1, 5, 5, 1, 1, 1, 1, 2, 2, 2,
	 2},
	{"depthwise, 7x7", 1, 5, 1, 17, 21, 1, 7, 7, 1, 1, 1, 1, 3, 3, 3, 3},
	{"depthwise, stride 2, two vectors", 1, 5, 1, 40, 39, 1, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1},
	{"depthwise, plane 3x3", 1, 5, 1, 3, 3, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	{"depthwise, uneven", 1, 5, 1, 9, 33, 1, 3, 3, 2, 1, 1, 1, 0, 1, 1, 0},
	{"depthwise, dilation 2", 1, 5, 1, 12, 12, 1, 3, 3, 1, 1, 2, 2, 2, 2, 2, 2},
	{"depthwise, two outputs a channel", 1, 6, 1, 9, 9, 2, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	{"depthwise, plane 7x7, many channels", 1, 35, 1, 7, 7, 1, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2},
	{"depthwise, plane 12x11, many channels", 2, 21, 1, 12, 11, 1, 5, 5, 1, 1, 1, 1, 2, 2, 2,
	 2},
	{"depthwise, stride 2, plane 13x14", 1, 18, 1, 13, 14, 1, 7, 7, 2, 2, 1, 1, 3, 3, 2, 3},
	{"depthwise, plane 7x7", 1, 9, 1, 7, 7, 1, 5, 5, 1, 1, 1, 1, 2, 2, 2, 2},
	{"3x3, minimal filtering", 1, 1, 24, 24, 24, 24, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	{"3x3, minimal filtering, odd sizes", 2, 1, 33, 27, 30, 37, 3, 3, 1, 1, 1, 1, 0, 1, 1, 0},
	{"3x3, minimal filtering, no padding", 1, 1, 40, 19, 21, 25, 3, 3, 1, 1, 1, 1, 0, 0, 0, 0},
	{"3x3, minimal filtering, wide padding", 1, 1, 40, 17, 13, 25, 3, 3, 1, 1, 1, 1, 4, 3, 2,
	 5},
	{"3x3, minimal filtering, groups", 1, 2, 32, 24, 24, 24, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	{"3x3, minimal filtering by twos", 1, 1, 130, 13, 14, 120, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	{"3x3, minimal filtering by twos, odd", 2, 1, 120, 11, 13, 130, 3, 3, 1, 1, 1, 1, 1, 0, 2,
	 1},
	{"3x3, minimal filtering, long sums", 1, 1, 530, 16, 16, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
};
static const struct {
	struct shape plane;
	struct depth depth;
} volumes[] = {
	{{"depthwise, volumes of 7x7", 2, 19, 1, 7, 7, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	 {5, 3, 1, 1, 1, 1}},
	{{"depthwise, volumes of 8x7, strides", 1, 33, 1, 8, 7, 1, 3, 3, 2, 2, 1, 1, 1, 1, 1, 0},
	 {7, 2, 3, 1, 0, 2}},
	{{"depthwise, volumes of 6x5, 5x5 in a plane", 1, 16, 1, 6, 5, 1, 5, 5, 1, 1, 1, 1, 2, 2, 2,
	  2},
	 {4, 1, 2, 1, 0, 0}},
	{{"depthwise, volumes, dilation in depth", 1, 17, 1, 7, 7, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	 {6, 3, 1, 2, 2, 2}},
	{{"depthwise, volumes of 12x20", 1, 3, 1, 12, 20, 1, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1},
	 {4, 3, 1, 1, 1, 1}},
	{{"volumes", 1, 1, 6, 9, 8, 11, 3, 3, 1, 2, 1, 1, 1, 1, 1, 1}, {5, 3, 2, 1, 1, 0}},
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes, N_VOLUMES = sizeof volumes / sizeof *volumes };

struct layer {
	struct op op;
	struct tensor in[2], out;
	double *want;
	double scale; /* the largest |want| */
};

static struct rng_addr at = {1, 0, 0, RNG_SEARCH};
static uint32_t drawn;

static double number(void)
{
	return (double)rng_below(&at, drawn++, 20001) / 10000.0 - 1.0;
}

static void fill(struct tensor *t)
{
	int64_t n = tensor_elements(t);
	t->data = mem_try((size_t)tensor_bytes(t));
	for (int64_t i = 0; i < n; i++)
		tensor_set_real(t, i, number());
}

static double *reals(const struct tensor *t)
{
	int64_t n = tensor_elements(t);
	double *x = mem_try((size_t)n * sizeof *x);
	for (int64_t i = 0; i < n; i++)
		x[i] = tensor_real(t, i);
	return x;
}

static double sum_of(const double *in, const double *w, const struct window *g, int64_t b,
		     int64_t o, int64_t p)
{
	int64_t z = p / g->out[2] / g->out[1] * g->stride[0] - g->pad[0];
	int64_t y = p / g->out[2] % g->out[1] * g->stride[1] - g->pad[1];
	int64_t x = p % g->out[2] * g->stride[2] - g->pad[2];
	double sum = 0;
	for (int64_t c = 0; c < g->cin; c++)
		for (int64_t t = 0; t < g->taps; t++) {
			int64_t iz = z + t / g->kernel[2] / g->kernel[1] * g->dilation[0];
			int64_t iy = y + t / g->kernel[2] % g->kernel[1] * g->dilation[1];
			int64_t ix = x + t % g->kernel[2] * g->dilation[2];
			int64_t plane = (b * g->groups + o / g->cout) * g->cin + c;
			if (iz >= 0 && iz < g->in[0] && iy >= 0 && iy < g->in[1] && ix >= 0 &&
			    ix < g->in[2])
				sum += in[plane * g->in_plane + (iz * g->in[1] + iy) * g->in[2] +
					  ix] *
				       w[(o * g->cin + c) * g->taps + t];
		}
	return sum;
}

static int64_t size_out(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pads)
{
	return (in + pads - (kernel - 1) * dilation - 1) / stride + 1;
}

/* One more dim in front of t's last two. */
static void insert_dim(struct tensor *t, int64_t n)
{
	int axis = t->rank++ - 2;
	t->dim[axis + 2] = t->dim[axis + 1];
	t->dim[axis + 1] = t->dim[axis];
	t->dim[axis] = n;
}

/* The third spatial dim. */
static void deepen(struct layer *l, const struct depth *d)
{
	struct op_window *w = &l->op.a.window;
	w->n_spatial = 3;
	for (int i = 2; i > 0; i--) {
		w->stride[i] = w->stride[i - 1];
		w->dilation[i] = w->dilation[i - 1];
		w->pad_begin[i] = w->pad_begin[i - 1];
		w->pad_end[i] = w->pad_end[i - 1];
	}
	w->stride[0] = d->stride;
	w->dilation[0] = d->dilation;
	w->pad_begin[0] = d->front;
	w->pad_end[0] = d->back;
	insert_dim(&l->in[0], d->in);
	insert_dim(&l->in[1], d->kernel);
	insert_dim(&l->out, size_out(d->in, d->kernel, d->stride, d->dilation, d->front + d->back));
}

/* depth NULL: two spatial dims. */
static void make(struct layer *l, const struct shape *s, const struct depth *d, enum elem weights)
{
	memset(l, 0, sizeof *l);
	l->op.kind = s->groups > 1 ? OP_GROUP_CONVOLUTION : OP_CONVOLUTION;
	l->op.n_in = 2;
	l->op.n_out = 1;
	l->op.a.window = (struct op_window){.n_spatial = 2,
					    .stride = {s->sh, s->sw},
					    .dilation = {s->dh, s->dw},
					    .pad_begin = {s->top, s->left},
					    .pad_end = {s->bottom, s->right},
					    .grouped = s->groups > 1};
	l->in[0] = (struct tensor){
		.elem = EL_F32, .rank = 4, .dim = {s->batch, s->groups * s->cin, s->h, s->w}};
	l->in[1] =
		(struct tensor){.elem = weights, .rank = 4, .dim = {s->cout, s->cin, s->kh, s->kw}};
	if (s->groups > 1)
		l->in[1] = (struct tensor){.elem = weights,
					   .rank = 5,
					   .dim = {s->groups, s->cout, s->cin, s->kh, s->kw}};
	l->out = (struct tensor){.elem = EL_F32,
				 .rank = 4,
				 .dim = {s->batch, s->groups * s->cout,
					 size_out(s->h, s->kh, s->sh, s->dh, s->top + s->bottom),
					 size_out(s->w, s->kw, s->sw, s->dw, s->left + s->right)}};
	if (d)
		deepen(l, d);
	fill(&l->in[0]);
	fill(&l->in[1]);
	l->out.data = mem_try((size_t)tensor_bytes(&l->out));
}

/* What l is to compute. */
static void expect(struct layer *l)
{
	struct window g;
	l->want = mem_try((size_t)tensor_elements(&l->out) * sizeof *l->want);
	cpu_window_init(&g, &l->op, &l->in[0], &l->in[1], &l->out);
	double *x = reals(&l->in[0]), *w = reals(&l->in[1]);
	for (int64_t i = 0; i < tensor_elements(&l->out); i++) {
		int64_t plane = i / g.out_plane, channels = g.groups * g.cout;
		l->want[i] = sum_of(x, w, &g, plane / channels, plane % channels, i % g.out_plane);
		l->scale = fabs(l->want[i]) > l->scale ? fabs(l->want[i]) : l->scale;
	}
	mem_free(x);
	mem_free(w);
}

static void drop(struct layer *l)
{
	mem_free(l->in[0].data);
	mem_free(l->in[1].data);
	mem_free(l->out.data);
	mem_free(l->want);
}

static struct cpu_ctx *ctx;

/* The output of l into l->out; post may be NULL.  packs: its weights are constants. */
static bool compute_with(struct layer *l, const struct epilogue *post, bool packs)
{
	struct cpu_prep *prep = NULL;
	struct err e = {0};
	struct tensor in[2] = {l->in[0], l->in[1]};
	in[0].data = NULL;
	memset(l->out.data, 0xff, (size_t)tensor_bytes(&l->out));
	bool ok = !packs || prepare_conv(&l->op, in, &l->out, ctx, &prep, &e) == 0;
	struct kernel_call call = {
		.op = &l->op, .prep = prep, .in = l->in, .out = &l->out, .ctx = ctx, .post = post};
	ok = ok && run_conv(&call, &e) == 0;
	cpu_prep_free(prep);
	return ok;
}

static bool compute(struct layer *l, const struct epilogue *post)
{
	return compute_with(l, post, true);
}

static double worst(const struct layer *l, const double *want)
{
	double d = 0;
	const float *y = l->out.data;
	for (int64_t i = 0; i < tensor_elements(&l->out); i++) {
		double one = fabs((double)y[i] - want[i]);
		d = !(one <= d) ? one : d;
	}
	return d / l->scale;
}

/* ---- epilogues: bias, then Relu; a residual and Clamp; two residuals and Clamp; HSwish; Swish;
 * Tanh ---- */

enum { POST_RELU, POST_RESIDUAL, POST_TWICE, POST_HSWISH, POST_SWISH, POST_TANH, N_POSTS };

static void test_posts(struct layer *l, const char *name)
{
	int64_t channels = l->out.dim[1], rows = l->out.dim[0] * channels;
	int64_t cols = tensor_elements(&l->out) / rows;
	bool points = cols == 1; /* planes of one pixel: (images, channels) */
	if (points) {
		rows = l->out.dim[0];
		cols = channels;
	}
	float *bias = mem_try((size_t)channels * sizeof *bias);
	float *other = mem_try((size_t)(rows * cols) * sizeof *other);
	double *want = mem_try((size_t)(rows * cols) * sizeof *want);
	for (int64_t i = 0; i < rows * cols; i++) {
		other[i] = (float)(number() * l->scale);
		bias[i % channels] = (float)number();
	}
	for (int kind = 0; kind < N_POSTS; kind++) {
		struct epilogue p = {.rows = rows, .cols = cols, .n_operands = 2};
		p.operand[0] = points ? (struct epi_operand){bias, 1, rows, 0, 1}
				      : (struct epi_operand){bias, 1, channels, 1, 0};
		p.operand[1] = (struct epi_operand){other, 1, rows, cols, 1};
		p.code[p.n_code++] = (struct epi_code){
			.kind = OP_ADD, .n_sources = 2, .source = {{false, 0}, {true, 0}}};
		int residuals = kind == POST_RESIDUAL ? 1 : kind == POST_TWICE ? 2 : 0;
		for (int i = 0; i < residuals; i++)
			p.code[p.n_code++] = (struct epi_code){
				.kind = OP_ADD, .n_sources = 2, .source = {{true, 1}, {false, 0}}};
		p.code[p.n_code++] = (struct epi_code){.kind = kind == POST_RELU     ? OP_RELU
							       : kind == POST_HSWISH ? OP_HSWISH
							       : kind == POST_SWISH  ? OP_SWISH
							       : kind == POST_TANH   ? OP_TANH
										     : OP_CLAMP,
						       .args = {.a = -1, .b = 2},
						       .n_sources = 1};
		for (int64_t i = 0; i < rows * cols; i++) {
			double v = l->want[i] + bias[points ? i % channels : i / cols % channels];
			if (residuals)
				v = fmin(fmax(v + residuals * other[i], -1), 2);
			want[i] = kind == POST_RELU     ? fmax(v, 0)
				  : kind == POST_HSWISH ? v * fmin(fmax(v + 3, 0), 6) / 6
				  : kind == POST_SWISH  ? v / (1 + exp(v)) /* beta: a */
				  : kind == POST_TANH   ? tanh(v)
							: v;
		}
		bool ok = compute(l, &p);
		double off = worst(l, want);
		tap(ok && off < 1e-5, "level %d, %s, epilogue %d: %.1e", cpu_level, name, kind,
		    off);
	}
	mem_free(bias);
	mem_free(other);
	mem_free(want);
}

static void test_shape(const struct shape *s, const struct depth *d, int best)
{
	for (int half = 0; half < 2; half++) {
		struct layer l;
		make(&l, s, d, half ? EL_F16 : EL_F32);
		expect(&l);
		for (cpu_level = 1; cpu_level <= best; cpu_level += cpu_level == 1 ? 2 : 1) {
			bool ok = compute(&l, NULL);
			double off = worst(&l, l.want);
			tap(ok && off < 5e-6, "level %d, %s, weights of %d bits: %.1e", cpu_level,
			    s->name, half ? 16 : 32, off);
			if (half) {
				test_posts(&l, s->name);
				continue;
			}
			ok = compute_with(&l, NULL, false);
			off = worst(&l, l.want);
			tap(ok && off < 5e-6, "level %d, %s, computed weights: %.1e", cpu_level,
			    s->name, off);
		}
		drop(&l);
	}
	cpu_level = best;
}

/* Weights are constants, or packed in each run. */
static void test_threads(bool constant)
{
	struct pool *pool = pool_new(3, NULL);
	struct cpu_ctx *one = ctx, *three = cpu_ctx_new(pool, NULL);
	int same = 0;
	for (int i = 0; i < N_SHAPES + N_VOLUMES; i++) {
		bool deep = i >= N_SHAPES;
		const struct shape *s = deep ? &volumes[i - N_SHAPES].plane : &shapes[i];
		struct layer l;
		make(&l, s, deep ? &volumes[i - N_SHAPES].depth : NULL, constant ? EL_F16 : EL_F32);
		size_t bytes = (size_t)tensor_bytes(&l.out);
		bool ok = compute_with(&l, NULL, constant);
		float *first = mem_copy(l.out.data, bytes, 1);
		ctx = three;
		ok = ok && compute_with(&l, NULL, constant) &&
		     memcmp(first, l.out.data, bytes) == 0;
		ctx = one;
		same += ok;
		if (!ok)
			printf("# %s\n", s->name);
		mem_free(first);
		drop(&l);
	}
	tap(same == N_SHAPES + N_VOLUMES, "three threads compute the same bits as one, %s weights",
	    constant ? "constant" : "computed");
	cpu_ctx_free(three);
	pool_free(pool);
}

static void test_choice(void)
{
	int n = 0, expected = 0, twos = 0, computed = 0;
	for (int i = 0; i < N_SHAPES; i++) {
		struct layer l;
		struct window g;
		make(&l, &shapes[i], NULL, EL_F32);
		cpu_window_init(&g, &l.op, &l.in[0], &l.in[1], &l.out);
		bool named = strstr(shapes[i].name, "minimal filtering") != NULL;
		if ((cpu_winograd_choose(&g) > 0) == named)
			n++;
		else
			printf("# %s: %d\n", shapes[i].name, cpu_winograd_choose(&g));
		twos += cpu_winograd_choose(&g) == 2;
		computed += cpu_winograd_choose_computed(&g) > 0;
		expected++;
		drop(&l);
	}
	tap(n == expected && twos > 0 && computed > 0,
	    "minimal filtering is chosen where it is meant to be");
}

int main(void)
{
	int best = cpu_level;
	ctx = cpu_ctx_new(NULL, NULL);
	test_choice();
	for (int i = 0; i < N_SHAPES; i++)
		test_shape(&shapes[i], NULL, best);
	for (int i = 0; i < N_VOLUMES; i++)
		test_shape(&volumes[i].plane, &volumes[i].depth, best);
	test_threads(true);
	test_threads(false);
	cpu_ctx_free(ctx);
	return tap_end();
}
