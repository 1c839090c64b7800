/* test_onednn.c - convolutions of channels-last tensors by oneDNN beside plain sums in doubles: f32, bf16, integers with scales,
 * zero-points and padding, one group and several, whichever version the programs are built with. */
#include "tap.h"

#include "kernel/onednn/onednn.h"
#ifdef WITHOUT_ONEDNN
int main(void)
{
	printf("1..0 # SKIP built without oneDNN\n");
	return 0;
}
#else
#include "base/rng.h"
#include "kernel/onednn/onednn_conv.h"
#include "kernel/onednn/onednn_product.h"

#include <math.h>
#include <stdlib.h>

static struct cpu_ctx *ctx;
static uint64_t drawn;

/* Whole numbers lo .. hi. */
static int draw(int lo, int hi)
{
	const struct rng_addr at = {7, drawn++, 0, RNG_COST};
	return lo + (int)rng_below(&at, 0, (uint32_t)(hi - lo + 1));
}

struct shape {
	const char *name;
	int64_t groups, cin, cout, in, kernel, stride, dilation, pad;
};
static const struct shape shapes[] = {{"3x3", 1, 16, 32, 9, 3, 1, 1, 1},
				      {"1x1", 1, 48, 16, 7, 1, 1, 1, 0},
				      {"3x3, stride 2", 1, 32, 16, 11, 3, 2, 1, 1},
				      {"5x5 in 4 groups", 4, 16, 16, 8, 5, 1, 1, 2},
				      {"3x3, dilation 2", 1, 16, 16, 12, 3, 1, 2, 2},
				      {"3x3 without padding", 1, 16, 48, 9, 3, 1, 1, 0}};

static struct window window_of(const struct shape *s)
{
	int64_t out = (s->in + 2 * s->pad - (s->kernel - 1) * s->dilation - 1) / s->stride + 1;
	return (struct window){.batch = 1,
			       .groups = s->groups,
			       .cin = s->cin,
			       .cout = s->cout,
			       .in = {1, s->in, s->in},
			       .out = {1, out, out},
			       .kernel = {1, s->kernel, s->kernel},
			       .stride = {1, s->stride, s->stride},
			       .dilation = {1, s->dilation, s->dilation},
			       .pad = {0, s->pad, s->pad},
			       .pad_end = {0, s->pad, s->pad},
			       .in_plane = s->in * s->in,
			       .out_plane = out * out,
			       .taps = s->kernel * s->kernel};
}

/* The sum of one output, with `zero` where padding is and in the middle of the numbers. */
static double sum_at(const struct window *g, const float *x, const float *w, int zero,
		     int64_t pixel, int64_t channel)
{
	int64_t group = channel / g->cout, row = pixel / g->out[2], column = pixel % g->out[2];
	double sum = 0;
	for (int64_t t = 0; t < g->taps; t++) {
		int64_t i = row * g->stride[1] - g->pad[1] + t / g->kernel[2] * g->dilation[1];
		int64_t j = column * g->stride[2] - g->pad[2] + t % g->kernel[2] * g->dilation[2];
		if (i < 0 || i >= g->in[1] || j < 0 || j >= g->in[2])
			continue;
		for (int64_t c = 0; c < g->cin; c++)
			sum += (x[(i * g->in[2] + j) * g->groups * g->cin + group * g->cin + c] -
				zero) *
			       (double)w[(channel * g->cin + c) * g->taps + t];
	}
	return sum;
}

struct room {
	float *x, *w, *scale, *bias, *y;
	void *from, *weights, *to; /* as the type has them */
};

static void to_type(enum elem t, const float *x, void *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		if (t == EL_F32)
			((float *)y)[i] = x[i];
		else if (t == EL_U8 || t == EL_I8)
			((uint8_t *)y)[i] = (uint8_t)(int)x[i];
	if (t == EL_BF16)
		vec_to_bf16(x, y, n);
}

/* The largest error over the largest result, 1 where there is no convolution; beside: while one of signed codes has packed the same
 * weights. */
