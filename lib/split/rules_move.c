/* rules_move.c - operators that move elements: an axis goes elsewhere, or is computed as a whole. */
#include "split/rules_impl.h"

#include <stdio.h>
#include <string.h>

#include "op/resize_taps.h"
#include "op/slice.h"

bool split_rule_transpose(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x;
	int64_t order[TENSOR_DIMS];
	int n = split_ints(f, v, 1, order, TENSOR_DIMS);
	if (!split_input_open(f, v, 0, &x) || n < 0)
		return false;
	int axis = n == 0 ? (int)x.rank - 1 - p->axis : op_axis(order[p->axis], x.rank);
	if (axis < 0 || (n != 0 && n != (int)x.rank))
		return false;
	split_read(p, 0, axis, p->lo, p->hi);
	return true;
}

/* Dims from *i on, and how many elements they have together, until there are as many of both. */
static bool next_group(const struct tensor *x, const struct tensor *y, uint32_t *i, uint32_t *j)
{
	int64_t a = x->dim[(*i)++], b = y->dim[(*j)++];
	while (a != b) {
		if (a < b && *i < x->rank)
			a *= x->dim[(*i)++];
		else if (b < a && *j < y->rank)
			b *= y->dim[(*j)++];
		else
			return false;
	}
	return true;
}

/* The first dim in from .. end - 1 that is not 1, and the elements of one step along it. */
static uint32_t outermost(const struct tensor *t, uint32_t from, uint32_t end, int64_t *inner)
{
	uint32_t at = from;
	while (at + 1 < end && t->dim[at] == 1)
		at++;
	*inner = 1;
	for (uint32_t i = at + 1; i < end; i++)
		*inner *= t->dim[i];
	return at;
}

static int n_open(const struct tensor *t, int64_t *product, uint32_t *last)
{
	int n = 0;
	*product = 1;
	for (uint32_t i = 0; i < t->rank; i++) {
		if (t->dim[i] < 0) {
			n++;
			*last = i;
		} else if (__builtin_mul_overflow(*product, t->dim[i], product)) {
			return -1;
		}
	}
	return n;
}

/* An open dim of either shape of as many elements: what the other one says it is, or, where both have one that must be the same, a
 * prime number, which no product of others is. */
static bool close_dims(struct tensor *x, struct tensor *y)
{
	int64_t in, out;
	uint32_t i = 0, j = 0;
	int a = n_open(x, &in, &i), b = n_open(y, &out, &j);
	if (a < 0 || b < 0 || a > 1 || b > 1 || in <= 0 || out <= 0)
		return false;
	if (a == 1 && b == 1 && in == out)
		x->dim[i] = y->dim[j] = 1000003;
	else if (a == 1 && b == 0 && out % in == 0)
		x->dim[i] = out / in;
	else if (a == 0 && b == 1 && in % out == 0)
		y->dim[j] = in / out;
	else
		return a == 0 && b == 0;
	return true;
}

/* A cut passes where its axis is the outermost of dims that are merged or divided, and its borders are borders of the
 * input's outermost axis, too. */
bool split_rule_reshape(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x, y, open;
	if (!split_input_open(f, v, 0, &x) || !split_output_open(f, v, 0, &y))
		return false;
	open = y;
	if (!close_dims(&x, &y) || tensor_elements(&x) <= 0 ||
	    tensor_elements(&x) != tensor_elements(&y))
		return false;
	for (uint32_t i = 0, j = 0; i < x.rank && j < y.rank;) {
		uint32_t i0 = i, j0 = j;
		int64_t in_step, out_step;
		if (!next_group(&x, &y, &i, &j))
			return false;
		if ((uint32_t)p->axis < j0 || (uint32_t)p->axis >= j)
			continue;
		uint32_t from = outermost(&x, i0, i, &in_step),
			 to = outermost(&y, j0, j, &out_step);
		/* Squeeze without axes takes every dim of 1 away. */
		bool vanishes =
			f->op[v].kind == OP_SQUEEZE && f->op[v].n_in == 1 && p->hi - p->lo == 1;
		if (to != (uint32_t)p->axis || vanishes)
			return false;
		p->unit = in_step / out_step > 1 ? in_step / out_step : 1;
		if ((in_step % out_step && out_step % in_step) || !split_aligned(p, y.dim[p->axis]))
			return false;
		split_read(p, 0, (int)from, p->lo * out_step / in_step, p->hi * out_step / in_step);
		if (f->op[v].kind != OP_RESHAPE)
			return true;
		p->ints_input = 1;
		p->n_ints = (int)y.rank;
		for (uint32_t k = 0; k < y.rank; k++)
			p->ints[k] = (int)k == p->axis ? p->hi - p->lo : open.dim[k];
		return true;
	}
	return false;
}

