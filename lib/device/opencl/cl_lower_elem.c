/* cl_lower_elem.c - launches of the element-wise operators: which kernel, the
 * loops after broadcasting, parameters. */
#include "device/opencl/cl_lowering.h"

#include "op/value.h"

/* Fill loops, types and the sharing out of an elem launch with n_in inputs t[], which broadcast to the
 * output. */
static int fill_loops(struct cl_lowering *p, struct cl_launch *l, int n_in, const struct tensor *t)
{
	struct elem_args *a = &l->args.elem;
	const struct tensor *out = &p->out[0];
	struct cl_loops loops = {.n_arrays = n_in + 1};
	int64_t stride[OPERANDS][TENSOR_DIMS], s[LOOP_ARRAYS], dense = tensor_elements(out);
	for (int i = 0; i < n_in; i++)
		if (!cl_broadcast_strides(&t[i], out, stride[i]))
			return cl_lower_refuse(
				p, "input %d does not broadcast to the output's shape", i);
	for (int d = 0; d < (int)out->rank; d++) {
		dense = out->dim[d] ? dense / out->dim[d] : 0;
		for (int i = 0; i < n_in; i++)
			s[i] = stride[i][d];
		s[n_in] = dense;
		cl_loops_add(&loops, out->dim[d], s);
	}
	cl_loops_merge(&loops);
	int64_t n_rows = 1;
	a->rank = loops.rank - 1;
	a->n_in = n_in;
	for (int d = 0; d < a->rank; d++) {
		a->dim[d] = (int)loops.dim[d];
		n_rows *= loops.dim[d];
		for (int i = 0; i < n_in; i++)
			a->stride[i][d] = (int)loops.stride[i][d];
	}
	for (int i = 0; i < n_in; i++)
		a->inner[i] = (int)loops.stride[i][a->rank];
	a->code[3] = cl_code(p, out->elem);
	l->groups[0] = cl_rows_share(p->s, n_rows, loops.dim[a->rank], &a->r);
	return 0;
}

/* The same for inputs 0 to n_in - 1 of the node. */
static int fill_ports(struct cl_lowering *p, struct cl_launch *l, int n_in)
{
	struct tensor t[OPERANDS];
	for (int i = 0; i < n_in; i++) {
		if (!op_align(p->op, &p->in[p->op->kind == OP_SELECT], i, &p->in[i], &t[i]))
			return cl_lower_refuse(
				p, "input %d does not broadcast to the output's shape", i);
		l->args.elem.code[i] = cl_code(p, p->in[i].elem);
	}
	return fill_loops(p, l, n_in, t);
}

/* A chain that starts with this node. */
static int lower_chain(struct cl_lowering *p)
{
	const struct cl_chain *c = p->chain;
	struct tensor t[OPERANDS];
	if (!c->n_operands)
		return cl_lower_refuse(p, "parameters of %s must be constants on an OpenCL device",
				       op_info(p->op->kind)->type);
	struct cl_launch *l = cl_lower_launch(p, K_elem);
	l->args.elem.chain = c->chain;
	for (int i = 0; i < c->n_operands; i++)
		t[i] = c->operand[i].t;
	cl_chain_bufs(c, l);
	cl_lower_buf(l, REF_OUT, 0);
	return fill_loops(p, l, c->n_operands, t);
}

static bool is_integer(enum elem t)
{
	return cl_elem_code(t) > C_F64;
}

int cl_lower_select(struct cl_lowering *p)
{
	if (p->in[0].elem != EL_BOOLEAN && p->in[0].elem != EL_U8)
		return cl_lower_refuse(p, "the condition of Select is not boolean");
	struct cl_launch *l = cl_lower_launch(p, K_choose);
	l->args.elem.op = cl_log(p, p->out[0].elem);
	for (int i = 0; i < 3; i++)
		cl_lower_buf(l, REF_IN, i);
	cl_lower_buf(l, REF_OUT, 0);
	return fill_ports(p, l, 3);
}

int cl_lower_elem(struct cl_lowering *p)
{
	const struct op *op = p->op;
	const struct cl_operator *row = cl_operator(op->kind);
	bool integer = is_integer(p->in[0].elem);
	if (p->in[0].elem == EL_F32 && row->flags & CHAIN)
		return lower_chain(p);
	if (row->flags & CHAIN && !(row->flags & INT))
		return cl_lower_refuse(p, "no OpenCL kernel for operator '%s'",
				       op_info(op->kind)->type);
	if (integer && !(row->flags & INT))
		return cl_lower_refuse(p, "no OpenCL kernel for operator '%s' on integers",
				       op_info(op->kind)->type);
	if (p->in[0].elem == EL_U64)
		return cl_lower_refuse(p, "%s of u64 is not supported", op_info(op->kind)->type);
	if (!integer && (p->in[0].elem != EL_F32 || row->f32 == K_COUNT))
		return cl_lower_refuse(p, "%s of %s is not supported", op_info(op->kind)->type,
				       elem_name(p->in[0].elem));
	struct cl_launch *l = cl_lower_launch(p, integer ? K_elem_int : row->f32);
	struct elem_args *a = &l->args.elem;
	a->op = row->op;
	if (op->kind == OP_BITWISE_NOT && p->in[0].elem == EL_BOOLEAN)
		a->op = E_NOT;
	const struct op_act_args act = op_act_args(op, NULL, NULL);
	a->alpha = act.a;
	a->beta = act.b;
	if (op->kind == OP_IS_INF) /* bit 0: positive ones count, bit 1: negative ones */
		a->alpha = (float)(act.pos_inf + 2 * act.neg_inf);
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_IN, op_n_data(op->kind) > 1 ? 1 : 0);
	cl_lower_buf(l, REF_OUT, 0);
	return fill_ports(p, l, op_n_data(op->kind));
}

int cl_lower_convert(struct cl_lowering *p)
{
	enum elem from = p->in[0].elem, to = p->out[0].elem;
	if ((from == EL_F64 || to == EL_F64) && from != to && !p->s->fp64)
		return cl_lower_refuse(p, "the device has no f64");
	if ((from == EL_U64 && elem_is_real(to)) || (to == EL_U64 && elem_is_real(from)))
		return cl_lower_refuse(p, "%s of u64 is not supported", op_info(p->op->kind)->type);
	bool half = from == EL_F16 && to == EL_F32 && !p->s->half;
	enum cl_kernel_id k = from == to ? K_copy : half ? K_convert_f16_f32 : K_convert;
	struct cl_launch *l = cl_lower_launch(p, k);
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	if (from == to) {
		l->copy_bytes = cl_bytes(p, &p->out[0]);
		return 0;
	}
	l->args.elem.code[0] = cl_code(p, from);
	l->args.elem.code[3] = cl_code(p, to);
	l->groups[0] = cl_rows_share(p->s, 1, tensor_elements(&p->out[0]), &l->args.elem.r);
	return 0;
}
