/* taps.c - see taps.h. */
#include "kernel/conv/taps.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* What the loops by rows are made for: width of the window, stride, rows of a block. */
#define TAPS_VARIANT(k, s, r, max) ((((k)*4 + (s)) * 16 + (r)) * 2 + (max))
/* Output rows of a large block: networks have multiples of it.  A macro, as functions are named after it. */
#define TAPS_ROWS 14

enum {
	BATCH_FLOATS = 4096, /* of phases that stay in the first-level cache */
	MAX_ROWS = 24        /* input rows of a block */
};

#define LEVEL_FILE "kernel/conv/taps_loops.h"
#include "kernel/isa_dispatch.h"

static int64_t lanes(void)
{
	return cpu_level >= 4 ? 16 : cpu_level == 3 ? 8 : 4;
}

/* Output rows that blocks of so many compute, those that two of them do counted twice. */
static int64_t rows_of_blocks(const struct window *g, int64_t block)
{
	return (g->out[1] + block - 1) / block * block;
}

/* Output rows of a block, perhaps more than there are; 0: the window does not go by rows. */
static int block_of(const struct window *g, bool max)
{
	int64_t k = g->kernel[2], s = g->stride[2];
	if (g->kernel[1] != k || g->stride[1] != s || g->dilation[1] != 1 || g->dilation[2] != 1 ||
	    s > 2 || g->pad[1] < 0 || g->pad[2] < 0)
		return 0;
	if (k != 3 && !(k == 2 && s == 2) && (max || (k != 5 && k != 7)))
		return 0;
	int few = g->out[1] > 4 ? 8 : 4;
	/* 32 registers hold a large block's sums. */
	bool many = cpu_level >= 4 && s == 1 && k < 7 && !max &&
		    rows_of_blocks(g, TAPS_ROWS) <= rows_of_blocks(g, few);
	return many ? TAPS_ROWS : few;
}

/* Bits of the vectors that are read for output vector v and column k, from the plane itself. */
static uint32_t inside(const struct window *g, int64_t v, int64_t k)
{
	int64_t from = 16 * v * g->stride[2] + k - g->pad[2], n = 16 * g->stride[2];
	int64_t lo = from < 0 ? -from : 0, hi = g->in[2] - from;
	lo = lo > n ? n : lo;
	hi = hi < lo ? lo : hi > n ? n : hi;
	return (uint32_t)(((uint64_t)1 << hi) - ((uint64_t)1 << lo));
}

static int init_in_place(struct taps *t, struct cpu_ctx *c, struct err *e)
{
	const struct window *g = t->g;
	int64_t n = g->kernel[2];
	t->bits = cpu_slot_scratch(c, SLOT_WHOLE,
				   (size_t)(t->across * n) * sizeof *t->bits +
					   (size_t)g->in[2] * sizeof *t->blank);
	if (!t->bits)
		return cpu_no_memory(e);
	t->blank = (float *)(void *)(t->bits + t->across * n);
	for (int64_t i = 0; i < g->in[2]; i++)
		t->blank[i] = t->max ? -FLT_MAX : 0;
	for (int64_t k = 0; k < n; k++)
		t->column[k] = k - g->pad[2];
	for (int64_t i = 0; i < t->across * n; i++)
		t->bits[i] = inside(g, i / n, i % n);
	return 0;
}

static int init_vectors(struct taps *t, struct cpu_ctx *c, struct err *e)
{
	const struct window *g = t->g;
	t->n_vectors = g->out[1] * t->across;
	t->offset = cpu_slot_scratch(c, SLOT_WHOLE,
				     (size_t)g->taps * sizeof *t->offset +
					     (size_t)t->n_vectors * sizeof *t->vector);
	if (!t->offset)
		return cpu_no_memory(e);
	struct taps_vector *v = t->vector = (struct taps_vector *)(void *)(t->offset + g->taps);
	for (int64_t k = 0; k < g->taps; k++)
		t->offset[k] = cpu_phase_offset(&t->p, g, k);
	for (int64_t y = 0; y < g->out[1]; y++)
		for (int64_t i = 0; i < t->across; i++) {
			int64_t x = i * lanes(), left = g->out[2] - x;
			*v++ = (struct taps_vector){y * t->p.pitch + x, y * g->out[2] + x,
						    left < lanes() ? (int)left : (int)lanes()};
		}
	return 0;
}

