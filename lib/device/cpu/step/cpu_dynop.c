/* cpu_dynop.c - a node with shapes found at run time between the tensors of a plan. */
#include "device/cpu/step/cpu_dynop.h"
#include "dynamic/control.h"
#include "dynamic/variables.h"

#include <stdio.h>
#include <string.h>

struct dynop_step {
	struct op op;
	struct dynop *dynop; /* NULL: ReadValue, Assign */
	struct variable *variable;
	uint32_t n_in, n_out;
	struct tensor *want;      /* (n_in) descriptions; constants with data */
	uint32_t *from;           /* (n_in) the step's input, or UINT32_MAX */
	struct tensor *in, *made; /* (n_in), (n_out) of this run */
	struct tensor *out;       /* (n_out) descriptions */
	struct dynop_buffer *own; /* (n_out) data of dynamic outputs */
	bool bounded;
	void *const *to; /* of this run */
};

static bool is_variable(const struct op *op)
{
	return op->kind == OP_READ_VALUE || op->kind == OP_ASSIGN;
}

bool dynop_step_wants(const struct step_spec *s)
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

bool dynop_step_supports(const struct step_spec *s, char *why, size_t cap)
{
	const struct step_node *n = &s->node[0];
	return is_variable(n->op) || dynop_supports(n->op, &control_bodies, why, cap);
}

static enum group_answer dynop_group(const struct step_how *how, const struct step_spec *s)
{
	(void)how;
	for (uint32_t v = 0; v < s->n_nodes; v++) {
		const struct step_spec one = {.n_nodes = 1, .node = &s->node[v]};
		if (dynop_step_wants(&one))
			return GROUP_NEVER;
	}
	return GROUP_OTHER;
}

static int dynop_init(void *x, const struct step_how *how, const struct step_spec *s,
		      struct mem_form *want, struct err *e)
{
	const struct step_node *n = &s->node[0];
	struct dynop_step *d = x;
	(void)want;
	if (!dynop_step_wants(s))
		return 0;
	*d = (struct dynop_step){
		.op = *n->op, .n_in = n->n_in, .n_out = n->n_out, .bounded = op_is_bounded(n->op)};
	d->want = MEM_NEWN(struct tensor, n->n_in + 1);
	d->in = MEM_NEWN(struct tensor, n->n_in + 1);
	d->from = MEM_NEWN(uint32_t, n->n_in + 1);
	d->made = MEM_NEWN(struct tensor, n->n_out + 1);
	d->out = mem_copy(n->out, n->n_out, sizeof *n->out);
	d->own = MEM_NEWN(struct dynop_buffer, n->n_out + 1);
	for (uint32_t i = 0; i < n->n_in; i++) {
		const struct step_arg *a = &n->in[i];
		if (a->tensor)
			d->want[i] = *a->tensor;
		d->from[i] = a->from == FROM_INPUT ? a->index : UINT32_MAX;
		if (a->from == FROM_INPUT)
			d->want[i].data = NULL;
	}
	int rc = 0;
	if (!is_variable(n->op))
		rc = dynop_new(n->op, d->want, n->env, how->ctx, &control_bodies, &d->dynop, e);
	else if (!(d->variable = variables_find(n->env->variables, n->op)))
		rc = err_set(e, ST_INPUT, "its variable is not known");
	return rc == 0 ? 1 : -1;
}

static void dynop_release(void *x)
{
	struct dynop_step *d = x;
	dynop_free(d->dynop);
	for (uint32_t i = 0; i < d->n_out && d->own; i++)
		mem_free(d->own[i].p);
	mem_free(d->want);
	mem_free(d->in);
	mem_free(d->from);
	mem_free(d->made);
	mem_free(d->out);
	mem_free(d->own);
}

static void dynop_memory(const void *x, void (*fn)(void *arg, const void *key, uint64_t bytes),
			 void *arg)
{
	const struct dynop_step *d = x;
	uint64_t n = d->dynop ? dynop_bytes(d->dynop) : 0;
	for (uint32_t i = 0; i < d->n_out; i++)
		n += d->own[i].cap;
	fn(arg, d, n);
}

/* ---- outputs ---- */

static int misfit(const struct dynop_step *d, uint32_t i, const struct tensor *t, struct err *e)
{
	char a[120], b[120];
	const char *advice =
		is_variable(&d->op)
			? "; a variable that changes its shape needs a graph that leaves it open"
			: "";
	return err_set(e, ST_INPUT, "output %u comes out as %s, but the graph says %s%s", i,
		       tensor_text(t, a, sizeof a), tensor_text(&d->out[i], b, sizeof b), advice);
}

static bool matches_output(const struct dynop_step *d, uint32_t i, const struct tensor *t)
{
	return t->elem == d->out[i].elem && tensor_same_shape(t, &d->out[i]);
}

/* Memory of the plan for a static output, the step's own for others.  A bound may be larger than
 * the plan's memory. */
