/* cl_lower_special.c - launches of FakeQuantize, the rarer normalisations, and transposed
 * convolution. */
#include "device/opencl/cl_lowering.h"

#include "op/slice.h"
#include "op/value.h"

static int f32_only(struct cl_lowering *p, int n)
{
	for (int i = 0; i < n; i++)
		if (p->in[i].elem != EL_F32)
			return cl_lower_refuse(p, "%s of %s is not supported",
					       op_info(p->op->kind)->type,
					       elem_name(p->in[i].elem));
	return 0;
}

/* Input i of FakeQuantize or, i > 0, BatchNorm, whose vectors are of the channels, over the output's dims. */
static int five_strides(struct cl_lowering *p, int i, const struct tensor *in, int64_t *stride)
{
	const struct tensor *out = &p->out[0];
	struct tensor t = *in;
	bool fits = true;
	if (p->op->kind == OP_FAKE_QUANTIZE)
		fits = op_align(p->op, &p->in[0], i, in, &t);
	for (; i > 0 && p->op->kind == OP_BATCH_NORM && t.rank + 1 < out->rank; t.rank++)
		t.dim[t.rank] = 1;
	return fits && cl_broadcast_strides(&t, out, stride)
		       ? 0
		       : cl_lower_refuse(p, "inputs do not broadcast to the output's shape");
}

int cl_lower_five(struct cl_lowering *p)
{
	const struct op *op = p->op;
	const struct tensor *out = &p->out[0];
	bool batch_norm = op->kind == OP_BATCH_NORM, old = batch_norm && op->version < 5;
	/* before version 5: gamma, beta, data, mean, variance */
	const int port[5] = {old ? 2 : 0, old ? 0 : 1, old ? 1 : 2, 3, 4};
	int64_t stride[5][TENSOR_DIMS], n_rows = 1;
	int rank = (int)out->rank;
	if (f32_only(p, 5))
		return -1;
	if (rank > ND)
		return cl_lower_refuse(p, "this %s is not supported", op_info(op->kind)->type);
	for (int i = 0; i < 5; i++)
		if (five_strides(p, i, &p->in[port[i]], stride[i]))
			return -1;
	struct cl_launch *l = cl_lower_launch(p, K_elem_five);
	struct five_args *a = &l->args.five;
	/* the innermost loop: as many dims as all inputs go through in one */
	struct cl_loops loops = {.n_arrays = 5};
	for (int d = 0; d < rank; d++)
		cl_loops_add(&loops, out->dim[d],
			     (int64_t[]){stride[0][d], stride[1][d], stride[2][d], stride[3][d],
					 stride[4][d]});
	cl_loops_merge(&loops);
	a->rank = loops.rank - 1;
	for (int d = 0; d < a->rank; d++) {
		a->dim[d] = (int)loops.dim[d];
		n_rows *= loops.dim[d];
		for (int i = 0; i < 5; i++)
			a->stride[i][d] = (int)loops.stride[i][d];
	}
	for (int i = 0; i < 5; i++) {
		a->inner[i] = (int)loops.stride[i][a->rank];
		cl_lower_buf(l, REF_IN, port[i]);
	}
	cl_lower_buf(l, REF_OUT, 0);
	a->levels = batch_norm ? 0 : (int)op->a.quantize.levels;
	a->alpha = batch_norm ? (float)op->a.norm.eps : (float)(a->levels - 1);
	l->groups[0] = cl_rows_share(p->s, n_rows, loops.dim[a->rank], &a->r);
	return 0;
}

/* The axes, which must lie side by side, as (outer, n, inner). */
static int split_axes(struct cl_lowering *p, struct axis_args *a)
{
	const struct tensor *x = &p->in[0];
	uint32_t set = 0;
	struct err e = ERR_INIT;
	int part = 0; /* in front of the axes, among them, behind them */
	int *to[] = {&a->outer, &a->n, &a->inner};
	if (!cl_lower_known(p, 1))
		return -1;
	if (op_axes(&p->in[1], x->rank, &set, &e))
		return cl_lower_refuse(p, "%.150s", e.msg);
	a->outer = a->n = a->inner = 1;
	for (int d = 0; d < (int)x->rank; d++) {
		bool is = set >> d & 1;
		if (x->dim[d] == 1)
			continue;
		if (is && part == 2)
			return cl_lower_refuse(p, "axes of %s that are apart",
					       op_info(p->op->kind)->type);
		part = is ? 1 : part == 1 ? 2 : part;
		*to[part] *= (int)x->dim[d];
	}
	return 0;
}

/* A launch over places of (outer, n, inner); NULL: refused. */
static struct cl_launch *launch_axis(struct cl_lowering *p, enum cl_kernel_id k)
{
	if (f32_only(p, 1))
		return NULL;
	struct cl_launch *l = cl_lower_launch(p, k);
	struct axis_args *a = &l->args.axis;
	if (split_axes(p, a))
		return NULL;
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	l->groups[0] = cl_lower_groups(p->s, (int64_t)a->outer * a->inner);
	return l;
}

int cl_lower_lrn(struct cl_lowering *p)
{
	struct cl_launch *l = launch_axis(p, K_lrn);
	if (!l)
		return -1;
	if (tensor_elements(&p->in[1]) != 1)
		return cl_lower_refuse(p, "LRN over several axes is not supported");
	struct axis_args *a = &l->args.axis;
	a->size = (int)(p->op->a.lrn.size - 1) / 2 * 2 + 1; /* as many on both sides */
	a->alpha = (float)(p->op->a.lrn.alpha / (double)p->op->a.lrn.size);
	a->beta = (float)p->op->a.lrn.beta;
	a->bias = (float)p->op->a.lrn.bias;
	return 0;
}

