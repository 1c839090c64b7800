/* cpu_pixel_conv.c - a convolution as a step in pixels: which of what follows it oneDNN does, and which a program. */
#include "device/cpu/pixel/cpu_pixel_step.h"
#include "kernel/conv/cpu_conv.h"

#include <math.h>
#include <string.h>

/* Leaves out instruction 0, which makes one value of value 0: the others read value 0 in its place.
 * False, and nothing has changed: value 0 as it was is read again, or written while that value is. */
static bool drop_first(struct epilogue *c)
{
	int made = c->code[0].to.index, n = c->n_code - 1;
	bool zero_written = made == 0, gone = made == 0;
	if (c->code[0].to.operand)
		return false;
	for (int j = 1; j <= n && made != 0; j++) {
		const struct epi_code *k = &c->code[j];
		for (int m = 0; m < k->n_sources; m++) {
			const struct epi_source *x = &k->source[m];
			if (!x->operand && ((x->index == 0 && !zero_written) ||
					    (x->index == made && zero_written && !gone)))
				return false;
		}
		zero_written = zero_written || (!k->to.operand && k->to.index == 0);
		gone = gone || (!k->to.operand && k->to.index == made);
	}
	gone = made == 0;
	for (int j = 0; j < n; j++) {
		struct epi_code *k = &c->code[j];
		*k = c->code[j + 1];
		for (int m = 0; m < k->n_sources && !gone; m++)
			if (!k->source[m].operand && k->source[m].index == made)
				k->source[m].index = 0;
		gone = gone || (!k->to.operand && k->to.index == made);
	}
	c->n_code = n;
	return true;
}

/* Does instruction 0 add one constant a channel to value 0?  Then where they are. */
static const float *take_bias(struct fuse_part *part, const struct form_shape *s)
{
	struct epilogue *c = &part->code;
	const struct epi_code *k = &c->code[0];
	if (c->n_code == 0 || k->kind != OP_ADD || k->n_sources != 2)
		return NULL;
	int i = k->source[0].operand ? 0 : 1;
	const struct epi_source *value = &k->source[1 - i];
	if (!k->source[i].operand || value->operand || value->index != 0)
		return NULL;
	int at = k->source[i].index;
	if (part->place[at].base != BASE_CONST || !pixel_is_channel(c, s, &c->operand[at]) ||
	    !drop_first(c))
		return NULL;
	return (const float *)(const void *)((const char *)part->place[at].data +
					     part->place[at].bytes);
}

/* Is instruction i, which limits value 0, nothing more than what codes of f do anyway? */
static bool only_limits(const struct epi_code *k, const struct mem_form *f)
{
	if (f->elem != EL_U8 || f->zero != 0 || k->source[0].operand || k->source[0].index != 0)
		return false;
	float scale = f->scale;
	for (int64_t i = 0; i < f->n_scales; i++) {
		scale = f->scales[i] > scale ? f->scales[i] : scale;
		if (form_zero(f, i) != 0)
			return false;
	}
	return k->kind == OP_RELU ||
	       (k->kind == OP_CLAMP && k->args.a == 0 && k->args.b >= 254.5f * scale);
}

/* Do instructions 0 (and 1) quantize value 0 to a grid?  Then they are left out, and *f is the grid.
 * node: those of the instructions.  want: what the last one makes, if it has a scale for each channel. */
static bool take_codes(struct fuse_part *part, const struct fuse_node *const *node,
		       const struct mem_form *want, struct mem_form *f)
{
	struct epilogue *c = &part->code, before = *c;
	int last = 0;
	if (c->n_code > 1 && c->code[0].kind != OP_FAKE_QUANTIZE)
		last = 1;
	if (c->n_code <= last || c->code[last].kind != OP_FAKE_QUANTIZE)
		return false;
	if (want->scales && c->n_code == last + 1)
		*f = *want;
	else if (!grid_of(node[last]->node->graph, node[last]->node->v, node[last]->node->env, f))
		return false;
	f->pixels = true;
	if (last == 1 && (!only_limits(&c->code[0], f) || !drop_first(c)))
		return false;
	const struct epi_source *x = &c->code[0].source[0];
	if (!x->operand && x->index == 0 && drop_first(c))
		return true;
	*c = before;
	return false;
}

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

