/* rules.c - the table, and what rules share. */
#include "split/rules_impl.h"

#include <string.h>

/* Operator, rule.  A rule is a function of rules_*.c; what has none is never cut. */
#define RULES(X) \
	/* windows: batch and channels pass, rows with halos; convolutions also by output channels or \
	 * groups (weights cut) and by input channels (SPLIT_SUM) */ \
	X(CONVOLUTION, convolution) \
	X(GROUP_CONVOLUTION, convolution) \
	X(CONVOLUTION_BACKPROP, transposed) \
	X(GROUP_CONVOLUTION_BACKPROP, transposed) \
	X(MAX_POOL, pool) \
	X(AVG_POOL, pool) \
	X(ADAPTIVE_AVG_POOL, adaptive_pool) \
	/* products: columns, rows, matrices apart, what is summed over */ \
	X(MATMUL, matmul) \
	X(ATTENTION, attention) \
	/* one axis is computed as a whole, others pass */ \
	X(SOFTMAX, one_axis) \
	X(LOG_SOFTMAX, one_axis) \
	X(CUM_SUM, cum_sum) \
	X(MVN, mvn) \
	X(RMS, last_axis) \
	X(GROUP_NORM, group_norm) \
	X(LRN, some_axes) \
	X(NORMALIZE_L2, some_axes) \
	X(REDUCE_L1, reduce) \
	X(REDUCE_L2, reduce) \
	X(REDUCE_MAX, reduce) \
	X(REDUCE_MEAN, reduce) \
	X(REDUCE_MIN, reduce) \
	X(REDUCE_PROD, reduce) \
	X(REDUCE_SUM, reduce) \
	X(REDUCE_LOGICAL_AND, reduce) \
	X(REDUCE_LOGICAL_OR, reduce) \
	X(TOP_K, one_axis) \
	/* recurrent: batch, and both directions of a sequence */ \
	X(LSTM_SEQUENCE, sequence) \
	X(GRU_SEQUENCE, sequence) \
	X(RNN_SEQUENCE, sequence) \
	X(LSTM_CELL, cell) \
	X(GRU_CELL, cell) \
	X(RNN_CELL, cell) \
	/* movement: axes go elsewhere */ \
	X(DEPTH_TO_SPACE, depth_to_space) \
	X(SPACE_TO_DEPTH, space_to_depth) \
	X(SHUFFLE_CHANNELS, shuffle_channels) \
	X(INTERPOLATE, interpolate) \
	X(TRANSPOSE, transpose) \
	X(RESHAPE, reshape) \
	X(SQUEEZE, reshape) \
	X(UNSQUEEZE, reshape) \
	X(CONCAT, concat) \
	X(SPLIT, split) \
	X(VARIADIC_SPLIT, split) \
	X(GATHER, gather) \
	X(SCATTER_UPDATE, scatter) \
	X(SCATTER_ELEMENTS_UPDATE, scatter_elements) \
	X(SCATTER_ND_UPDATE, scatter_nd) \
	X(SLICE, slice) \
	X(STRIDED_SLICE, slice) \
	X(PAD, pad) \
	X(BROADCAST, broadcast) \
	X(TILE, tile) \
	/* caches: a variable for each part */ \
	X(READ_VALUE, variable) \
	X(ASSIGN, variable)

typedef bool rule_fn(struct split_facts *f, uint32_t v, struct split_part *p);

static rule_fn *rule_of(enum op_kind kind)
{
	switch (kind) {
#define X(KIND, rule) \
	case OP_##KIND: return split_rule_##rule;
		RULES(X)
#undef X
	default: /* the rest is cut by what it is, or not at all */ break;
	}
	switch (op_info(kind)->category) {
	case OPC_UNARY:
	case OPC_BINARY:
	case OPC_COMPARE:
	case OPC_TERNARY: return split_rule_elementwise;
	default: return NULL;
	}
}

static uint32_t n_inputs(const struct split_facts *f, uint32_t v)
{
	return f->g->in_ptr[v + 1] - f->g->in_ptr[v];
}

bool split_rule(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor t;
	p->unit = 1;
	p->n_edits = p->n_ints = 0;
	p->ints_input = p->ints_axis = p->addend = -1;
	for (uint32_t i = 0; i < n_inputs(f, v); i++)
		p->need[i] = (struct split_need){.axis = SPLIT_WHOLE};
	if (f->op[v].kind == OP_UNKNOWN)
		return false;
	rule_fn *rule = rule_of(f->op[v].kind);
	if (!rule || p->lo < 0 || p->hi <= p->lo || p->hi > split_extent(f, v, p->axis))
		return false;
	/* All outputs are cut alike. */
	for (uint32_t o = 0; o < f->g->out_ptr[v + 1] - f->g->out_ptr[v]; o++) {
		bool found = split_output_open(f, v, o, &t);
		if (!found || (p->axis >= 0 && ((uint32_t)p->axis >= t.rank || t.dim[p->axis] < 0)))
			return false;
	}
	return rule(f, v, p);
}

bool split_is_apart(const struct split_facts *f, uint32_t v, int axis)
{
	return axis == SPLIT_SUM || f->op[v].kind == OP_READ_VALUE || f->op[v].kind == OP_ASSIGN;
}

static int64_t closed(int64_t dim)
{
	return dim < 0 ? 0 : dim;
}

int64_t split_extent(struct split_facts *f, uint32_t v, int axis)
{
	struct tensor t;
	const struct op *op = &f->op[v];
	if (axis >= 0)
		return split_output_open(f, v, 0, &t) && (uint32_t)axis < t.rank
			       ? closed(t.dim[axis])
			       : 0;
	if (axis == SPLIT_OUTPUTS)
		return op->kind == OP_SPLIT ? op->n_out : 0;
	if (op->kind == OP_SCATTER_ND_UPDATE && op->a.scatter.reduction == SCATTER_SUM &&
	    split_input(f, v, 1, &t) && t.rank == 2)
		return t.dim[0];
	if (op->kind == OP_MATMUL && split_input_open(f, v, 0, &t) && t.rank >= 2)
		return closed(t.dim[t.rank - (op->a.matmul.transpose_a ? 2 : 1)]);
	bool summed = op->kind == OP_CONVOLUTION || op->kind == OP_CONVOLUTION_BACKPROP;
	if (summed && split_input(f, v, 0, &t) && t.rank >= 3)
		return t.dim[1];
	return 0;
}

/* ---- names ---- */

const char *const split_axis_names[AXIS_COUNT + 1] = {
	"rows", "width", "channels", "groups", "columns", "tokens", "heads", "sum", "batch", NULL};

int split_axis_kind(const struct split_facts *f, uint32_t v, int axis)
{
	struct tensor t;
	enum op_category c = op_info(f->op[v].kind)->category;
	if (c == OPC_CONV) {
		if (axis == SPLIT_SUM)
			return AXIS_SUM;
		if (axis == 1)
			return f->op[v].a.window.grouped ? AXIS_GROUPS : AXIS_CHANNELS;
		return axis == 0 ? AXIS_BATCH : axis == 2 ? AXIS_ROWS : AXIS_WIDTH;
	}
	if (c != OPC_MATMUL || !split_output_open(f, v, 0, &t))
		return -1;
	if (axis == SPLIT_SUM)
		return AXIS_SUM;
	if (axis == (int)t.rank - 1)
		return AXIS_COLUMNS;
	if (axis == (int)t.rank - 2)
		return AXIS_TOKENS;
	return axis == 0 && t.rank > 2 && t.dim[1] != 1 && t.rank > 3 ? AXIS_BATCH : AXIS_HEADS;
}