static double worst_of(const struct shape *s, enum elem src, bool scaled, int zero, bool relu,
		       bool beside)
{
	struct onednn_conv_spec spec = {.g = window_of(s),
					.src = src,
					.dst = EL_F32,
					.zero = zero,
					.has_unary = relu,
					.unary = OP_RELU};
	const struct window *g = &spec.g;
	int64_t n_x = g->in_plane * g->groups * g->cin, n_y = g->out_plane * g->groups * g->cout;
	int64_t channels = g->groups * g->cout, n_w = channels * g->cin * g->taps;
	bool codes = src == EL_U8 || src == EL_I8;
	struct room r = {MEM_NEWN(float, n_x),      MEM_NEWN(float, n_w),
			 MEM_NEWN(float, channels), MEM_NEWN(float, channels),
			 MEM_NEWN(float, n_y),      MEM_NEWN(float, n_x),
			 MEM_NEWN(float, n_w),      NULL};
	struct onednn_conv *m = NULL, *other = NULL;
	struct err e = ERR_INIT;
	double off = 0, most = 0;
	/* Sums of pairs fit 16 bits, and halves of weights are whole: instructions without VNNI want both. */
	for (int64_t i = 0; i < n_x; i++)
		r.x[i] = (float)draw(src == EL_U8 ? 0 : -60, src == EL_U8 ? 255 : 60);
	for (int64_t i = 0; i < n_w; i++)
		r.w[i] = (float)(2 * draw(-30, 30));
	for (int64_t c = 0; c < channels; c++) {
		r.scale[c] = (float)draw(1, 9) / 64;
		r.bias[c] = (float)draw(-90, 90);
	}
	to_type(src, r.x, r.from, n_x);
	to_type(codes ? EL_I8 : EL_F32, r.w, r.weights, n_w);
	spec.weights = (struct tensor){.elem = codes ? EL_I8 : EL_F32,
				       .rank = 3,
				       .dim = {channels, g->cin, g->taps},
				       .data = r.weights};
	spec.key = r.weights;
	spec.bias = r.bias;
	spec.scale = scaled ? r.scale : NULL;
	if (beside) {
		struct onednn_conv_spec signed_codes = spec;

		signed_codes.src = EL_I8;
		signed_codes.zero = 0;
		if (onednn_conv_new(&signed_codes, ctx, &other, &e) <= 0)
			off = most = 1;
	}
	if (onednn_conv_new(&spec, ctx, &m, &e) <= 0)
		off = most = 1;
	for (int i = 0; m && i < onednn_conv_slices(m); i++) {
		struct window_slice at = onednn_conv_slice(m, i);
		void *scratch = aligned_alloc(64, (at.scratch + 127) / 64 * 64);
		const char *from = (const char *)r.from +
				   at.from * g->groups * g->cin * (int64_t)cpu_elem_size(src);
		if (onednn_conv_run(m, i, (struct channel_part){0, 1}, from, r.y + at.at * channels,
				    scratch, &e) < 0)
			off = 1;
		free(scratch);
	}
	for (int64_t i = 0; m && i < n_y; i++) {
		int64_t c = i % channels;
		double right = (sum_at(g, r.x, r.w, zero, i / channels, c) + r.bias[c]) *
			       (scaled ? r.scale[c] : 1);
		right = relu && right < 0 ? 0 : right;
		off = fmax(off, fabs(right - r.y[i]));
		most = fmax(most, fabs(right));
	}
	onednn_conv_free(m);
	onednn_conv_free(other);
	mem_free(r.x);
	mem_free(r.w);
	mem_free(r.scale);
	mem_free(r.bias);
	mem_free(r.y);
	mem_free(r.from);
	mem_free(r.weights);
	return most > 0 ? off / most : 1;
}

int main(void)
{
	static const struct {
		const char *name;
		enum elem src;
		bool scaled;
		int zero;
	} kind[] = {{"f32", EL_F32, false, 0},
		    {"bf16", EL_BF16, false, 0},
		    {"u8", EL_U8, true, 0},
		    {"i8", EL_I8, true, 0},
		    {"u8, zero-point 3", EL_U8, true, 3}};
	struct err e = ERR_INIT;
	struct cpu_packs *packs = cpu_packs_new();
	if (onednn_open(&e) < 0) {
		printf("1..0 # SKIP %s\n", e.msg);
		return 0;
	}
	ctx = cpu_ctx_new(NULL, packs);
	for (size_t k = 0; k < sizeof kind / sizeof *kind; k++)
		for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
			for (int relu = 0; relu < 2; relu++) {
				double off = worst_of(&shapes[i], kind[k].src, kind[k].scaled,
						      kind[k].zero, relu, false);
				tap(off < 1e-6, "%s, %s%s: %.1e of the largest", kind[k].name,
				    shapes[i].name, relu ? ", ReLU" : "", off);
			}
	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		double off = worst_of(&shapes[i], EL_U8, true, 3, false, true);

		tap(off < 1e-6,
		    "u8, zero-point 3, and i8 of the same weights, %s: %.1e of the largest",
		    shapes[i].name, off);
	}
	cpu_ctx_free(ctx);
	cpu_packs_free(packs);
	return tap_end();
}
#endif
