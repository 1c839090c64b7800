/* tensor.c - descriptions of dense tensors. */
#include "op/tensor.h"

bool tensor_describe(const struct graph *g, uint32_t o, struct tensor *t)
{
	*t = (struct tensor){.elem = (enum elem)g->out_elem[o], .rank = g->out_rank[o]};
	if (t->rank == RANK_DYNAMIC || t->rank > TENSOR_DIMS)
		return false;
	for (uint32_t i = 0; i < t->rank; i++)
		t->dim[i] = g->dim[g->dim_ptr[o] + i];
	return true;
}

bool tensor_is_static(const struct tensor *t)
{
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dim[i] < 0)
			return false;
	return true;
}

int64_t tensor_elements(const struct tensor *t)
{
	int64_t n = 1;
	for (uint32_t i = 0; i < t->rank; i++)
		if (t->dim[i] < 0 || __builtin_mul_overflow(n, t->dim[i], &n))
			return -1;
	return n;
}

int64_t tensor_bytes(const struct tensor *t)
{
	int64_t n = tensor_elements(t);
	uint64_t bytes;
	if (n < 0 || elem_bits(t->elem) == 0 || !elem_bytes(t->elem, (uint64_t)n, &bytes) ||
	    bytes > INT64_MAX)
		return -1;
	return (int64_t)bytes;
}

bool tensor_same_shape(const struct tensor *a, const struct tensor *b)
{
	if (a->rank != b->rank)
		return false;
	for (uint32_t i = 0; i < a->rank; i++)
		if (a->dim[i] != b->dim[i])
			return false;
	return true;
}
