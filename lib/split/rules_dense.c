/* rules_dense.c - products, attention, element-wise operators, and what computes along some axes. */
#include "split/rules_impl.h"

#include <stdio.h>

#include "op/slice.h"

bool split_rule_elementwise(struct split_facts *f, uint32_t v, struct split_part *p)
{
	const struct op *op = &f->op[v];
	const struct op_info *info = op_info(op->kind);
	struct tensor out, slope;
	uint32_t n = f->g->in_ptr[v + 1] - f->g->in_ptr[v];
	bool broadcasts =
		info->category != OPC_UNARY && op->kind != OP_PRELU && op->kind != OP_FAKE_CONVERT;
	enum op_bcast mode = op->kind == OP_FAKE_QUANTIZE ? op->a.quantize.bcast
			     : broadcasts                 ? op->a.broadcast.bcast
							  : BCAST_NUMPY;
	if (!split_output_open(f, v, 0, &out) || (mode != BCAST_NUMPY && mode != BCAST_NONE))
		return false;
	if (op->kind == OP_PRELU && (!split_input_open(f, v, 1, &slope) ||
				     (slope.rank == 1 && out.rank > 1 && slope.dim[0] < 0)))
		return false;
	if (op->kind == OP_PRELU && slope.rank == 1 && out.rank > 1 &&
	    slope.dim[0] != 1) { /* one for each channel */
		split_read(p, 0, p->axis, p->lo, p->hi);
		if (p->axis == 1)
			split_read(p, 1, 0, p->lo, p->hi);
		return true;
	}
	for (uint32_t i = 0; i < n; i++) {
		bool by_value = i > 0 && (info->scalars >> i & 1 || op->kind == OP_CONVERT_LIKE);
		if (!by_value && !split_read_broadcast(f, v, p, i, out.rank))
			return false;
	}
	return true;
}

bool split_rule_matmul(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor a, b, out;
	const struct op *op = &f->op[v];
	if (!split_input_open(f, v, 0, &a) || !split_input_open(f, v, 1, &b) ||
	    !split_output_open(f, v, 0, &out) || a.rank < 2 || b.rank < 2)
		return false;
	int ra = (int)a.rank, rb = (int)b.rank, r = (int)out.rank;
	bool ta = op->a.matmul.transpose_a, tb = op->a.matmul.transpose_b;
	if (p->axis == SPLIT_SUM) {
		split_read(p, 0, ra - (ta ? 2 : 1), p->lo, p->hi);
		split_read(p, 1, rb - (tb ? 1 : 2), p->lo, p->hi);
		return true;
	}
	if (p->axis == r - 1)
		split_read(p, 1, rb - (tb ? 2 : 1), p->lo, p->hi);
	else if (p->axis == r - 2)
		split_read(p, 0, ra - (ta ? 1 : 2), p->lo, p->hi);
	else
		return split_read_broadcast(f, v, p, 0, out.rank) &&
		       split_read_broadcast(f, v, p, 1, out.rank);
	return true;
}

/* Scaled dot-product attention: Q, K, V, mask, scale.  With `causal` the mask is aligned to the upper left corner, so a part
 * of the queries would see other keys. */
bool split_rule_attention(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor q, out, mask;
	uint32_t n = f->g->in_ptr[v + 1] - f->g->in_ptr[v];
	if (!split_input_open(f, v, 0, &q) || !split_output_open(f, v, 0, &out) || n > 5)
		return false;
	int r = (int)out.rank;
	bool has_mask = n > 3 && graph_source(f->g, v, 3) != GRAPH_NONE;
	if (has_mask && !split_input_open(f, v, 3, &mask))
		return false;
	bool masked = has_mask && mask.rank > 0;
	if (p->axis == r - 1) {
		struct tensor value;
		if (!split_input_open(f, v, 2, &value))
			return false;
		split_read(p, 2, (int)value.rank - 1, p->lo, p->hi);
		return true;
	}
	if (p->axis == r - 2) {
		if (f->op[v].a.attention.causal)
			return false;
		split_read(p, 0, (int)q.rank - 2, p->lo, p->hi);
	} else {
		for (uint32_t i = 0; i < 3; i++)
			if (!split_read_broadcast(f, v, p, i, out.rank))
				return false;
	}
	return !masked || split_read_broadcast(f, v, p, 3, out.rank);
}

/* ---- some axes are computed as a whole ---- */

/* Input 0 has the output's shape. */
static bool pass_axis(struct split_part *p)
{
	split_read(p, 0, p->axis, p->lo, p->hi);
	return true;
}

