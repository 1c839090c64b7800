/* index.c - see index.h. */
#include "kernel/ops/index.h"

bool index_fits(const struct tensor *data, const struct tensor *index, int axis)
{
	for (uint32_t d = 0; d < data->rank && index->rank == data->rank; d++)
		if ((int)d != axis && index->dim[d] > data->dim[d])
			return false;
	return index->rank == data->rank;
}

#define PLACES(value) \
	do { \
		for (int64_t j = 0; j < n; j++) { \
			int64_t p = index_fix(value, data->dim[axis]); \
			to[i - lo + j] = p < 0 ? -1 : base + j * by + p * step; \
		} \
	} while (0)

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
	/* Stretches of the last dim. */
	uint32_t last = index->rank ? index->rank - 1 : 0;
	int64_t length = index->rank ? index->dim[last] : 1, by = index->rank ? stride[last] : 0;
	for (int64_t i = lo, n; i < hi; i += n) {
		n = length - at[last] < hi - i ? length - at[last] : hi - i;
		if (index->elem == EL_I64)
			PLACES(((const int64_t *)index->data)[i + j]);
		else if (index->elem == EL_I32)
			PLACES(((const int32_t *)index->data)[i + j]);
		else
			PLACES(tensor_int(index, i + j));
		at[last] += n;
		base += n * by;
		for (uint32_t d = last; at[d] == index->dim[d] && index->rank; d--) {
			base -= at[d] * stride[d];
			at[d] = 0;
			if (d == 0)
				break;
			at[d - 1]++;
			base += stride[d - 1];
		}
	}
}
#undef PLACES

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
