/* cpu_volume.c - see cpu_volume.h. */
#include "kernel/dense/cpu_volume.h"

#include <string.h>

void cpu_volume_init(struct volume *v, const struct window *g)
{
	v->plane = 1;
	for (int d = 0; d < 3; d++) {
		v->dim[d] =
			(g->out[d] - 1) * g->stride[d] + (g->kernel[d] - 1) * g->dilation[d] + 1;
		v->plane *= v->dim[d];
	}
}

int64_t cpu_volume_offset(const struct volume *v, const struct window *g, int64_t tap)
{
	int64_t x = tap % g->kernel[2], y = tap / g->kernel[2] % g->kernel[1],
		z = tap / g->kernel[2] / g->kernel[1];
	return (z * g->dilation[0] * v->dim[1] + y * g->dilation[1]) * v->dim[2] +
	       x * g->dilation[2];
}

int64_t cpu_volume_row(const struct volume *v, const struct window *g, int64_t row)
{
	return (row / g->out[1] * g->stride[0] * v->dim[1] + row % g->out[1] * g->stride[1]) *
	       v->dim[2];
}

void cpu_volume_fill(const struct volume *v, const struct window *g, const float *x, float *dst)
{
	/* Columns of the volume that the input has: lo .. hi - 1. */
	int64_t lo = g->pad[2] > 0 ? g->pad[2] : 0, hi = g->in[2] + g->pad[2];
	lo = lo > v->dim[2] ? v->dim[2] : lo;
	hi = hi > v->dim[2] ? v->dim[2] : hi < lo ? lo : hi;
	for (int64_t row = 0; row < v->dim[0] * v->dim[1]; row++, dst += v->dim[2]) {
		int64_t z = row / v->dim[1] - g->pad[0], y = row % v->dim[1] - g->pad[1];
		if (z < 0 || z >= g->in[0] || y < 0 || y >= g->in[1]) {
			memset(dst, 0, (size_t)v->dim[2] * sizeof *dst);
			continue;
		}
		const float *from = x + (z * g->in[1] + y) * g->in[2] - g->pad[2];
		for (int64_t i = 0; i < lo; i++)
			dst[i] = 0;
		memcpy(dst + lo, from + lo, (size_t)(hi - lo) * sizeof *dst);
		for (int64_t i = hi; i < v->dim[2]; i++)
			dst[i] = 0;
	}
}