bool split_rule_one_axis(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x;
	const struct op *op = &f->op[v];
	int64_t of = op->kind == OP_TOP_K ? op->a.topk.axis : op->a.axis.axis;
	if (!split_input_open(f, v, 0, &x))
		return false;
	int axis = op_axis(of, x.rank);
	return axis >= 0 && axis != p->axis && pass_axis(p);
}

bool split_rule_some_axes(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x;
	int64_t axes[TENSOR_DIMS];
	int n = split_ints(f, v, 1, axes, TENSOR_DIMS);
	if (n < 0 || !split_input_open(f, v, 0, &x))
		return false;
	for (int i = 0; i < n; i++)
		if (op_axis(axes[i], x.rank) == p->axis)
			return false;
	return pass_axis(p);
}

bool split_rule_mvn(struct split_facts *f, uint32_t v, struct split_part *p)
{
	if (f->g->in_ptr[v + 1] - f->g->in_ptr[v] > 1)
		return split_rule_some_axes(f, v, p);
	bool passes = p->axis == 0 || (p->axis == 1 && !f->op[v].a.norm.across_channels);
	return passes && pass_axis(p);
}

bool split_rule_reduce(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x;
	int64_t axes[TENSOR_DIMS];
	bool reduced[TENSOR_DIMS] = {false};
	int n = split_ints(f, v, 1, axes, TENSOR_DIMS);
	if (n < 0 || !split_input_open(f, v, 0, &x))
		return false;
	for (int i = 0; i < n; i++) {
		int axis = op_axis(axes[i], x.rank);
		if (axis < 0)
			return false;
		reduced[axis] = true;
	}
	/* The output's axes are the input's, but for those that are gone. */
	int out = 0;
	for (int axis = 0; axis < (int)x.rank; axis++) {
		if (reduced[axis] && !f->op[v].a.reduce.keep_dims)
			continue;
		if (out++ != p->axis)
			continue;
		if (reduced[axis])
			return false;
		split_read(p, 0, axis, p->lo, p->hi);
		return true;
	}
	return false;
}

bool split_rule_cum_sum(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x;
	int64_t axis = 0;
	if (!split_input_open(f, v, 0, &x) ||
	    (f->op[v].n_in > 1 && split_ints(f, v, 1, &axis, 1) != 1) ||
	    op_axis(axis, x.rank) == p->axis)
		return false;
	split_read(p, 0, p->axis, p->lo, p->hi);
	return true;
}

bool split_rule_last_axis(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x;
	return split_input_open(f, v, 0, &x) && p->axis != (int)x.rank - 1 && pass_axis(p);
}

/* Channels at borders of groups: fewer groups of as many. */
bool split_rule_group_norm(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x;
	char text[24];
	int64_t groups = f->op[v].a.norm.groups;
	if (!split_input(f, v, 0, &x) || groups < 1 || x.rank < 2 || p->axis > 1)
		return false;
	split_read(p, 0, p->axis, p->lo, p->hi);
	if (p->axis == 0)
		return true;
	p->unit = x.dim[1] / groups;
	if (p->unit == 0 || x.dim[1] % groups != 0 || !split_aligned(p, x.dim[1]))
		return false;
	snprintf(text, sizeof text, "%lld", (long long)((p->hi - p->lo) / p->unit));
	split_edit(p, "num_groups", text);
	split_read(p, 1, 0, p->lo, p->hi);
	split_read(p, 2, 0, p->lo, p->hi);
	return true;
}

/* ---- recurrent ---- */

/* X, states, for LSTM two of them, then for sequences their lengths, weights behind. */
bool split_rule_cell(struct split_facts *f, uint32_t v, struct split_part *p)
{
	if (p->axis != 0)
		return false;
	for (uint32_t i = 0; i < (f->op[v].kind == OP_LSTM_CELL ? 3u : 2u); i++)
		split_read(p, i, 0, p->lo, p->hi);
	return true;
}

bool split_rule_sequence(struct split_facts *f, uint32_t v, struct split_part *p)
{
	const struct op *op = &f->op[v];
	uint32_t lengths = op->kind == OP_LSTM_SEQUENCE ? 3 : 2;
	if (p->axis > 1 || op->n_in != (int)lengths + 4)
		return false;
	if (p->axis == 0) {
		for (uint32_t i = 0; i <= lengths; i++)
			split_read(p, i, 0, p->lo, p->hi);
		return true;
	}
	if (!op->a.cell.bidirectional)
		return false;
	for (uint32_t i = 1; i < lengths; i++)
		split_read(p, i, 1, p->lo, p->hi);
	for (uint32_t i = lengths + 1; i < lengths + 4; i++)
		split_read(p, i, 0, p->lo, p->hi);
	if (p->hi - p->lo == 1)
		split_edit(p, "direction", p->lo == 0 ? "forward" : "reverse");
	return true;
}
