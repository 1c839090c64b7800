/* opattr.c - attributes of element-wise operators, sources and movement.  The operator's
 * defaults apply to what is absent; unknown attributes are ignored, values that
 * make no sense are errors. */
#include "op/attr_get.h"
#include "op/opimpl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int attr_none(struct op *op, struct err *e)
{
	(void)op, (void)e;
	return 0;
}

int attr_variable(struct op *op, struct err *e)
{
	op->a.variable.elem = EL_DYNAMIC;
	op->a.variable.variable = graph_attr(op->g, op->v, "variable_id");
	if (!op->a.variable.variable)
		op->a.variable.variable = "";
	return op_get_elem(op, "variable_type", &op->a.variable.elem, e);
}

int attr_act(struct op *op, struct err *e)
{
	op->a.act.alpha = 1;
	op->a.act.lo = -INFINITY;
	op->a.act.hi = INFINITY;
	int gelu = GELU_ERF, round = ROUND_HALF_EVEN;
	bool negative = true, positive = true;
	if (op_get_float(op, "alpha", &op->a.act.alpha, e) ||
	    op_get_float(op, "min", &op->a.act.lo, e) ||
	    op_get_float(op, "max", &op->a.act.hi, e) ||
	    op_get_choice(op, "approximation_mode", "erf|tanh", &gelu, e) ||
	    (op->kind == OP_ROUND &&
	     op_get_choice(op, "mode", "half_to_even|half_away_from_zero", &round, e)) ||
	    op_get_bool(op, "detect_negative", &negative, e) ||
	    op_get_bool(op, "detect_positive", &positive, e))
		return -1;
	op->a.act.gelu = (enum op_gelu)gelu;
	op->a.act.round = (enum op_round)round;
	if (op->kind == OP_IS_INF) { /* which infinities count */
		op->a.act.lo = negative;
		op->a.act.hi = positive;
	}
	return 0;
}

int attr_convert(struct op *op, struct err *e)
{
	bool fake = op->kind == OP_FAKE_CONVERT, convert = fake || op->kind == OP_CONVERT;
	op->a.convert.to = fake ? EL_F8E4M3 : convert || op->kind == OP_RANGE ? EL_DYNAMIC : EL_I64;
	if (op_get_elem(op, convert ? "destination_type" : "output_type", &op->a.convert.to, e))
		return -1;
	if (fake && op->a.convert.to != EL_F8E4M3 && op->a.convert.to != EL_F8E5M2)
		return err_set(e, ST_INPUT, "FakeConvert to %s", elem_name(op->a.convert.to));
	return 0;
}

int attr_inverse(struct op *op, struct err *e)
{
	return op_get_bool(op, "adjoint", &op->a.inverse.adjoint, e);
}

/* Files name the axis of pdpd so; `axis` is what the specification calls it.  Without either
 * OpenVINO reads 0. */
static int pdpd_axis(struct op *op, enum op_bcast mode, int64_t *axis, struct err *e)
{
	*axis = mode == BCAST_PDPD && op->kind != OP_BROADCAST ? 0 : -1;
	return op_get_int(op, "axis", INT32_MIN, axis, e) ||
			       op_get_int(op, "auto_broadcast.auto_broadcast_axis", INT32_MIN, axis,
					  e)
		       ? -1
		       : 0;
}

int attr_broadcast(struct op *op, struct err *e)
{
	int mode = BCAST_NUMPY;
	const char *key = op->kind == OP_BROADCAST ? "mode" : "auto_broadcast";
	if (op_get_choice(op, key, "numpy|none|pdpd|explicit|bidirectional", &mode, e))
		return -1;
	op->a.broadcast.bcast = (enum op_bcast)mode;
	op->a.broadcast.floor = op->kind == OP_DIVIDE;
	if (op->kind == OP_DIVIDE && op_get_bool(op, "m_pythondiv", &op->a.broadcast.floor, e))
		return -1;
	return pdpd_axis(op, op->a.broadcast.bcast, &op->a.broadcast.axis, e);
}

int attr_quantize(struct op *op, struct err *e)
{
	int mode = BCAST_NUMPY;
	op->a.quantize.levels = 256;
	if (op_get_int(op, "levels", 2, &op->a.quantize.levels, e) ||
	    op_get_choice(op, "auto_broadcast", "numpy|none|pdpd", &mode, e))
		return -1;
	op->a.quantize.bcast = (enum op_bcast)mode;
	return pdpd_axis(op, op->a.quantize.bcast, &op->a.quantize.axis, e);
}

