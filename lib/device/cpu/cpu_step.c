/* cpu_step.c - a step of a cpu device is one node, run by the operator kernels on the host
 * (kernel.h), or several fused ones (cpu_fuse.h); it runs to its end. */
#include "device/cpu/cpu_step.h"

#include <stdio.h>

#include "base/mem.h"
#include "device/cpu/cpu_attended.h"
#include "device/cpu/cpu_dynop.h"
#include "device/cpu/cpu_merged.h"
#include "device/cpu/cpu_moves.h"
#include "device/cpu/cpu_padded.h"
#include "device/cpu/pixel/cpu_form.h"
#include "device/cpu/fuse/cpu_fuse.h"
#include "device/cpu/pixel/cpu_pixel.h"
#include "kernel/onednn/onednn.h"

/* A dynamic operator, a step of copies, an attention, a fused one or one in pixels; pointers to what it is not are NULL.  A step that is
 * in pixels only where its tensors are (pixel_step_alone) is a fused one, too. */
struct step {
	struct dynop_step *dynop;       /* cpu_dynop.h */
	struct moves *moves;            /* cpu_moves.h */
	struct attended_step *attended; /* cpu_attended.h */
	struct fused *fused;            /* cpu_fuse.h */
	struct pixel_step *pixels;      /* cpu_pixel.h */
	float *weights;                 /* of several convolutions together (cpu_merged.h) */
	uint64_t weights_bytes;
	struct form_shape *in_shape; /* (n_in) where inputs may be in another form than plain */
	const struct graph *graph;
	uint32_t v; /* its first node */
	uint32_t n_in, n_out;
	void **at;               /* (n_in + n_out) addresses of a run */
	struct fuse_codes codes; /* what may be rows of codes, and in which form */
	struct mem_form codes_in, codes_out;
};

bool cpu_supports(struct device *d, const struct step_spec *spec, char *why, size_t cap)
{
	const char *reason = "";
	(void)d;
	if (dynop_step_wants(spec))
		return dynop_step_supports(spec, why, cap);
	if (spec->n_nodes == 1 && cpu_kernel_supports(spec->node[0].op, &reason))
		return true;
	snprintf(why, cap, "%s", reason);
	return false;
}

bool cpu_takes(struct device *d, const struct op *op, uint32_t i, const struct tensor *t)
{
	(void)d;
	return cpu_kernel_takes(op, (int)i, t);
}

/* Has an f32 graph its tensors in pixels?  The library is loaded when the first one has. */
static bool has_pixels(struct cpu_state *s, const struct graph *g)
{
	struct err e = ERR_INIT;
	if (s->asked != g || s->asked_digest != g->digest) {
		s->asked = g;
		s->asked_digest = g->digest;
		s->in_pixels = pixels_pay(g) && onednn_open(&e) == 0;
	}
	return s->in_pixels;
}

/* May tensors of the step's graph lie in pixels?  Then *elem is what of (cpu_pixel.h). */
static bool in_pixels(struct cpu_state *state, const struct step_spec *spec, enum elem *elem)
{
	*elem = !state->multiplies ? EL_F32 : state->precision == PRECISION_INT8 ? EL_I8 : EL_BF16;
	return state->multiplies || has_pixels(state, spec->node[0].graph);
}

/* Does the step begin with rows that a product or a norm made, not with pixels, as far as a few nodes back tell? */
static bool reads_rows(const struct step_spec *s)
{
	enum { BACK = 8 };
	const struct graph *g = s->node[0].graph;
	uint32_t v = s->node[0].v;
	for (int i = 0; i < BACK && g->in_ptr[v] < g->in_ptr[v + 1]; i++) {
		uint32_t from = g->in_node[g->in_ptr[v]];
		if (from == GRAPH_NONE)
			return false;
		v = from;
		enum op_kind kind = g->kind[v];
		enum op_category c = op_info(kind)->category;
		if (kind == OP_MATMUL || kind == OP_MVN || kind == OP_ATTENTION)
			return true;
		if (c != OPC_VIEW && c != OPC_UNARY && c != OPC_BINARY)
			return false;
	}
	return false;
}

/* Has it a Split behind a product that no other node of it reads?  What is behind that can take its parts from where they are (cpu_moves.h). */
static bool splits_for_others(const struct step_spec *s)
{
	for (uint32_t v = 1; v < s->n_nodes && s->node[0].op->kind == OP_MATMUL; v++) {
		bool read = !op_is_split(s->node[v].op->kind);
		for (uint32_t u = v + 1; u < s->n_nodes && !read; u++)
			for (uint32_t i = 0; i < s->node[u].n_in; i++)
				read = read || (s->node[u].in[i].from == FROM_NODE &&
						s->node[u].in[i].index == v);
		if (!read)
			return true;
	}
	return false;
}