/* PReLU with one constant slope for all, as a unary operator with that in args.a. */
static void one_slope(const struct fuse_part *part, struct epi_code *k)
{
	const struct epi_source *slope = &k->source[1];
	if (k->kind != OP_PRELU || k->n_sources != 2 || !slope->operand)
		return;
	const struct epi_operand *o = &part->code.operand[slope->index];
	const struct fuse_place *at = &part->place[slope->index];
	if (at->base != BASE_CONST || !at->data || o->col != 0 || (o->row != 0 && o->mod != 1))
		return;
	memcpy(&k->args.a, (const char *)at->data + at->bytes, sizeof k->args.a);
	k->n_sources = 1;
}

/* Is all that follows a unary operator that the convolution does itself, by oneDNN or by tiles?  Then it is left out,
 * and *out.  f32: of PReLU our own kernels do more. */
static bool take_unary(struct fuse_part *part, bool f32, bool tiles, struct epi_code *out)
{
	struct epilogue *c = &part->code;
	const struct epi_source *x = &c->code[0].source[0];
	struct tiles_post post;
	*out = c->code[0];
	if (!f32)
		one_slope(part, out);
	return c->n_code == 1 && out->n_sources == 1 && !x->operand && x->index == 0 &&
	       (tiles ? tiles_post_of(out, &post) : onednn_conv_does(out->kind, &out->args)) &&
	       drop_first(c);
}

