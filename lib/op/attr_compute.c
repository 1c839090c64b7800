/* attr_compute.c - attributes of windows, products, normalisations, recurrent cells and
 * Interpolate.  The operator's defaults apply to what is absent; unknown attributes
 * are ignored, values that make no sense are errors. */
#include "op/attr_get.h"
#include "op/opimpl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int attr_reduce(struct op *op, struct err *e)
{
	return op_get_bool(op, "keep_dims", &op->a.reduce.keep_dims, e);
}

int attr_matmul(struct op *op, struct err *e)
{
	return op_get_bool(op, "transpose_a", &op->a.matmul.transpose_a, e) ||
			       op_get_bool(op, "transpose_b", &op->a.matmul.transpose_b, e)
		       ? -1
		       : 0;
}

int attr_attention(struct op *op, struct err *e)
{
	return op_get_bool(op, "causal", &op->a.attention.causal, e);
}

/* One attribute list of a window: `n` values for each spatial dim, `fill` when absent. */
static int window_list(struct op *op, const char *key, int64_t lo, int64_t fill, int64_t *dst,
		       struct err *e)
{
	struct op_window *w = &op->a.window;
	int n;
	for (int i = 0; i < OP_MAX_SPATIAL; i++)
		dst[i] = fill;
	if (op_get_list(op, key, lo, OP_MAX_SPATIAL, dst, &n, e))
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
	w->groups = w->offset_groups = 1;
	w->grouped = op_info(op->kind)->flags & OPF_GROUPED;
	w->transposed = op_info(op->kind)->flags & OPF_TRANSPOSED;
	if (window_list(op, "strides", 1, 1, w->stride, e) ||
	    window_list(op, "dilations", 1, 1, w->dilation, e) ||
	    window_list(op, "pads_begin", INT32_MIN, 0, w->pad_begin, e) ||
	    window_list(op, "pads_end", INT32_MIN, 0, w->pad_end, e) ||
	    window_list(op, op->kind == OP_EXTRACT_IMAGE_PATCHES ? "sizes" : "kernel", 1, 1,
			w->kernel, e) ||
	    (op->kind == OP_EXTRACT_IMAGE_PATCHES &&
	     window_list(op, "rates", 1, 1, w->dilation, e)) ||
	    window_list(op, "output_padding", 0, 0, w->output_padding, e) ||
	    op_get_choice(op, "auto_pad", "explicit|same_upper|same_lower|valid|notset", &auto_pad,
			  e) ||
	    op_get_choice(op, "rounding_type", "floor|ceil|ceil_torch", &rounding, e) ||
	    op_get_bool(op, "exclude-pad", &w->exclude_pad, e) ||
	    op_get_int(op, "group", 1, &w->groups, e) ||
	    op_get_int(op, "deformable_group", 1, &w->offset_groups, e) ||
	    op_get_bool(op, "bilinear_interpolation_pad", &w->bilinear_pad, e) ||
	    op_get_float(op, "pad_value", &w->pad_value, e) ||
	    op_get_int(op, "axis", INT32_MIN, &w->axis, e))
		return -1;
	w->auto_pad = auto_pad == 4 ? PAD_EXPLICIT : (enum auto_pad)auto_pad;
	w->rounding = (enum op_rounding)rounding;
	return 0;
}

int attr_norm(struct op *op, struct err *e)
{
	op->a.norm.eps = op->kind == OP_MVN ? 1e-9 : 1e-5;
	op->a.norm.normalize_variance = true;
	op->a.norm.groups = 1;
	int mode = 0;
	const char *modes = op->kind == OP_NORMALIZE_L2 ? "add|max" : "inside_sqrt|outside_sqrt";
	if (op_get_real(op, "eps", &op->a.norm.eps, e) ||
	    op_get_real(op, "epsilon", &op->a.norm.eps, e) ||
	    op_get_bool(op, "normalize_variance", &op->a.norm.normalize_variance, e) ||
	    op_get_bool(op, "across_channels", &op->a.norm.across_channels, e) ||
	    op_get_int(op, "num_groups", 1, &op->a.norm.groups, e) ||
	    op_get_choice(op, "eps_mode", modes, &mode, e))
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
	return op_get_real(op, "alpha", &op->a.lrn.alpha, e) ||
			       op_get_real(op, "beta", &op->a.lrn.beta, e) ||
			       op_get_real(op, "bias", &op->a.lrn.bias, e) ||
			       op_get_int(op, "size", 1, &op->a.lrn.size, e)
		       ? -1
		       : 0;
}

