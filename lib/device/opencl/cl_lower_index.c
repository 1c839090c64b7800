/* cl_lower_index.c - launches of the operators that look at indices, and of those that go along
 * one axis in order. */
#include "device/opencl/cl_lowering.h"

#include "op/slice.h"
#include "op/value.h"

/* Products of the dims before and behind `axis`. */
static void around(const struct tensor *t, int axis, int64_t *outer, int64_t *inner)
{
	*outer = *inner = 1;
	for (int d = 0; d < (int)t->rank; d++) {
		*outer *= d < axis ? t->dim[d] : 1;
		*inner *= d > axis ? t->dim[d] : 1;
	}
}

static int product(const struct tensor *t, int from, int to)
{
	int64_t n = 1;
	for (int d = from; d < to; d++)
		n *= t->dim[d];
	return (int)n;
}

/* A launch over n columns with what most of them need: elements of input 0, indices of type t. */
static struct cl_launch *launch_index(struct cl_lowering *p, enum cl_kernel_id k, int64_t n,
				      enum elem index)
{
	struct cl_launch *l = cl_lower_launch(p, k);
	struct index_args *a = &l->args.index;
	a->log = cl_log(p, p->in[0].elem);
	a->code = cl_code(p, p->in[0].elem);
	a->idx_code = cl_code(p, index);
	l->groups[0] = cl_lower_groups(p->s, n);
	return l;
}

static bool indices_are_integers(struct cl_lowering *p, int port)
{
	if (cl_code(p, p->in[port].elem) > C_F64)
		return true;
	cl_lower_refuse(p, "indices of type %s", elem_name(p->in[port].elem));
	return false;
}

static void copy_data(struct cl_lowering *p)
{
	struct cl_launch *l = cl_lower_launch(p, K_copy);
	l->copy_bytes = cl_bytes(p, &p->out[0]);
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
}

int cl_lower_gather_elements(struct cl_lowering *p)
{
	int axis = op_axis(p->op->a.axis.axis, p->in[0].rank);
	int64_t outer, inner;
	if (!indices_are_integers(p, 1))
		return -1;
	if (axis < 0)
		return cl_lower_refuse(p, "axis is out of range");
	around(&p->in[0], axis, &outer, &inner);
	struct cl_launch *l =
		launch_index(p, K_gather_elements, tensor_elements(&p->out[0]), p->in[1].elem);
	struct index_args *a = &l->args.index;
	a->outer = (int)outer;
	a->inner = (int)inner;
	a->n = (int)p->in[0].dim[axis];
	a->n_idx = (int)p->in[1].dim[axis];
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_IN, 1);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

/* Sizes of the indexed dims, from dim `from` of the data on. */
static int fill_depth(struct cl_lowering *p, struct index_args *a, const struct tensor *idx,
		      int from)
{
	const struct tensor *data = &p->in[0];
	if (!idx->rank)
		return cl_lower_refuse(p, "indices of no dimension");
	a->depth = (int)idx->dim[idx->rank - 1];
	if (a->depth > ND || from + a->depth > (int)data->rank)
		return cl_lower_refuse(p, "indices longer than the data has dimensions");
	for (int d = 0; d < a->depth; d++)
		a->dim[d] = (int)data->dim[from + d];
	a->inner = product(data, from + a->depth, (int)data->rank);
	a->n = product(data, from, from + a->depth);
	return 0;
}

int cl_lower_gather_nd(struct cl_lowering *p)
{
	int batch = (int)p->op->a.axis.batch_dims;
	const struct tensor *idx = &p->in[1];
	if (!indices_are_integers(p, 1))
		return -1;
	struct cl_launch *l = launch_index(p, K_gather_nd, tensor_elements(&p->out[0]), idx->elem);
	struct index_args *a = &l->args.index;
	if (batch < 0 || batch >= (int)idx->rank || fill_depth(p, a, idx, batch))
		return p->why[0] ? -1 : cl_lower_refuse(p, "batch_dims is out of range");
	a->outer = product(idx, 0, batch);
	a->n_idx = product(idx, batch, (int)idx->rank - 1);
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_IN, 1);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

