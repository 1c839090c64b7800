/* axis_slice.c - tensors sliced along an axis by the rules of a port map, and put together again. */
#include "dynamic/control_impl.h"

#include <inttypes.h>
#include <string.h>

/* Tensors as `outer` rows of dim[axis] slices of `inner` bytes. */
struct rows {
	int64_t outer, inner;
};

static struct rows rows_of(const struct tensor *t, uint32_t axis)
{
	struct rows r = {1, elem_bits(t->elem) / 8};
	for (uint32_t i = 0; i < axis; i++)
		r.outer *= t->dim[i];
	for (uint32_t i = axis + 1; i < t->rank; i++)
		r.inner *= t->dim[i];
	return r;
}

/* Move `n` slices between a tensor with `of` slices on the axis, from slice `at` on, and one of just
 * these slices. */
static void move_slices(const struct rows *r, char *whole, int64_t of, int64_t at, char *slices,
			int64_t n, bool in)
{
	size_t run = (size_t)(n * r->inner);
	if (run == 0)
		return;
	for (int64_t o = 0; o < r->outer; o++) {
		char *w = whole + (o * of + at) * r->inner, *p = slices + o * n * r->inner;
		memcpy(in ? w : p, in ? p : w, run);
	}
}

int axis_slice_axis(const struct port_map *m, const struct tensor *t, struct err *e)
{
	int axis = op_axis(m->axis, t->rank);
	if (axis < 0)
		return err_set(e, ST_INPUT, "axis %" PRId64 " of a tensor of rank %u", m->axis,
			       t->rank);
	if (elem_bits(t->elem) % 8 != 0 || elem_bits(t->elem) == 0)
		return err_set(e, ST_INPUT, "a slice of %s elements", elem_name(t->elem));
	return axis;
}

/* First index of slice i of a dim; ends are indices, both included. */
static int64_t axis_slice_begin(const struct port_map *m, int64_t dim, int64_t i)
{
	int64_t start = m->start < 0 ? m->start + dim : m->start, step;
	if (__builtin_mul_overflow(i, m->stride, &step) ||
	    __builtin_add_overflow(start, step, &start))
		return -1;
	return m->stride < 0 ? start - m->part_size + 1 : start;
}

int axis_slice_count(const struct port_map *m, const struct tensor *t, int64_t *n, struct err *e)
{
	int axis = axis_slice_axis(m, t, e);
	if (axis < 0)
		return -1;
	int64_t dim = t->dim[axis];
	int64_t start = m->start < 0 ? m->start + dim : m->start;
	int64_t end = m->end < 0 ? m->end + dim : m->end;
	int64_t span = (end > start ? end - start : start - end) + 1;
	int64_t step = m->stride < 0 ? -m->stride : m->stride;
	if (dim == 0) {
		*n = 0;
		return 0;
	}
	bool inside = start >= 0 && start < dim && end >= 0 && end < dim;
	bool forward = m->stride > 0 ? end >= start : end <= start;
	bool whole = span % m->part_size == 0 && step == m->part_size && forward;
	if (!inside || !(whole || span == m->part_size))
		return err_set(e, ST_INPUT,
			       "from %" PRId64 " to %" PRId64 " by %" PRId64 " in parts of %" PRId64
			       " does not divide a dim of %" PRId64,
			       m->start, m->end, m->stride, m->part_size, dim);
	*n = span / m->part_size;
	return 0;
}

int axis_slice_get(const struct port_map *m, const struct tensor *t, int64_t i,
		   struct dynop_buffer *room, struct tensor *slice, struct err *e)
{
	int axis = axis_slice_axis(m, t, e);
	if (axis < 0)
		return -1;
	int64_t dim = t->dim[axis], at = axis_slice_begin(m, dim, i);
	if (at < 0 || at > dim || m->part_size > dim - at)
		return err_set(e, ST_INPUT,
			       "iteration %" PRId64 " is beyond a dim of %" PRId64
			       " that it slices",
			       i, dim);
	struct rows r = rows_of(t, (uint32_t)axis);
	*slice = *t;
	slice->dim[axis] = m->part_size;
	slice->data = (char *)t->data + at * r.inner;
	if (r.outer == 1)
		return 0;
	if (dynop_buffer_grow(room, tensor_bytes(slice), e) < 0)
		return -1;
	slice->data = room->p;
	move_slices(&r, t->data, dim, at, slice->data, m->part_size, false);
	return 0;
}

void axis_slice_put(const struct port_map *m, const struct tensor *slice, int64_t i, int64_t n,
		    const struct tensor *whole)
{
	uint32_t axis = (uint32_t)op_axis(m->axis, slice->rank);
	struct rows r = rows_of(slice, axis);
	int64_t size = slice->dim[axis], at = (m->stride < 0 ? n - 1 - i : i) * size;
	move_slices(&r, whole->data, n * size, at, slice->data, size, true);
}