int cpu_taps_init(struct taps *t, const struct window *g, bool max, struct cpu_ctx *c,
		  struct err *e)
{
	*t = (struct taps){.g = g, .max = max, .block = block_of(g, max)};
	t->variant = TAPS_VARIANT((int)g->kernel[2], (int)g->stride[2], t->block, max);
	t->across = (g->out[2] + lanes() - 1) / lanes();
	t->in_place = t->block > 0 && cpu_level >= 4;
	if (t->in_place)
		return init_in_place(t, c, e);
	cpu_phases_init(&t->p, g);
	t->floats = t->p.plane + PHASE_SLACK;
	t->batch = BATCH_FLOATS / t->floats < 1 ? 1 : BATCH_FLOATS / t->floats;
	for (int64_t k = 0; t->block && k < g->kernel[2]; k++)
		t->column[k] = cpu_phase_offset(&t->p, g, k);
	return t->block ? 0 : init_vectors(t, c, e);
}

size_t cpu_taps_scratch(const struct taps *t)
{
	return t->in_place ? 1 : (size_t)(t->floats * t->batch) * sizeof(float);
}

const float *cpu_taps_source(const struct taps *t, const float *x, int64_t lo, int64_t i,
			     int64_t hi, float *scratch)
{
	const float *plane = x + i * t->g->in_plane;
	if (t->in_place)
		return plane;
	int64_t slot = (i - lo) % t->batch, n = hi - i < t->batch ? hi - i : t->batch;
	for (int64_t j = 0; slot == 0 && j < n; j++)
		cpu_phases_fill(&t->p, t->g, plane + j * t->g->in_plane, t->max ? -FLT_MAX : 0,
				scratch + j * t->floats);
	return scratch + slot * t->floats;
}

/* Input rows i < n of the block that begins with output row y, in the plane itself.  Returns the row behind
 * them, which may be the next plane's first. */
static const float *rows_in_place(const struct taps *t, const float *source, int64_t y, int64_t n,
				  const float **row)
{
	const int64_t width = t->g->in[2], height = t->g->in[1];
	int64_t at = y * t->g->stride[1] - t->g->pad[1];
	const float *blank = t->blank, *from = source + at * width;
	for (int64_t i = 0; i < n; i++, at++, from += width)
		row[i] = at >= 0 && at < height ? from : blank;
	return source + (at < height ? at : height) * width;
}

/* The same in its phases. */
static void rows_of_phases(const struct taps *t, const float *source, int64_t y, int64_t n,
			   const float **row)
{
	const int64_t s = t->g->stride[1], most = t->p.rows - 1, phase = s * t->p.rows * t->p.pitch;
	for (int64_t i = 0; i < n; i++) {
		int64_t at = y + i / s < most ? y + i / s : most;
		row[i] = source + i % s * phase + at * t->p.pitch;
	}
}

static void sums(const struct taps *t, const float *source, const float *w, float *y,
		 const struct gemm_post *post)
{
	const float *row[MAX_ROWS];
	int64_t n_rows = t->g->out[1], last = n_rows < t->block ? 0 : n_rows - t->block;
	int64_t n = (t->block - 1) * t->g->stride[1] + t->g->kernel[1];
	if (!t->block) {
		LEVEL_CALL(plane, t, source, w, y, post);
		return;
	}
	/* The last block may compute rows of the one before it again. */
	for (int64_t at = 0; at < n_rows; at += t->block) {
		int64_t first = at < last ? at : last;
		const float *ahead = NULL;
		if (t->in_place)
			ahead = rows_in_place(t, source, first, n, row);
		else
			rows_of_phases(t, source, first, n, row);
		LEVEL_CALL(rows, t, row, ahead, w, first, y, post);
	}
}

void cpu_taps_run(const struct taps *t, const float *source, const float *w, float *y,
		  const struct gemm_post *post)
{
	static const float no_bias;
	static const struct gemm_post none = {.bias = &no_bias, .lo = -INFINITY, .hi = INFINITY};
	sums(t, source, w, y, post ? post : &none);
	if (post && post->swish != 0)
		LEVEL_CALL(sigmoid_rows, post->swish, true, y, y, t->g->out_plane, 1,
			   t->g->out_plane);
}
