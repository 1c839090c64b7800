/* cl_step.c - steps on an OpenCL device: lowered to launches, bound to constants and kernels, run. */
#include "device/opencl/cl_lowering.h"
#include "device/group/group.h"

#include <stdio.h>

/* A launch whose buffers are known but for the step's inputs and outputs. */
struct bound {
	struct cl_launch l;
	cl_kernel kernel;
	struct {
		cl_mem fixed; /* NULL: the step's */
		bool out, temp;
		uint32_t index;
	} buf[CL_BUFS];
};

struct step {
	size_t n;
	struct bound *bound;
	cl_mem *own; /* (n_own) constants that no other step has */
	size_t n_own, cap_own;
	bool *in_f32, *out_f32; /* which of its inputs and outputs the graph calls f32 */
	uint32_t n_out;
};

/* ---- from a step to launches ---- */

/* Weights may stay f16: they are widened on their way to the device. */
bool cl_step_takes(struct device *d, const struct op *op, uint32_t i, const struct tensor *t)
{
	(void)d;
	return t->elem == EL_F16 && !t->quant && i < 32 &&
	       cl_operator(op->kind)->f16_constants >> i & 1;
}

static const struct group_how how; /* weights are real numbers */

struct lowered {
	struct arena *a; /* of what follows */
	struct rewritten group;
	struct op op;
	struct tensor *in; /* (n_in) */
	bool *constant, *half, *wanted;
	struct cl_chain chain;
	struct cl_lowering lowering;
};

static void lowered_release(struct lowered *q)
{
	cl_lower_release(&q->lowering);
	arena_free(q->a);
}

/* Is the constant at port i one that the file holds as f16 and the graph calls f32? */
static bool held_half(struct device *d, const struct step_node *v, uint32_t i)
{
	return v->in[i].from == FROM_CONST && v->in[i].tensor->elem == EL_F16 &&
	       v->out[0].elem == EL_F32 && cl_step_takes(d, v->op, i, v->in[i].tensor);
}

/* The launches of the step: of its first node, and the chain of the others; -1 and q->lowering.why. */
static int lower_step(struct device *d, const struct step_spec *spec, struct lowered *q)
{
	*q = (struct lowered){.a = arena_new(), .lowering = {.s = d->state}};
	group_rewrite(&q->group, &how, spec);
	const struct step_spec *s = q->group.spec;
	const struct step_node *v = &s->node[0];
	q->op = *v->op;
	if (q->op.n_in != (int)v->n_in || q->op.n_out != (int)v->n_out)
		return cl_lower_refuse(&q->lowering, "the step has other ports than its node");
	if (!cl_chain_build(&q->chain, s))
		return s->n_nodes > 1
			       ? cl_lower_refuse(&q->lowering, "%u nodes that do not fuse",
						 s->n_nodes)
			       : cl_lower_refuse(&q->lowering,
						 "inputs do not broadcast to the output's shape");
	q->in = ARENA_NEWN(q->a, struct tensor, v->n_in + 1);
	q->constant = ARENA_NEWN(q->a, bool, v->n_in + 1);
	q->half = ARENA_NEWN(q->a, bool, v->n_in + 1);
	q->wanted = ARENA_NEWN(q->a, bool, v->n_out + 1);
	for (uint32_t i = 0; i < v->n_in; i++) {
		if (v->in[i].from == FROM_NONE)
			continue;
		q->in[i] = *v->in[i].tensor;
		q->constant[i] = v->in[i].from == FROM_CONST;
		if (!q->constant[i])
			q->in[i].data = NULL;
		q->half[i] = held_half(d, v, i);
		if (q->half[i])
			q->in[i].elem = EL_F32;
	}
	for (uint32_t i = 0; i < s->n_out; i++)
		if (s->out[i].node == 0)
			q->wanted[s->out[i].port] = !v->used || v->used[s->out[i].port];
	q->lowering.op = &q->op;
	q->lowering.in = q->in;
	q->lowering.out = v->out;
	q->lowering.constant = q->constant;
	q->lowering.half = q->half;
	q->lowering.wanted = q->wanted;
	q->lowering.chain = &q->chain;
	return cl_lower(&q->lowering);
}

