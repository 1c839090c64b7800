/* cpu_patches.c - images as columns of patches and back: ExtractImagePatches (opset3), Col2Im
 * (opset15); and DeformableConvolution (opset1, opset8), whose taps are moved by offsets. */
#include "kernel/cpu_impl.h"
#include "op/slice.h"

#include <math.h>
#include <string.h>

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
	for (int64_t m = 0; m < out->dim[0] * out->dim[1]; m++) {
		int64_t n = m / out->dim[1], tap = m % out->dim[1] / c, i = m % c;
		int64_t ky = tap / w->kernel[1] * w->dilation[0] - begin[0],
			kx = tap % w->kernel[1] * w->dilation[1] - begin[1];
		const char *from = (const char *)x->data + (size_t)((n * c + i) * h * width) * size;
		char *to = (char *)out->data + (size_t)(m * plane) * size;
		for (int64_t p = 0; p < plane; p++) {
			int64_t y = p / out->dim[3] * w->stride[0] + ky,
				z = p % out->dim[3] * w->stride[1] + kx;
			if (y >= 0 && y < h && z >= 0 && z < width)
				memcpy(to + (size_t)p * size, from + (size_t)(y * width + z) * size,
				       size);
		}
	}
	return 0;
}

/* Patches ([n,] c kh kw, positions) -> ([n,] c, h, w): what overlaps is summed. */
int run_col2im(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *out = &k->out[0];
	const struct op_window *w = &k->op->a.window;
	int64_t kernel[2], h = out->dim[out->rank - 2], width = out->dim[out->rank - 1];
	int64_t positions = x->dim[x->rank - 1];
	const float *from = x->data;
	if (op_ints(&k->in[2], kernel, 2, e) != 2)
		return -1;
	int64_t taps = kernel[0] * kernel[1], columns = width + w->pad_begin[1] + w->pad_end[1] -
							(kernel[1] - 1) * w->dilation[1] - 1;
	columns = columns < 0 ? 1 : columns / w->stride[1] + 1;
	int64_t rows = positions ? tensor_elements(x) / positions : 0;
	memset(out->data, 0, (size_t)tensor_bytes(out));
	for (int64_t m = 0; m < rows; m++, from += positions) {
		float *to = (float *)out->data + m / taps * h * width;
		int64_t ky = m % taps / kernel[1] * w->dilation[0] - w->pad_begin[0],
			kx = m % taps % kernel[1] * w->dilation[1] - w->pad_begin[1];
		for (int64_t p = 0; p < positions; p++) {
			int64_t y = p / columns * w->stride[0] + ky,
				z = p % columns * w->stride[1] + kx;
			if (y >= 0 && y < h && z >= 0 && z < width)
				to[y * width + z] += from[p];
		}
	}
	return 0;
}

/* ---- DeformableConvolution ---- */

struct deform {
	const struct kernel_call *k;
	const struct op_window *w;
	int64_t begin[2], kh, kw;
	const float *x, *offset, *mask, *weight;
	float *column; /* (taps of all channels of a group) at one position */
};

/* Bilinear value at (y, x), zero outside; beyond_edge: neighbours outside count as zeros. */
static float deformed(const float *f, int64_t h, int64_t w, float y, float x, bool beyond_edge)
{
	float sum = 0;
	if (beyond_edge ? y <= -1 || y >= (float)h || x <= -1 || x >= (float)w
			: y < 0 || y >= (float)h || x < 0 || x >= (float)w)
		return 0;
	float y0 = floorf(y), x0 = floorf(x);
	for (int i = 0; i < 4; i++) {
		int64_t v = (int64_t)y0 + i / 2, u = (int64_t)x0 + i % 2;
		float part = (i / 2 ? y - y0 : 1 - (y - y0)) * (i % 2 ? x - x0 : 1 - (x - x0));
		if (!beyond_edge) {
			v = v < h ? v : h - 1;
			u = u < w ? u : w - 1;
		}
		if (v >= 0 && v < h && u >= 0 && u < w)
			sum += part * f[v * w + u];
	}
	return sum;
}

/* The taps of input channels c0 .. c0 + n - 1 of image b at output position (oy, ox). */
static void gather_taps(const struct deform *d, int64_t b, int64_t c0, int64_t n, int64_t oy,
			int64_t ox)
{
	const struct tensor *x = &d->k->in[0], *out = &d->k->out[0];
	int64_t taps = d->kh * d->kw, plane = out->dim[2] * out->dim[3], at = oy * out->dim[3] + ox;
	int64_t per = x->dim[1] / d->w->offset_groups, area = x->dim[2] * x->dim[3];
	float *to = d->column;
	for (int64_t c = c0; c < c0 + n; c++) {
		int64_t first = (b * d->w->offset_groups + c / per) * taps;
		for (int64_t t = 0; t < taps; t++) {
			const float *shift = d->offset + (first + t) * 2 * plane + at;
			float y = (float)(oy * d->w->stride[0] - d->begin[0] +
					  t / d->kw * d->w->dilation[0]) +
				  shift[0];
			float z = (float)(ox * d->w->stride[1] - d->begin[1] +
					  t % d->kw * d->w->dilation[1]) +
				  shift[plane];
			float v = deformed(d->x + (b * x->dim[1] + c) * area, x->dim[2], x->dim[3],
					   y, z, d->w->bilinear_pad);
			*to++ = d->mask ? v * d->mask[(first + t) * plane + at] : v;
		}
	}
}

/* X (n, c, h, w), offsets (n, 2 og kh kw, oh, ow), weights (o, c / g, kh, kw), mask
 * (n, og kh kw, oh, ow) -> (n, o, oh, ow). */
int run_deformable_conv(const struct kernel_call *k, struct err *e)
{
	const struct tensor *x = &k->in[0], *weight = &k->in[2], *out = &k->out[0];
	const struct op_window *w = &k->op->a.window;
	struct deform d = {.k = k,
			   .w = w,
			   .kh = weight->dim[2],
			   .kw = weight->dim[3],
			   .x = x->data,
			   .offset = k->in[1].data,
			   .weight = weight->data,
			   .mask = op_has_input(k->op, k->in, 3) ? k->in[3].data : NULL};
	int64_t end[2], channels = x->dim[1] / w->groups, n = channels * d.kh * d.kw;
	int64_t outs = out->dim[1] / w->groups, plane = out->dim[2] * out->dim[3];
	d.column = cpu_slot_scratch(k->ctx, SLOT_EXTRA, (size_t)n * sizeof *d.column);
	if (!d.column)
		return cpu_no_memory(e);
	op_window_pads(w, 2, x->dim + 2, weight->dim + 2, d.begin, end);
	for (int64_t m = 0; m < out->dim[0] * w->groups * plane; m++) {
		int64_t b = m / plane / w->groups, g = m / plane % w->groups, at = m % plane;
		gather_taps(&d, b, g * channels, channels, at / out->dim[3], at % out->dim[3]);
		for (int64_t o = g * outs; o < (g + 1) * outs; o++) {
			float sum = 0;
			for (int64_t i = 0; i < n; i++)
				sum += d.weight[o * n + i] * d.column[i];
			((float *)out->data)[(b * out->dim[1] + o) * plane + at] = sum;
		}
	}
	return 0;
}
