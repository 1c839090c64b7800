/* cpu_pixel.c - see cpu_pixel.h.
 *
 *	codes --convolution--> codes                                  scale, bias and limits by oneDNN
 *	codes --convolution--> f32 tile --program--> codes or f32     anything else behind it
 *	codes, f32 --> f32 tile --program--> codes or f32             no convolution */
#include "device/cpu/pixel/cpu_pixel.h"
#include "device/cpu/pixel/cpu_pixel_step.h"

static int new_program(struct pixel_step *s, const struct step_spec *spec,
		       const struct fuse_plan *p)
{
	if (p->n_parts != 1 || p->part[0].head || !fits_pixels(p->node[0].out) ||
	    !pixel_same_planes(p, p->node[p->part[0].result].out))
		return 0;
	s->shape = form_shape_of(p->node[p->part[0].result].out);
	for (uint32_t v = 0; v < p->n; v++) {
		const struct fuse_node *f = &p->node[v];
		if (f->role != ROLE_CODE || !f->node || !fits_pixels(f->out) ||
		    !has_planes(f->node->graph, f->node->v))
			return 0;
		if (f->leaves && !tensor_same_shape(f->out, p->node[p->part[0].result].out))
			return 0;
		if (f->leaves) {
			s->want[f->out_index] = wanted_form(f->node, s->elem);
			pixel_want_channels(s, f->node, f->out_index);
		}
	}
	(void)spec;
	s->has_program = true;
	return pixel_program_init(&s->program, &p->part[0], p->node[p->part[0].result].out);
}

bool pixel_step_may_be(const struct step_spec *s)
{
	const struct step_node *n = &s->node[0], *last = &s->node[s->n_nodes - 1];
	if (s->n_nodes == 1 || (n->op->kind != OP_TRANSPOSE &&
				(!fits_pixels(&n->out[0]) || !has_planes(n->graph, n->v))))
		return true;
	for (uint32_t v = 0; v < s->n_nodes; v++)
		if (splits_pixels(s->node[v].graph, s->node[v].v, s->node[v].env))
			return false;
	switch (n->op->kind) {
	case OP_CONCAT: return !concat_joins_channels(n->graph, n->v);
	case OP_TRANSPOSE: return !turns_to_tokens(n->graph, n->v, n->env);
	case OP_CONVOLUTION_BACKPROP: return !wants_pixels(n->graph, n->v, n->env);
	case OP_MVN:
	case OP_GROUP_NORM: return !is_norm_of_planes(n->graph, n->v, n->env);
	case OP_INTERPOLATE: return !wants_pixels(n->graph, n->v, n->env);
	case OP_MAX_POOL:
	case OP_AVG_POOL:
	case OP_REDUCE_MEAN: return s->n_nodes == 2 && last->op->kind == OP_FAKE_QUANTIZE;
	case OP_CONVOLUTION:
	case OP_GROUP_CONVOLUTION:
		for (uint32_t v = 1; v < s->n_nodes; v++)
			if (!tensor_same_shape(&s->node[v].out[0], &n->out[0]))
				return false;
		return s->n_out == 1;
	default: /* what begins with one value a pixel goes on so */
		for (uint32_t v = 1; v < s->n_nodes && n->out[0].dim[1] == 1; v++)
			if (tensor_elements(&s->node[v].out[0]) > tensor_elements(&n->out[0]))
				return false;
		return true;
	}
}

int pixel_step_new(const struct step_spec *spec, struct cpu_ctx *ctx, enum elem elem,
		   struct pixel_step **out, struct err *e)
{
	struct fuse_plan p;
	enum op_kind kind = spec->node[0].op->kind;
	struct pixel_step *s = MEM_NEW(struct pixel_step);
	s->ctx = ctx;
	s->elem = elem;
	s->n_out = spec->n_out;
	s->want = MEM_NEWN(struct mem_form, spec->n_out + 1);
	int rc = 0;
	if (kind == OP_MAX_POOL || kind == OP_AVG_POOL || kind == OP_REDUCE_MEAN) {
		s->kind = PIXEL_POOL;
		rc = pixel_pool_init(&s->pool, spec, elem, s->want);
		if (!rc && kind == OP_REDUCE_MEAN) {
			s->kind = PIXEL_CHANNELS;
			rc = pixel_channels_init(&s->channels, spec, s->want);
		}
	} else if (kind == OP_CONCAT || kind == OP_SLICE || kind == OP_STRIDED_SLICE) {
		s->kind = PIXEL_CONCAT;
		rc = pixel_concat_init(&s->concat, spec, elem, s->want);
	} else if (op_is_split(kind)) {
		s->kind = PIXEL_SPLIT;
		rc = pixel_split_init(&s->split, spec, elem, s->want);
	} else if (kind == OP_TRANSPOSE && spec->n_nodes == 1) {
		s->kind = PIXEL_TURN;
		rc = pixel_turn_init(&s->turn, spec, elem, s->want);
	} else if (kind == OP_INTERPOLATE) {
		s->kind = PIXEL_RESIZE;
		rc = pixel_resize_init(&s->resize, spec, elem, s->want);
	} else if (kind == OP_PAD) {
		s->kind = PIXEL_PAD;
		rc = pixel_pad_init(&s->pad, spec, elem, s->want);
	} else if (kind == OP_CONVOLUTION_BACKPROP) {
		s->kind = PIXEL_DECONV;
		rc = pixel_deconv_init(s, spec, e);
	} else if (kind == OP_MVN || kind == OP_GROUP_NORM) {
		s->kind = PIXEL_NORM;
		rc = pixel_norm_init(&s->norm, spec, elem, s->want);
	} else if (fuse_parts(spec, &p) && fuse_code(&p, ctx)) {
		bool conv = kind == OP_CONVOLUTION || kind == OP_GROUP_CONVOLUTION;
		s->kind = conv ? PIXEL_CONV : PIXEL_PROGRAM;
		rc = conv ? pixel_conv_init(s, spec, &p, e) : new_program(s, spec, &p);
	}
	if (rc > 0)
		*out = s;
	else
		pixel_step_free(s);
	return rc;
}

void pixel_step_free(struct pixel_step *s)
{
	if (!s)
		return;
	onednn_conv_free(s->conv);
	winograd_pixels_free(s->winograd);
	indirect_free(s->indirect);
	tiled_conv_free(s->tiled);
	pixel_program_release(&s->program);
	pixel_concat_release(&s->concat);
	pixel_split_release(&s->split);
	pixel_resize_release(&s->resize);
	pixel_pad_release(&s->pad);
	mem_free(s->want);
	mem_free(s->zeros);
	mem_free(s->x_scales);
	mem_free(s->scales);
	mem_free(s);
}

bool pixel_step_alone(const struct pixel_step *s)
{
	return s->kind == PIXEL_CONV;
}

uint64_t pixel_step_bytes(const struct pixel_step *s)
{
	if (s && s->winograd)
		return winograd_pixels_pack(s->winograd)->bytes;
	if (s && s->indirect)
		return indirect_pack(s->indirect)->bytes;
	if (s && s->tiled)
		return tiled_conv_pack(s->tiled)->bytes;
	return s && s->conv ? onednn_conv_bytes(s->conv) : 0;
}
