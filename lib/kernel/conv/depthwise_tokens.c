/* depthwise_tokens.c - see depthwise_tokens.h.  Two rows of output pixels are one strip, a few pixels of both rows a
 * block: tables say where the pixels of its windows are, the same for all channels. */
#include "kernel/conv/depthwise_tokens.h"

#include "kernel/isa_level.h"
#include "kernel/transpose.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
	ROWS = 2,       /* of a strip */
	MAX_PIXELS = 8, /* of a row of a block */
	MAX_TABLE = 21 * 9 /* pixels of the windows of a block, or of one pixel */,
	TABLES = 16, /* blocks of a strip whose tables are there at once */
	CHANNELS =
		64, /* that all of these are computed for, so that what they read stays in the first-level cache */
	GRAIN = 1 << 15
};

#define TOKENS_VARIANT(k, s, p) (((k)*4 + (s)) * 16 + (p))

/* The pixels of a block's windows, row by row, and where its outputs go; all point at channel 0. */
struct block {
	const float *from[MAX_TABLE];
	float *to[ROWS * MAX_PIXELS];
	int taps; /* of a block of one pixel */
};

#define LEVEL_FILE "kernel/conv/depthwise_tokens_loops.h"
#include "kernel/isa_dispatch.h"

struct tokens_run {
	const struct tokens_call *c;
	struct tokens_blocks b;
	int64_t strips;
	int n_tasks;
	atomic_bool failed;
};

bool cpu_tokens_fit(const struct window *g)
{
	return g->groups >= 16 && g->cin == 1 && g->cout == 1 && g->in[0] == 1 && g->out[0] == 1 &&
	       g->kernel[0] == 1 && g->taps <= MAX_TABLE && g->out_plane > 0 && g->in_plane > 0;
}

void cpu_tokens_pack(float *dst, enum elem elem, const void *src, int64_t channels, int64_t taps)
{
	for (int64_t i = 0; i < channels; i++)
		for (int64_t t = 0; t < taps; t++)
			cpu_convert(EL_F32, dst + t * channels + i, elem,
				    (const char *)src +
					    (size_t)(i * taps + t) * cpu_elem_size(elem),
				    1);
}

/* Pixels of a block such that few stick out of the row. */
static int choose_pixels(int64_t width, int64_t k)
{
	static const int sizes[] = {8, 7, 4};
	int64_t least = INT64_MAX;
	int best = 4;
	for (int i = k > 5 || cpu_level < 4 ? 2 : 0; i < 3; i++) {
		int64_t all = (width + sizes[i] - 1) / sizes[i] * sizes[i];
		if (all >= least)
			continue;
		least = all;
		best = sizes[i];
	}
	return best;
}

struct tokens_blocks cpu_tokens_blocks(const struct window *g)
{
	int64_t k = g->kernel[2], s = g->stride[2];
	bool square = g->kernel[1] == k && g->stride[1] == s && g->dilation[1] == 1 &&
		      g->dilation[2] == 1;
	struct tokens_blocks b = {.rows = 1, .pixels = 1};
	if (square && ((k == 3 && s <= 2) || (k == 5 && s <= 2) || (k == 7 && s == 1))) {
		b.rows = ROWS;
		b.pixels = choose_pixels(g->out[2], k);
		b.variant = TOKENS_VARIANT((int)k, (int)s, b.pixels);
	}
	return b;
}

/* Where pixel (y, x) of an image is; what is outside of it is `zeros`. */
static const float *pixel(const struct tokens_rows *r, int64_t y, int64_t x, const float *zeros)
{
	const struct window *g = r->g;
	bool inside = y >= 0 && y < g->in[1] && x >= 0 && x < g->in[2];
	return inside ? r->x + (y * g->in[2] + x - r->from) * g->groups : zeros;
}

/* Outputs (y0, x0) and on, which go to y, the strip's; those that are none to `none`. */
static void fill_block(const struct tokens_rows *r, int64_t y0, int64_t x0, float *y, float *none,
		       const float *zeros, struct block *b)
{
	const struct window *g = r->g;
	int64_t across =
		r->b.pixels > 1 ? (r->b.pixels - 1) * g->stride[2] + g->kernel[2] : g->kernel[2];
	int64_t down = r->b.rows > 1 ? (r->b.rows - 1) * g->stride[1] + g->kernel[1] : g->kernel[1];
	int64_t top = y0 * g->stride[1] - g->pad[1], left = x0 * g->stride[2] - g->pad[2];
	for (int64_t i = 0; i < down; i++)
		for (int64_t j = 0; j < across; j++)
			b->from[i * across + j] = pixel(r, top + i * g->dilation[1],
							left + j * g->dilation[2], zeros);
	for (int i = 0; i < r->b.rows; i++)
		for (int j = 0; j < r->b.pixels; j++)
			b->to[i * r->b.pixels + j] =
				y0 + i < r->y1 && x0 + j < g->out[2]
					? y + (i * g->out[2] + x0 + j) * g->groups
					: none;
	b->taps = (int)g->taps;
}