static bool has_split(const struct step_spec *s)
{
	bool any = false;
	for (uint32_t v = 0; v < s->n_nodes; v++)
		any = any || op_is_split(s->node[v].op->kind);
	return any;
}

/* Weights that add up lie on no grid any more. */
static bool may_merge(const struct cpu_state *s)
{
	return s->precision != PRECISION_INT8;
}

/* May it be an attention in nodes?  Products of integers are found node by node. */
static enum fuse_answer may_attend(const struct cpu_state *s, const struct step_spec *spec)
{
	return s->precision == PRECISION_INT8 ? FUSE_NO : attended_fits(spec, s->ctx);
}

/* The same without attentions. */
static bool fuses_otherwise(struct device *d, const struct step_spec *spec)
{
	enum elem elem;
	struct padded_step padded;
	struct merged_step merged;
	if (may_merge(d->state) && merged_step_init(&merged, spec))
		spec = &merged.to.spec;
	if (moves_fit(spec))
		return !in_pixels(d->state, spec, &elem) || reads_rows(spec);
	if (padded_step_init(&padded, spec))
		spec = &padded.to.spec;
	if (in_pixels(d->state, spec, &elem) && !cpu_fuse_is_tokens(spec) &&
	    !pixel_step_may_be(spec) && !(has_split(spec) && reads_rows(spec)))
		return false;
	for (uint32_t v = 0; v < spec->n_nodes; v++) {
		struct step_spec one = {.n_nodes = 1, .node = &spec->node[v]};
		if (dynop_step_wants(&one))
			return false;
	}
	return spec->n_nodes == 1 || (!splits_for_others(spec) && cpu_fuse_fits(spec));
}

enum fuse_answer cpu_fuses(struct device *d, const struct step_spec *spec)
{
	enum fuse_answer answer = may_attend(d->state, spec);
	if (answer == FUSE_YES || !fuses_otherwise(d, spec))
		return answer;
	return answer == FUSE_NO ? FUSE_YES : FUSE_ALSO_WITH_MORE;
}

void cpu_step_free(struct device *d, struct step *s)
{
	(void)d;
	dynop_step_free(s->dynop);
	moves_free(s->moves);
	attended_free(s->attended);
	cpu_fuse_free(s->fused);
	pixel_step_free(s->pixels);
	mem_free(s->weights);
	mem_free(s->in_shape);
	mem_free(s->at);
	mem_free(s);
}

static struct form_shape *shapes_of(const struct step_spec *spec)
{
	struct form_shape *s = MEM_NEWN(struct form_shape, spec->n_in + 1);
	for (uint32_t i = 0; i < spec->n_in; i++)
		if (spec->in[i] && tensor_is_static(spec->in[i]))
			s[i] = form_shape_of(spec->in[i]);
	return s;
}

/* Rows of codes of a grid. */
static struct mem_form form_of_rows(const struct code_grid *g)
{
	return (struct mem_form){
		.elem = EL_U8, .scale = g->scale, .by = g->by, .shift = g->shift, .zero = g->zero};
}

static bool is_form_of_rows(const struct mem_form *f, const struct mem_form *of)
{
	return f->elem == EL_U8 && !f->pixels && f->by == of->by && f->shift == of->shift;
}

static void find_codes(struct step *s)
{
	struct code_grid in = {0}, out = {0};
	s->codes = cpu_fuse_codes(s->fused, &in, &out);
	s->codes_in = form_of_rows(&in);
	s->codes_out = form_of_rows(&out);
}

int cpu_prepare(struct device *d, const struct step_spec *spec, struct step **out, struct err *e)
{
	struct cpu_state *state = d->state;
	struct step *s = MEM_NEW(struct step);
	enum elem elem;
	struct padded_step padded;
	struct merged_step merged;
	if (may_merge(state) && merged_step_init(&merged, spec)) {
		if (!(s->weights = merged_step_weights(&merged, spec))) {
			mem_free(s);
			return cpu_no_memory(e);
		}
		s->weights_bytes = merged_step_bytes(&merged);
		spec = &merged.to.spec;
	}
	if (padded_step_init(&padded, spec))
		spec = &padded.to.spec;
	bool pixels = in_pixels(state, spec, &elem);
	s->graph = spec->node[0].graph;
	s->v = spec->node[0].v;
	s->n_in = spec->n_in;
	s->n_out = spec->n_out;
	s->at = MEM_NEWN(void *, (size_t)s->n_in + s->n_out + 1);
	int rc = 0;
	if (dynop_step_wants(spec))
		rc = dynop_step_new(spec, state->ctx, &s->dynop, e);
	else if (may_attend(state, spec) == FUSE_YES)
		s->attended = attended_new(spec, state->ctx);
	else if (!(s->moves = moves_new(spec, state->ctx)) && pixels)
		rc = pixel_step_new(spec, state->ctx, elem, &s->pixels, e);
	if (rc >= 0 && !s->dynop && !s->moves && !s->attended &&
	    !(s->pixels && pixel_step_alone(s->pixels)))
		rc = cpu_fuse_new(spec, state->ctx, &s->fused, e);
	if (rc < 0) {
		cpu_step_free(d, s);
		return -1;
	}
	if (pixels)
		s->in_shape = shapes_of(spec);
	s->codes = (struct fuse_codes){UINT32_MAX, UINT32_MAX};
	if (s->in_shape && s->fused)
		find_codes(s);
	*out = s;
	return 0;
}

