/* nhwc_conv_engine.c - which kernel computes a convolution of images in NHWC, and its slices. */
#include "kernel/nhwc/nhwc_conv.h"
#include "kernel/conv/conv.h"
#include "kernel/conv/depthwise_nhwc.h"
#include "kernel/conv/indirect.h"
#include "kernel/conv/winograd_nhwc.h"
#include "kernel/onednn/onednn_conv.h"

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

bool conv_does(const struct conv_step *s, const struct epi_code *unary, bool tiles)
{
	struct tiles_post post;
	float lo, hi;
	if (s->x.elem == EL_F32 && depthwise_rows_does(&s->g))
		return limits_of(unary, &lo, &hi);
	return tiles ? tiles_post_of(unary, &post) : onednn_conv_does(unary->kind, &unary->args);
}

/* ---- the table of kernels ---- */

struct conv_engine {
	const char *name; /* as HSDAG_EXPLAIN says it */
	int (*slices)(const void *m);
	struct window_slice (*slice)(const void *m, int i);
	int (*run)(const void *m, int i, struct channel_part part, const void *x, void *y,
		   void *scratch, struct err *e);
	/* In how many parts of their output channels slices can be run, and in the time of how many channels inputs are made ready; ready
	 * 0: in how many they are best run. */
	int (*parts)(const void *m);
	int ready;
	uint64_t (*bytes)(const void *m);
	void (*free)(void *m);
};

/* The functions of engine `name`, whose own are called name_slices and so on. */
#define ENGINE(name) \
	static int name##_n(const void *m) \
	{ \
		return name##_slices(m); \
	} \
	static struct window_slice name##_at(const void *m, int i) \
	{ \
		return name##_slice(m, i); \
	} \
	static void name##_end(void *m) \
	{ \
		name##_free(m); \
	}
#define ENGINE_PARTS(name) \
	static int name##_most(const void *m) \
	{ \
		return name##_parts(m); \
	}
#define ENGINE_PACKED(name) \
	static uint64_t name##_held(const void *m) \
	{ \
		return name##_pack(m)->bytes; \
	}
#define ENGINE_CALL(name, ...) \
	static int name##_call(const void *m, int i, struct channel_part part, const void *x, \
			       void *y, void *scratch, struct err *e) \
	{ \
		(void)part, (void)e; \
		__VA_ARGS__; \
		return 0; \
	}
ENGINE(winograd_pixels)
ENGINE_PARTS(winograd_pixels)
ENGINE_PACKED(winograd_pixels)
ENGINE_CALL(winograd_pixels, winograd_pixels_run(m, i, part, x, y, scratch))
ENGINE(indirect)
ENGINE_PARTS(indirect)
ENGINE_PACKED(indirect)
ENGINE_CALL(indirect, indirect_run(m, i, part, x, y, scratch))
ENGINE(depthwise_rows)
ENGINE_PACKED(depthwise_rows)
ENGINE_CALL(depthwise_rows, depthwise_rows_run(m, i, x, y, scratch))
ENGINE(tiled_conv)
ENGINE_PARTS(tiled_conv)
ENGINE_PACKED(tiled_conv)
ENGINE_CALL(tiled_conv, tiled_conv_run(m, i, part, x, y, NULL, scratch))
ENGINE(onednn_conv)
ENGINE_PARTS(onednn_conv)

static uint64_t onednn_conv_held(const void *m)
{
	return onednn_conv_bytes(m);
}

static int onednn_conv_call(const void *m, int i, struct channel_part part, const void *x, void *y,
			    void *scratch, struct err *e)
{
	return onednn_conv_run((struct onednn_conv *)(uintptr_t)m, i, part, x, y, scratch, e);
}

static int one_part(const void *m)
{
	(void)m;
	return 1;
}

#define LISTED(name, most) \
	.slices = name##_n, .slice = name##_at, .run = name##_call, .parts = most, \
	.bytes = name##_held, .free = name##_end
static const struct conv_engine winograd = {
	.name = "Winograd", .ready = 12, LISTED(winograd_pixels, winograd_pixels_most)};
