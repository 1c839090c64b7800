/* cpu_taps.c - see cpu_taps.h. */
#include "device/cpu_taps.h"

#include <string.h>

#define LEVEL_FILE "device/cpu_taps_loops.h"
#include "device/cpu_levels.h"

enum { BATCH_FLOATS = 4096 };    /* of phases that stay in the first-level cache */

static int64_t lanes(void)
{
	return cpu_level >= 4 ? 16 : cpu_level == 3 ? 8 : 4;
}

/* Vectors along the plane as one row, and for each tap the bits of the pixels inside the input. */
static void plan_shifted(struct taps *t)
{
	const struct window *g = t->g;
	for (int64_t v = 0; v < t->n_vectors; v++) {
		int64_t left = g->out_plane - 16 * v;
		t->vector[v] = (struct taps_vector){16 * v, 16 * v, left < 16 ? (int)left : 16};
	}
	memset(t->bits, 0, (size_t)(g->taps * t->n_vectors) * sizeof *t->bits);
	for (int64_t k = 0; k < g->taps; k++) {
		uint16_t *bits = t->bits + k * t->n_vectors;
		int64_t x0, x1, y0, y1;
		t->offset[k] = (k / g->kernel[2] * g->dilation[1] - g->pad[1]) * g->in[2] +
			       k % g->kernel[2] * g->dilation[2] - g->pad[2];
		cpu_window_range(g, 2, k % g->kernel[2], &x0, &x1);
		cpu_window_range(g, 1, k / g->kernel[2], &y0, &y1);
		for (int64_t y = y0; y < y1; y++)
			for (int64_t i = y * g->out[2] + x0, end = y * g->out[2] + x1; i < end;) {
				int64_t stop = (i | 15) + 1 < end ? (i | 15) + 1 : end;
				bits[i / 16] |= (uint16_t)((1u << (stop - (i & ~15))) -
							   (1u << (i & 15)));
				i = stop;
			}
	}
}

static void plan_phases(struct taps *t, int64_t across)
{
	const struct window *g = t->g;
	struct taps_vector *v = t->vector;
	for (int64_t k = 0; k < g->taps; k++)
		t->offset[k] = cpu_phase_offset(&t->p, g, k);
	for (int64_t y = 0; y < g->out[1]; y++)
		for (int64_t i = 0; i < across; i++) {
			int64_t x = i * lanes(), left = g->out[2] - x;
			*v++ = (struct taps_vector){y * t->p.pitch + x, y * g->out[2] + x,
						    left < lanes() ? (int)left : (int)lanes()};
		}
}

int cpu_taps_init(struct taps *t, const struct window *g, struct cpu_ctx *c, struct err *e)
{
	int64_t across = (g->out[2] + lanes() - 1) / lanes();
	*t = (struct taps){.g = g};
	t->shifted = cpu_level >= 4 && g->stride[1] == 1 && g->stride[2] == 1 &&
		     g->out[2] == g->in[2];
	t->n_vectors = t->shifted ? (g->out_plane + 15) / 16 : g->out[1] * across;
	size_t words = t->shifted ? (size_t)(g->taps * t->n_vectors) : 0;
	t->offset = cpu_slot_scratch(c, SLOT_WHOLE, (size_t)g->taps * sizeof *t->offset +
						    (size_t)t->n_vectors * sizeof *t->vector +
						    words * sizeof *t->bits);
	if (!t->offset)
		return cpu_no_memory(e);
	t->vector = (struct taps_vector *)(void *)(t->offset + g->taps);
	t->bits = (uint16_t *)(void *)(t->vector + t->n_vectors);
	if (t->shifted) {
		plan_shifted(t);
		return 0;
	}
	cpu_phases_init(&t->p, g);
	t->floats = t->p.plane + PHASE_SLACK;
	t->batch = BATCH_FLOATS / t->floats < 1 ? 1 : BATCH_FLOATS / t->floats;
	plan_phases(t, across);
	return 0;
}

size_t cpu_taps_scratch(const struct taps *t)
{
	return t->shifted ? 1 : (size_t)(t->floats * t->batch) * sizeof(float);
}

const float *cpu_taps_source(const struct taps *t, const float *x, int64_t lo, int64_t i, int64_t hi,
			     float padding, float *scratch)
{
	const float *plane = x + i * t->g->in_plane;
	if (t->shifted)
		return plane;
	int64_t slot = (i - lo) % t->batch, n = hi - i < t->batch ? hi - i : t->batch;
	for (int64_t j = 0; slot == 0 && j < n; j++)
		cpu_phases_fill(&t->p, t->g, plane + j * t->g->in_plane, padding,
				scratch + j * t->floats);
	return scratch + slot * t->floats;
}

void cpu_taps_run(const struct taps *t, const float *source, const float *w, float *y)
{
	if (w)
		LEVEL_CALL(sums, t, source, w, y);
	else
		LEVEL_CALL(maxima, t, source, y);
}
