/* nhwc_step_conv.c - a convolution of images in NHWC: which of what follows it oneDNN does, and which a program. */
#include "device/cpu/nhwc/nhwc_codes.h"
#include "device/cpu/nhwc/nhwc_conv_step.h"
#include "device/cpu/nhwc/nhwc_part.h"
#include "kernel/conv/conv.h"

#include <stdio.h>
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
	if (part->place[at].base != BASE_CONST || !nhwc_is_channel(c, s, &c->operand[at]) ||
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
static bool take_codes(const struct cpu_graph *graph, struct fuse_part *part,
		       const struct fuse_node *const *node, const struct mem_form *want,
		       struct mem_form *f)
{
	struct epilogue *c = &part->code, before = *c;
	int last = 0;
	if (c->n_code > 1 && c->code[0].kind != OP_FAKE_QUANTIZE)
		last = 1;
	if (c->n_code <= last || c->code[last].kind != OP_FAKE_QUANTIZE)
		return false;
	if (want->scales && c->n_code == last + 1)
		*f = *want;
	else if (!grid_of(graph, node[last]->node->v, f))
		return false;
	f->nhwc = true;
	if (last == 1 && (!only_limits(&c->code[0], f) || !drop_first(c)))
		return false;
	const struct epi_source *x = &c->code[0].source[0];
	if (!x->operand && x->index == 0 && drop_first(c))
		return true;
	*c = before;
	return false;
}

/* PReLU with one constant slope for all, as a unary operator with that in args.a. */
static void one_slope(const struct fuse_part *part, struct epi_code *k)
{
	const struct epi_source *slope = &k->source[1];
	if (k->kind != OP_PRELU || k->n_sources != 2 || !slope->operand)
		return;
	const struct epi_operand *o = &part->code.operand[slope->index];
	const struct epi_place *at = &part->place[slope->index];
	if (at->base != BASE_CONST || !at->data || o->col != 0 || (o->row != 0 && o->mod != 1))
		return;
	memcpy(&k->args.a, (const char *)at->data + at->bytes, sizeof k->args.a);
	k->n_sources = 1;
}

/* Is all that follows a unary operator that the convolution does itself, by oneDNN or by tiles?  Then it is left out,
 * and *out.  f32: of PReLU our own kernels do more. */
static bool take_unary(const struct conv_step *s, struct fuse_part *part, bool tiles,
		       struct epi_code *out)
{
	struct epilogue *c = &part->code;
	const struct epi_source *x = &c->code[0].source[0];
	*out = c->code[0];
	if (s->x.elem != EL_F32)
		one_slope(part, out);
	return c->n_code == 1 && out->n_sources == 1 && !x->operand && x->index == 0 &&
	       conv_does(s, out, tiles) && drop_first(c);
}

/* What is left of part is a program, if anything is; false: it can not be one. */
static bool has_program(struct conv_step *s, const struct step_node *n,
			const struct fuse_part *part)
{
	nhwc_program_release(&s->program);
	s->program = (struct nhwc_program){0};
	s->has_program = part->code.n_code > 0;
	return !s->has_program ||
	       (nhwc_program_init(&s->program, &part->code, part->place, &n->out[0]) &&
		s->program.n_write == 0);
}

/* A convolution in f32 or bf16 with the unary operator behind it, or, where the library has none with that, without. */
static int plain_conv_with(struct conv_step *s, const struct step_node *n, struct fuse_part *part,
			   const struct mem_form *want, const float *bias, struct err *e)
{
	const struct epilogue whole = part->code;
	struct epi_code unary;
	/* In f32 results are the same wherever steps are cut: its HSwish rounds otherwise than ours. */
	bool takes =
		(s->x.elem != EL_F32 || part->code.code[0].kind != OP_HSWISH) &&
		take_unary(s, part, s->x.elem == EL_BF16 && tiled_conv_does(s->ctx, &s->g, EL_BF16),
			   &unary);
	s->codes = s->x;
	for (;; takes = false, part->code = whole) {
		s->direct = part->code.n_code == 0 && form_same(want, &s->codes);
		if (!has_program(s, n, part))
			return 0;
		const struct tensor *w = n->in[1].tensor;
		int rc = plain_conv(s, w, w->data, bias, takes ? &unary : NULL, e);
		if (rc != 0 || !takes)
			return rc;
	}
}

/* Windows of one column over few columns are windows of a row whose taps are a row of pixels apart: kernels of several channels
 * a group are fast on long rows. */
static void join_rows(struct window *g)
{
	enum { FEW = 8 };
	int64_t n = g->in[2];
	if (n > FEW || g->cin == 1 || n != g->out[2] || g->kernel[2] != 1 || g->pad[2] ||
	    g->stride[1] != 1 || g->stride[2] != 1 || g->kernel[1] == 1 || g->in[0] != 1 ||
	    g->kernel[0] != 1)
		return;
	g->in[2] = g->in[1] * n;
	g->out[2] = g->out[1] * n;
	g->kernel[2] = g->kernel[1];
	g->dilation[2] = g->dilation[1] * n;
	g->pad[2] = g->pad[1] * n;
	g->pad_end[2] = g->pad_end[1] * n;
	g->in[1] = g->out[1] = g->kernel[1] = g->dilation[1] = 1;
	g->pad[1] = g->pad_end[1] = 0;
}

/* Where every output sees one pixel, the one at its own place, images are joined to one, as many small ones make few slices; and
 * threads share pixels where they cannot share rows evenly. */
static void join_images(struct conv_step *s)
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

/* Is v made of constants alone, through `most` operators at most? */
static bool is_constant(const struct graph *g, uint32_t v, int most)
{
	if (v == GRAPH_NONE || graph_const(g, v) >= 0)
		return true;
	bool all = most > 0 && g->in_ptr[v] < g->in_ptr[v + 1];
	for (uint32_t i = g->in_ptr[v]; i < g->in_ptr[v + 1] && all; i++)
		all = is_constant(g, g->in_node[i], most - 1);
	return all;
}

/* Is v a convolution whose weights are no constants?  Those read planes. */
static bool computes_weights(const struct graph *g, uint32_t v)
{
	enum { MOST = 6 }; /* operators that constant weights go through */
	return !is_constant(g, graph_source(g, v, 1), MOST);
}

static enum wish conv_reads(const struct cpu_graph *graph, uint32_t v, uint32_t i)
{
	(void)i;
	return computes_weights(graph->g, v) ? WISH_PLAIN : WISH_NHWC;
}

static enum group_answer conv_group(const struct step_how *how, const struct step_spec *s)
{
	const struct cpu_graph *graph = how->graph;
	bool alike = s->n_out == 1;
	if (graph->planar && graph->planar[s->node[0].v])
		return GROUP_OTHER;
	for (uint32_t v = 1; v < s->n_nodes && alike; v++)
		alike = tensor_same_shape(&s->node[v].out[0], &s->node[0].out[0]);
	return nhwc_group(how, s, !alike);
}

static int conv_init(void *x, const struct step_how *how, const struct step_spec *spec,
		     struct mem_form *want, struct err *e)
{
	struct conv_step *s = x;
	const struct step_node *n = &spec->node[0];
	const struct tensor *w = n->in[1].tensor;
	struct fuse_plan p;
	if ((how->graph->planar && how->graph->planar[n->v]) || spec->n_out != 1 ||
	    n->in[0].from != FROM_INPUT || n->in[1].from != FROM_CONST || !w->data || w->quant ||
	    (w->elem != EL_F32 && w->elem != EL_F16) || tensor_elements(w) == 0 ||
	    !fits_nhwc(n->in[0].tensor) || !fits_nhwc(&n->out[0]) || !fuse_parts(spec, &p) ||
	    !fuse_code(&p, how->ctx) || p.n_parts != 1 || !p.part[0].head)
		return 0;
	s->ctx = how->ctx;
	s->x_in = n->in[0].index;
	s->in_shape = form_shape_of(n->in[0].tensor);
	s->shape = form_shape_of(&n->out[0]);
	cpu_window_init(&s->g, n->op, n->in[0].tensor, w, &n->out[0]);
	join_rows(&s->g);
	join_images(s);
	struct fuse_part *part = &p.part[0];
	const struct fuse_node *node[FUSE_ALL];
	int n_nodes = 0;
	for (uint32_t v = 1; v < p.n; v++)
		node[n_nodes++] = &p.node[v];
	if (n_nodes != part->code.n_code || !nhwc_same_planes(&p, &n->out[0]))
		return 0;
	const float *bias = take_bias(part, &s->shape);
	const struct step_node *last = p.node[part->result].node;
	want[0] = nhwc_form_of(how, last, 0);
	s->scales = codes_of_channels(how, last->v, s->shape.channels, &want[0]);
	if (how->elem == EL_I8 && codes_of_conv_input(s, how, n)) {
		const struct epilogue whole = part->code;
		s->direct =
			take_codes(how->graph, part, node + (bias != NULL), &want[0], &s->codes);
		int rc = has_program(s, n, part) ? codes_conv(s, w, w->data, bias, e) : 0;
		s->parts = 1;
		if (rc != 0)
			return rc;
		part->code = whole;
	}
	if (how->elem == EL_I8 && !how->graph->nhwc_pays)
		return 0;
	s->x = form_nhwc(how->elem == EL_BF16 ? EL_BF16 : EL_F32);
	int rc = plain_conv_with(s, n, part, &want[0], bias, e);
	s->parts = rc > 0 ? conv_choose_parts(s) : 1;
	return rc;
}

void conv_step_release(void *x)
{
	conv_release(x);
}

void conv_step_memory(const void *x, void (*fn)(void *arg, const void *key, uint64_t bytes),
		      void *arg)
{
	fn(arg, x, conv_bytes(x));
}

void conv_step_detail(const void *x, char *dst, size_t cap)
{
	const struct conv_step *s = x;
	snprintf(dst, cap, "%s, %s",
		 form_in_codes(&s->x)   ? "int8"
		 : s->x.elem == EL_BF16 ? "bf16"
					: "f32",
		 conv_engine_name(s));
}

static int conv_step_run(void *x, const struct step_io *io, struct err *e)
{
	struct conv_step *s = x;
	const struct nhwc_tensor from = nhwc_in(io, s->x_in), to = nhwc_out(io, 0);
	struct nhwc_tensor memory[EPI_OPERANDS];
	if (s->has_program)
		nhwc_program_memory(&s->program, io, memory);
	return conv_run(s, &from, &to, memory, e);
}

static const enum op_kind convs[] = {OP_CONVOLUTION, OP_GROUP_CONVOLUTION, OP_COUNT};
const struct step_kind nhwc_conv_kind = {
	.name = "convolution in NHWC",
	.nhwc = true,
	.size = sizeof(struct conv_step),
	.begins = convs,
	.reads = conv_reads,
	.group = conv_group,
	.init = conv_init,
	.release = conv_step_release,
	.run = conv_step_run,
	.memory = conv_step_memory,
	.detail = conv_step_detail,
};