size_t cpu_tokens_scratch(const struct window *g)
{
	return 2 * (size_t)g->groups * sizeof(float) + TABLES * sizeof(struct block);
}

void cpu_tokens_rows(const struct tokens_rows *r, void *scratch)
{
	const struct window *g = r->g;
	struct block *b = scratch;
	int64_t n = g->groups, width = g->out[2], step = TABLES * r->b.pixels;
	float *zeros = (float *)(void *)(b + TABLES), *none = zeros + n;
	memset(zeros, 0, (size_t)n * sizeof *zeros);
	for (int64_t y0 = r->y0; y0 < r->y1; y0 += r->b.rows) {
		float *y = r->y + (y0 - r->y0) * width * n;
		for (int64_t x0 = 0; x0 < width; x0 += step) {
			int blocks = 0;
			for (int64_t x = x0; x < width && x < x0 + step; x += r->b.pixels)
				fill_block(r, y0, x, y, none, zeros, &b[blocks++]);
			for (int64_t c = 0; c < n; c += CHANNELS)
				for (int i = 0; i < blocks; i++)
					LEVEL_CALL(block, r->b.variant, &b[i], r->weights, r->bias,
						   c, c + CHANNELS < n ? c + CHANNELS : n, n);
		}
		if (r->lo > -INFINITY || r->hi < INFINITY) {
			int64_t rows = r->y1 - y0 < r->b.rows ? r->y1 - y0 : r->b.rows;
			LEVEL_CALL(limit, r->lo, r->hi, y, rows * width * n);
		}
	}
}

static void tokens_task(void *arg, int task, int thread)
{
	struct tokens_run *r = arg;
	const struct tokens_call *c = r->c;
	const struct window *g = c->g;
	int64_t lo, hi, n = g->groups, width = g->out[2];
	size_t strip = c->planes ? (size_t)(r->b.rows * width * n) : 0, own = cpu_tokens_scratch(g);
	char *scratch = cpu_thread_scratch(r->c->ctx, thread, own + strip * sizeof(float));
	if (!scratch) {
		r->failed = true;
		return;
	}
	cpu_range(g->batch * r->strips, r->n_tasks, task, &lo, &hi);
	for (int64_t i = lo; i < hi; i++) {
		int64_t image = i / r->strips, y0 = i % r->strips * r->b.rows, first = y0 * width;
		int64_t rows = g->out[1] - y0 < r->b.rows ? g->out[1] - y0 : r->b.rows;
		int64_t at = (image * g->out_plane + first) * n;
		float *to = c->planes ? (float *)(void *)(scratch + own) : c->y + at;
		const struct tokens_rows part = {.g = g,
						 .b = r->b,
						 .x = c->x + image * g->in_plane * n,
						 .weights = c->weights,
						 .bias = c->bias,
						 .lo = -INFINITY,
						 .hi = INFINITY,
						 .y0 = y0,
						 .y1 = y0 + rows,
						 .y = to};
		cpu_tokens_rows(&part, scratch);
		if (c->planes) {
			float *y = c->y + image * n * g->out_plane + first;
			cpu_turn(to, n, rows * width, n, y, g->out_plane);
			if (c->post && g->out_plane == 1) /* a row has channels */
				cpu_epilogue_tile(c->post, y, n, image, 1, 0, n);
			else if (c->post)
				cpu_epilogue_tile(c->post, y, g->out_plane, image * n, n, first,
						  rows * width);
		} else if (c->post) {
			cpu_epilogue_span(c->post, to, at, rows * width * n);
		}
	}
}

int cpu_tokens_run(const struct tokens_call *c, struct err *e)
{
	struct tokens_run r = {.c = c};
	r.b = cpu_tokens_blocks(c->g);
	r.strips = (c->g->out[1] + r.b.rows - 1) / r.b.rows;
	r.n_tasks = cpu_tasks(c->g->batch * c->g->groups * c->g->out_plane * c->g->taps, GRAIN);
	if (r.n_tasks > c->g->batch * r.strips)
		r.n_tasks = (int)(c->g->batch * r.strips);
	cpu_parallel(c->ctx, r.n_tasks, tokens_task, &r);
	return r.failed ? cpu_no_memory(e) : 0;
}