/* In f32 by our own kernels, where one of them is faster and does what follows.  As onednn_conv_new. */
static int own_conv(struct pixel_step *s, const struct tensor *w, const float *bias,
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
static int own_conv_bf16(struct pixel_step *s, const struct tensor *w, const void *key,
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

int pixel_plain_conv(struct pixel_step *s, const struct tensor *w, const void *key,
		     const float *bias, const struct epi_code *unary, struct err *e)
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

int pixel_conv_slices(const struct pixel_step *s)
{
	return s->winograd   ? winograd_pixels_slices(s->winograd)
	       : s->indirect ? indirect_slices(s->indirect)
	       : s->tiled    ? tiled_conv_slices(s->tiled)
			     : onednn_conv_slices(s->conv);
}

struct window_slice pixel_conv_slice(const struct pixel_step *s, int i)
{
	return s->winograd   ? winograd_pixels_slice(s->winograd, i)
	       : s->indirect ? indirect_slice(s->indirect, i)
	       : s->tiled    ? tiled_conv_slice(s->tiled, i)
			     : onednn_conv_slice(s->conv, i);
}

int pixel_conv_run(struct pixel_step *s, int i, struct channel_part part, const void *x, void *y,
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

/* In how many parts of their output channels slices are worked on, where there are fewer of them than threads. */
static int choose_parts(const struct pixel_step *s)
{
	/* Inputs are made ready in the time of so many output channels. */
	enum { READY_WINOGRAD = 12, READY_INDIRECT = 2, READY_TILED = 8 };
	if (s->conv)
		return onednn_conv_parts(s->conv);
	const struct channel_parts c = {
		.slices = s->g.batch * pixel_conv_slices(s),
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

/* What is left of part is a program, if anything is; false: it can not be one. */
static bool has_program(struct pixel_step *s, const struct step_node *n,
			const struct fuse_part *part)
{
	pixel_program_release(&s->program);
	s->program = (struct pixel_program){0};
	s->has_program = part->code.n_code > 0;
	return !s->has_program ||
	       (pixel_program_init(&s->program, part, &n->out[0]) && s->program.n_write == 0);
}

/* A convolution in f32 or bf16 with the unary operator behind it, or, where the library has none with that, without. */
static int plain_conv_with(struct pixel_step *s, const struct step_node *n, struct fuse_part *part,
			   const float *bias, struct err *e)
{
	const struct epilogue whole = part->code;
	struct epi_code unary;
	/* In f32 results are the same wherever steps are cut: its HSwish rounds otherwise than ours. */
	bool takes =
		(s->x.elem != EL_F32 || part->code.code[0].kind != OP_HSWISH) &&
		take_unary(part, s->x.elem == EL_F32,
			   s->x.elem == EL_BF16 && tiled_conv_does(s->ctx, &s->g, EL_BF16), &unary);
	s->codes = s->x;
	for (;; takes = false, part->code = whole) {
		s->direct = part->code.n_code == 0 && same_grid(&s->want[0], &s->codes);
		if (!has_program(s, n, part))
			return 0;
		const struct tensor *w = n->in[1].tensor;
		int rc = pixel_plain_conv(s, w, w->data, bias, takes ? &unary : NULL, e);
		if (rc != 0 || !takes)
			return rc;
	}
}

/* Where every output sees one pixel, the one at its own place, images are joined to one, as many small ones make few slices; and
 * threads share pixels where they cannot share rows evenly. */
static void join_images(struct pixel_step *s)
{
	struct window *g = &s->g;
	bool alike = g->taps == 1, even = g->batch * g->in[0] * g->in[1] % s->ctx->n_threads == 0;
	for (int d = 0; d < 3; d++)
		alike = alike && g->stride[d] == 1 && g->pad[d] == 0 && g->in[d] == g->out[d];
	if (!alike || (g->batch == 1 && even))
		return;
	s->joined = true;
	g->in_plane *= g->batch;
	g->out_plane = g->in_plane;
	g->in[0] *= g->batch;
	g->batch = 1;
	if (!even) {
		g->in[0] = 1;
		g->in[1] = g->in_plane;
		g->in[2] = 1;
	}
	for (int d = 0; d < 3; d++)
		g->out[d] = g->in[d];
}

int pixel_conv_init(struct pixel_step *s, const struct step_spec *spec, struct fuse_plan *p,
		    struct err *e)
{
	const struct step_node *n = &spec->node[0];
	const struct tensor *w = n->in[1].tensor;
	if (spec->n_out != 1 || p->n_parts != 1 || !p->part[0].head ||
	    n->in[0].from != FROM_INPUT || n->in[1].from != FROM_CONST || !w->data || w->quant ||
	    (w->elem != EL_F32 && w->elem != EL_F16) || tensor_elements(w) == 0 ||
	    !fits_pixels(n->in[0].tensor) || !fits_pixels(&n->out[0]))
		return 0;
	s->x_in = n->in[0].index;
	s->in_shape = form_shape_of(n->in[0].tensor);
	s->shape = form_shape_of(&n->out[0]);
	cpu_window_init(&s->g, n->op, n->in[0].tensor, w, &n->out[0]);
	join_images(s);
	struct fuse_part *part = &p->part[0];
	const struct fuse_node *node[FUSE_ALL];
	int n_nodes = 0;
	for (uint32_t v = 1; v < p->n; v++)
		node[n_nodes++] = &p->node[v];
	if (n_nodes != part->code.n_code || !pixel_same_planes(p, &n->out[0]))
		return 0;
	const float *bias = take_bias(part, &s->shape);
	s->want[0] = wanted_form(p->node[part->result].node, s->elem);
	pixel_want_channels(s, p->node[part->result].node, 0);
	if (s->elem == EL_I8 && pixel_codes_of_input(s, n)) {
		const struct epilogue whole = part->code;
		s->direct = take_codes(part, node + (bias != NULL), &s->want[0], &s->codes);
		int rc = has_program(s, n, part) ? pixel_codes_conv(s, w, w->data, bias, e) : 0;
		s->parts = 1;
		if (rc != 0)
			return rc;
		part->code = whole;
	}
	if (s->elem == EL_I8 && !pixels_pay(n->graph))
		return 0;
	s->x = pixels_form(s->elem == EL_BF16 ? EL_BF16 : EL_F32);
	int rc = plain_conv_with(s, n, part, bias, e);
	s->parts = rc > 0 ? choose_parts(s) : 1;
	return rc;
}