/* "sigmoid,tanh,tanh" into act[3]. */
static int cell_activations(struct op *op, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, "activations");
	int n = 0;
	for (const char *p = s ? s : ""; *(p += strspn(p, ", ")); n++) {
		size_t len = strcspn(p, ", ");
		enum op_activation act = len == 7 && !strncasecmp(p, "sigmoid", 7) ? ACT_SIGMOID
					 : len == 4 && !strncasecmp(p, "tanh", 4)  ? ACT_TANH
					 : len == 4 && !strncasecmp(p, "relu", 4)  ? ACT_RELU
										   : ACT_NONE;
		if (act == ACT_NONE || n == 3)
			return op_bad_attr(op, "activations", s, e);
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
	if (op_get_int(op, "hidden_size", 1, &c->hidden, e) ||
	    op_get_float(op, "clip", &c->clip, e) ||
	    op_get_bool(op, "linear_before_reset", &c->linear_before_reset, e) ||
	    op_get_bool(op, "input_forget", &c->input_forget, e) ||
	    op_get_choice(op, "direction", "forward|reverse|bidirectional", &direction, e) ||
	    cell_activations(op, e))
		return -1;
	c->reverse = direction == 1;
	c->bidirectional = direction == 2;
	return 0;
}

int attr_resize(struct op *op, struct err *e)
{
	struct op_resize *r = &op->a.resize;
	bool first = op->version < 4, corners = true;
	int mode = INTERP_NEAREST, shape = 1, nb, ne;
	int coord = first ? COORD_ASYMMETRIC : COORD_HALF_PIXEL;
	int nearest = first ? NEAREST_SIMPLE : NEAREST_PREFER_FLOOR;
	r->cube_coeff = -0.75;
	if (first && (op_get_list(op, "axes", 0, TENSOR_DIMS, r->axes, &r->n_axes, e) ||
		      op_get_bool(op, "align_corners", &corners, e)))
		return -1;
	if (first && corners)
		coord = COORD_ALIGN_CORNERS;
	if (op_get_choice(op, "mode",
			  "nearest|linear|linear_onnx|cubic|bilinear_pillow|bicubic_pillow", &mode,
			  e) ||
	    op_get_choice(
		    op, "coordinate_transformation_mode",
		    "half_pixel|pytorch_half_pixel|asymmetric|tf_half_pixel_for_nn|align_corners",
		    &coord, e) ||
	    op_get_choice(op, "nearest_mode",
			  "round_prefer_floor|round_prefer_ceil|floor|ceil|simple", &nearest, e) ||
	    op_get_choice(op, "shape_calculation_mode", "scales|sizes", &shape, e) ||
	    op_get_bool(op, "antialias", &r->antialias, e) ||
	    op_get_real(op, "cube_coeff", &r->cube_coeff, e) ||
	    op_get_list(op, "pads_begin", 0, TENSOR_DIMS, r->pad_begin, &nb, e) ||
	    op_get_list(op, "pads_end", 0, TENSOR_DIMS, r->pad_end, &ne, e))
		return -1;
	for (int i = 0; i < TENSOR_DIMS; i++)
		if (r->pad_begin[i] > INT32_MAX || r->pad_end[i] > INT32_MAX)
			return op_bad_attr(op, "pads", "too large", e);
	r->mode = (enum op_interp)mode;
	r->coord = (enum op_coord)coord;
	r->nearest = (enum op_nearest)nearest;
	r->by_sizes = first || shape == 1;
	return 0;
}
