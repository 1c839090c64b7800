/* cpu_flex.c - a node with shapes found at run time between the tensors of a plan. */
#include "device/cpu/cpu_flex.h"
#include "base/mem.h"
#include "dynamic/variables.h"

#include <stdio.h>
#include <string.h>

struct flex_step {
	struct op op;
	struct flex *flex; /* NULL: ReadValue, Assign */
	struct variable *variable;
	uint32_t n_in, n_out;
	struct tensor *want;      /* (n_in) descriptions; constants with data */
	uint32_t *from;           /* (n_in) the step's input, or UINT32_MAX */
	struct tensor *in, *made; /* (n_in), (n_out) of this run */
	struct tensor *out;       /* (n_out) descriptions */
	struct flex_buffer *own;  /* (n_out) data of dynamic outputs */
	bool bounded;
	void *const *to; /* of this run */
};

static bool is_variable(const struct op *op)
{
	return op->kind == OP_READ_VALUE || op->kind == OP_ASSIGN;
}

bool flex_step_wants(const struct step_spec *s)
{
	const struct step_node *n = &s->node[0];
	if (s->n_nodes != 1)
		return false;
	if (is_variable(n->op) || op_info(n->op->kind)->category == OPC_CONTROL)
		return true;
	for (uint32_t i = 0; i < n->n_in; i++)
		if (n->in[i].from == FROM_INPUT && !tensor_is_static(n->in[i].tensor))
			return true;
	for (uint32_t i = 0; i < n->n_out; i++)
		if (!tensor_is_static(&n->out[i]))
			return true;
	return false;
}

bool flex_step_supports(const struct step_spec *s, char *why, size_t cap)
{
	const struct step_node *n = &s->node[0];
	return is_variable(n->op) || flex_supports(n->op, why, cap);
}

int flex_step_new(const struct step_spec *s, struct cpu_ctx *ctx, struct flex_step **out,
		  struct err *e)
{
	const struct step_node *n = &s->node[0];
	struct flex_step *f = *out = MEM_NEW(struct flex_step);
	*f = (struct flex_step){
		.op = *n->op, .n_in = n->n_in, .n_out = n->n_out, .bounded = op_is_bounded(n->op)};
	f->want = MEM_NEWN(struct tensor, n->n_in + 1);
	f->in = MEM_NEWN(struct tensor, n->n_in + 1);
	f->from = MEM_NEWN(uint32_t, n->n_in + 1);
	f->made = MEM_NEWN(struct tensor, n->n_out + 1);
	f->out = mem_copy(n->out, n->n_out, sizeof *n->out);
	f->own = MEM_NEWN(struct flex_buffer, n->n_out + 1);
	for (uint32_t i = 0; i < n->n_in; i++) {
		const struct step_arg *a = &n->in[i];
		if (a->tensor)
			f->want[i] = *a->tensor;
		f->from[i] = a->from == FROM_INPUT ? a->index : UINT32_MAX;
		if (a->from == FROM_INPUT)
			f->want[i].data = NULL;
	}
	int rc = 0;
	if (!is_variable(n->op))
		rc = flex_new(n->op, f->want, n->env, ctx, &f->flex, e);
	else if (!(f->variable = variables_find(n->env->variables, n->op)))
		rc = err_set(e, ST_INPUT, "its variable is not known");
	if (rc == 0)
		return 0;
	flex_step_free(f);
	*out = NULL;
	return -1;
}

void flex_step_free(struct flex_step *f)
{
	if (!f)
		return;
	flex_free(f->flex);
	for (uint32_t i = 0; i < f->n_out; i++)
		mem_free(f->own[i].p);
	mem_free(f->want);
	mem_free(f->in);
	mem_free(f->from);
	mem_free(f->made);
	mem_free(f->out);
	mem_free(f->own);
	mem_free(f);
}

uint64_t flex_step_bytes(const struct flex_step *f)
{
	uint64_t n = f->flex ? flex_bytes(f->flex) : 0;
	for (uint32_t i = 0; i < f->n_out; i++)
		n += f->own[i].cap;
	return n;
}

/* ---- outputs ---- */

static int misfit(const struct flex_step *f, uint32_t i, const struct tensor *t, struct err *e)
{
	char a[120], b[120];
	const char *advice =
		is_variable(&f->op)
			? "; a variable that changes its shape needs a graph that leaves it open"
			: "";
	return err_set(e, ST_INPUT, "output %u comes out as %s, but the graph says %s%s", i,
		       tensor_text(t, a, sizeof a), tensor_text(&f->out[i], b, sizeof b), advice);
}

