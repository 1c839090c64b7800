/* opattr.c - attributes of a node from the strings of the IR into struct op.
 * The operator's defaults apply to what is absent; unknown attributes are
 * ignored, values that make no sense are errors. */
#include "op/opimpl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int bad(const struct op *op, const char *key, const char *value, struct err *e)
{
	char text[80];
	err_escape(text, sizeof text, value, strlen(value));
	return err_set(e, ST_INPUT, "attribute '%s' of %s has the value '%s'", key,
		       op_info(op->kind)->type, text);
}

static int get_int(const struct op *op, const char *key, int64_t lo, int64_t *out, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	if (!s)
		return 0;
	char *end;
	long long x = strtoll(s, &end, 10);
	while (*end == ' ')
		end++;
	if (end == s || *end || x < lo || x > INT32_MAX)
		return bad(op, key, s, e);
	*out = x;
	return 0;
}

static int get_real(const struct op *op, const char *key, double *out, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	if (!s)
		return 0;
	char *end;
	double x = strtod(s, &end);
	while (*end == ' ')
		end++;
	if (end == s || *end || isnan(x))
		return bad(op, key, s, e);
	*out = x;
	return 0;
}

static int get_float(const struct op *op, const char *key, float *out, struct err *e)
{
	double x = (double)*out;
	if (get_real(op, key, &x, e))
		return -1;
	*out = (float)x;
	return 0;
}

static int get_bool(const struct op *op, const char *key, bool *out, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	if (!s)
		return 0;
	if (!strcasecmp(s, "true") || !strcmp(s, "1"))
		*out = true;
	else if (!strcasecmp(s, "false") || !strcmp(s, "0"))
		*out = false;
	else
		return bad(op, key, s, e);
	return 0;
}

/* Index of the attribute's value among words separated by '|'. */
static int get_choice(const struct op *op, const char *key, const char *words, int *out,
		      struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	if (!s)
		return 0;
	size_t n = strlen(s);
	int i = 0;
	for (const char *w = words; ; w++, i++) {
		size_t len = strcspn(w, "|");
		if (len == n && !strncasecmp(w, s, n)) {
			*out = i;
			return 0;
		}
		w += len;
		if (!*w)
			return bad(op, key, s, e);
	}
}

/* Up to max integers separated by commas and blanks; *n = -1 when absent. */
static int get_list(const struct op *op, const char *key, int64_t lo, int max, int64_t *out, int *n,
		    struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key), *p = s;
	*n = -1;
	if (!s)
		return 0;
	*n = 0;
	for (p += strspn(p, ", "); *p; p += strspn(p, ", ")) {
		char *end;
		long long x = strtoll(p, &end, 10);
		if (end == p || (*end && *end != ',' && *end != ' ') || *n == max || x < lo ||
		    x > INT32_MAX)
			return bad(op, key, s, e);
		out[(*n)++] = x;
		p = end;
	}
	return 0;
}

static int get_elem(const struct op *op, const char *key, enum elem *out, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	if (!s)
		return 0;
	int t = elem_parse(s);
	if (t < 0)
		return bad(op, key, s, e);
	*out = (enum elem)t;
	return 0;
}

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
	return get_elem(op, "variable_type", &op->a.variable.elem, e);
}

int attr_act(struct op *op, struct err *e)
{
	op->a.act.alpha = 1;
	op->a.act.lo = -INFINITY;
	op->a.act.hi = INFINITY;
	int gelu = GELU_ERF, round = ROUND_HALF_EVEN;
	bool negative = true, positive = true;
	if (get_float(op, "alpha", &op->a.act.alpha, e) || get_float(op, "min", &op->a.act.lo, e) ||
	    get_float(op, "max", &op->a.act.hi, e) ||
	    get_choice(op, "approximation_mode", "erf|tanh", &gelu, e) ||
	    (op->kind == OP_ROUND &&
	     get_choice(op, "mode", "half_to_even|half_away_from_zero", &round, e)) ||
	    get_bool(op, "detect_negative", &negative, e) ||
	    get_bool(op, "detect_positive", &positive, e))
		return -1;
	op->a.act.gelu = (enum op_gelu)gelu;
	op->a.act.round = (enum op_round)round;
	if (op->kind == OP_IS_INF) {            /* which infinities count */
		op->a.act.lo = negative;
		op->a.act.hi = positive;
	}
	return 0;
}