int cl_lower_scatter_nd(struct cl_lowering *p)
{
	const struct tensor *idx = &p->in[1];
	if (!indices_are_integers(p, 1))
		return -1;
	if (p->op->a.scatter.reduction != SCATTER_NONE)
		return cl_lower_refuse(p, "ScatterNDUpdate with a reduction is not supported");
	copy_data(p);
	struct cl_launch *l = launch_index(p, K_scatter_nd, 1, idx->elem);
	struct index_args *a = &l->args.index;
	if (fill_depth(p, a, idx, 0))
		return -1;
	a->n_idx = product(idx, 0, (int)idx->rank - 1);
	l->groups[0] = cl_lower_groups(p->s, a->inner);
	cl_lower_buf(l, REF_IN, 2);
	cl_lower_buf(l, REF_IN, 1);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

int cl_lower_scatter(struct cl_lowering *p)
{
	if (!indices_are_integers(p, 1))
		return -1;
	if (!cl_lower_known(p, 3))
		return -1;
	int axis = op_axis(tensor_int(&p->in[3], 0), p->in[0].rank);
	int64_t outer, inner;
	if (axis < 0)
		return cl_lower_refuse(p, "axis is out of range");
	around(&p->in[0], axis, &outer, &inner);
	copy_data(p);
	struct cl_launch *l = launch_index(p, K_scatter, outer * inner, p->in[1].elem);
	struct index_args *a = &l->args.index;
	a->outer = (int)outer;
	a->inner = (int)inner;
	a->n = (int)p->in[0].dim[axis];
	a->n_idx = (int)tensor_elements(&p->in[1]);
	cl_lower_buf(l, REF_IN, 2);
	cl_lower_buf(l, REF_IN, 1);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

/* S_* of cl_index.cl; -1: none of them. */
static int scatter_op(enum op_scatter reduction)
{
	switch (reduction) {
	case SCATTER_NONE: return 0;
	case SCATTER_SUM: return 1;
	case SCATTER_PROD: return 2;
	case SCATTER_MIN: return 3;
	case SCATTER_MAX: return 4;
	case SCATTER_MEAN: return 5;
	default: return -1;
	}
}

int cl_lower_scatter_elements(struct cl_lowering *p)
{
	const struct tensor *data = &p->in[0], *idx = &p->in[1];
	int64_t outer, inner, stride = 1, n = 1;
	int op = scatter_op(p->op->a.scatter.reduction);
	if (!indices_are_integers(p, 1))
		return -1;
	if (!cl_lower_known(p, 3))
		return -1;
	int axis = op_axis(tensor_int(&p->in[3], 0), data->rank);
	if (axis < 0 || op < 0 || data->elem == EL_F64 || (op && data->elem == EL_U64))
		return cl_lower_refuse(p, axis < 0 ? "axis is out of range"
						   : "this ScatterElementsUpdate is not supported");
	around(idx, axis, &outer, &inner);
	copy_data(p);
	struct cl_launch *l = launch_index(p, K_scatter_elements, outer * inner, idx->elem);
	struct index_args *a = &l->args.index;
	a->op = op;
	a->exclusive = op && !p->op->a.scatter.use_init;
	a->outer = (int)(outer * inner);
	a->n_idx = (int)idx->dim[axis];
	a->n = (int)data->dim[axis];
	a->idx_inner = (int)inner;
	a->idx_outer = (int)(inner * idx->dim[axis]);
	/* places of the indices without the axis, and where they are in the data */
	a->rank = 0;
	for (int d = 0; d < (int)data->rank; d++)
		n *= data->dim[d];
	for (int d = 0; d < (int)data->rank; d++) {
		stride = n = data->dim[d] ? n / data->dim[d] : 0;
		if (d == axis) {
			a->inner = (int)stride;
			continue;
		}
		if (a->rank == ND)
			return cl_lower_refuse(p, "too many dimensions");
		a->dim[a->rank] = (int)idx->dim[d];
		a->stride[a->rank++] = (int)stride;
	}
	cl_lower_buf(l, REF_IN, 2);
	cl_lower_buf(l, REF_IN, 1);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

int cl_lower_one_hot(struct cl_lowering *p)
{
	const struct tensor *out = &p->out[0];
	int axis = op_axis(p->op->a.onehot.axis, out->rank);
	int64_t outer, inner;
	if (!indices_are_integers(p, 0))
		return -1;
	if (axis < 0 || p->in[2].elem != out->elem || p->in[3].elem != out->elem ||
	    p->op->a.onehot.wrap)
		return cl_lower_refuse(p, "this OneHot is not supported");
	around(out, axis, &outer, &inner);
	struct cl_launch *l = launch_index(p, K_one_hot, tensor_elements(out), p->in[0].elem);
	struct index_args *a = &l->args.index;
	a->log = cl_log(p, out->elem);
	a->outer = (int)outer;
	a->inner = (int)inner;
	a->n = (int)out->dim[axis];
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_IN, 2);
	cl_lower_buf(l, REF_IN, 3);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

int cl_lower_cum_sum(struct cl_lowering *p)
{
	int64_t outer, inner, axis = 0;
	if (p->in[0].elem == EL_F64 || p->in[0].elem == EL_BOOLEAN)
		return cl_lower_refuse(p, "CumSum of %s is not supported",
				       elem_name(p->in[0].elem));
	if (p->op->n_in > 1) {
		if (!cl_lower_known(p, 1))
			return -1;
		axis = tensor_int(&p->in[1], 0);
	}
	if (op_axis(axis, p->in[0].rank) < 0)
		return cl_lower_refuse(p, "axis is out of range");
	around(&p->in[0], op_axis(axis, p->in[0].rank), &outer, &inner);
	struct cl_launch *l = launch_index(p, K_cum_sum, outer * inner, EL_I32);
	struct index_args *a = &l->args.index;
	a->outer = (int)outer;
	a->inner = (int)inner;
	a->n = (int)p->in[0].dim[op_axis(axis, p->in[0].rank)];
	a->exclusive = p->op->a.axis.exclusive;
	a->reverse = p->op->a.axis.reverse;
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

int cl_lower_top_k(struct cl_lowering *p)
{
	int axis = op_axis(p->op->a.topk.axis, p->in[0].rank);
	int64_t outer, inner;
	if (axis < 0 || p->in[0].elem != EL_F32)
		return cl_lower_refuse(p, "TopK of %s is not supported", elem_name(p->in[0].elem));
	around(&p->in[0], axis, &outer, &inner);
	struct cl_launch *l = launch_index(p, K_top_k, outer * inner, p->out[1].elem);
	struct index_args *a = &l->args.index;
	a->op = (p->op->a.topk.max ? TOPK_MAX : 0) | (p->op->a.topk.by_index ? TOPK_BY_INDEX : 0);
	a->outer = (int)outer;
	a->inner = (int)inner;
	a->n = (int)p->in[0].dim[axis];
	a->depth = (int)p->out[0].dim[axis];
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	cl_lower_buf(l, REF_OUT, 1);
	return 0;
}

int cl_lower_reverse_sequence(struct cl_lowering *p)
{
	const struct tensor *in = &p->in[0];
	int batch = op_axis(p->op->a.onehot.batch_axis, in->rank);
	int seq = op_axis(p->op->a.onehot.seq_axis, in->rank);
	if (!indices_are_integers(p, 1))
		return -1;
	if (batch < 0 || seq < 0 || batch == seq || cl_code(p, p->in[1].elem) <= C_F64)
		return cl_lower_refuse(p, "this ReverseSequence is not supported");
	int first = batch < seq ? batch : seq, second = batch < seq ? seq : batch;
	struct cl_launch *l =
		launch_index(p, K_reverse_sequence, tensor_elements(in), p->in[1].elem);
	struct index_args *a = &l->args.index;
	a->outer = product(in, 0, first);
	a->dim[0] = (int)in->dim[first];
	a->inner = product(in, first + 1, second);
	a->dim[1] = (int)in->dim[second];
	a->stride[0] = product(in, second + 1, (int)in->rank);
	a->reverse = batch < seq;
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_IN, 1);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}