bool cl_step_supports(struct device *d, const struct step_spec *s, char *why, size_t cap)
{
	struct lowered q;
	bool ok = !lower_step(d, s, &q);
	if (!ok)
		snprintf(why, cap, "%s", q.lowering.why);
	lowered_release(&q);
	return ok;
}

enum fuse_answer cl_step_fuses(struct device *d, const struct step_spec *s)
{
	char why[200];
	return cl_step_supports(d, s, why, sizeof why) ? FUSE_YES : FUSE_NO;
}

/* ---- binding ---- */

static void own(struct step *st, cl_mem mem)
{
	st->own = mem_grow(st->own, &st->cap_own, st->n_own + 1, sizeof(cl_mem));
	st->own[st->n_own++] = mem;
}

/* Buffer `ref` of a launch: the step's, or a constant. */
static int bind_one(struct device *d, struct step *st, const struct lowered *q,
		    const struct cl_launch *l, int b, struct bound *out, struct err *e)
{
	const struct step_spec *spec = q->group.spec;
	const struct cl_ref *ref = &l->buf[b];
	const struct step_node *v = ref->node < 0 ? NULL : &spec->node[ref->node];
	const struct gemm_args *g = &l->args.gemm;
	const struct cl_state *s = d->state;
	const struct cl_shape *h = &s->shape;
	if (ref->kind == REF_OUT) {
		out->buf[b].out = true;
		for (uint32_t i = 0; spec->n_nodes == 1 && i < spec->n_out; i++)
			if ((int)spec->out[i].port == ref->port)
				out->buf[b].index = i;
		return 0;
	}
	const struct step_arg *arg = &v->in[ref->port];
	if (ref->kind == REF_IN && arg->from == FROM_INPUT) {
		out->buf[b].index = arg->index;
		return 0;
	}
	struct cl_const_form want = {0};
	if (ref->kind == REF_PACK_A)
		want = s->place.bf16
			       ? (struct cl_const_form){BF16_STEP, g->k,   g->m,
							g->acs,    g->ars, EL_BF16}
			       : (struct cl_const_form){h->mr, g->m, g->k, g->ars, g->acs, EL_F32};
	if (ref->kind == REF_PACK_B)
		want = (struct cl_const_form){
			h->nr,  g->n,   g->k,
			g->bcs, g->brs, s->place.bf16 ? EL_BF16 : g->b_half ? EL_F16 : EL_F32};
	bool f32 = arg->tensor->elem == EL_F32 || held_half(d, v, (uint32_t)ref->port);
	if (!group_made(&q->group, arg->tensor))
		return cl_const_get(d->state, arg->tensor, &want, f32, &out->buf[b].fixed, e);
	if (cl_const_make(d->state, arg->tensor, &want, f32, &out->buf[b].fixed, e))
		return -1;
	own(st, out->buf[b].fixed);
	return 0;
}

/* Memory that steps share while they run, at least as much as this one needs. */
static int temp_get(struct cl_state *s, int i, size_t bytes, struct err *e)
{
	cl_int rc = 0;
	if (s->temp_bytes[i] >= bytes && s->temp[i])
		return 0;
	if (s->max_alloc && bytes > s->max_alloc)
		return err_set(e, ST_RUNTIME,
			       "%zu bytes for an operator; the device allows %zu in "
			       "one buffer",
			       bytes, s->max_alloc);
	cl_mem mem = clCreateBuffer(s->context, CL_MEM_READ_WRITE, bytes ? bytes : 4, NULL, &rc);
	if (rc)
		return cl_err(e, "clCreateBuffer", rc);
	if (i == CL_PARTS) {
		cl_int zero = 0;
		rc = clEnqueueFillBuffer(s->queue, mem, &zero, sizeof zero, 0,
					 (size_t)s->shape.counts * sizeof zero, 0, NULL, NULL);
		if (rc) {
			clReleaseMemObject(mem);
			return cl_err(e, "clEnqueueFillBuffer", rc);
		}
	}
	if (s->temp[i])
		clReleaseMemObject(s->temp[i]);
	s->temp[i] = mem;
	s->temp_bytes[i] = bytes;
	return 0;
}

