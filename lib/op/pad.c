/* pad.c - where Pad takes its elements from, and a Pad of zeros as padding of the convolution behind it. */
#include "op/op.h"
#include "op/value.h"

int64_t op_pad_source(enum op_pad_mode mode, int64_t i, int64_t n)
{
	if (i >= 0 && i < n)
		return i;
	switch (mode) {
	case PADM_EDGE: return i < 0 ? 0 : n - 1;
	case PADM_REFLECT: return i < 0 ? -i : 2 * (n - 1) - i;
	case PADM_SYMMETRIC: return i < 0 ? -i - 1 : 2 * n - 1 - i;
	case PADM_CONSTANT: return -1;
	}
	MISSED(mode);
	return -1;
}

/* The numbers that in[i] of Pad has, into pads[rank]; false: they are not known, or take something away. */
static bool amounts(const struct tensor *t, uint32_t rank, int64_t *pads)
{
	if (!t->data || (t->elem != EL_I64 && t->elem != EL_I32) || t->rank != 1 ||
	    t->dim[0] != (int64_t)rank)
		return false;
	for (uint32_t d = 0; d < rank; d++)
		if ((pads[d] = tensor_int(t, d)) < 0 || pads[d] > INT32_MAX)
			return false;
	return true;
}

bool op_fold_pad(const struct op *pad, const struct tensor *in, const struct tensor *padded,
		 const struct op *conv, const struct tensor *w, struct op *out)
{
	int64_t before[TENSOR_DIMS], after[TENSOR_DIMS], begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	uint32_t rank = in[0].rank;
	if (pad->kind != OP_PAD || pad->a.pad.mode != PADM_CONSTANT ||
	    (conv->kind != OP_CONVOLUTION && conv->kind != OP_GROUP_CONVOLUTION) ||
	    !tensor_is_static(&in[0]) || !tensor_is_static(w) || rank < 3 ||
	    rank > 2 + OP_MAX_SPATIAL || padded->rank != rank ||
	    w->rank != rank + conv->a.window.grouped || !amounts(&in[1], rank, before) ||
	    !amounts(&in[2], rank, after) || before[0] || before[1] || after[0] || after[1])
		return false;
	if (pad->n_in > 3 && (!in[3].data || tensor_real(&in[3], 0) != 0))
		return false;
	const int64_t *kernel = w->dim + 2 + conv->a.window.grouped;
	int n = (int)rank - 2;
	*out = *conv;
	struct op_window *a = &out->a.window;
	op_window_pads(a, n, padded->dim + 2, kernel, begin, end);
	a->auto_pad = PAD_EXPLICIT;
	for (int d = 0; d < n; d++) {
		int64_t span = (kernel[d] - 1) * a->dilation[d] + 1;
		if (begin[d] < 0 || end[d] < 0 || begin[d] >= span || end[d] >= span)
			return false;
		a->pad_begin[d] = begin[d] + before[2 + d];
		a->pad_end[d] = end[d] + after[2 + d];
		if (a->pad_begin[d] >= span || a->pad_end[d] >= span)
			return false;
	}
	return true;
}
