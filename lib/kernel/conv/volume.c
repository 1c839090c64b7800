/* volume.c - see volume.h. */
#include "kernel/conv/volume.h"
#include "kernel/vec.h"

#include <string.h>

/* Phases of a row. */
static int64_t phases_of(const struct window *g)
{
	return g->out[2] > 1 ? g->stride[2] : 1;
}

void cpu_volume_init(struct volume *v, const struct window *g)
{
	for (int d = 0; d < 3; d++)
		v->dim[d] =
			(g->out[d] - 1) * g->stride[d] + (g->kernel[d] - 1) * g->dilation[d] + 1;
	v->pitch = (v->dim[2] + phases_of(g) - 1) / phases_of(g);
	v->dim[2] = v->pitch * phases_of(g);
	v->plane = v->dim[0] * v->dim[1] * v->dim[2];
}

int64_t cpu_volume_offset(const struct volume *v, const struct window *g, int64_t tap)
{
	int64_t x = tap % g->kernel[2], y = tap / g->kernel[2] % g->kernel[1],
		z = tap / g->kernel[2] / g->kernel[1];
	x *= g->dilation[2];
	return (z * g->dilation[0] * v->dim[1] + y * g->dilation[1]) * v->dim[2] +
	       x % phases_of(g) * v->pitch + x / phases_of(g);
}

int64_t cpu_volume_row(const struct volume *v, const struct window *g, int64_t row)
{
	return (row / g->out[1] * g->stride[0] * v->dim[1] + row % g->out[1] * g->stride[1]) *
	       v->dim[2];
}

/* Columns lo .. hi - 1 of a padded row are from[lo] and on. */
static void fill_row(const struct volume *v, int64_t stride, const float *from, int64_t lo,
		     int64_t hi, float *dst)
{
	if (stride == 1) {
		cpu_volume_copy(dst + lo, from + lo, hi - lo);
		return;
	}
	for (int64_t p = 0; p < stride; p++, dst += v->pitch) {
		int64_t first = lo <= p ? 0 : (lo - p + stride - 1) / stride;
		int64_t end = hi <= p ? 0 : (hi - p + stride - 1) / stride;
		if (end > first)
			vec_every(from + first * stride + p, stride, dst + first, end - first);
	}
}

void cpu_volume_fill(const struct volume *v, const struct window *g, const float *x, float *dst)
{
	memset(dst, 0, (size_t)v->plane * sizeof *dst);
	cpu_volume_refill(v, g, x, dst);
}

void cpu_volume_refill(const struct volume *v, const struct window *g, const float *x, float *dst)
{
	/* Columns of the volume that the input has: lo .. hi - 1. */
	int64_t lo = g->pad[2] > 0 ? g->pad[2] : 0, hi = g->in[2] + g->pad[2];
	lo = lo > v->dim[2] ? v->dim[2] : lo;
	hi = hi > v->dim[2] ? v->dim[2] : hi < lo ? lo : hi;
	for (int64_t z = 0; z < g->in[0]; z++)
		for (int64_t y = 0; y < g->in[1]; y++, x += g->in[2]) {
			int64_t at_z = z + g->pad[0], at_y = y + g->pad[1];
			if (at_z >= 0 && at_z < v->dim[0] && at_y >= 0 && at_y < v->dim[1])
				fill_row(v, phases_of(g), x - g->pad[2], lo, hi,
					 dst + (at_z * v->dim[1] + at_y) * v->dim[2]);
		}
}