/* The shape of an input as a constant of the output's type. */
static int bind_shape(struct device *d, struct step *st, const struct tensor *of, enum elem elem,
		      struct bound *out, struct err *e)
{
	int64_t wide[TENSOR_DIMS] = {0};
	int32_t narrow[TENSOR_DIMS] = {0};
	for (uint32_t i = 0; i < of->rank; i++) {
		wide[i] = of->dim[i];
		narrow[i] = (int32_t)of->dim[i];
	}
	bool big = elem == EL_I64;
	if (cl_memory_constant(d->state, big ? (void *)wide : (void *)narrow,
			       of->rank * (big ? 8u : 4u), &out->buf[0].fixed, e))
		return -1;
	own(st, out->buf[0].fixed);
	return 0;
}

static int bind_launch(struct device *d, struct step *st, const struct lowered *q,
		       const struct cl_launch *l, const cl_mem *blob, struct err *e)
{
	struct bound *out = &st->bound[st->n];
	*out = (struct bound){.l = *l};
	for (int b = 0; b < l->n_buf; b++) {
		if (l->buf[b].kind == REF_SHAPE) {
			if (bind_shape(d, st, &q->in[l->buf[b].port], q->lowering.out[0].elem, out,
				       e))
				return -1;
		} else if (l->buf[b].kind == REF_BLOB) {
			out->buf[b].fixed = blob[l->buf[b].port];
		} else if (l->buf[b].kind == REF_TEMP) {
			out->buf[b].temp = true;
			out->buf[b].index = (uint32_t)l->buf[b].port;
		} else if (bind_one(d, st, q, l, b, out, e)) {
			return -1;
		}
	}
	return l->kernel == K_copy ? 0 : cl_kernel_get(d->state, l->kernel, &out->kernel, e);
}

int cl_step_prepare(struct device *d, const struct step_spec *s, struct step **out, struct err *e)
{
	struct lowered q;
	int rc;
	if (lower_step(d, s, &q)) {
		err_set(e, ST_RUNTIME, "%s", q.lowering.why);
		lowered_release(&q);
		return -1;
	}
	struct step *st = MEM_NEW(struct step);
	st->bound = MEM_NEWN(struct bound, q.lowering.n + 1);
	st->in_f32 = MEM_NEWN(bool, s->n_in + 1);
	st->out_f32 = MEM_NEWN(bool, s->n_out + 1);
	st->n_out = s->n_out;
	for (uint32_t i = 0; i < s->n_in; i++)
		st->in_f32[i] = s->in[i]->elem == EL_F32;
	for (uint32_t i = 0; i < s->n_out; i++)
		st->out_f32[i] = s->node[s->out[i].node].out[s->out[i].port].elem == EL_F32;
	cl_mem blob[CL_BLOBS];
	cl_kernel convert;
	float *constants;
	uint64_t bytes;
	rc = group_constants(&q.group, s, &constants, &bytes, e);
	if (!rc && ((struct cl_state *)d->state)->half) /* between the host's f32 and ours */
		rc = cl_kernel_get(d->state, K_convert, &convert, e);
	for (int i = 0; !rc && i < CL_TEMPS; i++)
		if (q.lowering.temp[i] || i < q.lowering.n_temps)
			rc = temp_get(d->state, i, q.lowering.temp[i], e);
	for (int i = 0; !rc && i < q.lowering.n_blobs; i++) {
		rc = cl_memory_constant(d->state, q.lowering.blob[i].data, q.lowering.blob[i].bytes,
					&blob[i], e);
		if (!rc)
			own(st, blob[i]);
	}
	for (; !rc && st->n < q.lowering.n; st->n++)
		rc = bind_launch(d, st, &q, &q.lowering.launch[st->n], blob, e);
	mem_free(constants);
	lowered_release(&q);
	if (rc) {
		cl_step_free(d, st);
		return -1;
	}
	*out = st;
	return 0;
}