/* A part of the outputs reads what lies in a row of the axis that is divided. */
bool split_rule_split(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x;
	int64_t of;
	char text[24];
	if (!split_input_open(f, v, 0, &x) || split_ints(f, v, 1, &of, 1) != 1)
		return false;
	int axis = op_axis(of, x.rank);
	if (axis < 0 || axis == p->axis)
		return false;
	if (p->axis != SPLIT_OUTPUTS) {
		split_read(p, 0, p->axis, p->lo, p->hi);
		return true;
	}
	if (x.dim[axis] < 0)
		return false;
	int64_t each = x.dim[axis] / f->op[v].n_out;
	split_read(p, 0, axis, p->lo * each, p->hi * each);
	snprintf(text, sizeof text, "%lld", (long long)(p->hi - p->lo));
	split_edit(p, "num_splits", text);
	return true;
}

/* Along its own axis, where all inputs are as long as each other, a part has some of them, each whole. */
bool split_rule_concat(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x, one;
	uint32_t n = f->g->in_ptr[v + 1] - f->g->in_ptr[v];
	if (!split_input_open(f, v, 0, &x))
		return false;
	int axis = op_axis(f->op[v].a.axis.axis, x.rank);
	if (axis < 0)
		return false;
	if (axis == p->axis)
		p->unit = x.dim[axis];
	if (axis == p->axis && (p->unit <= 0 || !split_aligned(p, p->unit * (int64_t)n)))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		int64_t at = (int64_t)i * p->unit;
		if (axis != p->axis)
			split_read(p, i, p->axis, p->lo, p->hi);
		else if (!split_input_open(f, v, i, &one) || one.dim[axis] != p->unit)
			return false;
		else if (at < p->lo || at >= p->hi)
			p->need[i].axis = SPLIT_NOTHING;
	}
	return true;
}

/* ---- scattering: axes that are not indexed pass ---- */

/* The axis that is indexed, of data and indices; -1: unknown, or divided. */
static int scattered_axis(struct split_facts *f, uint32_t v, const struct split_part *p,
			  struct tensor *x, struct tensor *index)
{
	int64_t of;
	if (!split_input_open(f, v, 0, x) || !split_input_open(f, v, 1, index) ||
	    split_ints(f, v, 3, &of, 1) != 1)
		return -1;
	int axis = op_axis(of, x->rank);
	return axis == p->axis ? -1 : axis;
}

bool split_rule_scatter(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x, index;
	int axis = scattered_axis(f, v, p, &x, &index);
	if (axis < 0)
		return false;
	split_read(p, 0, p->axis, p->lo, p->hi);
	split_read(p, 2, p->axis < axis ? p->axis : p->axis + (int)index.rank - 1, p->lo, p->hi);
	return true;
}

bool split_rule_scatter_elements(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x, index;
	if (scattered_axis(f, v, p, &x, &index) < 0 || index.dim[p->axis] != x.dim[p->axis])
		return false;
	for (uint32_t i = 0; i < 3; i++)
		split_read(p, i, p->axis, p->lo, p->hi);
	return true;
}

/* What is added up at places may be divided among parts, row by row of the updates.  The data come to their sum: a part
 * answers for as large a range of them. */
bool split_rule_scatter_nd(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x, index;
	if (!split_input_open(f, v, 0, &x) || !split_input_open(f, v, 1, &index) || index.rank < 1)
		return false;
	if (p->axis == SPLIT_SUM) {
		if (x.elem == EL_BOOLEAN || x.rank == 0 || !tensor_is_static(&x))
			return false;
		split_read(p, 0, 0, p->lo * x.dim[0] / index.dim[0],
			   p->hi * x.dim[0] / index.dim[0]);
		split_read(p, 1, 0, p->lo, p->hi);
		split_read(p, 2, 0, p->lo, p->hi);
		p->addend = 0;
		return true;
	}
	int behind = (int)(index.dim[index.rank - 1]);
	if (behind < 0 || p->axis < behind)
		return false;
	split_read(p, 0, p->axis, p->lo, p->hi);
	split_read(p, 2, (int)index.rank - 1 + p->axis - behind, p->lo, p->hi);
	return true;
}

