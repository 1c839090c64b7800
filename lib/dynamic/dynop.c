/* dynop.c - an operator with shapes found at run time. */
#include "dynamic/dynop.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

struct dynop {
	struct op op;
	struct cpu_ctx *ctx;
	const struct dynop_bodies *bodies;
	struct control *control; /* of an operator with bodies; NULL: there are none */
	struct cpu_prep *prep;
	bool prepared;                /* for these shapes: */
	struct tensor *in;            /* (n_in) constants with data, others as last seen, without */
	struct tensor *out;           /* (n_out) */
	struct tensor *call, *actual; /* (n_in), (n_out) scratch of a call */
	bool *constant;               /* (n_in) */
	bool by_value;                /* values that are not constant decide the outputs' shapes */
};

bool dynop_supports(const struct op *op, const struct dynop_bodies *bodies, char *why, size_t cap)
{
	const char *reason = "";
	if (op_info(op->kind)->category == OPC_CONTROL)
		return bodies->supports(op, why, cap);
	if (cpu_kernel_supports(op, &reason))
		return true;
	snprintf(why, cap, "%s", reason);
	return false;
}

int dynop_new(const struct op *op, const struct tensor *in, const struct step_env *env,
	      struct cpu_ctx *ctx, const struct dynop_bodies *bodies, struct dynop **out,
	      struct err *e)
{
	size_t n_in = (size_t)op->n_in, n_out = (size_t)op->n_out;
	struct dynop *d = *out = MEM_NEW(struct dynop);
	*d = (struct dynop){.op = *op, .ctx = ctx, .bodies = bodies};
	d->in = MEM_NEWN(struct tensor, n_in + 1);
	d->call = MEM_NEWN(struct tensor, n_in + 1);
	d->out = MEM_NEWN(struct tensor, n_out + 1);
	d->actual = MEM_NEWN(struct tensor, n_out + 1);
	d->constant = MEM_NEWN(bool, n_in + 1);
	for (int i = 0; i < op->n_in; i++) {
		d->constant[i] = in[i].data != NULL;
		if (d->constant[i])
			d->in[i] = in[i];
		else
			d->by_value |= i < 32 && op_info(op->kind)->values >> i & 1;
	}
	if (op_info(op->kind)->category != OPC_CONTROL ||
	    bodies->prepare(&d->op, d->in, env, ctx, &d->control, e) == 0)
		return 0;
	dynop_free(d);
	*out = NULL;
	return -1;
}

void dynop_free(struct dynop *d)
{
	if (!d)
		return;
	d->bodies->release(d->control);
	cpu_prep_free(d->prep);
	mem_free(d->in);
	mem_free(d->call);
	mem_free(d->out);
	mem_free(d->actual);
	mem_free(d->constant);
	mem_free(d);
}

uint64_t dynop_bytes(const struct dynop *d)
{
	return cpu_prep_bytes(d->prep) + (d->control ? d->bodies->bytes(d->control) : 0);
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

static int prepare(struct dynop *d, struct err *e)
{
	struct cpu_prep *prep;
	d->prepared = false;
	if (cpu_kernel_prepare(&d->op, d->in, d->out, d->ctx, &prep, e) < 0)
		return -1;
	cpu_prep_free(d->prep); /* now, so that packed weights that both use stay */
	d->prep = prep;
	d->prepared = true;
	return 0;
}

int dynop_infer(struct dynop *d, const struct tensor *in, struct tensor *out, struct err *e)
{
	bool same = d->prepared;
	for (int i = 0; i < d->op.n_in; i++) {
		d->call[i] = d->constant[i] ? d->in[i] : in[i];
		if (d->constant[i] || same_kind(&d->in[i], &in[i]))
			continue;
		d->in[i] = in[i];
		d->in[i].data = NULL;
		same = false;
	}
	if (!same || d->by_value) {
		if (op_infer(&d->op, d->call, out, e) < 0)
			return -1;
		keep_types(&d->op, out);
		for (int i = 0; i < d->op.n_out; i++) {
			same = same && same_kind(&d->out[i], &out[i]);
			d->out[i] = out[i];
		}
		if (!same && prepare(d, e) < 0)
			return -1;
	}
	memcpy(out, d->out, (size_t)d->op.n_out * sizeof *out);
	return 0;
}

int dynop_run(struct dynop *d, const struct tensor *in, struct tensor *out,
	      const struct dynop_allocator *to, struct err *e)
{
	if (d->control) {
		for (int i = 0; i < d->op.n_in; i++)
			d->call[i] = d->constant[i] ? d->in[i] : in[i];
		return d->bodies->run(d->control, d->call, out, to, e);
	}
	if (dynop_infer(d, in, out, e) < 0)
		return -1;
	for (int i = 0; i < d->op.n_out; i++)
		if (to->alloc(to->arg, (uint32_t)i, &out[i], e) < 0)
			return -1;
	if (cpu_kernel_run_sized(&d->op, d->prep, d->call, out, d->actual, d->ctx, e) < 0)
		return -1;
	memcpy(out, d->actual, (size_t)d->op.n_out * sizeof *out);
	return 0;
}
