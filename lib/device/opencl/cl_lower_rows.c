/* cl_lower_rows.c - launches of reductions, softmax and MVN. */
#include "device/opencl/cl_lowering.h"

#include "op/slice.h"

int cl_lower_reduce(struct cl_lowering *p)
{
	const struct tensor *x = &p->in[0];
	bool integer = cl_code(p, x->elem) > C_F64;
	uint32_t axes;
	int64_t stride[TENSOR_DIMS], s = 1, n = 1;
	struct cl_loops keep = {.n_arrays = 1}, red = {.n_arrays = 1};
	int op = cl_operator(p->op->kind)->op;
	struct err ignored = ERR_INIT;
	if (x->elem == EL_U64 || (!integer && (x->elem != EL_F32 || op >= R_AND)))
		return cl_lower_refuse(p, "%s of %s is not supported", op_info(p->op->kind)->type,
				       elem_name(x->elem));
	if (!cl_lower_known(p, 1))
		return -1;
	if (op_axes(&p->in[1], x->rank, &axes, &ignored))
		return cl_lower_refuse(p, "axis is out of range");
	for (int d = (int)x->rank - 1; d >= 0; d--) {
		stride[d] = s;
		s *= x->dim[d];
	}
	for (int d = 0; d < (int)x->rank; d++) {
		cl_loops_add(axes >> d & 1 ? &red : &keep, x->dim[d], &stride[d]);
		if (axes >> d & 1)
			n *= x->dim[d];
	}
	if (integer && !n)
		return cl_lower_refuse(p, "%s of nothing", op_info(p->op->kind)->type);
	cl_loops_merge(&keep);
	cl_loops_merge(&red);
	struct cl_launch *l = cl_lower_launch(p, integer ? K_reduce_int : K_reduce);
	struct reduce_args *a = &l->args.reduce;
	*a = (struct reduce_args){.n = (int)tensor_elements(&p->out[0]),
				  .op = op,
				  .rank = keep.rank,
				  .n_red = red.rank,
				  .in_code = cl_code(p, x->elem),
				  .out_code = cl_code(p, p->out[0].elem),
				  .scale = p->op->kind == OP_REDUCE_MEAN ? 1.0f / (float)n : 1.0f};
	for (int d = 0; d < keep.rank; d++) {
		a->dim[d] = (int)keep.dim[d];
		a->stride[d] = (int)keep.stride[0][d];
	}
	for (int d = 0; d < red.rank; d++) {
		a->red_dim[d] = (int)red.dim[d];
		a->red_stride[d] = (int)red.stride[0][d];
	}
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	l->groups[0] = (size_t)a->n;
	return 0;
}

static bool is_f32(struct cl_lowering *p)
{
	if (p->in[0].elem == EL_F32)
		return true;
	cl_lower_refuse(p, "%s of %s is not supported", op_info(p->op->kind)->type,
			elem_name(p->in[0].elem));
	return false;
}

int cl_lower_softmax(struct cl_lowering *p)
{
	const struct tensor *x = &p->in[0];
	int axis = op_axis(p->op->a.axis.axis, (int)x->rank);
	int64_t inner = 1, outer = 1;
	if (!is_f32(p))
		return -1;
	if (axis < 0)
		return cl_lower_refuse(p, "axis is out of range");
	for (int d = 0; d < (int)x->rank; d++) {
		if (d < axis)
			outer *= x->dim[d];
		else if (d > axis)
			inner *= x->dim[d];
	}
	struct cl_launch *l = cl_lower_launch(p, K_softmax);
	l->args.norm = (struct norm_args){
		.n_rows = (int)(outer * inner), .n = (int)x->dim[axis], .inner = (int)inner};
	l->args.norm.log = p->op->kind == OP_LOG_SOFTMAX;
	l->groups[0] = (size_t)(outer * inner);
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

int cl_lower_mvn(struct cl_lowering *p)
{
	if (!is_f32(p))
		return -1;
	int64_t n = cl_mvn_span(p->op, p->in);
	if (!n)
		return cl_lower_refuse(p, "MVN over dims that are not the last");
	struct cl_launch *l = cl_lower_launch(p, K_mvn);
	int64_t rows = tensor_elements(&p->in[0]) / n;
	l->args.norm = (struct norm_args){.n_rows = (int)rows,
					  .n = (int)n,
					  .inner = 1,
					  .normalize = p->op->a.norm.normalize_variance,
					  .eps_inside = p->op->a.norm.eps_inside_sqrt,
					  .eps = (float)p->op->a.norm.eps};
	l->groups[0] = (size_t)rows;
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	return cl_chain_fill(p, l, &l->args.norm.chain, l->args.norm.at);
}

/* x / sqrt(mean of squares + eps) * gain */
int cl_lower_rms(struct cl_lowering *p)
{
	const struct tensor *x = &p->in[0], *gain = &p->in[1];
	int64_t m = tensor_elements(gain), n = x->rank ? x->dim[x->rank - 1] : 0;
	if (!is_f32(p))
		return -1;
	if (gain->elem != EL_F32 || !n || (m != 1 && m != n))
		return cl_lower_refuse(p, "scale does not fit the last dim");
	struct cl_launch *l = cl_lower_launch(p, K_mvn);
	struct norm_args *a = &l->args.norm;
	*a = (struct norm_args){.n_rows = (int)(tensor_elements(x) / n),
				.n = (int)n,
				.inner = 1,
				.normalize = 2,
				.eps_inside = 1,
				.eps = (float)p->op->a.norm.eps,
				.chain = {1, {{.op = E_MUL, .from = 0}}}};
	l->groups[0] = (size_t)a->n_rows;
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	for (int i = 0; i < OPERANDS; i++) {
		a->at[i] = (struct operand){.zd = 1, .zm = 1, .sn = i == 0 && m > 1};
		cl_lower_buf(l, REF_IN, 1);
	}
	return 0;
}