int attr_convert(struct op *op, struct err *e)
{
	op->a.convert.to = op->kind == OP_CONVERT || op->kind == OP_RANGE ? EL_DYNAMIC : EL_I64;
	return get_elem(op, op->kind == OP_CONVERT ? "destination_type" : "output_type",
			&op->a.convert.to, e);
}

int attr_broadcast(struct op *op, struct err *e)
{
	int mode = BCAST_NUMPY;
	op->a.broadcast.axis = -1;
	const char *key = op->kind == OP_BROADCAST ? "mode" : "auto_broadcast";
	if (get_choice(op, key, "numpy|none|pdpd|explicit|bidirectional", &mode, e) ||
	    get_int(op, "axis", INT32_MIN, &op->a.broadcast.axis, e))
		return -1;
	op->a.broadcast.bcast = (enum op_bcast)mode;
	return 0;
}

int attr_quantize(struct op *op, struct err *e)
{
	int mode = BCAST_NUMPY;
	op->a.quantize.levels = 256;
	if (get_int(op, "levels", 2, &op->a.quantize.levels, e) ||
	    get_choice(op, "auto_broadcast", "numpy|none|pdpd", &mode, e))
		return -1;
	op->a.quantize.bcast = (enum op_bcast)mode;
	return 0;
}

int attr_reduce(struct op *op, struct err *e)
{
	return get_bool(op, "keep_dims", &op->a.reduce.keep_dims, e);
}

int attr_matmul(struct op *op, struct err *e)
{
	return get_bool(op, "transpose_a", &op->a.matmul.transpose_a, e) ||
	       get_bool(op, "transpose_b", &op->a.matmul.transpose_b, e) ? -1 : 0;
}

int attr_attention(struct op *op, struct err *e)
{
	return get_bool(op, "causal", &op->a.attention.causal, e);
}

/* One attribute list of a window: `n` values for each spatial dim, `fill` when absent. */
static int window_list(struct op *op, const char *key, int64_t lo, int64_t fill, int64_t *dst,
		       struct err *e)
{
	struct op_window *w = &op->a.window;
	int n;
	for (int i = 0; i < OP_MAX_SPATIAL; i++)
		dst[i] = fill;
	if (get_list(op, key, lo, OP_MAX_SPATIAL, dst, &n, e))
		return -1;
	if (n <= 0)
		return 0;
	if (w->n_spatial && w->n_spatial != n)
		return err_set(e, ST_INPUT, "attribute '%s' of %s has %d values, not %d", key,
			       op_info(op->kind)->type, n, w->n_spatial);
	w->n_spatial = n;
	return 0;
}

int attr_window(struct op *op, struct err *e)
{
	struct op_window *w = &op->a.window;
	int auto_pad = PAD_EXPLICIT, rounding = ROUND_FLOOR;
	w->grouped = op->kind == OP_GROUP_CONVOLUTION || op->kind == OP_GROUP_CONVOLUTION_BACKPROP;
	w->transposed = op->kind == OP_CONVOLUTION_BACKPROP ||
			op->kind == OP_GROUP_CONVOLUTION_BACKPROP;
	if (window_list(op, "strides", 1, 1, w->stride, e) ||
	    window_list(op, "dilations", 1, 1, w->dilation, e) ||
	    window_list(op, "pads_begin", INT32_MIN, 0, w->pad_begin, e) ||
	    window_list(op, "pads_end", INT32_MIN, 0, w->pad_end, e) ||
	    window_list(op, "kernel", 1, 1, w->kernel, e) ||
	    window_list(op, "output_padding", 0, 0, w->output_padding, e) ||
	    get_choice(op, "auto_pad", "explicit|same_upper|same_lower|valid|notset", &auto_pad,
		       e) ||
	    get_choice(op, "rounding_type", "floor|ceil|ceil_torch", &rounding, e) ||
	    get_bool(op, "exclude-pad", &w->exclude_pad, e) ||
	    get_int(op, "axis", INT32_MIN, &w->axis, e))
		return -1;
	w->auto_pad = auto_pad == 4 ? PAD_EXPLICIT : (enum auto_pad)auto_pad;
	w->rounding = (enum op_rounding)rounding;
	return 0;
}