static int alloc_output(void *arg, uint32_t i, struct tensor *t, struct err *e)
{
	struct dynop_step *d = arg;
	bool fixed = tensor_is_static(&d->out[i]);
	if (fixed && !d->bounded) {
		t->data = d->to[i];
		return matches_output(d, i, t) ? 0 : misfit(d, i, t, e);
	}
	if (dynop_buffer_grow(&d->own[i], tensor_bytes(t), e) < 0)
		return err_prefix(e, "output %u", i);
	t->data = d->own[i].p;
	return 0;
}

/* Give output i to its readers: a static one as bytes in the memory of the plan, a dynamic one as a
 * struct tensor that says where the bytes are. */
static int store_output(struct dynop_step *d, uint32_t i, const struct tensor *t, struct err *e)
{
	if (!tensor_is_static(&d->out[i])) {
		*(struct tensor *)d->to[i] = *t;
		return 0;
	}
	if (!matches_output(d, i, t))
		return misfit(d, i, t, e);
	int64_t bytes = tensor_bytes(t);
	if (t->data != d->to[i] && bytes > 0)
		memcpy(d->to[i], t->data, (size_t)bytes);
	return 0;
}

/* ---- variables ---- */

static int zeros(struct dynop_step *d, struct tensor *t, struct err *e)
{
	if (dynop_buffer_grow(&d->own[0], tensor_bytes(t), e) < 0)
		return -1;
	t->data = d->own[0].p;
	if (tensor_bytes(t) > 0)
		memset(t->data, 0, (size_t)tensor_bytes(t));
	return 0;
}

/* What a variable is before anything was assigned: its initial value, or zeros. */
static int initial_value(struct dynop_step *d, struct tensor *t, struct err *e)
{
	if (d->n_in > 0) {
		const struct tensor *in = &d->in[0];
		bool stays = d->want[0].data || !tensor_is_static(&d->want[0]);
		*t = *in;
		if (tensor_is_static(&d->out[0]) && !matches_output(d, 0, t)) {
			*t = d->out[0]; /* a state of a shape that a user gave */
			return zeros(d, t, e);
		}
		if (stays || tensor_is_static(&d->out[0]))
			return 0;
		if (dynop_buffer_grow(&d->own[0], tensor_bytes(in), e) < 0)
			return -1;
		t->data = d->own[0].p;
		if (tensor_bytes(in) > 0)
			memcpy(t->data, in->data, (size_t)tensor_bytes(in));
		return 0;
	}
	*t = d->out[0];
	for (uint32_t i = 0; i < t->rank; i++)
		t->dim[i] = t->dim[i] < 0 ? 0 : t->dim[i];
	return zeros(d, t, e);
}

static int run_variable(struct dynop_step *d, struct err *e)
{
	struct tensor t = {0};
	if (d->op.kind == OP_READ_VALUE) {
		t = d->variable->now;
		if (!t.data && initial_value(d, &t, e) < 0)
			return -1;
	} else {
		t = d->in[0];
		if (variable_assign(d->variable, &t, e) < 0)
			return -1;
		if (d->n_out > 0 && !tensor_is_static(&d->out[0]))
			t = d->variable->next;
	}
	return d->n_out > 0 ? store_output(d, 0, &t, e) : 0;
}

/* ---- running ---- */

/* A view of a dynamic tensor: another struct tensor for the same bytes. */
static bool shares(const struct dynop_step *d)
{
	return op_is_view(&d->op) && d->from[0] != UINT32_MAX && !tensor_is_static(&d->want[0]) &&
	       !tensor_is_static(&d->out[0]);
}

static int dynop_step_run(void *x, const struct step_io *io, struct err *e)
{
	struct dynop_step *d = x;
	void *const *in = io->plain_in;
	const struct dynop_allocator to = {alloc_output, d};
	for (uint32_t i = 0; i < d->n_in; i++) {
		d->in[i] = d->want[i];
		if (d->from[i] == UINT32_MAX)
			continue;
		if (tensor_is_static(&d->want[i]))
			d->in[i].data = in[d->from[i]];
		else
			d->in[i] = *(const struct tensor *)in[d->from[i]];
	}
	d->to = io->plain_out;
	if (!d->dynop)
		return run_variable(d, e);
	if (shares(d)) {
		if (dynop_infer(d->dynop, d->in, d->made, e) < 0)
			return -1;
		d->made[0].data = d->in[0].data;
	} else if (dynop_run(d->dynop, d->in, d->made, &to, e) < 0) {
		return -1;
	}
	for (uint32_t i = 0; i < d->n_out; i++)
		if (store_output(d, i, &d->made[i], e) < 0)
			return -1;
	return 0;
}

const struct step_kind dynop_kind = {
	.name = "dynamic",
	.size = sizeof(struct dynop_step),
	.plain = true,
	.group = dynop_group,
	.init = dynop_init,
	.release = dynop_release,
	.run = dynop_step_run,
	.memory = dynop_memory,
};
