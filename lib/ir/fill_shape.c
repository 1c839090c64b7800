/* fill_shape.c - shapes, axes and counts that follow from the recorded dims of the
 * tensors around an operator.
 *
 * Where several answers give the same result for these shapes (an axis of size 1)
 * the first is taken; where they would not, there is no answer. */
#include "ir/fill.h"
#include "op/op.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_RANK = 32 };

struct dims {
	uint32_t n;
	const int64_t *v;
};

static bool output_dims(const struct graph *g, uint32_t o, struct dims *d)
{
	*d = (struct dims){g->dim_ptr[o + 1] - g->dim_ptr[o], g->dim + g->dim_ptr[o]};
	return g->out_rank[o] != RANK_DYNAMIC && d->n <= MAX_RANK;
}

static bool input_dims(const struct graph *g, uint32_t v, uint32_t k, struct dims *d)
{
	uint32_t s = g->in_ptr[v] + k;
	return s < g->in_ptr[v + 1] && output_dims(g, g->out_ptr[g->in_node[s]] + g->in_port[s], d);
}

static bool is_static(struct dims d)
{
	for (uint32_t i = 0; i < d.n; i++)
		if (d.v[i] < 0)
			return false;
	return true;
}

static bool same(struct dims a, struct dims b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.v, b.v, a.n * sizeof *a.v) == 0);
}

static int64_t int_attr(const struct graph *g, uint32_t v, const char *key, int64_t otherwise)
{
	const char *s = graph_attr(g, v, key);
	return s ? strtoll(s, NULL, 10) : otherwise;
}

/* An attribute `key` that counts axes from either end. */
static bool axis_attr(const struct graph *g, uint32_t v, const char *key, uint32_t rank,
		      uint32_t *axis)
{
	int64_t a = int_attr(g, v, key, -1);
	a += a < 0 ? rank : 0;
	*axis = (uint32_t)a;
	return a >= 0 && a < rank;
}

/* ---- one function for each kind of operator: n values ---- */

static bool target_shape(struct dims out, uint64_t n, double *value)
{
	uint32_t unknown = 0;
	if (n != out.n)
		return false;
	for (uint32_t i = 0; i < out.n; i++) {
		value[i] = (double)out.v[i];
		unknown += out.v[i] < 0;
	}
	return unknown <= 1;
}

/* Equal sizes keep their order; where nothing but equal sizes would move, the
 * order is unknown. */
static bool order(struct dims in, struct dims out, uint64_t n, double *value)
{
	bool used[MAX_RANK] = {false}, twice = false;
	if (n != in.n || in.n != out.n || !is_static(in) || !is_static(out))
		return false;
	for (uint32_t i = 0; i < out.n; i++) {
		uint32_t k = 0;
		while (k < in.n && (used[k] || in.v[k] != out.v[i]))
			k++;
		if (k == in.n)
			return false;
		used[k] = true;
		value[i] = k;
		for (uint32_t j = 0; j < i; j++)
			twice |= out.v[j] == out.v[i] && out.v[i] != 1;
	}
	return !(twice && same(in, out));
}

/* Axes of `longer` that `shorter` lacks. */
static bool removed(struct dims longer, struct dims shorter, uint64_t n, double *value)
{
	uint32_t j = 0;
	uint64_t k = 0;
	if (longer.n - shorter.n != n || longer.n < shorter.n)
		return false;
	for (uint32_t i = 0; i < longer.n; i++)
		if (j < shorter.n && longer.v[i] == shorter.v[j])
			j++;
		else if (k < n)
			value[k++] = i;
		else
			return false;
	return k == n;
}

/* The same from the right, to see whether there is another answer. */
static bool removed_right(struct dims longer, struct dims shorter, double *value)
{
	uint32_t j = shorter.n, k = longer.n - shorter.n;
	for (uint32_t i = longer.n; i-- > 0;)
		if (j > 0 && longer.v[i] == shorter.v[j - 1])
			j--;
		else if (k > 0)
			value[--k] = i;
		else
			return false;
	return k == 0;
}

static bool reduced(struct dims in, struct dims out, bool keep, uint64_t n, double *value)
{
	double other[MAX_RANK];
	uint64_t k = 0;
	if (n > in.n || !is_static(in) || !is_static(out))
		return false;
	if (!keep || in.n != out.n) {
		if (!removed(in, out, n, value) || !removed_right(in, out, other))
			return false;
		for (uint32_t i = 0; i < n; i++)
			if (in.v[(int)value[i]] != in.v[(int)other[i]] ||
			    (value[i] != other[i] && in.v[(int)value[i]] != 1))
				return false;
		return true;
	}
	for (uint32_t i = 0; i < in.n; i++)
		if (in.v[i] != out.v[i]) {
			if (k == n)
				return false;
			value[k++] = i;
		}
	for (uint32_t i = in.n; i-- > 0 && k < n;) /* axes of size 1 change nothing */
		if (in.v[i] == 1)
			value[k++] = i;
	return k == n;
}

