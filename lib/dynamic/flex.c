/* flex.c - an operator with shapes found at run time. */
#include "dynamic/flex.h"
#include "base/mem.h"
#include "dynamic/control.h"

#include <stdio.h>
#include <string.h>

struct flex {
	struct op op;
	struct cpu_ctx *ctx;
	struct control *control; /* of an operator with bodies; NULL: there are none */
	struct cpu_prep *prep;
	bool prepared;                /* for these shapes: */
	struct tensor *in;            /* (n_in) constants with data, others as last seen, without */
	struct tensor *out;           /* (n_out) */
	struct tensor *call, *actual; /* (n_in), (n_out) scratch of a call */
	bool *constant;               /* (n_in) */
	bool by_value;                /* values that are not constant decide the outputs' shapes */
};

int flex_grow(struct flex_buffer *b, int64_t need, struct err *e)
{
	size_t bytes = need > 0 ? (size_t)need : 1;
	if (need >= 0 && bytes <= b->cap)
		return 0;
	if (need < 0)
		return err_set(e, ST_INPUT, "a tensor of impossible size");
	mem_free(b->p);
	*b = (struct flex_buffer){0};
	if (!(b->p = mem_try(bytes)))
		return err_set(e, ST_RUNTIME,
			       "%zu bytes of memory needed; the machine has %llu left", bytes,
			       (unsigned long long)mem_room());
	b->cap = bytes;
	return 0;
}

bool flex_supports(const struct op *op, char *why, size_t cap)
{
	const char *reason = "";
	if (op_info(op->kind)->category == OPC_CONTROL)
		return control_supports(op, why, cap);
	if (cpu_kernel_supports(op, &reason))
		return true;
	snprintf(why, cap, "%s", reason);
	return false;
}

int flex_new(const struct op *op, const struct tensor *in, const struct step_env *env,
	     struct cpu_ctx *ctx, struct flex **out, struct err *e)
{
	size_t n_in = (size_t)op->n_in, n_out = (size_t)op->n_out;
	struct flex *f = *out = MEM_NEW(struct flex);
	*f = (struct flex){.op = *op, .ctx = ctx};
	f->in = MEM_NEWN(struct tensor, n_in + 1);
	f->call = MEM_NEWN(struct tensor, n_in + 1);
	f->out = MEM_NEWN(struct tensor, n_out + 1);
	f->actual = MEM_NEWN(struct tensor, n_out + 1);
	f->constant = MEM_NEWN(bool, n_in + 1);
	for (int i = 0; i < op->n_in; i++) {
		f->constant[i] = in[i].data != NULL;
		if (f->constant[i])
			f->in[i] = in[i];
		else
			f->by_value |= i < 32 && op_info(op->kind)->values >> i & 1;
	}
	if (op_info(op->kind)->category != OPC_CONTROL ||
	    control_new(&f->op, f->in, env, ctx, &f->control, e) == 0)
		return 0;
	flex_free(f);
	*out = NULL;
	return -1;
}

void flex_free(struct flex *f)
{
	if (!f)
		return;
	control_free(f->control);
	cpu_prep_free(f->prep);
	mem_free(f->in);
	mem_free(f->call);
	mem_free(f->out);
	mem_free(f->actual);
	mem_free(f->constant);
	mem_free(f);
}

uint64_t flex_bytes(const struct flex *f)
{
	return cpu_prep_bytes(f->prep) + (f->control ? control_bytes(f->control) : 0);
}

static bool same_kind(const struct tensor *a, const struct tensor *b)
{
	return a->elem == b->elem && tensor_same_shape(a, b);
}

/* The graph's types rule: weights that stay f16 stand for f32. */
static void keep_types(const struct op *op, struct tensor *out)
{
	for (int i = 0; i < op->n_out; i++) {
		enum elem recorded =
			(enum elem)op->g->out_elem[op->g->out_ptr[op->v] + (uint32_t)i];
		if (recorded != EL_DYNAMIC)
			out[i].elem = recorded;
	}
}

static int prepare(struct flex *f, struct err *e)
{
	struct cpu_prep *prep;
	f->prepared = false;
	if (cpu_kernel_prepare(&f->op, f->in, f->out, f->ctx, &prep, e) < 0)
		return -1;
	cpu_prep_free(f->prep); /* now, so that packed weights that both use stay */
	f->prep = prep;
	f->prepared = true;
	return 0;
}

int flex_infer(struct flex *f, const struct tensor *in, struct tensor *out, struct err *e)
{
	bool same = f->prepared;
	for (int i = 0; i < f->op.n_in; i++) {
		f->call[i] = f->constant[i] ? f->in[i] : in[i];
		if (f->constant[i] || same_kind(&f->in[i], &in[i]))
			continue;
		f->in[i] = in[i];
		f->in[i].data = NULL;
		same = false;
	}
	if (!same || f->by_value) {
		if (op_infer(&f->op, f->call, out, e) < 0)
			return -1;
		keep_types(&f->op, out);
		for (int i = 0; i < f->op.n_out; i++) {
			same = same && same_kind(&f->out[i], &out[i]);
			f->out[i] = out[i];
		}
		if (!same && prepare(f, e) < 0)
			return -1;
	}
	memcpy(out, f->out, (size_t)f->op.n_out * sizeof *out);
	return 0;
}

int flex_run(struct flex *f, const struct tensor *in, struct tensor *out,
	     const struct flex_place *to, struct err *e)
{
	if (f->control) {
		for (int i = 0; i < f->op.n_in; i++)
			f->call[i] = f->constant[i] ? f->in[i] : in[i];
		return control_run(f->control, f->call, out, to, e);
	}
	if (flex_infer(f, in, out, e) < 0)
		return -1;
	for (int i = 0; i < f->op.n_out; i++)
		if (to->place(to->arg, (uint32_t)i, &out[i], e) < 0)
			return -1;
	if (cpu_kernel_run_sized(&f->op, f->prep, f->call, out, f->actual, f->ctx, e) < 0)
		return -1;
	memcpy(out, f->actual, (size_t)f->op.n_out * sizeof *out);
	return 0;
}