int attr_axis(struct op *op, struct err *e)
{
	op->a.axis.axis = op->kind == OP_SOFTMAX || op->kind == OP_LOG_SOFTMAX ? 1 : 0;
	return get_int(op, "axis", INT32_MIN, &op->a.axis.axis, e) ||
	       get_int(op, "batch_dims", INT32_MIN, &op->a.axis.batch_dims, e) ||
	       get_bool(op, "exclusive", &op->a.axis.exclusive, e) ||
	       get_bool(op, "reverse", &op->a.axis.reverse, e) ? -1 : 0;
}

int attr_split(struct op *op, struct err *e)
{
	op->a.split.n = op->n_out;
	if (get_int(op, "num_splits", 1, &op->a.split.n, e))
		return -1;
	if (op->a.split.n != op->n_out)
		return err_set(e, ST_INPUT, "Split has %d outputs, not num_splits = %lld",
			       op->n_out, (long long)op->a.split.n);
	return 0;
}

int attr_norm(struct op *op, struct err *e)
{
	op->a.norm.eps = op->kind == OP_MVN ? 1e-9 : 1e-5;
	op->a.norm.normalize_variance = true;
	op->a.norm.groups = 1;
	int mode = 0;
	const char *modes = op->kind == OP_NORMALIZE_L2 ? "add|max" : "inside_sqrt|outside_sqrt";
	if (get_real(op, "eps", &op->a.norm.eps, e) ||
	    get_real(op, "epsilon", &op->a.norm.eps, e) ||
	    get_bool(op, "normalize_variance", &op->a.norm.normalize_variance, e) ||
	    get_bool(op, "across_channels", &op->a.norm.across_channels, e) ||
	    get_int(op, "num_groups", 1, &op->a.norm.groups, e) ||
	    get_choice(op, "eps_mode", modes, &mode, e))
		return -1;
	op->a.norm.eps_inside_sqrt = mode == 0;
	if (op->kind == OP_MVN && op->version < 6)
		op->a.norm.eps_inside_sqrt = true;
	return 0;
}

int attr_lrn(struct op *op, struct err *e)
{
	op->a.lrn.alpha = 1e-4;
	op->a.lrn.beta = 0.75;
	op->a.lrn.bias = 1;
	op->a.lrn.size = 5;
	return get_real(op, "alpha", &op->a.lrn.alpha, e) ||
			       get_real(op, "beta", &op->a.lrn.beta, e) ||
			       get_real(op, "bias", &op->a.lrn.bias, e) ||
			       get_int(op, "size", 1, &op->a.lrn.size, e)
		       ? -1
		       : 0;
}

int attr_reshape(struct op *op, struct err *e)
{
	return get_bool(op, "special_zero", &op->a.reshape.special_zero, e);
}

int attr_pad(struct op *op, struct err *e)
{
	int mode = PADM_CONSTANT;
	if (get_choice(op, "pad_mode", "constant|edge|reflect|symmetric", &mode, e))
		return -1;
	op->a.pad.mode = (enum op_pad_mode)mode;
	return 0;
}

static int get_mask(struct op *op, const char *key, uint64_t *mask, struct err *e)
{
	int64_t bits[TENSOR_DIMS * 2];
	int n;
	*mask = 0;
	if (get_list(op, key, 0, TENSOR_DIMS * 2, bits, &n, e))
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
	if (get_int(op, "axis", INT32_MIN, &op->a.topk.axis, e) ||
	    get_choice(op, "mode", "max|min", &mode, e) ||
	    get_choice(op, "sort", "none|value|index", &sort, e) ||
	    get_bool(op, "stable", &op->a.topk.stable, e) ||
	    get_elem(op, "index_element_type", &op->a.topk.index, e))
		return -1;
	op->a.topk.max = mode == 0;
	op->a.topk.by_index = sort == 2;
	return 0;
}