static bool repeats(struct dims in, struct dims out, uint64_t n, double *value)
{
	if (n != out.n || in.n > out.n || !is_static(in) || !is_static(out))
		return false;
	for (uint32_t i = 0; i < out.n; i++) {
		uint32_t lead = out.n - in.n;
		int64_t size = i < lead ? 1 : in.v[i - lead];
		if (size == 0 || out.v[i] % size != 0)
			return false;
		value[i] = (double)(out.v[i] / size);
	}
	return true;
}

/* The axis along which the outputs of v add up to its input. */
static bool split_axis(const struct graph *g, uint32_t v, struct dims in, uint32_t *axis)
{
	for (*axis = 0; *axis < in.n; ++*axis) {
		int64_t sum = 0;
		bool fits = true;
		for (uint32_t o = g->out_ptr[v]; o < g->out_ptr[v + 1] && fits; o++) {
			struct dims out;
			fits = output_dims(g, o, &out) && out.n == in.n;
			for (uint32_t i = 0; fits && i < in.n; i++)
				fits = i == *axis || out.v[i] == in.v[i];
			sum += fits ? out.v[*axis] : 0;
		}
		if (fits && sum == in.v[*axis])
			return true;
	}
	return false;
}

static bool split(const struct graph *g, uint32_t v, uint32_t k, struct dims in, uint64_t n,
		  double *value)
{
	uint32_t axis, n_out = g->out_ptr[v + 1] - g->out_ptr[v];
	if (!split_axis(g, v, in, &axis) || n != (k == 1 ? 1 : n_out))
		return false;
	if (k == 1)
		*value = axis;
	for (uint32_t i = 0; k == 2 && i < n_out; i++)
		value[i] = (double)g->dim[g->dim_ptr[g->out_ptr[v] + i] + axis];
	return true;
}

static bool gather_axis(const struct graph *g, uint32_t v, struct dims data, struct dims out,
			double *value)
{
	struct dims index;
	int64_t batch = int_attr(g, v, "batch_dims", 0);
	if (!input_dims(g, v, 1, &index) || batch < 0 || batch > index.n || batch > data.n ||
	    data.n + index.n - (uint32_t)batch != out.n + 1)
		return false;
	uint32_t b = (uint32_t)batch, inner = index.n - b;
	for (uint32_t a = b; a < data.n; a++) {
		bool fits = true;
		for (uint32_t i = 0; i < out.n && fits; i++)
			fits = out.v[i] == (i < a           ? data.v[i]
					    : i < a + inner ? index.v[b + i - a]
							    : data.v[i - inner + 1]);
		*value = a;
		if (fits)
			return true;
	}
	return false;
}

/* Interpolate: sizes, scales or axes; the axes are those that change, else the last n. */
static bool resize(const struct graph *g, const struct role *r, struct dims in, struct dims out,
		   uint64_t n, double *value)
{
	uint32_t axis[MAX_RANK], k = 0, o = g->out_ptr[r->node];
	uint32_t inputs = g->in_ptr[r->node + 1] - g->in_ptr[r->node];
	uint32_t s = g->in_ptr[r->node] + r->input;
	enum elem t = g->out_elem[g->out_ptr[g->in_node[s]] + g->in_port[s]];
	if (n > in.n || in.n != out.n || !is_static(in) || !is_static(out) ||
	    g->out_ptr[r->node + 1] == o)
		return false;
	for (uint32_t i = 0; i < in.n; i++)
		if (in.v[i] != out.v[i])
			axis[k < MAX_RANK ? k++ : 0] = i;
	if (k != n)
		for (k = 0; k < n; k++)
			axis[k] = in.n - (uint32_t)n + k;
	for (k = 0; k < n; k++) {
		int64_t from = in.v[axis[k]], to = out.v[axis[k]];
		if (elem_is_real(t))
			value[k] = from ? (double)to / (double)from : 1;
		else
			value[k] = r->input == inputs - 1 && r->input > 1 ? axis[k] : (double)to;
	}
	return true;
}

/* Iterations of a Loop: slices that its outputs join, or that its inputs are cut into. */
static bool trip_count(const struct graph *g, uint32_t v, double *value)
{
	for (uint32_t b, end = graph_bodies(g, v, &b); b < end; b++)
		for (uint32_t i = 0; i < g->body[b].n_maps; i++) {
			const struct port_map *m = &g->body[b].map[i];
			struct dims d;
			if (!m->has_axis || m->external < 0 || m->part_size < 1)
				continue;
			bool known =
				m->output
					? output_dims(g, g->out_ptr[v] + (uint32_t)m->external, &d)
					: input_dims(g, v, (uint32_t)m->external, &d);
			int64_t axis = m->axis + (m->axis < 0 && known ? d.n : 0);
			if (!known || axis < 0 || axis >= d.n || d.v[axis] < 0)
				continue;
			*value = (double)(d.v[axis] / m->part_size);
			return true;
		}
	return false;
}