static const struct conv_engine indirect = {
	.name = "products through pointers", .ready = 2, LISTED(indirect, indirect_most)};
static const struct conv_engine depthwise = {.name = "depthwise rows",
					     LISTED(depthwise_rows, one_part)};
static const struct conv_engine tiled = {
	.name = "matrix tiles", .ready = 8, LISTED(tiled_conv, tiled_conv_most)};
static const struct conv_engine onednn = {.name = "oneDNN", LISTED(onednn_conv, onednn_conv_most)};

/* ---- which of them ---- */

static int take(struct conv_step *s, const struct conv_engine *engine, void *kernel, struct err *e)
{
	s->engine = engine;
	s->kernel = kernel;
	return kernel ? 1 : cpu_no_memory(e);
}

/* In f32 by our own kernels, where one of them is faster and does what follows.  As onednn_conv_new. */
static int own_conv(struct conv_step *s, const struct tensor *w, const float *bias,
		    const struct epi_code *unary, struct err *e)
{
	int m = winograd_pixels_does(&s->g) ? cpu_winograd_choose(&s->g) : 0;
	float lo, hi;
	if (!limits_of(unary, &lo, &hi))
		return 0;
	if (m) {
		struct winograd_pixels_spec spec = {
			.g = s->g, .m = m, .weights = w, .bias = bias, .lo = lo, .hi = hi};
		return take(s, &winograd, winograd_pixels_new(&spec, s->ctx), e);
	}
	if (depthwise_rows_does(&s->g)) {
		struct depthwise_rows_spec spec = {
			.g = s->g, .weights = w, .bias = bias, .lo = lo, .hi = hi};
		return take(s, &depthwise, depthwise_rows_new(&spec, s->ctx), e);
	}
	if (!indirect_pays(&s->g))
		return 0;
	struct indirect_spec spec = {.g = s->g, .weights = w, .bias = bias, .lo = lo, .hi = hi};
	return take(s, &indirect, indirect_new(&spec, s->ctx), e);
}

int conv_by_tiles(struct conv_step *s, const struct tiled_conv_spec *spec, struct err *e)
{
	return take(s, &tiled, tiled_conv_new(spec, s->ctx), e);
}

int conv_by_onednn(struct conv_step *s, const struct onednn_conv_spec *spec, struct err *e)
{
	struct onednn_conv *m = NULL;
	int rc = onednn_conv_new(spec, s->ctx, &m, e);
	return rc > 0 ? take(s, &onednn, m, e) : rc;
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
	return conv_by_tiles(s, &spec, e);
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
	return rc ? rc : conv_by_onednn(s, &spec, e);
}

/* ---- whichever it is ---- */

struct tiled_conv *conv_tiles(const struct conv_step *s)
{
	return s->engine == &tiled ? s->kernel : NULL;
}

int conv_slices(const struct conv_step *s)
{
	return s->engine->slices(s->kernel);
}

struct window_slice conv_slice(const struct conv_step *s, int i)
{
	return s->engine->slice(s->kernel, i);
}

int conv_slice_run(const struct conv_step *s, int i, struct channel_part part, const void *x,
		   void *y, void *scratch, struct err *e)
{
	return s->engine->run(s->kernel, i, part, x, y, scratch, e);
}

int conv_choose_parts(const struct conv_step *s)
{
	int most = s->engine->parts(s->kernel);
	if (s->engine->ready == 0)
		return most;
	const struct channel_parts c = {
		.slices = s->g.batch * conv_slices(s),
		.threads = s->ctx->n_threads,
		.most = most,
		.ready = (double)s->engine->ready / (double)s->g.cout,
		.worth = 0.95,
	};
	return channel_parts_choose(&c);
}

void conv_release(struct conv_step *s)
{
	if (s->kernel)
		s->engine->free(s->kernel);
	nhwc_program_release(&s->program);
	mem_free(s->zeros);
	mem_free(s->x_scales);
	mem_free(s->scales);
}

uint64_t conv_bytes(const struct conv_step *s)
{
	return s->engine->bytes(s->kernel);
}

const char *conv_engine_name(const struct conv_step *s)
{
	return s->engine->name;
}
