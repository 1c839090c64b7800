/* infer_signal.c - shape inference of Fourier transforms and of patches.  Complex numbers are a
 * last dim of 2. */
#include "op/opimpl.h"
#include "op/slice.h"

#include <string.h>

static int misfit(const struct op *op, const struct tensor *t, struct err *e)
{
	return op_misfit(op_info(op->kind)->type, t, e);
}

int op_fft_axes(const struct op *op, const struct tensor *in, int64_t *axes, struct err *e)
{
	uint32_t rank = in[0].rank - (op->kind != OP_RDFT), seen = 0;
	int n = op_ints(&in[1], axes, TENSOR_DIMS, e);
	for (int i = 0; i < n; i++) {
		int axis = op_axis(axes[i], rank);
		if (axis < 0 || seen >> axis & 1)
			return misfit(op, &in[0], e);
		seen |= 1u << axis;
		axes[i] = axis;
	}
	return n < 1 ? misfit(op, &in[0], e) : n;
}

/* Sizes of the transform along its axes, -1 where the input's is meant; n or an error. */
static int signal_sizes(const struct op *op, const struct tensor *in, int n, int64_t *size,
			struct err *e)
{
	for (int i = 0; i < n; i++)
		size[i] = -1;
	if (!op_has_input(op, in, 2))
		return 0;
	return op_ints(&in[2], size, TENSOR_DIMS, e) == n ? 0 : misfit(op, &in[2], e);
}

/* What the three transforms share: their axes (n of them, returned) and sizes, out like the input
 * with the sizes that are given. */
static int transform(const struct op *op, const struct tensor *in, int64_t *axes, int64_t *size,
		     struct tensor *out, struct err *e)
{
	bool complex_in = op->kind != OP_RDFT;
	if (complex_in ? in[0].rank < 2 || in[0].dim[in[0].rank - 1] != 2
		       : in[0].rank < 1 || in[0].rank >= TENSOR_DIMS)
		return misfit(op, &in[0], e);
	int n = op_fft_axes(op, in, axes, e);
	if (n < 0 || signal_sizes(op, in, n, size, e))
		return -1;
	op_like(out, in);
	for (int i = 0; i < n; i++)
		if (size[i] >= 0)
			out->dim[axes[i]] = size[i];
	return n;
}

int infer_dft(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t axes[TENSOR_DIMS], size[TENSOR_DIMS];
	return transform(op, in, axes, size, out, e) < 0 ? -1 : 0;
}

int infer_rdft(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t axes[TENSOR_DIMS], size[TENSOR_DIMS];
	int n = transform(op, in, axes, size, out, e);
	if (n < 0)
		return -1;
	out->dim[axes[n - 1]] = out->dim[axes[n - 1]] / 2 + 1;
	out->dim[out->rank++] = 2;
	return 0;
}

int infer_irdft(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t axes[TENSOR_DIMS], size[TENSOR_DIMS];
	int n = transform(op, in, axes, size, out, e);
	if (n < 0)
		return -1;
	out->rank--;
	if (size[n - 1] < 0)
		out->dim[axes[n - 1]] = op_mul(2, in[0].dim[axes[n - 1]] - 1);
	return 0;
}

/* Signal (b, n) or (n), window (w), frame size, frame step -> (.., bins, frames, 2), or frames
 * before bins. */
int infer_stft(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	uint32_t rank = in[0].rank;
	int64_t size = tensor_int(&in[2], 0), step = tensor_int(&in[3], 0);
	if (rank < 1 || rank > 2 || in[1].rank != 1 || size < 1 || step < 1 ||
	    size > in[0].dim[rank - 1] || in[1].dim[0] > size)
		return misfit(op, &in[0], e);
	int64_t frames = (in[0].dim[rank - 1] - size) / step + 1, bins = size / 2 + 1;
	op_like(out, in);
	out->dim[rank - 1] = op->a.fft.transpose ? bins : frames;
	out->dim[rank] = op->a.fft.transpose ? frames : bins;
	out->dim[rank + 1] = 2;
	out->rank = rank + 2;
	return 0;
}

/* (.., bins, frames, 2), window, frame size, frame step [, length] -> (.., length). */
int infer_istft(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	uint32_t rank = in[0].rank;
	int64_t size = tensor_int(&in[2], 0), step = tensor_int(&in[3], 0), length;
	if (rank < 3 || rank > 4 || in[0].dim[rank - 1] != 2 || size < 1 || step < 1 ||
	    in[0].dim[rank - 3] != size / 2 + 1 || in[1].rank != 1 || in[1].dim[0] > size)
		return misfit(op, &in[0], e);
	length = op_mul(in[0].dim[rank - 2] - 1, step);
	/* Centred frames have half a frame less on both sides: an odd one leaves an element. */
	if (__builtin_add_overflow(length, op->a.fft.center ? size % 2 : size, &length))
		return misfit(op, &in[0], e);
	if (op_has_input(op, in, 4))
		length = tensor_int(&in[4], 0);
	*out = (struct tensor){.elem = in[0].elem,
			       .rank = rank - 2,
			       .dim = {rank == 4 ? in[0].dim[0] : length, length}};
	return length < 0 ? misfit(op, &in[0], e) : 0;
}

/* (n, c, h, w) -> (n, kh kw c, patches down, patches across). */
int infer_patches(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	const struct op_window *w = &op->a.window;
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL];
	if (in[0].rank != 4 || w->n_spatial != 2)
		return misfit(op, &in[0], e);
	op_like(out, in);
	op_window_pads(w, 2, in[0].dim + 2, w->kernel, begin, end);
	out->dim[1] = op_mul(in[0].dim[1], op_mul(w->kernel[0], w->kernel[1]));
	for (int i = 0; i < 2; i++) {
		int64_t span = (w->kernel[i] - 1) * w->dilation[i] + 1;
		int64_t room = in[0].dim[2 + i] + begin[i] + end[i] - span;
		out->dim[2 + i] = room < 0 ? 0 : room / w->stride[i] + 1;
	}
	return 0;
}

/* Patches ([n,] c kh kw, count), output size (2), kernel (2) -> ([n,] c, h, w). */
int infer_col2im(const struct op *op, const struct tensor *in, struct tensor *out, struct err *e)
{
	int64_t size[2], kernel[2], count = 1;
	const struct op_window *w = &op->a.window;
	uint32_t rank = in[0].rank;
	if (op_ints(&in[1], size, 2, e) != 2 || op_ints(&in[2], kernel, 2, e) != 2 || rank < 2 ||
	    rank > 3 || kernel[0] < 1 || kernel[1] < 1 || kernel[0] > INT32_MAX ||
	    kernel[1] > INT32_MAX || size[0] < 0 || size[1] < 0 || size[0] > INT32_MAX ||
	    size[1] > INT32_MAX || (w->n_spatial && w->n_spatial != 2) ||
	    in[0].dim[rank - 2] % op_mul(kernel[0], kernel[1]))
		return misfit(op, &in[0], e);
	for (int i = 0; i < 2; i++) {
		int64_t room = size[i] + w->pad_begin[i] + w->pad_end[i] -
			       (kernel[i] - 1) * w->dilation[i] - 1;
		count = op_mul(count, room < 0 ? 0 : room / w->stride[i] + 1);
	}
	if (count != in[0].dim[rank - 1])
		return misfit(op, &in[0], e);
	op_like(out, in);
	out->rank = rank + 1;
	out->dim[rank - 2] = in[0].dim[rank - 2] / (kernel[0] * kernel[1]);
	out->dim[rank - 1] = size[0];
	out->dim[rank] = size[1];
	return 0;
}