/* Data before the axis, the indices in its place, data behind it. */
bool split_rule_gather(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor data, index;
	int64_t of;
	if (!split_input_open(f, v, 0, &data) || !split_input_open(f, v, 1, &index) ||
	    split_ints(f, v, 2, &of, 1) != 1 || f->op[v].a.axis.batch_dims != 0)
		return false;
	int axis = op_axis(of, data.rank), n = (int)index.rank;
	if (axis < 0)
		return false;
	if (p->axis < axis)
		split_read(p, 0, p->axis, p->lo, p->hi);
	else if (p->axis < axis + n)
		split_read(p, 1, p->axis - axis, p->lo, p->hi);
	else
		split_read(p, 0, p->axis - n + 1, p->lo, p->hi);
	return true;
}

/* Axes of which everything is taken pass: what they end with may be beyond the end. */
bool split_rule_slice(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x, y, in[5] = {{0}};
	struct op_range range[TENSOR_DIMS];
	struct err none = ERR_INIT;
	const struct op *op = &f->op[v];
	int64_t ints[5][TENSOR_DIMS];
	if (op->n_in > 5 || !split_input(f, v, 0, &x) || !split_output(f, v, 0, &y))
		return false;
	if (op->kind == OP_STRIDED_SLICE &&
	    (op->a.slice.new_axis_mask || op->a.slice.shrink_axis_mask ||
	     op->a.slice.ellipsis_mask))
		return false;
	in[0] = x;
	for (int i = 1; i < op->n_in; i++) {
		int n = split_ints(f, v, (uint32_t)i, ints[i], TENSOR_DIMS);
		if (n < 0)
			return false;
		in[i] = (struct tensor){.elem = EL_I64, .rank = 1, .dim = {n}, .data = ints[i]};
	}
	if (op_slice_ranges(op, in, range, &y, &none) < 0 || range[p->axis].start != 0 ||
	    range[p->axis].step != 1 || range[p->axis].count != x.dim[p->axis])
		return false;
	/* Nor may the end be counted from there: a part ends elsewhere. */
	struct tensor shorter = x;
	shorter.dim[p->axis] = p->hi - p->lo;
	in[0] = shorter;
	if (op_slice_ranges(op, in, range, &y, &none) < 0 ||
	    range[p->axis].count != shorter.dim[p->axis])
		return false;
	split_read(p, 0, p->axis, p->lo, p->hi);
	return true;
}

bool split_rule_pad(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x;
	int64_t begin[TENSOR_DIMS], end[TENSOR_DIMS];
	if (!split_input_open(f, v, 0, &x) ||
	    split_ints(f, v, 1, begin, TENSOR_DIMS) != (int)x.rank ||
	    split_ints(f, v, 2, end, TENSOR_DIMS) != (int)x.rank || begin[p->axis] || end[p->axis])
		return false;
	split_read(p, 0, p->axis, p->lo, p->hi);
	return true;
}

bool split_rule_broadcast(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor y, to;
	enum op_bcast mode = f->op[v].a.broadcast.bcast;
	if ((mode != BCAST_NUMPY && mode != BCAST_BIDIRECTIONAL) ||
	    !split_output_open(f, v, 0, &y) || !split_read_broadcast(f, v, p, 0, y.rank))
		return false;
	p->ints_input = 1;
	p->n_ints = (int)y.rank;
	for (uint32_t k = 0; k < y.rank; k++)
		p->ints[k] = (int)k == p->axis ? p->hi - p->lo : y.dim[k];
	if (tensor_is_static(&y))
		return true;
	p->ints_axis = p->axis;
	return split_input(f, v, 1, &to) && to.elem == EL_I64 && to.rank == 1 &&
	       to.dim[0] == (int64_t)y.rank;
}

bool split_rule_tile(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x, y;
	if (!split_input_open(f, v, 0, &x) || !split_output_open(f, v, 0, &y) || x.rank != y.rank ||
	    x.dim[p->axis] != y.dim[p->axis])
		return false;
	split_read(p, 0, p->axis, p->lo, p->hi);
	return true;
}

/* ---- variables ---- */

/* A list of dims as 1,?,64 with another one at `axis`; false: it has none there, or there is no room. */
static bool with_dim(char *dst, size_t cap, const char *dims, int axis, int64_t dim)
{
	const char *at = dims;
	for (int k = 0; k < axis && at; k++)
		at = (at = strchr(at, ',')) ? at + 1 : NULL;
	if (!at)
		return false;
	int n = snprintf(dst, cap, "%.*s%lld%s", (int)(at - dims), dims, (long long)dim,
			 at + strcspn(at, ","));
	return n > 0 && (size_t)n < cap;
}

