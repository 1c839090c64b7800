/* cl_lower_move.c - launches of the operators that copy elements: each is one
 * strided copy, or one per input or output; Gather and Range. */
#include "device/opencl/cl_lowering.h"

#include "op/slice.h"
#include "op/value.h"

/* Row-major strides of t. */
static void strides_of(const struct tensor *t, int64_t *s)
{
	int64_t n = 1;
	for (int d = (int)t->rank - 1; d >= 0; d--) {
		s[d] = n;
		n *= t->dim[d];
	}
}

/* A copy over `loops`: array 0 is input `from`, array 1 output `to`. */
static int add_move(struct cl_lowering *p, struct cl_loops *loops, int from, int to, int64_t in_off,
		    int64_t out_off)
{
	int64_t n_rows = 1;
	cl_loops_merge(loops);
	if (loops->rank - 1 > ND)
		return cl_lower_refuse(p, "too many dimensions");
	struct cl_launch *l = cl_lower_launch(p, K_move);
	struct move_args *a = &l->args.move;
	a->log = cl_log(p, p->out[to].elem);
	a->rank = loops->rank - 1;
	for (int d = 0; d < a->rank; d++) {
		a->dim[d] = (int)loops->dim[d];
		a->si[d] = (int)loops->stride[0][d];
		a->so[d] = (int)loops->stride[1][d];
		n_rows *= loops->dim[d];
	}
	a->inner_i = (int)loops->stride[0][a->rank];
	a->inner_o = (int)loops->stride[1][a->rank];
	a->in = (int)in_off;
	a->out = (int)out_off;
	cl_lower_buf(l, REF_IN, from);
	cl_lower_buf(l, REF_OUT, to);
	l->groups[0] = cl_rows_share(p->s, n_rows, loops->dim[a->rank], &a->r);
	if (n_rows * loops->dim[a->rank] == 0)
		p->n--;
	return 0;
}

int cl_lower_transpose(struct cl_lowering *p)
{
	const struct tensor *in = &p->in[0];
	int64_t si[TENSOR_DIMS], so[TENSOR_DIMS], perm[TENSOR_DIMS];
	struct cl_loops loops = {.n_arrays = 2};
	struct err e = ERR_INIT;
	if (!cl_lower_known(p, 1))
		return -1;
	if (op_permutation(in, &p->in[1], perm, &e))
		return cl_lower_refuse(p, "%.150s", e.msg);
	strides_of(in, si);
	strides_of(&p->out[0], so);
	for (int d = 0; d < (int)in->rank; d++)
		cl_loops_add(&loops, p->out[0].dim[d], (int64_t[]){si[perm[d]], so[d]});
	return add_move(p, &loops, 0, 0, 0, 0);
}

/* The strided copy of a dense tensor, input 0 seen as dims[n], into output 0 with the dims in the
 * order perm[n]. */
static int lower_permute(struct cl_lowering *p, const int64_t *dims, const int *perm, int n)
{
	struct cl_loops loops = {.n_arrays = 2};
	int64_t si[LOOPS], so = 1;
	for (int d = n - 1, s = 1; d >= 0; d--) {
		si[d] = s;
		s *= (int)dims[d];
	}
	for (int d = 0; d < n; d++)
		so *= dims[d];
	for (int d = 0; d < n; d++) {
		so = dims[perm[d]] ? so / dims[perm[d]] : 0;
		cl_loops_add(&loops, dims[perm[d]], (int64_t[]){si[perm[d]], so});
	}
	return add_move(p, &loops, 0, 0, 0, 0);
}

/* DepthToSpace, SpaceToDepth: (n, c, s..) with blocks of b in every spatial dim. */
int cl_lower_blocks(struct cl_lowering *p)
{
	const struct tensor *in = &p->in[0];
	bool to_space = p->op->kind == OP_DEPTH_TO_SPACE, depth = p->op->a.block.depth_first;
	int64_t b = p->op->a.block.block, dims[2 * TENSOR_DIMS], blocks = 1;
	int perm[2 * TENSOR_DIMS], spatial = (int)in->rank - 2, n = 0;
	for (int i = 0; i < spatial; i++)
		blocks *= b;
	if (spatial < 1 || b < 1 || 2 * spatial + 2 > LOOPS)
		return cl_lower_refuse(p, "blocks of %lld", (long long)b);
	dims[n++] = in->dim[0];
	if (to_space) {
		/* (n, b.., c, s..) or (n, c, b.., s..) -> (n, c, s0, b0, s1, b1, ..) */
		int64_t c = in->dim[1] / blocks;
		int at_b = depth ? 2 : 1, at_c = depth ? 1 : 1 + spatial;
		dims[at_c] = c;
		for (int i = 0; i < spatial; i++) {
			dims[at_b + i] = b;
			dims[2 + spatial + i] = in->dim[2 + i];
		}
		perm[0] = 0;
		perm[1] = at_c;
		for (int i = 0; i < spatial; i++) {
			perm[2 + 2 * i] = 2 + spatial + i;
			perm[3 + 2 * i] = at_b + i;
		}
	} else {
		/* (n, c, s0, b0, ..) -> (n, b.., c, s..) or (n, c, b.., s..) */
		dims[1] = in->dim[1];
		perm[0] = 0;
		perm[depth ? 1 : 1 + spatial] = 1;
		for (int i = 0; i < spatial; i++) {
			dims[2 + 2 * i] = in->dim[2 + i] / b;
			dims[3 + 2 * i] = b;
			perm[(depth ? 2 : 1) + i] = 3 + 2 * i;
			perm[2 + spatial + i] = 2 + 2 * i;
		}
	}
	return lower_permute(p, dims, perm, 2 + 2 * spatial);
}

