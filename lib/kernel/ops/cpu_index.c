/* cpu_index.c - see cpu_index.h. */
#include "kernel/ops/cpu_index.h"

void index_places(const struct tensor *data, const struct tensor *index, int axis, int64_t lo,
		  int64_t hi, int64_t *to)
{
	int64_t at[TENSOR_DIMS] = {0}, stride[TENSOR_DIMS], step = 1, base = 0, rest = lo;
	for (uint32_t d = data->rank; d-- > 0; step *= data->dim[d])
		stride[d] = (int)d == axis ? 0 : step;
	step = index_product(data->dim, axis + 1, data->rank);
	for (uint32_t d = index->rank; d-- > 0; rest /= index->dim[d]) {
		at[d] = rest % index->dim[d];
		base += at[d] * stride[d];
	}
	const int32_t *narrow = index->elem == EL_I32 ? index->data : NULL;
	for (int64_t i = lo; i < hi; i++) {
		int64_t p = index_fix(narrow ? narrow[i] : tensor_int(index, i), data->dim[axis]);
		to[i - lo] = p < 0 ? -1 : base + p * step;
		for (uint32_t d = index->rank; d-- > 0;) {
			base += stride[d];
			if (++at[d] < index->dim[d])
				break;
			base -= at[d] * stride[d];
			at[d] = 0;
		}
	}
}

int64_t index_tuple(const struct tensor *data, int64_t first_dim, const struct tensor *index,
		    int64_t length, int64_t t)
{
	int64_t at = 0;
	for (int64_t j = 0; j < length; j++) {
		int64_t p = index_fix(tensor_int(index, t * length + j), data->dim[first_dim + j]);
		if (p < 0)
			return -1;
		at = at * data->dim[first_dim + j] + p;
	}
	return at;
}
