/* patches.c - images as columns of patches and back: ExtractImagePatches (opset3), Col2Im
 * (opset15). */
#include "kernel/kernel_impl.h"
#include "op/slice.h"

#include <string.h>

/* First and last + 1 of n positions o for which o * stride + shift is in 0 .. size - 1. */
static void inside(int64_t n, int64_t stride, int64_t shift, int64_t size, int64_t *lo, int64_t *hi)
{
	*lo = shift < 0 ? (-shift + stride - 1) / stride : 0;
	*hi = size - shift > 0 ? (size - shift + stride - 1) / stride : 0;
	*hi = *hi > n ? n : *hi;
	*lo = *lo > *hi ? *hi : *lo;
}

/* Image (n, c, h, w) -> (n, kh kw c, oh, ow): channel (y kw + x) c + i is tap (y, x). */
int run_image_patches(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	const struct op_window *w = &k->op->a.window;
	int64_t begin[OP_MAX_SPATIAL], end[OP_MAX_SPATIAL],
		c = x->dim[1], h = x->dim[2], width = x->dim[3], plane = out->dim[2] * out->dim[3];
	size_t size = cpu_elem_size(x->elem);
	if (size == 0)
		return err_set(e, ST_INPUT, "elements of type %s cannot be moved one by one",
			       elem_name(x->elem));
	op_window_pads(w, 2, x->dim + 2, w->kernel, begin, end);
	memset(out->data, 0, (size_t)tensor_bytes(out));
	int64_t to_stride[2] = {out->dim[3] * (int64_t)size, (int64_t)size},
		stride[2] = {w->stride[0] * width * (int64_t)size, w->stride[1] * (int64_t)size};
	for (int64_t m = 0; m < out->dim[0] * out->dim[1]; m++) {
		int64_t n = m / out->dim[1], tap = m % out->dim[1] / c, i = m % c;
		int64_t ky = tap / w->kernel[1] * w->dilation[0] - begin[0],
			kx = tap % w->kernel[1] * w->dilation[1] - begin[1];
		const char *from = (const char *)x->data + (size_t)((n * c + i) * h * width) * size;
		char *to = (char *)out->data + (size_t)(m * plane) * size;
		int64_t y0, y1, x0, x1;
		inside(out->dim[2], w->stride[0], ky, h, &y0, &y1);
		inside(out->dim[3], w->stride[1], kx, width, &x0, &x1);
		int64_t dim[2] = {y1 - y0, x1 - x0};
		from += ((y0 * w->stride[0] + ky) * width + x0 * w->stride[1] + kx) * (int64_t)size;
		cpu_move_strided(k->ctx, size, 2, dim, stride, from, to_stride,
				 to + (y0 * out->dim[3] + x0) * (int64_t)size);
	}
	return 0;
}

struct col2im {
	int64_t kernel[2], size[2], positions, columns,
		rows; /* columns: positions across; rows: of x */
};

/* What overlaps is summed, in T. */
#define SUM_PATCHES(T, A) \
	do { \
		const T *from = x->data; \
		for (int64_t m = 0; m < c->rows; m++, from += c->positions) { \
			T *to = (T *)out->data + m / taps * c->size[0] * c->size[1]; \
			int64_t ky = m % taps / c->kernel[1] * w->dilation[0] - w->pad_begin[0], \
				kx = m % taps % c->kernel[1] * w->dilation[1] - w->pad_begin[1]; \
			for (int64_t p = 0; p < c->positions; p++) { \
				int64_t y = p / c->columns * w->stride[0] + ky, \
					z = p % c->columns * w->stride[1] + kx; \
				if (y < 0 || y >= c->size[0] || z < 0 || z >= c->size[1]) \
					continue; \
				T *sum = &to[y * c->size[1] + z]; \
				*sum = (T)((A)*sum + (A)from[p]); \
			} \
		} \
		return 0; \
	} while (0)

static int sum_patches(const struct col2im *c, const struct op_window *w, const struct tensor *x,
		       const struct tensor *out, struct err *e)
{
	int64_t taps = c->kernel[0] * c->kernel[1];
	switch (x->elem) {
	case EL_F32: SUM_PATCHES(float, float);
	case EL_F64: SUM_PATCHES(double, double);
	case EL_I32: SUM_PATCHES(int32_t, uint32_t);
	/* clang-format off */
	case EL_I64: case EL_U64: SUM_PATCHES(uint64_t, uint64_t);
	default: return err_set(e, ST_INPUT, "Col2Im of %s", elem_name(x->elem));
		/* clang-format on */
	}
}

/* Patches ([n,] c kh kw, positions) -> ([n,] c, h, w): what overlaps is summed. */
int run_col2im(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	const struct op_window *w = &k->op->a.window;
	struct col2im c = {.size = {out->dim[out->rank - 2], out->dim[out->rank - 1]},
			   .positions = x->dim[x->rank - 1]};
	if (op_ints(&k->in[2], c.kernel, 2, e) != 2)
		return -1;
	c.columns = c.size[1] + w->pad_begin[1] + w->pad_end[1] -
		    (c.kernel[1] - 1) * w->dilation[1] - 1;
	c.columns = c.columns < 0 ? 1 : c.columns / w->stride[1] + 1;
	c.rows = c.positions ? tensor_elements(x) / c.positions : 0;
	memset(out->data, 0, (size_t)tensor_bytes(out));
	return sum_patches(&c, w, x, out, e);
}
