/* slice.c - the ranges of Slice-8 and StridedSlice-1. */
#include "op/slice.h"
#include "op/opimpl.h"

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

/* start : stop : step over a dim of `size`, with Python's rules. */
static struct op_range make_range(int64_t start, int64_t stop, int64_t step, int64_t size)
{
	struct op_range r = {.step = step};
	int64_t lo = step < 0 ? -1 : 0, hi = step < 0 ? size - 1 : size;
	if (start < 0)
		start = start < -size ? -1 : start + size;
	if (stop < 0)
		stop = stop < -size ? -1 : stop + size;
	r.start = clamp(start, lo, hi);
	stop = clamp(stop, lo, hi);
	if (step > 0 && stop > r.start)
		r.count = (stop - r.start - 1) / step + 1;
	if (step < 0 && stop < r.start)
		r.count = (r.start - stop - 1) / -step + 1;
	return r;
}

static int slice_ranges(const struct op *op, const struct tensor *in, struct op_range *r,
			struct tensor *out, struct err *e)
{
	int64_t start[TENSOR_DIMS], stop[TENSOR_DIMS], step[TENSOR_DIMS], axes[TENSOR_DIMS];
	int n = op_ints(&in[1], start, TENSOR_DIMS, e);
	if (n < 0)
		return -1;
	if (op_ints(&in[2], stop, TENSOR_DIMS, e) != n ||
	    op_ints(&in[3], step, TENSOR_DIMS, e) != n)
		return err_set(e, ST_INPUT, "start, stop and step of Slice have different lengths");
	for (int i = 0; i < n; i++)
		axes[i] = i;
	if (op_has_input(op, in, 4) && op_ints(&in[4], axes, TENSOR_DIMS, e) != n)
		return err_set(e, ST_INPUT, "axes of Slice have another length");
	*out = in[0];
	out->data = NULL;
	for (uint32_t i = 0; i < in[0].rank; i++)
		r[i] = (struct op_range){0, 1, in[0].dim[i]};
	for (int i = 0; i < n; i++) {
		int axis = op_axis(axes[i], in[0].rank);
		if (axis < 0 || step[i] == 0 || step[i] == INT64_MIN)
			return err_set(e, ST_INPUT, "Slice with axis %lld, step %lld",
				       (long long)axes[i], (long long)step[i]);
		r[axis] = make_range(start[i], stop[i], step[i], in[0].dim[axis]);
		out->dim[axis] = r[axis].count;
	}
	return 0;
}

/* One item of begin/end/stride on an input dim. */
static int strided_item(const struct op_slice *s, int item, int64_t begin, int64_t end,
			int64_t step, int64_t size, struct op_range *r, struct err *e)
{
	if (s->shrink_axis_mask >> item & 1) {
		int64_t at = begin < 0 ? begin + size : begin;
		if (at < 0 || at >= size)
			return err_set(e, ST_INPUT, "StridedSlice takes element %lld of %lld",
				       (long long)begin, (long long)size);
		*r = (struct op_range){at, 1, 1};
		return 0;
	}
	if (step == 0 || step == INT64_MIN)
		return err_set(e, ST_INPUT, "StridedSlice with step %lld", (long long)step);
	if (s->begin_mask >> item & 1) /* a set bit: the value is ignored */
		begin = step > 0 ? 0 : INT64_MAX;
	if (s->end_mask >> item & 1)
		end = step > 0 ? INT64_MAX : INT64_MIN;
	*r = make_range(begin, end, step, size);
	return 0;
}

static int strided_ranges(const struct op *op, const struct tensor *in, struct op_range *r,
			  struct tensor *out, struct err *e)
{
	enum { MAX = TENSOR_DIMS * 2 };
	const struct op_slice *s = &op->a.slice;
	int64_t begin[MAX], end[MAX], step[MAX];
	int n = op_ints(&in[1], begin, MAX, e), taken = 0;
	if (n < 0 || op_ints(&in[2], end, MAX, e) < n)
		return err_set(e, ST_INPUT, "begin and end of StridedSlice have different lengths");
	for (int i = 0; i < n; i++)
		step[i] = 1;
	if (op_has_input(op, in, 3) && op_ints(&in[3], step, MAX, e) < n)
		return err_set(e, ST_INPUT, "strides of StridedSlice have another length");
	for (int i = 0; i < n; i++)
		taken += !(s->new_axis_mask >> i & 1) && !(s->ellipsis_mask >> i & 1);
	if (taken > (int)in[0].rank)
		return err_set(e, ST_INPUT, "StridedSlice selects on more dims than there are");
	*out = (struct tensor){.elem = in[0].elem};
	uint32_t d = 0;
	bool open = true; /* an ellipsis may still come, or the end */
	for (int i = 0; i <= n; i++) {
		bool end_of_list = i == n;
		if (end_of_list || (s->ellipsis_mask >> i & 1 && open)) {
			uint32_t stop = end_of_list ? in[0].rank : in[0].rank - (uint32_t)taken;
			for (; d < stop; d++) {
				r[d] = (struct op_range){0, 1, in[0].dim[d]};
				out->dim[out->rank++] = in[0].dim[d];
			}
			open = false;
			continue;
		}
		if (out->rank >= TENSOR_DIMS)
			return err_set(e, ST_INPUT, "StridedSlice to a rank above %d", TENSOR_DIMS);
		if (s->new_axis_mask >> i & 1) {
			out->dim[out->rank++] = 1;
			continue;
		}
		taken--;
		if (strided_item(s, i, begin[i], end[i], step[i], in[0].dim[d], &r[d], e))
			return -1;
		if (!(s->shrink_axis_mask >> i & 1))
			out->dim[out->rank++] = r[d].count;
		d++;
	}
	return 0;
}

int op_slice_ranges(const struct op *op, const struct tensor *in, struct op_range *r,
		    struct tensor *out, struct err *e)
{
	return op->kind == OP_SLICE ? slice_ranges(op, in, r, out, e)
				    : strided_ranges(op, in, r, out, e);
}