/* A part has a variable of its own, for as much of the value; what reads and what assigns it are cut alike (ranges.c). */
bool split_rule_variable(struct split_facts *f, uint32_t v, struct split_part *p)
{
	const struct graph *g = f->g;
	const char *id = graph_attr(g, v, "variable_id"),
		   *shape = graph_attr(g, v, "variable_shape");
	char text[SPLIT_EDIT_TEXT], dims[SPLIT_EDIT_TEXT];
	struct tensor y;
	if (f->peer[v] == GRAPH_NONE || !split_output_open(f, v, 0, &y))
		return false;
	int n = snprintf(text, sizeof text, "%s [%lld..%lld of %lld]", id, (long long)p->lo,
			 (long long)p->hi - 1, (long long)y.dim[p->axis]);
	if (n >= (int)sizeof text ||
	    (shape && !with_dim(dims, sizeof dims, shape, p->axis, p->hi - p->lo)))
		return false;
	split_edit(p, "variable_id", text);
	if (shape)
		split_edit(p, "variable_shape", dims);
	if (g->in_ptr[v] < g->in_ptr[v + 1])
		split_read(p, 0, p->axis, p->lo, p->hi);
	return true;
}

/* ---- images ---- */

/* One row of the input is `block` rows of the output. */
bool split_rule_depth_to_space(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor y;
	int64_t block = f->op[v].a.block.block;
	if (!split_output(f, v, 0, &y) || p->axis == 1 || block < 1)
		return false;
	p->unit = p->axis == 0 ? 1 : block;
	if (!split_aligned(p, y.dim[p->axis]))
		return false;
	split_read(p, 0, p->axis, p->lo / p->unit, p->hi / p->unit);
	return true;
}

bool split_rule_space_to_depth(struct split_facts *f, uint32_t v, struct split_part *p)
{
	int64_t block = p->axis == 0 ? 1 : f->op[v].a.block.block;
	split_read(p, 0, p->axis, p->lo * block, p->hi * block);
	return p->axis != 1 && block >= 1;
}

bool split_rule_shuffle_channels(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x;
	if (!split_input(f, v, 0, &x) || op_axis(f->op[v].a.block.axis, x.rank) == p->axis)
		return false;
	split_read(p, 0, p->axis, p->lo, p->hi);
	return true;
}

/* The place of the cut axis among those that are resized; -1: it is not resized, -2: that is not known. */
static int resized(struct split_facts *f, uint32_t v, const struct tensor *x, int axis, int *n)
{
	const struct op *op = &f->op[v];
	uint32_t input = op->version < 11 ? 3 : 2;
	int64_t axes[TENSOR_DIMS];
	*n = (int)x->rank;
	if (op->version < 4)
		return -2;
	if (op->n_in <= (int)input)
		return axis;
	*n = split_ints(f, v, input, axes, TENSOR_DIMS);
	for (int i = 0; i < *n; i++)
		if (op_axis(axes[i], x->rank) == axis)
			return i;
	return *n < 0 ? -2 : -1;
}

/* An axis that keeps its size passes; one that grows by a whole factor does where every row is made of one. */
bool split_rule_interpolate(struct split_facts *f, uint32_t v, struct split_part *p)
{
	struct tensor x, y;
	const struct op_resize *r = &f->op[v].a.resize;
	int n, at;
	if (!split_input(f, v, 0, &x) || !split_output(f, v, 0, &y) || resize_wide(r))
		return false;
	for (int i = 0; i < TENSOR_DIMS; i++)
		if (r->pad_begin[i] || r->pad_end[i])
			return false;
	int64_t size = x.dim[p->axis], grown = y.dim[p->axis], factor = size ? grown / size : 0;
	bool copies = r->mode == INTERP_NEAREST && r->coord != COORD_ALIGN_CORNERS;
	at = resized(f, v, &x, p->axis, &n);
	if (at == -2 || factor < 1 || grown % size || (factor > 1 && !copies))
		return false;
	p->unit = factor;
	if (!split_aligned(p, grown))
		return false;
	split_read(p, 0, p->axis, p->lo / factor, p->hi / factor);
	if (at < 0 || !r->by_sizes)
		return true;
	p->ints_input = 1;
	p->n_ints = split_ints(f, v, 1, p->ints, TENSOR_DIMS);
	if (p->n_ints != n)
		return false;
	p->ints[at] = p->hi - p->lo;
	return true;
}
