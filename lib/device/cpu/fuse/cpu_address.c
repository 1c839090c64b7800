/* cpu_address.c - where an operand's elements lie for the rows and columns of a matrix. */
#include "device/cpu/fuse/cpu_fuse_plan.h"

/* Dims from the innermost outwards, those of size 1 left out; `inner` dims (or parts of one) make
 * up the columns. */
struct walk {
	int n, inner;
	int64_t dim[TENSOR_DIMS + 1], stride[TENSOR_DIMS + 1];
};

static bool split_at(const struct tensor *out, const struct strided *t, int64_t cols,
		     struct walk *w)
{
	int64_t product = 1;
	w->n = w->inner = 0;
	for (uint32_t i = 0; i < out->rank; i++) {
		int64_t size = out->dim[out->rank - 1 - i], stride = 0;
		if (i < t->rank && t->dim[t->rank - 1 - i] != 1)
			stride = t->stride[t->rank - 1 - i];
		if (size == 1)
			continue;
		if (product < cols && product * size > cols) {
			int64_t part = cols / product;
			if (cols % product || size % part)
				return false;
			w->dim[w->n] = part;
			w->stride[w->n++] = stride;
			w->inner = w->n;
			product *= part;
			size /= part;
			stride *= part;
		}
		w->dim[w->n] = size;
		w->stride[w->n++] = stride;
		product *= size;
		if (product == cols)
			w->inner = w->n;
	}
	return cols == 1 || w->inner > 0;
}

bool cpu_address(const struct tensor *out, const struct strided *t, int64_t cols,
		 struct epi_operand *o)
{
	struct walk w;
	int64_t step = 1;
	if (!split_at(out, t, cols, &w))
		return false;
	o->div = o->mod = 1;
	o->row = 0;
	o->col = w.inner > 0 && w.stride[0] != 0;
	for (int i = 0; i < w.inner; i++, step *= w.dim[i - 1])
		if (w.stride[i] != (o->col ? step : 0))
			return false;
	int i = w.inner;
	for (; i < w.n && w.stride[i] == 0; i++)
		o->div *= w.dim[i];
	if (i == w.n) {
		o->div = 1;
		return true;
	}
	o->row = w.stride[i];
	for (; i < w.n && w.stride[i] == o->mod * o->row; i++)
		o->mod *= w.dim[i];
	for (; i < w.n; i++)
		if (w.stride[i] != 0)
			return false;
	return true;
}