static bool fits(const struct flex_step *f, uint32_t i, const struct tensor *t)
{
	return t->elem == f->out[i].elem && tensor_same_shape(t, &f->out[i]);
}

/* Memory of the plan for a static output, the step's own for others.  A bound may be larger than
 * the plan's memory. */
static int place(void *arg, uint32_t i, struct tensor *t, struct err *e)
{
	struct flex_step *f = arg;
	bool fixed = tensor_is_static(&f->out[i]);
	if (fixed && !f->bounded) {
		t->data = f->to[i];
		return fits(f, i, t) ? 0 : misfit(f, i, t, e);
	}
	if (flex_grow(&f->own[i], tensor_bytes(t), e) < 0)
		return err_prefix(e, "output %u", i);
	t->data = f->own[i].p;
	return 0;
}

/* Where a tensor's bytes are to be found: in the plan's memory, or behind its struct tensor. */
static int settle(struct flex_step *f, uint32_t i, const struct tensor *t, struct err *e)
{
	if (!tensor_is_static(&f->out[i])) {
		*(struct tensor *)f->to[i] = *t;
		return 0;
	}
	if (!fits(f, i, t))
		return misfit(f, i, t, e);
	int64_t bytes = tensor_bytes(t);
	if (t->data != f->to[i] && bytes > 0)
		memcpy(f->to[i], t->data, (size_t)bytes);
	return 0;
}

/* ---- variables ---- */

static int zeros(struct flex_step *f, struct tensor *t, struct err *e)
{
	if (flex_grow(&f->own[0], tensor_bytes(t), e) < 0)
		return -1;
	t->data = f->own[0].p;
	if (tensor_bytes(t) > 0)
		memset(t->data, 0, (size_t)tensor_bytes(t));
	return 0;
}

/* What a variable is before anything was assigned: its initial value, or zeros. */
static int initial_value(struct flex_step *f, struct tensor *t, struct err *e)
{
	if (f->n_in > 0) {
		const struct tensor *in = &f->in[0];
		bool stays = f->want[0].data || !tensor_is_static(&f->want[0]);
		*t = *in;
		if (tensor_is_static(&f->out[0]) && !fits(f, 0, t)) {
			*t = f->out[0]; /* a state of a shape that a user gave */
			return zeros(f, t, e);
		}
		if (stays || tensor_is_static(&f->out[0]))
			return 0;
		if (flex_grow(&f->own[0], tensor_bytes(in), e) < 0)
			return -1;
		t->data = f->own[0].p;
		if (tensor_bytes(in) > 0)
			memcpy(t->data, in->data, (size_t)tensor_bytes(in));
		return 0;
	}
	*t = f->out[0];
	for (uint32_t i = 0; i < t->rank; i++)
		t->dim[i] = t->dim[i] < 0 ? 0 : t->dim[i];
	return zeros(f, t, e);
}

static int run_variable(struct flex_step *f, struct err *e)
{
	struct tensor t = {0};
	if (f->op.kind == OP_READ_VALUE) {
		t = f->variable->now;
		if (!t.data && initial_value(f, &t, e) < 0)
			return -1;
	} else {
		t = f->in[0];
		if (variable_assign(f->variable, &t, e) < 0)
			return -1;
		if (f->n_out > 0 && !tensor_is_static(&f->out[0]))
			t = f->variable->next;
	}
	return f->n_out > 0 ? settle(f, 0, &t, e) : 0;
}

/* ---- running ---- */

/* A view of a dynamic tensor: another struct tensor for the same bytes. */
static bool shares(const struct flex_step *f)
{
	return op_is_view(&f->op) && f->from[0] != UINT32_MAX && !tensor_is_static(&f->want[0]) &&
	       !tensor_is_static(&f->out[0]);
}

int flex_step_run(struct flex_step *f, void *const *in, void *const *out, struct err *e)
{
	const struct flex_place to = {place, f};
	for (uint32_t i = 0; i < f->n_in; i++) {
		f->in[i] = f->want[i];
		if (f->from[i] == UINT32_MAX)
			continue;
		if (tensor_is_static(&f->want[i]))
			f->in[i].data = in[f->from[i]];
		else
			f->in[i] = *(const struct tensor *)in[f->from[i]];
	}
	f->to = out;
	if (!f->flex)
		return run_variable(f, e);
	if (shares(f)) {
		if (flex_infer(f->flex, f->in, f->made, e) < 0)
			return -1;
		f->made[0].data = f->in[0].data;
	} else if (flex_run(f->flex, f->in, f->made, &to, e) < 0) {
		return -1;
	}
	for (uint32_t i = 0; i < f->n_out; i++)
		if (settle(f, i, &f->made[i], e) < 0)
			return -1;
	return 0;
}