/* Addresses of the inputs in plain form; those that are not are brought into it, but for input `codes`. */
static int plain_inputs(const struct cpu_state *state, const struct step *s,
			struct devmem *const *in, uint32_t codes, void **at, struct err *e)
{
	int64_t floats = 0;
	for (uint32_t i = 0; i < s->n_in; i++) {
		const struct form_shape *t = &s->in_shape[i];
		at[i] = in[i]->p;
		if (!form_is_plain(&in[i]->form) && i != codes)
			floats += (t->images * t->channels * t->pixels + 15) / 16 * 16;
	}
	float *p = floats ? cpu_slot_scratch(state->ctx, SLOT_FORMS, (size_t)floats * sizeof *p)
			  : NULL;
	if (floats && !p)
		return cpu_no_memory(e);
	for (uint32_t i = 0; i < s->n_in; i++) {
		const struct form_shape *t = &s->in_shape[i];
		if (form_is_plain(&in[i]->form) || i == codes)
			continue;
		form_plain(&in[i]->form, t, in[i]->p, p);
		at[i] = p;
		p += (t->images * t->channels * t->pixels + 15) / 16 * 16;
	}
	return 0;
}

int cpu_run(struct device *d, struct step *s, struct devmem *const *in, struct devmem *const *out,
	    struct err *e)
{
	void **at = s->at;
	char l[300];
	if (s->pixels && pixel_step_wants(s->pixels, in, out)) {
		if (pixel_step_run(s->pixels, in, out, e) == 0 && err_missed(e) == 0)
			return 0;
		return err_prefix(e, "%s", graph_layer(s->graph, s->v, l, sizeof l));
	}
	struct fuse_codes codes = s->codes;
	for (uint32_t i = 0; i < s->n_in; i++)
		at[i] = in[i]->p;
	if (codes.in != UINT32_MAX && !is_form_of_rows(&in[codes.in]->form, &s->codes_in))
		codes.in = UINT32_MAX;
	if (codes.out != UINT32_MAX && !out[codes.out]->private)
		codes.out = UINT32_MAX;
	if (s->in_shape && plain_inputs(d->state, s, in, codes.in, at, e) < 0)
		return -1;
	for (uint32_t i = 0; i < s->n_out; i++) {
		at[s->n_in + i] = out[i]->p;
		if (s->in_shape)
			out[i]->form =
				i == codes.out ? s->codes_out : (struct mem_form){.elem = EL_F32};
	}
	if (s->moves) {
		moves_run(s->moves, at[0], at + s->n_in);
		return err_missed(e);
	}
	if ((s->dynop      ? dynop_step_run(s->dynop, at, at + s->n_in, e)
	     : s->attended ? attended_run(s->attended, at, at[s->n_in], e)
			   : cpu_fuse_run(s->fused, at, at + s->n_in, codes, e)) == 0 &&
	    err_missed(e) == 0)
		return 0;
	return err_prefix(e, "%s", graph_layer(s->graph, s->v, l, sizeof l));
}

bool cpu_in_place(struct device *d, const struct step *s, uint32_t in, uint32_t out)
{
	(void)d;
	return s->fused && !s->in_shape && cpu_fuse_in_place(s->fused, in, out);
}

void cpu_step_memory(struct device *d, const struct step *s,
		     void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg)
{
	(void)d;
	if (s->pixels)
		fn(arg, s->pixels, pixel_step_bytes(s->pixels));
	if (s->weights)
		fn(arg, s->weights, s->weights_bytes);
	if (s->moves)
		fn(arg, s->moves, moves_bytes(s->moves));
	if (s->attended)
		fn(arg, s->attended, attended_bytes(s->attended));
	if (s->dynop)
		fn(arg, s->dynop, dynop_step_bytes(s->dynop));
	else if (s->fused)
		cpu_fuse_memory(s->fused, fn, arg);
}