void cl_step_free(struct device *d, struct step *s)
{
	(void)d;
	for (size_t i = 0; s && i < s->n_own; i++)
		clReleaseMemObject(s->own[i]);
	if (s) {
		mem_free(s->own);
		mem_free(s->bound);
		mem_free(s->in_f32);
		mem_free(s->out_f32);
	}
	mem_free(s);
}

/* Its constants as they are on the device: packed, widened or narrowed. */
void cl_step_memory(struct device *d, const struct step *s,
		    void (*fn)(void *arg, const void *key, uint64_t bytes), void *arg)
{
	size_t bytes = 0;
	(void)d;
	for (size_t i = 0; i < s->n; i++)
		for (int j = 0; j < s->bound[i].l.n_buf; j++)
			if (s->bound[i].buf[j].fixed &&
			    !clGetMemObjectInfo(s->bound[i].buf[j].fixed, CL_MEM_SIZE, sizeof bytes,
						&bytes, NULL))
				fn(arg, s->bound[i].buf[j].fixed, bytes);
}

void cl_step_explain(struct device *d, const struct step_spec *spec, const struct step *s,
		     char *dst, size_t cap)
{
	size_t at = group_explain(&how, spec, dst, cap);
	(void)d;
	for (size_t i = 0; i < s->n && at < cap; i++)
		at += (size_t)snprintf(dst + at, cap - at, "%s%s", i ? ", " : "kernels ",
				       cl_kernel_name(s->bound[i].l.kernel));
	if (s->n == 0 && at < cap)
		snprintf(dst + at, cap - at, "nothing to compute");
}

void cl_temps_release(struct cl_state *s)
{
	for (int i = 0; i < CL_TEMPS; i++)
		if (s->temp[i])
			clReleaseMemObject(s->temp[i]);
}

/* What steps share while they run. */
uint64_t cl_step_scratch(struct device *d)
{
	const struct cl_state *s = d->state;
	uint64_t n = s->wide_bytes;
	for (int i = 0; i < CL_TEMPS; i++)
		n += s->temp[i] ? s->temp_bytes[i] : 0;
	return n;
}

/* ---- running ---- */

/* Where input `m` of a step lies: f32 as f16 where the device has it so. */
static int place_of(struct cl_state *s, struct devmem *m, bool f32, struct cl_span *out,
		    struct err *e)
{
	*out = m->at;
	return s->half && f32 ? cl_memory_narrow(s, m, out, e) : 0;
}

int cl_step_run(struct device *d, struct step *st, struct devmem *const *in,
		struct devmem *const *out, struct err *e)
{
	struct cl_state *s = d->state;
	for (uint32_t i = 0; i < st->n_out; i++)
		out[i]->state = s->half && st->out_f32[i] ? MEM_HALF : MEM_HOST;
	for (size_t i = 0; i < st->n; i++) {
		struct bound *b = &st->bound[i];
		struct cl_span buf[CL_BUFS];
		for (int j = 0; j < b->l.n_buf; j++) {
			uint32_t k = b->buf[j].index;
			if (b->buf[j].fixed)
				buf[j] = (struct cl_span){b->buf[j].fixed, 0, 0};
			else if (b->buf[j].temp)
				buf[j] = (struct cl_span){s->temp[k], 0, 0};
			else if (b->buf[j].out)
				buf[j] = out[k]->at;
			else if (place_of(s, in[k], st->in_f32[k], &buf[j], e))
				return -1;
		}
		if (cl_launch_run(s, &b->l, b->kernel, buf, e))
			return -1;
	}
	return 0;
}