int attr_scatter(struct op *op, struct err *e)
{
	int r = SCATTER_NONE;
	op->a.scatter.use_init = true;
	if (get_choice(op, "reduction", "none|sum|prod|min|max|mean|sub", &r, e) ||
	    get_bool(op, "use_init_val", &op->a.scatter.use_init, e))
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
	if (get_int(op, "block_size", 1, &op->a.block.block, e) ||
	    get_int(op, "axis", INT32_MIN, &op->a.block.axis, e) ||
	    get_int(op, "group", 1, &op->a.block.groups, e) ||
	    get_choice(op, "mode", "blocks_first|depth_first", &mode, e))
		return -1;
	op->a.block.depth_first = mode == 1;
	return 0;
}

int attr_onehot(struct op *op, struct err *e)
{
	op->a.onehot.axis = -1;
	op->a.onehot.seq_axis = 1;
	return get_int(op, "axis", INT32_MIN, &op->a.onehot.axis, e) ||
	       get_int(op, "seq_axis", INT32_MIN, &op->a.onehot.seq_axis, e) ||
	       get_int(op, "batch_axis", INT32_MIN, &op->a.onehot.batch_axis, e) ? -1 : 0;
}

/* "sigmoid,tanh,tanh" into act[3]. */
static int cell_activations(struct op *op, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, "activations");
	int n = 0;
	for (const char *p = s ? s : ""; *(p += strspn(p, ", ")); n++) {
		size_t len = strcspn(p, ", ");
		enum op_activation act = len == 7 && !strncasecmp(p, "sigmoid", 7) ? ACT_SIGMOID :
			len == 4 && !strncasecmp(p, "tanh", 4) ? ACT_TANH :
			len == 4 && !strncasecmp(p, "relu", 4) ? ACT_RELU : ACT_NONE;
		if (act == ACT_NONE || n == 3)
			return bad(op, "activations", s, e);
		op->a.cell.act[n] = act;
		p += len;
	}
	return 0;
}

int attr_cell(struct op *op, struct err *e)
{
	struct op_cell *c = &op->a.cell;
	int direction = 0;
	bool rnn = op->kind == OP_RNN_CELL || op->kind == OP_RNN_SEQUENCE;
	c->act[0] = rnn ? ACT_TANH : ACT_SIGMOID;
	c->act[1] = c->act[2] = ACT_TANH;
	if (get_int(op, "hidden_size", 1, &c->hidden, e) || get_float(op, "clip", &c->clip, e) ||
	    get_bool(op, "linear_before_reset", &c->linear_before_reset, e) ||
	    get_bool(op, "input_forget", &c->input_forget, e) ||
	    get_choice(op, "direction", "forward|reverse|bidirectional", &direction, e) ||
	    cell_activations(op, e))
		return -1;
	c->reverse = direction == 1;
	c->bidirectional = direction == 2;
	return 0;
}

int attr_resize(struct op *op, struct err *e)
{
	struct op_resize *r = &op->a.resize;
	int mode = INTERP_NEAREST, coord = COORD_HALF_PIXEL, nearest = NEAREST_PREFER_FLOOR,
	    shape = 1;
	int nb, ne;
	r->cube_coeff = -0.75;
	if (get_choice(op, "mode", "nearest|linear|linear_onnx|cubic", &mode, e) ||
	    get_choice(
		    op, "coordinate_transformation_mode",
		    "half_pixel|pytorch_half_pixel|asymmetric|tf_half_pixel_for_nn|align_corners",
		    &coord, e) ||
	    get_choice(op, "nearest_mode", "round_prefer_floor|round_prefer_ceil|floor|ceil|simple",
		       &nearest, e) ||
	    get_choice(op, "shape_calculation_mode", "scales|sizes", &shape, e) ||
	    get_bool(op, "antialias", &r->antialias, e) ||
	    get_real(op, "cube_coeff", &r->cube_coeff, e) ||
	    get_list(op, "pads_begin", 0, TENSOR_DIMS, r->pad_begin, &nb, e) ||
	    get_list(op, "pads_end", 0, TENSOR_DIMS, r->pad_end, &ne, e))
		return -1;
	r->mode = (enum op_interp)mode;
	r->coord = (enum op_coord)coord;
	r->nearest = (enum op_nearest)nearest;
	r->by_sizes = shape == 1;
	return 0;
}
