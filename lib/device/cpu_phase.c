/* cpu_phase.c - see cpu_phase.h. */
#include "device/cpu_phase.h"
#include "device/cpu_vec.h"

#include <string.h>

bool cpu_phases_fit(const struct window *g)
{
	return g->in[0] == 1 && g->kernel[0] == 1 && g->out[0] == 1 && g->pad[0] == 0;
}

void cpu_phases_init(struct phases *p, const struct window *g)
{
	int64_t reach_y = (g->kernel[1] - 1) * g->dilation[1], reach_x = (g->kernel[2] - 1) * g->dilation[2];
	p->rows = g->out[1] + (reach_y + g->stride[1] - 1) / g->stride[1];
	p->pitch = g->out[2] + (reach_x + g->stride[2] - 1) / g->stride[2];
	p->plane = g->stride[1] * g->stride[2] * p->rows * p->pitch;
	p->span = (g->out[1] - 1) * p->pitch + g->out[2];
}

int64_t cpu_phase_offset(const struct phases *p, const struct window *g, int64_t tap)
{
	int64_t y = tap / g->kernel[2] * g->dilation[1], x = tap % g->kernel[2] * g->dilation[2];
	int64_t phase = y % g->stride[1] * g->stride[2] + x % g->stride[2];
	return (phase * p->rows + y / g->stride[1]) * p->pitch + x / g->stride[2];
}

void cpu_phases_clear(const struct phases *p, int64_t n, float padding, float *dst)
{
	n = n * p->plane + PHASE_SLACK;
	for (int64_t i = 0; i < n; i++)
		dst[i] = padding;
}

/* Columns of one input row that belong to phase `phase`. */
static void split_row(const struct phases *p, const struct window *g, const float *x, int64_t phase, float *row)
{
	int64_t s = g->stride[2], pad = g->pad[2];
	int64_t first = (phase - pad) % s;       /* the first input column of this phase */
	first += first < 0 ? s : 0;
	if (first + pad < 0)
		first += (-(first + pad) + s - 1) / s * s;
	int64_t at = (first + pad) / s, n = g->in[2] > first ? (g->in[2] - first + s - 1) / s : 0;
	if (n > p->pitch - at)
		n = p->pitch - at;
	if (s == 1 && n > 0)
		memcpy(row + at, x + first, (size_t)n * sizeof *row);
	else
		vec_every(x + first, s, row + at, n);
}

void cpu_phases_split(const struct phases *p, const struct window *g, const float *x, float *dst)
{
	int64_t sy = g->stride[1], sx = g->stride[2];
	for (int64_t y = 0; y < g->in[1]; y++) {
		int64_t padded = y + g->pad[1];
		if (padded < 0 || padded / sy >= p->rows)
			continue;
		for (int64_t phase = 0; phase < sx; phase++)
			split_row(p, g, x + y * g->in[2], phase,
				  dst + ((padded % sy * sx + phase) * p->rows + padded / sy) * p->pitch);
	}
}

void cpu_phases_compact(const struct phases *p, const struct window *g, const float *src, float *dst)
{
	for (int64_t y = 0; y < g->out[1]; y++, src += p->pitch, dst += g->out[2])
		memcpy(dst, src, (size_t)g->out[2] * sizeof *dst);
}