int cl_lower_normalize_l2(struct cl_lowering *p)
{
	struct cl_launch *l = launch_axis(p, K_normalize_l2);
	if (!l)
		return -1;
	if (tensor_elements(&p->in[1]) == 0)
		return cl_lower_refuse(p, "NormalizeL2 without axes is not supported");
	l->args.axis.bias = (float)p->op->a.norm.eps;
	l->args.axis.add = p->op->a.norm.eps_inside_sqrt;
	return 0;
}

/* Mean and variance of the groups, then gain and shift of the channels, in place. */
int cl_lower_group_norm(struct cl_lowering *p)
{
	const struct tensor *x = &p->in[0];
	int64_t groups = p->op->a.norm.groups, rest = 1;
	if (f32_only(p, 3))
		return -1;
	if (x->rank < 2 || groups < 1 || x->dim[1] % groups)
		return cl_lower_refuse(p, "channels do not divide into groups");
	for (int d = 2; d < (int)x->rank; d++)
		rest *= x->dim[d];
	struct cl_launch *l = cl_lower_launch(p, K_mvn);
	l->args.norm = (struct norm_args){.n_rows = (int)(x->dim[0] * groups),
					  .n = (int)(x->dim[1] / groups * rest),
					  .inner = 1,
					  .normalize = 1,
					  .eps_inside = 1,
					  .eps = (float)p->op->a.norm.eps};
	l->groups[0] = (size_t)(x->dim[0] * groups);
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_OUT, 0);
	for (int i = 0; i < OPERANDS; i++) {
		l->args.norm.at[i] = (struct operand){.zd = 1, .zm = 1};
		cl_lower_buf(l, REF_OUT, 0);
	}
	l = cl_lower_launch(p, K_elem);
	struct elem_args *a = &l->args.elem;
	a->n_in = 3;
	a->rank = 2;
	a->dim[0] = (int)x->dim[0];
	a->dim[1] = (int)x->dim[1];
	a->stride[0][0] = (int)(x->dim[1] * rest);
	a->stride[0][1] = (int)rest;
	a->stride[1][1] = a->stride[2][1] = 1;
	a->inner[0] = 1;
	a->chain = (struct chain){2, {{.op = E_MUL, .from = 1}, {.op = E_ADD, .from = 2}}};
	l->groups[0] = cl_rows_share(p->s, x->dim[0] * x->dim[1], rest, &a->r);
	cl_lower_buf(l, REF_OUT, 0);
	cl_lower_buf(l, REF_IN, 1);
	cl_lower_buf(l, REF_IN, 2);
	cl_lower_buf(l, REF_OUT, 0);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}

/* The geometry of adding up the products (see struct fold_args); g's input is the result. */
static struct fold_args fold_of(const struct window *g)
{
	return (struct fold_args){.batch = (int)g->batch,
				  .channels = (int)(g->groups * g->cin),
				  .h = (int)g->out[1],
				  .w = (int)g->out[2],
				  .oh = (int)g->in[1],
				  .ow = (int)g->in[2],
				  .kh = (int)g->kernel[1],
				  .kw = (int)g->kernel[2],
				  .sh = (int)g->stride[1],
				  .sw = (int)g->stride[2],
				  .ph = (int)g->pad[1],
				  .pw = (int)g->pad[2],
				  .dh = (int)g->dilation[1],
				  .dw = (int)g->dilation[2]};
}

/* The products of all weights with all places of the input, and their sums where they fall. */
int cl_lower_deconv(struct cl_lowering *p)
{
	int n = (int)p->in[0].rank - 2;
	struct window w;
	if (f32_only(p, 2))
		return -1;
	if (n < 1 || n > 2)
		return cl_lower_refuse(p, "%s in %d dimensions is not supported",
				       op_info(p->op->kind)->type, n);
	cpu_window_init_transposed(&w, p->op, &p->in[0], &p->in[1], &p->out[0]);
	struct fold_args f = fold_of(&w);
	int m = (int)(w.cin * w.taps), hw = (int)w.out_plane, c = (int)w.cout;
	struct gemm_args g = {.m = m,
			      .n = hw,
			      .k = c,
			      .ars = 1,
			      .acs = m,
			      .brs = hw,
			      .bcs = 1,
			      .n_batch = 2,
			      .size = c * hw};
	g.a_packed = p->constant[1];
	g.batch[0] = f.batch;
	g.batch[1] = (int)w.groups;
	g.as[1] = g.a_packed ? (int)cl_lower_packed_a(p->s, m, c) : m * c;
	g.bs[0] = (int)(w.groups * w.cout) * hw;
	g.bs[1] = c * hw;
	size_t bytes = (size_t)f.batch * (size_t)w.groups * (size_t)m * (size_t)hw * sizeof(float);
	if (bytes / sizeof(float) >= INT32_MAX)
		return cl_lower_refuse(
			p, "a transposed convolution that is too large for the kernels");
	int temp = cl_lower_temp(p, bytes);
	struct cl_ref refs[] = {
		{g.a_packed ? REF_PACK_A : REF_IN, 1, 0}, {REF_IN, 0, 0}, {REF_TEMP, temp, 0}};
	cl_lower_product(p, &g, w.batch * w.groups, refs, 3);
	struct cl_launch *l = cl_lower_launch(p, K_fold);
	l->args.fold = f;
	l->groups[0] = (size_t)f.batch * (size_t)f.channels * (size_t)f.oh;
	cl_lower_buf(l, REF_TEMP, temp);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}
