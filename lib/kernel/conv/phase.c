/* phase.c - see phase.h. */
#include "kernel/conv/phase.h"
#include "kernel/isa_level.h"
#include "kernel/vec.h"

#define LEVEL_FILE "kernel/conv/phase_loops.h"
#include "kernel/isa_dispatch.h"

bool cpu_phases_fit(const struct window *g)
{
	return g->in[0] == 1 && g->kernel[0] == 1 && g->out[0] == 1 && g->pad[0] == 0 &&
	       g->stride[1] <= PHASE_MAX_STRIDE && g->stride[2] <= PHASE_MAX_STRIDE;
}

/* Which columns of an input row belong to a phase. */
static void split_columns(struct phases *p, const struct window *g, int64_t phase)
{
	int64_t s = g->stride[2], pad = g->pad[2], first = (phase - pad) % s;
	first += first < 0 ? s : 0;
	if (first + pad < 0) /* negative padding cuts columns off */
		first += (-(first + pad) + s - 1) / s * s;
	int64_t at = (first + pad) / s, n = g->in[2] > first ? (g->in[2] - first + s - 1) / s : 0;
	p->first[phase] = first;
	p->at[phase] = at < p->pitch ? at : p->pitch;
	p->n[phase] = at >= p->pitch ? 0 : n > p->pitch - at ? p->pitch - at : n;
}

void cpu_phases_init(struct phases *p, const struct window *g)
{
	int64_t reach_y = (g->kernel[1] - 1) * g->dilation[1],
		reach_x = (g->kernel[2] - 1) * g->dilation[2];
	p->rows = g->out[1] + (reach_y + g->stride[1] - 1) / g->stride[1];
	p->pitch = g->out[2] + (reach_x + g->stride[2] - 1) / g->stride[2];
	p->plane = g->stride[1] * g->stride[2] * p->rows * p->pitch;
	p->span = (g->out[1] - 1) * p->pitch + g->out[2];
	for (int64_t i = 0; i < g->stride[2]; i++)
		split_columns(p, g, i);
	p->use_y = p->use_x = 0;
	for (int64_t i = 0; i < g->kernel[1]; i++)
		p->use_y |= 1u << i * g->dilation[1] % g->stride[1];
	for (int64_t i = 0; i < g->kernel[2]; i++)
		p->use_x |= 1u << i * g->dilation[2] % g->stride[2];
}

int64_t cpu_phase_offset(const struct phases *p, const struct window *g, int64_t tap)
{
	int64_t y = tap / g->kernel[2] * g->dilation[1], x = tap % g->kernel[2] * g->dilation[2];
	int64_t phase = y % g->stride[1] * g->stride[2] + x % g->stride[2];
	return (phase * p->rows + y / g->stride[1]) * p->pitch + x / g->stride[2];
}

/* n floats; rows are short. */
static void copy_row(const float *x, float *y, int64_t n)
{
	int64_t i = 0;
	for (; i + 4 <= n; i += 4)
		*(vec4 *)(void *)(y + i) = *(const vec4 *)(const void *)(x + i);
	for (; i < n; i++)
		y[i] = x[i];
}

static void set_row(float value, float *y, int64_t n)
{
	for (int64_t i = 0; i < n; i++)
		y[i] = value;
}

/* Columns of phase px of one input row. */
static void split_row(const struct phases *p, const struct window *g, int64_t px, const float *x,
		      float *to)
{
	if (g->stride[2] == 1)
		copy_row(x + p->first[px], to + p->at[px], p->n[px]);
	else
		vec_every(x + p->first[px], g->stride[2], to + p->at[px], p->n[px]);
}

/* Stride 2: both phases of a row at once. */
static void fill_halves(const struct phases *p, const struct window *g, const float *x,
			float padding, float *dst)
{
	int64_t phase = p->rows * p->pitch, sy = g->stride[1];
	for (int64_t py = 0; py < sy; py++) {
		float *even = dst + py * 2 * phase, *odd = p->use_x & 2 ? even + phase : NULL;
		int64_t y = py - g->pad[1];
		if (!(p->use_y >> py & 1))
			continue;
		for (int64_t r = 0; r < p->rows; r++, y += sy) {
			bool inside = y >= 0 && y < g->in[1];
			LEVEL_CALL(halve, x + (inside ? y : 0) * g->in[2], inside ? g->in[2] : 0,
				   g->pad[2], padding, even + r * p->pitch,
				   odd ? odd + r * p->pitch : NULL, p->pitch);
		}
	}
}

void cpu_phases_fill(const struct phases *p, const struct window *g, const float *x, float padding,
		     float *dst)
{
	int64_t sy = g->stride[1], sx = g->stride[2];
	if (sx == 2) {
		fill_halves(p, g, x, padding, dst);
		return;
	}
	for (int64_t py = 0; py < sy; py++)
		for (int64_t px = 0; px < sx; px++) {
			int64_t y = py - g->pad[1], behind = p->at[px] + p->n[px];
			float *to = dst + (py * sx + px) * p->rows * p->pitch;
			if (!(p->use_y >> py & p->use_x >> px & 1))
				continue;
			for (int64_t r = 0; r < p->rows; r++, y += sy, to += p->pitch) {
				bool inside = y >= 0 && y < g->in[1];
				if (inside)
					split_row(p, g, px, x + y * g->in[2], to);
				set_row(padding, to, inside ? p->at[px] : behind);
				set_row(padding, to + behind, p->pitch - behind);
			}
		}
}
