/* nhwc_engine.c - which kernel computes a convolution of images in NHWC, and its slices. */
#include "device/cpu/nhwc/nhwc_conv.h"
#include "kernel/conv/cpu_conv.h"

#include <math.h>

/* The limits that `unary` sets; false: it does something else. */
static bool limits_of(const struct epi_code *unary, float *lo, float *hi)
{
	*lo = -INFINITY;
	*hi = INFINITY;
	if (!unary)
		return true;
	if (unary->kind != OP_RELU && unary->kind != OP_CLAMP)
		return false;
	*lo = unary->kind == OP_RELU ? 0 : unary->args.a;
	if (unary->kind == OP_CLAMP)
		*hi = unary->args.b;
	return true;
}

/* What tiles make of sums; false: they do not. */
static bool tiles_post_of(const struct epi_code *unary, struct tiles_post *p)
{
	*p = (struct tiles_post){.unary = TILES_LIMITS};
	if (limits_of(unary, &p->lo, &p->hi))
		return true;
	if (unary->kind == OP_HSWISH)
		p->unary = TILES_HSWISH;
	else if (unary->kind == OP_SIGMOID && unary->args.coarse)
		p->unary = TILES_SIGMOID;
	else if (unary->kind == OP_SWISH && unary->args.coarse)
		p->unary = TILES_SWISH;
	else if (unary->kind == OP_GELU && unary->args.coarse && !unary->args.gelu_tanh)
		p->unary = TILES_GELU;
	else
		return false;
	p->beta = unary->args.a;
	return true;
}

bool conv_does(const struct epi_code *unary, bool tiles)
{
	struct tiles_post post;
	return tiles ? tiles_post_of(unary, &post) : onednn_conv_does(unary->kind, &unary->args);
}

/* In f32 by our own kernels, where one of them is faster and does what follows.  As onednn_conv_new. */
static int own_conv(struct conv_step *s, const struct tensor *w, const float *bias,
		    const struct epi_code *unary, struct err *e)
{
	int m = winograd_pixels_does(&s->g) ? cpu_winograd_choose(&s->g) : 0;
	float lo, hi;
	if (!limits_of(unary, &lo, &hi) || (!m && !indirect_pays(&s->g)))
		return 0;
	if (m) {
		struct winograd_pixels_spec spec = {
			.g = s->g, .m = m, .weights = w, .bias = bias, .lo = lo, .hi = hi};
		s->winograd = winograd_pixels_new(&spec, s->ctx);
	} else {
		struct indirect_spec spec = {
			.g = s->g, .weights = w, .bias = bias, .lo = lo, .hi = hi};
		s->indirect = indirect_new(&spec, s->ctx);
	}
	return s->winograd || s->indirect ? 1 : cpu_no_memory(e);
}

/* In bf16 by matrix tiles, where they are.  As onednn_conv_new. */
static int own_conv_bf16(struct conv_step *s, const struct tensor *w, const void *key,
			 const float *bias, const struct epi_code *unary, struct err *e)
{
	struct tiled_conv_spec spec = {.g = s->g,
				       .weights = w,
				       .key = key,
				       .bias = bias,
				       .src = EL_BF16,
				       .dst = s->direct ? EL_BF16 : EL_F32};
	if (!tiled_conv_does(s->ctx, &s->g, EL_BF16) || !tiles_post_of(unary, &spec.post))
		return 0;
	s->tiled = tiled_conv_new(&spec, s->ctx);
	return s->tiled ? 1 : cpu_no_memory(e);
}

int plain_conv(struct conv_step *s, const struct tensor *w, const void *key, const float *bias,
	       const struct epi_code *unary, struct err *e)
{
	struct onednn_conv_spec spec = {.g = s->g,
					.src = s->x.elem,
					.dst = s->direct ? s->x.elem : EL_F32,
					.weights = *w,
					.key = key,
					.bias = bias,
					.has_unary = unary != NULL,
					.parts = s->direct && !s->has_program};
	if (unary) {
		spec.unary = unary->kind;
		spec.args = unary->args;
	}
	int rc = s->x.elem == EL_F32 ? own_conv(s, w, bias, unary, e)
				     : own_conv_bf16(s, w, key, bias, unary, e);
	return rc ? rc : onednn_conv_new(&spec, s->ctx, &s->conv, e);
}

int conv_slices(const struct conv_step *s)
{
	return s->winograd   ? winograd_pixels_slices(s->winograd)
	       : s->indirect ? indirect_slices(s->indirect)
	       : s->tiled    ? tiled_conv_slices(s->tiled)
			     : onednn_conv_slices(s->conv);
}

struct window_slice conv_slice(const struct conv_step *s, int i)
{
	return s->winograd   ? winograd_pixels_slice(s->winograd, i)
	       : s->indirect ? indirect_slice(s->indirect, i)
	       : s->tiled    ? tiled_conv_slice(s->tiled, i)
			     : onednn_conv_slice(s->conv, i);
}

int conv_slice_run(struct conv_step *s, int i, struct channel_part part, const void *x, void *y,
		   void *scratch, struct err *e)
{
	if (s->winograd)
		winograd_pixels_run(s->winograd, i, part, x, y, scratch);
	else if (s->indirect)
		indirect_run(s->indirect, i, part, x, y, scratch);
	else if (s->tiled)
		tiled_conv_run(s->tiled, i, part, x, y, NULL, scratch);
	else
		return onednn_conv_run(s->conv, i, part, x, y, scratch, e);
	return 0;
}

int conv_choose_parts(const struct conv_step *s)
{
	/* Inputs are made ready in the time of so many output channels. */
	enum { READY_WINOGRAD = 12, READY_INDIRECT = 2, READY_TILED = 8 };
	if (s->conv)
		return onednn_conv_parts(s->conv);
	const struct channel_parts c = {
		.slices = s->g.batch * conv_slices(s),
		.threads = s->ctx->n_threads,
		.most = s->winograd ? winograd_pixels_parts(s->winograd)
			: s->tiled  ? tiled_conv_parts(s->tiled)
				    : indirect_parts(s->indirect),
		.ready = (double)(s->winograd ? READY_WINOGRAD
				  : s->tiled  ? READY_TILED
					      : READY_INDIRECT) /
			 (double)s->g.cout,
		.worth = 0.95,
	};
	return channel_parts_choose(&c);
}

void conv_release(void *x)
{
	struct conv_step *s = x;
	onednn_conv_free(s->conv);
	winograd_pixels_free(s->winograd);
	indirect_free(s->indirect);
	tiled_conv_free(s->tiled);
	pixel_program_release(&s->program);
	mem_free(s->zeros);
	mem_free(s->x_scales);
	mem_free(s->scales);
}

void conv_memory(const void *x, void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg)
{
	const struct conv_step *s = x;
	fn(arg, x,
	   s->winograd   ? winograd_pixels_pack(s->winograd)->bytes
	   : s->indirect ? indirect_pack(s->indirect)->bytes
	   : s->tiled    ? tiled_conv_pack(s->tiled)->bytes
	   : s->conv     ? onednn_conv_bytes(s->conv)
			 : 0);
}