int cl_lower_shuffle(struct cl_lowering *p)
{
	const struct tensor *in = &p->in[0];
	int axis = op_axis(p->op->a.block.axis, in->rank);
	int64_t outer = 1, inner = 1, groups = p->op->a.block.groups;
	if (axis < 0 || groups < 1 || in->dim[axis] % groups)
		return cl_lower_refuse(p, "groups that do not divide the axis");
	for (int d = 0; d < (int)in->rank; d++) {
		outer *= d < axis ? in->dim[d] : 1;
		inner *= d > axis ? in->dim[d] : 1;
	}
	return lower_permute(p, (int64_t[]){outer, groups, in->dim[axis] / groups, inner},
			     (int[]){0, 2, 1, 3}, 4);
}

/* Loops over `part`, a range along `axis` of the tensor `whole`; strides of both. */
static void part_loops(const struct tensor *part, const struct tensor *whole, bool part_first,
		       struct cl_loops *loops)
{
	int64_t sp[TENSOR_DIMS], sw[TENSOR_DIMS];
	*loops = (struct cl_loops){.n_arrays = 2};
	strides_of(part, sp);
	strides_of(whole, sw);
	for (int d = 0; d < (int)part->rank; d++)
		cl_loops_add(loops, part->dim[d],
			     part_first ? (int64_t[]){sp[d], sw[d]} : (int64_t[]){sw[d], sp[d]});
}

int cl_lower_concat(struct cl_lowering *p)
{
	const struct tensor *out = &p->out[0];
	int axis = op_axis(p->op->a.axis.axis, (int)out->rank);
	int64_t so[TENSOR_DIMS], at = 0;
	if (axis < 0)
		return cl_lower_refuse(p, "axis is out of range");
	strides_of(out, so);
	for (int i = 0; i < p->op->n_in; i++) {
		struct cl_loops loops;
		if (p->in[i].rank != out->rank)
			return cl_lower_refuse(p, "ranks of the inputs differ");
		part_loops(&p->in[i], out, true, &loops);
		if (add_move(p, &loops, i, 0, 0, at * so[axis]))
			return -1;
		at += p->in[i].dim[axis];
	}
	return 0;
}

int cl_lower_split(struct cl_lowering *p)
{
	const struct tensor *in = &p->in[0];
	int64_t si[TENSOR_DIMS], at = 0;
	if (!cl_lower_known(p, 1))
		return -1;
	int axis = op_axis(tensor_int(&p->in[1], 0), (int)in->rank);
	if (axis < 0)
		return cl_lower_refuse(p, "axis is out of range");
	strides_of(in, si);
	for (int o = 0; o < p->op->n_out; o++) {
		struct cl_loops loops;
		part_loops(&p->out[o], in, false, &loops);
		if (p->wanted[o] && add_move(p, &loops, 0, o, at * si[axis], 0))
			return -1;
		at += p->out[o].dim[axis];
	}
	return 0;
}

int cl_lower_slice(struct cl_lowering *p)
{
	struct op_range r[TENSOR_DIMS];
	struct tensor inferred;
	struct err e = ERR_INIT;
	struct cl_loops loops = {.n_arrays = 2};
	int64_t si[TENSOR_DIMS], n = 1, off = 0;
	for (int i = 1; i < p->op->n_in; i++)
		if (p->in[i].elem != EL_DYNAMIC && !cl_lower_known(p, i))
			return -1;
	if (op_slice_ranges(p->op, p->in, r, &inferred, &e))
		return cl_lower_refuse(p, "%.150s", e.msg);
	strides_of(&p->in[0], si);
	for (int d = 0; d < (int)p->in[0].rank; d++)
		n *= r[d].count;
	for (int d = 0; d < (int)p->in[0].rank; d++) {
		n = r[d].count ? n / r[d].count : 0;
		off += r[d].start * si[d];
		cl_loops_add(&loops, r[d].count, (int64_t[]){r[d].step * si[d], n});
	}
	return add_move(p, &loops, 0, 0, off, 0);
}