int attr_axis(struct op *op, struct err *e)
{
	op->a.axis.axis = op->kind == OP_SOFTMAX || op->kind == OP_LOG_SOFTMAX ? 1 : 0;
	return op_get_int(op, "axis", INT32_MIN, &op->a.axis.axis, e) ||
			       op_get_int(op, "batch_dims", INT32_MIN, &op->a.axis.batch_dims, e) ||
			       op_get_bool(op, "exclusive", &op->a.axis.exclusive, e) ||
			       op_get_bool(op, "reverse", &op->a.axis.reverse, e)
		       ? -1
		       : 0;
}

int attr_split(struct op *op, struct err *e)
{
	op->a.split.n = op->n_out;
	if (op_get_int(op, "num_splits", 1, &op->a.split.n, e))
		return -1;
	if (op->a.split.n != op->n_out)
		return err_set(e, ST_INPUT, "Split has %d outputs, not num_splits = %lld",
			       op->n_out, (long long)op->a.split.n);
	return 0;
}

int attr_reshape(struct op *op, struct err *e)
{
	return op_get_bool(op, "special_zero", &op->a.reshape.special_zero, e);
}

int attr_pad(struct op *op, struct err *e)
{
	int mode = PADM_CONSTANT;
	if (op_get_choice(op, "pad_mode", "constant|edge|reflect|symmetric", &mode, e))
		return -1;
	op->a.pad.mode = (enum op_pad_mode)mode;
	return 0;
}

static int get_mask(struct op *op, const char *key, uint64_t *mask, struct err *e)
{
	int64_t bits[TENSOR_DIMS * 2];
	int n;
	*mask = 0;
	if (op_get_list(op, key, 0, TENSOR_DIMS * 2, bits, &n, e))
		return -1;
	for (int i = 0; i < n; i++)
		*mask |= (uint64_t)(bits[i] != 0) << i;
	return 0;
}

int attr_slice(struct op *op, struct err *e)
{
	struct op_slice *s = &op->a.slice;
	return get_mask(op, "begin_mask", &s->begin_mask, e) ||
			       get_mask(op, "end_mask", &s->end_mask, e) ||
			       get_mask(op, "new_axis_mask", &s->new_axis_mask, e) ||
			       get_mask(op, "shrink_axis_mask", &s->shrink_axis_mask, e) ||
			       get_mask(op, "ellipsis_mask", &s->ellipsis_mask, e)
		       ? -1
		       : 0;
}

int attr_topk(struct op *op, struct err *e)
{
	int mode = 0, sort = 1;
	op->a.topk.axis = -1;
	op->a.topk.index = EL_I32;
	if (op_get_int(op, "axis", INT32_MIN, &op->a.topk.axis, e) ||
	    op_get_choice(op, "mode", "max|min", &mode, e) ||
	    op_get_choice(op, "sort", "none|value|index", &sort, e) ||
	    op_get_bool(op, "stable", &op->a.topk.stable, e) ||
	    op_get_elem(op, "index_element_type", &op->a.topk.index, e))
		return -1;
	op->a.topk.max = mode == 0;
	op->a.topk.by_index = sort == 2;
	return 0;
}

int attr_scatter(struct op *op, struct err *e)
{
	int r = SCATTER_NONE;
	op->a.scatter.use_init = true;
	if (op_get_choice(op, "reduction", "none|sum|prod|min|max|mean|sub", &r, e) ||
	    op_get_bool(op, "use_init_val", &op->a.scatter.use_init, e))
		return -1;
	op->a.scatter.reduction = (enum op_scatter)r;
	return 0;
}

int attr_block(struct op *op, struct err *e)
{
	int mode = 0;
	op->a.block.block = 1;
	op->a.block.axis = 1;
	op->a.block.groups = 1;
	if (op_get_int(op, "block_size", 1, &op->a.block.block, e) ||
	    op_get_int(op, "axis", INT32_MIN, &op->a.block.axis, e) ||
	    op_get_int(op, "group", 1, &op->a.block.groups, e) ||
	    op_get_choice(op, "mode", "blocks_first|depth_first", &mode, e))
		return -1;
	op->a.block.depth_first = mode == 1;
	return 0;
}

int attr_onehot(struct op *op, struct err *e)
{
	int negative = 0; /* indices: what they mean */
	op->a.onehot.axis = -1;
	op->a.onehot.seq_axis = 1;
	if (op_get_choice(op, "negative_indices_mode", "ignore_negative|normalize", &negative, e))
		return -1;
	op->a.onehot.wrap = negative == 1;
	return op_get_int(op, "axis", INT32_MIN, &op->a.onehot.axis, e) ||
			       op_get_int(op, "seq_axis", INT32_MIN, &op->a.onehot.seq_axis, e) ||
			       op_get_int(op, "batch_axis", INT32_MIN, &op->a.onehot.batch_axis, e)
		       ? -1
		       : 0;
}
