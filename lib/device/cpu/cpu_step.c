/* cpu_step.c - a step of a cpu device is of one of the kinds in the table (pass/cpu_kinds.c), or of two, where the first takes
 * only tensors that lie as it likes them; it runs to its end. */
#include "device/cpu/cpu_step.h"

#include <stdarg.h>
#include <stdio.h>

#include "device/cpu/pass/cpu_kinds.h"
#include "device/cpu/pass/cpu_layout.h"
#include "device/cpu/pass/cpu_passes.h"
#include "device/cpu/step/cpu_dynop.h"
#include "device/group/group.h"
#include "kernel/nhwc/nhwc_form.h"
#include "kernel/onednn/onednn.h"

enum { WAYS = 3 };

/* A way to run it. */
struct way {
	const struct step_kind *kind;
	void *x;
	struct mem_form *want; /* (n_out) how outputs are to lie that only this device reads */
};

struct step {
	struct way way[WAYS];
	int n_ways;
	float *constants; /* of nodes that passes wrote; NULL */
	uint64_t constant_bytes;
	struct form_shape *in_shape; /* (n_in) where inputs may lie otherwise than plain; NULL */
	const struct graph *graph;
	uint32_t v; /* its first node */
	uint32_t n_in, n_out;
	void **at; /* (n_in + n_out) addresses of a run */
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

static struct step_how how_of(const struct cpu_state *s, const struct step_spec *spec)
{
	enum elem elem = !s->multiplies ? EL_F32 : s->precision == PRECISION_INT8 ? EL_I8 : EL_BF16;
	const struct cpu_graph *graph = cpu_graph_of(spec->node[0].graph, spec->node[0].env, elem);
	struct err e = ERR_INIT;
	return (struct step_how){
		.ctx = s->ctx,
		.graph = graph,
		/* The library is loaded when the first graph has tensors in NHWC. */
		.nhwc = s->multiplies || (graph->nhwc_pays && onednn_open(&e) == 0),
		.elem = elem,
		.group.codes = s->precision == PRECISION_INT8};
}

/* Is kind k one that such a step may be of? */
static bool may_be(const struct step_kind *k, const struct step_how *how,
		   const struct step_spec *spec)
{
	return (how->nhwc || !k->nhwc) && kind_begins(k, spec->node[0].op->kind);
}

enum fuse_answer cpu_fuses(struct device *d, const struct step_spec *spec)
{
	const struct step_how how = how_of(d->state, spec);
	struct rewritten r;
	enum fuse_answer more = FUSE_NO;
	group_rewrite(&r, &how.group, spec);
	for (const struct step_kind *const *k = cpu_kinds; *k; k++) {
		if (!(*k)->group || !may_be(*k, &how, r.spec))
			continue;
		enum group_answer answer = (*k)->group(&how, r.spec);
		if (answer & GROUP_WITH_MORE)
			more = FUSE_WITH_MORE;
		if (answer & GROUP_YES)
			return more == FUSE_NO ? FUSE_YES : FUSE_ALSO_WITH_MORE;
		if (answer & GROUP_NEVER)
			return more;
	}
	return more;
}

static void way_free(struct way *w)
{
	if (w->kind->release)
		w->kind->release(w->x);
	mem_free(w->x);
	mem_free(w->want);
}

void cpu_step_free(struct device *d, struct step *s)
{
	(void)d;
	for (int i = 0; i < s->n_ways; i++)
		way_free(&s->way[i]);
	mem_free(s->constants);
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

/* Kinds that take the step, until one of them runs whatever its tensors lie like; the last place is kept for that one. */
static int find_ways(struct step *s, const struct step_how *how, const struct step_spec *spec,
		     struct err *e)
{
	for (const struct step_kind *const *k = cpu_kinds; *k; k++) {
		struct way *w = &s->way[s->n_ways];
		if (!may_be(*k, how, spec) || ((*k)->wants && s->n_ways == WAYS - 1))
			continue;
		*w = (struct way){.kind = *k,
				  .x = mem_alloc(1, (*k)->size),
				  .want = MEM_NEWN(struct mem_form, s->n_out + 1)};
		for (uint32_t i = 0; i < s->n_out; i++)
			w->want[i].elem = EL_F32;
		int rc = (*k)->init(w->x, how, spec, w->want, e);
		if (rc <= 0)
			way_free(w);
		if (rc < 0)
			return -1;
		s->n_ways += rc;
		if (rc && !(*k)->wants)
			return 0;
	}
	return err_set(e, ST_RUNTIME, "no kind of step takes it");
}

int cpu_prepare(struct device *d, const struct step_spec *spec, struct step **out, struct err *e)
{
	const struct step_how how = how_of(d->state, spec);
	struct step *s = MEM_NEW(struct step);
	struct rewritten r;
	s->graph = spec->node[0].graph;
	s->v = spec->node[0].v;
	s->n_in = spec->n_in;
	s->n_out = spec->n_out;
	s->at = MEM_NEWN(void *, (size_t)s->n_in + s->n_out + 1);
	group_rewrite(&r, &how.group, spec);
	if (group_constants(&r, spec, &s->constants, &s->constant_bytes, e) < 0 ||
	    find_ways(s, &how, r.spec, e) < 0) {
		cpu_step_free(d, s);
		return -1;
	}
	if (how.nhwc)
		s->in_shape = shapes_of(spec);
	*out = s;
	return 0;
}

static bool lies_right(const struct way *w, uint32_t i, const struct mem_form *f)
{
	return form_is_plain(f) || !w->kind->plain ||
	       (w->kind->takes && w->kind->takes(w->x, i, f));
}

/* Addresses of the inputs, in plain form where way w wants them so. */
static int plain_inputs(const struct cpu_state *state, const struct step *s, const struct way *w,
			struct devmem *const *in, struct err *e)
{
	int64_t floats = 0;
	for (uint32_t i = 0; i < s->n_in; i++) {
		const struct form_shape *t = s->in_shape ? &s->in_shape[i] : NULL;
		s->at[i] = in[i]->p;
		if (t && !lies_right(w, i, &in[i]->form))
			floats += (t->images * t->channels * t->pixels + 15) / 16 * 16;
	}
	if (floats == 0)
		return 0;
	float *p = cpu_slot_scratch(state->ctx, SLOT_FORMS, (size_t)floats * sizeof *p);
	if (!p)
		return cpu_no_memory(e);
	for (uint32_t i = 0; i < s->n_in; i++) {
		const struct form_shape *t = &s->in_shape[i];
		if (lies_right(w, i, &in[i]->form))
			continue;
		form_plain(&in[i]->form, t, in[i]->p, p);
		s->at[i] = p;
		p += (t->images * t->channels * t->pixels + 15) / 16 * 16;
	}
	return 0;
}

int cpu_run(struct device *d, struct step *s, struct devmem *const *in, struct devmem *const *out,
	    struct err *e)
{
	const struct way *w = s->way;
	const struct step_io io = {in, out, s->at, s->at + s->n_in};
	char l[300];
	while (w->kind->wants && !w->kind->wants(w->x, in, out, w->want))
		w++;
	if (plain_inputs(d->state, s, w, in, e) < 0)
		return -1;
	for (uint32_t i = 0; i < s->n_out; i++) {
		s->at[s->n_in + i] = out[i]->p;
		if (s->in_shape)
			out[i]->form =
				out[i]->private ? w->want[i] : (struct mem_form){.elem = EL_F32};
	}
	if (w->kind->run(w->x, &io, e) == 0 && err_missed(e) == 0)
		return 0;
	return err_prefix(e, "%s", graph_layer(s->graph, s->v, l, sizeof l));
}

bool cpu_in_place(struct device *d, const struct step *s, uint32_t in, uint32_t out)
{
	const struct way *w = &s->way[0];
	(void)d;
	return !s->in_shape && w->kind->in_place && w->kind->in_place(w->x, in, out);
}

void cpu_step_memory(struct device *d, const struct step *s,
		     void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg)
{
	(void)d;
	if (s->constants)
		fn(arg, s->constants, s->constant_bytes);
	for (int i = 0; i < s->n_ways; i++) {
		const struct way *w = &s->way[i];
		if (w->kind->memory)
			w->kind->memory(w->x, fn, arg);
		else
			fn(arg, w->x, w->kind->size);
	}
}

/* Behind text[at] of dst[cap]; the new end. */
PRINTF_LIKE(4, 5) static size_t say(char *dst, size_t cap, size_t at, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int n = at < cap ? vsnprintf(dst + at, cap - at, fmt, ap) : 0;
	va_end(ap);
	return at + (size_t)n;
}

void cpu_explain(struct device *d, const struct step_spec *spec, const struct step *s, char *dst,
		 size_t cap)
{
	const struct step_how how = how_of(d->state, spec);
	size_t at = group_explain(&how.group, spec, dst, cap);
	char why[400];
	for (int i = 0; i < s->n_ways; i++) {
		const struct step_kind *k = s->way[i].kind;
		char detail[100] = "";
		if (k->detail)
			k->detail(s->way[i].x, detail, sizeof detail);
		at = say(dst, cap, at, "%s%s%s%s", i ? ", or, as its tensors lie, " : "", k->name,
			 *detail ? ", " : "", detail);
	}
	for (uint32_t i = 0; how.nhwc && i < s->n_out; i++) {
		const struct step_node *n = &spec->node[spec->out[i].node];
		layout_reason(how.graph, n->v, n->graph->out_ptr[n->v] + spec->out[i].port, why,
			      sizeof why);
		at = say(dst, cap, at, "; output %u %s", i, why);
	}
}