int cl_lower_broadcast(struct cl_lowering *p)
{
	const struct tensor *in = &p->in[0], *out = &p->out[0];
	struct cl_loops loops = {.n_arrays = 2};
	int64_t si[TENSOR_DIMS], so[TENSOR_DIMS], stride[TENSOR_DIMS] = {0};
	bool explicit = p->op->a.broadcast.bcast == BCAST_EXPLICIT;
	int shift = (int)out->rank - (int)in->rank;
	if (explicit && !cl_lower_known(p, 2))
		return -1;
	if (p->op->a.broadcast.bcast == BCAST_PDPD)
		shift = (int)p->op->a.broadcast.axis;
	strides_of(in, si);
	strides_of(out, so);
	for (int d = 0; d < (int)in->rank; d++) {
		int64_t to = explicit ? tensor_int(&p->in[2], d) : d + shift;
		if (to < 0 || to >= (int64_t)out->rank)
			return cl_lower_refuse(
				p, "the input does not broadcast to the output's shape");
		stride[to] = in->dim[d] == 1 ? 0 : si[d];
	}
	for (int d = 0; d < (int)out->rank; d++)
		cl_loops_add(&loops, out->dim[d], (int64_t[]){stride[d], so[d]});
	return add_move(p, &loops, 0, 0, 0, 0);
}

/* Every dim is two loops: over the repetitions, and over the input. */
int cl_lower_tile(struct cl_lowering *p)
{
	const struct tensor *in = &p->in[0], *out = &p->out[0];
	struct cl_loops loops = {.n_arrays = 2};
	int64_t si[TENSOR_DIMS], so[TENSOR_DIMS];
	int shift = (int)out->rank - (int)in->rank;
	strides_of(in, si);
	strides_of(out, so);
	for (int d = 0; d < (int)out->rank; d++) {
		int64_t n = d < shift ? 1 : in->dim[d - shift];
		if (!n || out->dim[d] % n)
			return cl_lower_refuse(p, "the input does not tile the output's shape");
		cl_loops_add(&loops, out->dim[d] / n, (int64_t[]){0, n * so[d]});
		if (d >= shift)
			cl_loops_add(&loops, n, (int64_t[]){si[d - shift], so[d]});
	}
	return add_move(p, &loops, 0, 0, 0, 0);
}

int cl_lower_gather(struct cl_lowering *p)
{
	const struct tensor *data = &p->in[0], *idx = &p->in[1];
	int axis, batch_dims;
	int64_t batch = 1, outer = 1, inner = 1, n_idx = 1;
	if (!cl_lower_known(p, 2))
		return -1;
	if (op_gather_axes(p->op, p->in, &axis, &batch_dims))
		return cl_lower_refuse(p, "axis is out of range");
	if (cl_code(p, idx->elem) <= C_F64)
		return cl_lower_refuse(p, "indices of type %s", elem_name(idx->elem));
	for (int d = 0; d < (int)data->rank; d++) {
		if (d < batch_dims)
			batch *= data->dim[d];
		else if (d < axis)
			outer *= data->dim[d];
		else if (d > axis)
			inner *= data->dim[d];
	}
	for (int d = batch_dims; d < (int)idx->rank; d++)
		n_idx *= idx->dim[d];
	struct cl_launch *l = cl_lower_launch(p, K_gather);
	struct gather_args *a = &l->args.gather;
	a->log = cl_log(p, data->elem);
	a->outer = (int)outer;
	a->axis = (int)data->dim[axis];
	a->n_idx = (int)n_idx;
	a->code = cl_code(p, idx->elem);
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_IN, 1);
	cl_lower_buf(l, REF_OUT, 0);
	l->groups[0] = cl_rows_share(p->s, batch * outer * n_idx, inner, &a->r);
	return 0;
}

int cl_lower_range(struct cl_lowering *p)
{
	const struct tensor *out = &p->out[0];
	if (p->in[0].elem == EL_F64 || p->in[2].elem == EL_F64 || out->elem == EL_F64)
		return cl_lower_refuse(p, "Range of f64 is not supported");
	struct cl_launch *l = cl_lower_launch(p, K_range);
	l->args.range = (struct range_args){.n = (int)tensor_elements(out),
					    .start = cl_code(p, p->in[0].elem),
					    .step = cl_code(p, p->in[2].elem),
					    .to = cl_code(p, out->elem)};
	cl_lower_buf(l, REF_IN, 0);
	cl_lower_buf(l, REF_IN, 2);
	cl_lower_buf(l, REF_OUT, 0);
	return 0;
}