static bool last_axes(uint32_t rank, uint64_t n, double *value)
{
	for (uint64_t i = 0; i < n && n <= rank; i++)
		value[i] = (double)(rank - n + i);
	return n <= rank;
}

static bool fill_all(double x, uint64_t n, double *value)
{
	for (uint64_t i = 0; i < n; i++)
		value[i] = x;
	return true;
}

/* StridedSlice and Pad that leave every size as it is do nothing. */
static bool unchanged(const struct role *r, bool slice, struct dims in, struct dims out, uint64_t n,
		      double *value)
{
	if (!same(in, out) || n != in.n || !is_static(in))
		return false;
	for (uint32_t i = 0; i < n; i++)
		value[i] = !slice || r->input == 1 ? 0 : r->input == 2 ? (double)in.v[i] : 1;
	return true;
}

/* A slice of a shape that tells PriorBox the size of an image: the last sizes. */
static bool image_size(const struct graph *g, const struct role *r, struct dims in, struct dims out,
		       uint64_t n, double *value)
{
	const struct consumers *readers = &g->consumers;
	bool prior_box = false;
	for (uint32_t i = readers->ptr[r->node]; i < readers->ptr[r->node + 1]; i++)
		prior_box |= g->kind[readers->dst[i]] == OP_PRIOR_BOX ||
			     g->kind[readers->dst[i]] == OP_PRIOR_BOX_CLUSTERED;
	if (!prior_box || n != 1 || in.n != 1 || out.n != 1 || out.v[0] < 0 || in.v[0] < out.v[0])
		return false;
	*value = r->input == 1 ? (double)(in.v[0] - out.v[0]) : r->input == 2 ? (double)in.v[0] : 1;
	return true;
}

bool fill_index(const struct graph *g, const struct role *r, uint64_t n, double *value)
{
	uint32_t v = r->node, k = r->input, axis;
	enum op_kind kind = g->kind[v];
	struct dims in = {0}, out = {0};
	if (kind == OP_IF || (kind == OP_LOOP && k == 1))
		return fill_all(1, n, value);
	if (kind == OP_LOOP)
		return n == 1 && trip_count(g, v, value);
	if (n > MAX_RANK && !fill_is_sequence(kind) && kind != OP_VARIADIC_SPLIT)
		return false;
	if (g->out_ptr[v] == g->out_ptr[v + 1] || !output_dims(g, g->out_ptr[v], &out) ||
	    !input_dims(g, v, 0, &in))
		return false;
	if (kind == OP_RESHAPE || (kind == OP_BROADCAST && k == 1))
		return target_shape(out, n, value);
	if (kind == OP_TRANSPOSE)
		return order(in, out, n, value);
	if (kind == OP_SQUEEZE)
		return removed(in, out, n, value);
	if (kind == OP_UNSQUEEZE)
		return removed(out, in, n, value);
	if (op_info(kind)->category == OPC_REDUCE)
		return reduced(in, out, fill_attr_true(g, v, "keep_dims"), n, value);
	if (kind == OP_TILE)
		return repeats(in, out, n, value);
	if (kind == OP_SPLIT || kind == OP_VARIADIC_SPLIT)
		return split(g, v, k, in, n, value);
	if (kind == OP_GATHER)
		return k == 2 && n == 1 && gather_axis(g, v, in, out, value);
	if (kind == OP_INTERPOLATE)
		return resize(g, r, in, out, n, value);
	if (kind == OP_TOP_K || kind == OP_ONE_HOT)
		return n == 1 && axis_attr(g, v, "axis", out.n, &axis) && out.v[axis] >= 0 &&
		       fill_all((double)out.v[axis], 1, value);
	if (kind == OP_NORMALIZE_L2 || kind == OP_LRN)
		return n == 1 ? fill_all(1, 1, value) : last_axes(in.n, n, value);
	if (kind == OP_MVN)
		return last_axes(in.n, n, value);
	if (kind == OP_RANGE)
		return n == 1 && out.n == 1 && out.v[0] >= 0 &&
		       fill_all(k == 0   ? 0
				: k == 1 ? (double)out.v[0]
					 : 1,
				1, value);
	if (kind == OP_STRIDED_SLICE || kind == OP_PAD)
		return unchanged(r, kind == OP_STRIDED_SLICE, in, out, n, value) ||
		       (kind == OP_STRIDED_SLICE && image_size(g, r, in, out, n, value));
	if (fill_is_sequence(kind))
		return in.n == 3 && in.v[1] >= 0 && fill_all((double)in.v[1], n, value);
	return false;
}
