/* kernel.c - which kernel runs an operator. */
#include "kernel/epilogue.h"
#include "kernel/adapt.h"

#include <string.h>

/* Does test say so of any tensor that the node reads or makes? */
static bool any_elem(const struct op *op, bool (*test)(enum elem))
{
	const struct graph *g = op->g;
	for (uint32_t i = g->in_ptr[op->v]; i < g->in_ptr[op->v + 1]; i++)
		if (g->in_node[i] != GRAPH_NONE &&
		    test((enum elem)g->out_elem[g->out_ptr[g->in_node[i]] + g->in_port[i]]))
			return true;
	for (uint32_t o = g->out_ptr[op->v]; o < g->out_ptr[op->v + 1]; o++)
		if (test((enum elem)g->out_elem[o]))
			return true;
	return false;
}

static bool is_string(enum elem t)
{
	return t == EL_STRING;
}

/* Kernels that take elements of less than 8 bits: those that move them, copy bytes, or read and write one at a time. */
static bool takes_packed(const struct op *op, enum native n)
{
	switch (op->kind) {
	/* clang-format off */
	case OP_RESHAPE: case OP_SQUEEZE: case OP_UNSQUEEZE: case OP_RESULT: case OP_IDENTITY:
	case OP_CONVERT: case OP_CONVERT_LIKE: case OP_CONVERT_PROMOTE_TYPES: case OP_SHAPE_OF:
	case OP_BINARY_CONVOLUTION: /* its weights are u1 */
		return true;
	case OP_SCATTER_ND_UPDATE: return op->a.scatter.reduction == SCATTER_NONE;
	/* clang-format on */
	default: /* of them those that only move */ return n == NATIVE_MOVE;
	}
}

/* The kernel reads these inputs as f32: integers there are refused. */
static bool reals_there(const struct op *op, uint32_t reals)
{
	const struct graph *g = op->g;
	for (uint32_t i = g->in_ptr[op->v], k = 0; i < g->in_ptr[op->v + 1]; i++, k++) {
		if (g->in_node[i] == GRAPH_NONE || !(reals >> (k < 31 ? k : 31) & 1))
			continue;
		enum elem t = (enum elem)g->out_elem[g->out_ptr[g->in_node[i]] + g->in_port[i]];
		if (t != EL_DYNAMIC && !elem_is_real(t))
			return false;
	}
	return true;
}

static const struct kernel kernels[OP_COUNT] = {
#define KERNEL(kind, element_types, fn, flag_bits, ...) \
	[OP_##kind] = {.native = NATIVE_##element_types, \
		       .run = run_##fn, \
		       .flags = flag_bits, \
		       ##__VA_ARGS__},
	CPU_KERNELS(KERNEL)
#undef KERNEL
};

/* A test may have an operator without a graph. */
static bool gives_booleans(const struct op *op)
{
	const struct graph *g = op->g;
	return op->n_out > 0 && g && op->v < g->n && g->out_elem[g->out_ptr[op->v]] == EL_BOOLEAN;
}

bool cpu_kernel_supports(const struct op *op, const char **reason)
{
	const struct kernel *k = &kernels[op->kind];
	if (!k->run)
		*reason = op->kind == OP_UNKNOWN ? "the operator is not known" : "no kernel";
	else if (any_elem(op, is_string))
		*reason = "strings are not supported";
	else if ((op_info(op->kind)->flags & OPF_BITWISE) && any_elem(op, elem_is_real))
		*reason = "it is for integers, not for real numbers";
	else if (any_elem(op, elem_is_packed) && !takes_packed(op, k->native))
		*reason = "elements of less than 8 bits need a Convert in front of it";
	else if ((k->native == NATIVE_F32 || k->native == NATIVE_REAL) && gives_booleans(op))
		*reason = "it is for numbers, not for booleans";
	else if (!reals_there(op, k->reals))
		*reason = "it is for real numbers, not for integers";
	else if (!k->supports || k->supports(op, reason))
		return true;
	return false;
}

bool cpu_kernel_fuses(enum op_kind kind)
{
	return kernels[kind].flags & FUSES;
}

bool cpu_kernel_is_head(enum op_kind kind)
{
	return kernels[kind].flags & HEAD;
}

bool cpu_kernel_takes(const struct op *op, int i, const struct tensor *t)
{
	const struct kernel *k = &kernels[op->kind];
	return k->takes && k->takes(op, i, t);
}

int cpu_kernel_prepare(const struct op *op, const struct tensor *in, const struct tensor *out,
		       struct cpu_ctx *c, struct cpu_prep **prep, struct err *e)
{
	const struct kernel *k = &kernels[op->kind];
	*prep = NULL;
	int known = op_check(op, in, out, e);
	if (known < 0)
		return -1;
	int taken = known && c->prepare ? c->prepare(op, in, out, c, prep, e) : 0;
	if (taken < 0 || (!taken && k->prepare && k->prepare(op, in, out, c, prep, e)))
		return -1;
	if (!known) {
		if (!*prep)
			*prep = MEM_NEW(struct cpu_prep);
		(*prep)->unchecked = true;
	}
	return 0;
}

int cpu_kernel_run(const struct op *op, const struct cpu_prep *prep, const struct tensor *in,
		   const struct tensor *out, struct cpu_ctx *c, struct err *e)
{
	return cpu_kernel_run_sized(op, prep, in, out, NULL, c, e);
}

int cpu_kernel_run_sized(const struct op *op, const struct cpu_prep *prep, const struct tensor *in,
			 const struct tensor *out, struct tensor *actual, struct cpu_ctx *c,
			 struct err *e)
{
	struct kernel_call call = {
		.op = op, .prep = prep, .in = in, .out = out, .ctx = c, .actual = actual};
	return cpu_kernel_call(&call, e);
}

int cpu_kernel_call(struct kernel_call *call, struct err *e)
{
	const struct op *op = call->op;
	const struct kernel *k = &kernels[op->kind];
	const struct epilogue *post = call->post;
	const struct tensor *in = call->in, *out = call->out;
	struct tensor *actual = call->actual;
	for (int i = 0; actual && i < op->n_out; i++)
		actual[i] = out[i];
	if (!k->run)
		return err_set(e, ST_INPUT, "no kernel for operator '%s'", op->g->type[op->v]);
	if (call->prep && call->prep->unchecked && op_check(op, in, out, e) < 0)
		return -1;
	bool empty = true;
	for (int i = 0; i < op->n_out; i++)
		empty = empty && tensor_elements(&out[i]) == 0;
	if (empty)
		return 0;
	if (!(k->flags & POSTS))
		call->post = NULL;
	bool own = call->prep && call->prep->run;
	if (own                   ? call->prep->run(call, e)
	    : cpu_adapts(k, call) ? cpu_run_adapted(k, call, e)
				  : k->run(call, e))
		return -1;
	if (post && !(k->flags & POSTS))
		cpu_epilogue_run(call->ctx, post, out[0].data);
	return err_missed(e);
}

bool cpu_kernel_in_place(const struct op *op, const struct tensor *in, const struct tensor *out,
			 int i)
{
	const struct kernel *k = &kernels[op->kind];
	enum op_category cat = op_info(op->kind)->category;
	if (in[i].elem != out[0].elem || !tensor_same_shape(&in[i], &out[0]) ||
	    cpu_native_elem(k->native, in[i].elem) != in[i].elem)
		return false;
	if (cat == OPC_BINARY)
		return k->run == run_binary;
	return i == 0 && cat == OPC_UNARY && k->run == run_unary;
}
