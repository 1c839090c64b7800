/* winograd_nhwc.c - see winograd_nhwc.h.
 *
 * A slice's tiles at once: inputs to points, vectors of channels at a time, (points, tiles, cin); then, some panels of
 * GEMM_N output channels at a time, a product for each point, (tiles, cin) by (cin, GEMM_N), and its sums to
 * outputs.  Nothing is turned on the way: channels stay side by side.
 * Sources: as winograd.c. */
#include "kernel/conv/winograd_nhwc.h"
#include "kernel/conv/conv.h"
#include "kernel/gemm/gemm.h"

#include <string.h>

enum {
	MAX_POINTS = 36,
	MOST_TILES = 56,       /* of a slice, if a row of tiles has no more */
	SUMS_BYTES = 512 << 10 /* of panels that read the same points, if one panel has no more */
};

#define LEVEL_FILE "kernel/conv/winograd_nhwc_loops.h"
#include "kernel/isa_dispatch.h"

struct winograd_pixels {
	struct window g;
	int m, points;
	int64_t across, down; /* tiles of an image */
	int64_t each;         /* rows of tiles of a slice; the last of a plane may have fewer */
	int n_slices;         /* of each of g.out[0] planes */
	int64_t padded;       /* channels of a tile's point in one plane: whole vectors */
	int64_t depth; /* floats of a tile's point: those of the planes that an output sees */
	float lo, hi;
	float *bias; /* (groups, panels, GEMM_N) */
	struct cpu_pack *pack;
};

bool winograd_pixels_does(const struct window *g)
{
	bool dense = g->stride[0] == 1 && g->dilation[0] == 1 && g->pad[0] >= 0;
	int64_t panels = (g->cout + GEMM_N - 1) / GEMM_N;
	bool three = g->kernel[1] == 3 && g->kernel[2] == 3;
	for (int d = 1; d < 3; d++)
		three = three && g->stride[d] == 1 && g->dilation[d] == 1 && g->pad[d] >= 0;
	/* Of small groups too much of a panel would be zeros. */
	return dense && three && (g->groups == 1 || 4 * g->cout >= 3 * panels * GEMM_N);
}

static int64_t n_panels(const struct winograd_pixels *w)
{
	return (w->g.cout + GEMM_N - 1) / GEMM_N;
}

/* ---- weights ---- */

struct fill {
	const struct winograd_pixels *w;
	const struct tensor *t;
};

/* Summands of a product: channels, or those of several planes with what they are padded with. */
static int64_t n_summands(const struct winograd_pixels *w)
{
	return w->g.kernel[0] == 1 ? w->g.cin : w->depth;
}

/* Floats of a panel's weights. */
static int64_t panel_floats(const struct winograd_pixels *w)
{
	return w->points * n_summands(w) * GEMM_N;
}

static int64_t group_floats(const struct winograd_pixels *w)
{
	return n_panels(w) * panel_floats(w);
}

/* Those of one output channel in one plane: all of o's 3x3 weights from element `first` on, kernel[0] * 9 apart. */
static void fill_plane(const struct fill *f, int64_t first, float *u)
{
	const struct winograd_pixels *w = f->w;
	int64_t taps = w->g.kernel[0] * 9, point = n_summands(w) * GEMM_N;
	for (int64_t c = 0; c < w->g.cin; c++, first += taps, u += GEMM_N) {
		double g[9], of[MAX_POINTS];
		for (int i = 0; i < 9; i++)
			g[i] = tensor_real(f->t, first + i);
		cpu_winograd_filter(w->m, g, of);
		for (int i = 0; i < w->points; i++)
			u[i * point] = (float)of[i];
	}
}

/* (groups, panels, points, summands, GEMM_N) */
static void fill_weights(void *arg, void *data)
{
	const struct fill *f = arg;
	const struct winograd_pixels *w = f->w;
	int64_t cout = w->g.cout, taps = w->g.kernel[0] * 9;
	memset(data, 0, (size_t)(w->g.groups * group_floats(w)) * sizeof(float));
	for (int64_t o = 0; o < w->g.groups * cout; o++) {
		int64_t channel = o % cout;
		float *u = (float *)data + o / cout * group_floats(w) +
			   channel / GEMM_N * panel_floats(w) + channel % GEMM_N;
		for (int64_t z = 0; z < w->g.kernel[0]; z++)
			fill_plane(f, o * w->g.cin * taps + z * 9, u + z * w->padded * GEMM_N);
	}
}

/* ---- slices ---- */

static void cut(struct winograd_pixels *w, int n_threads)
{
	int64_t most = MOST_TILES / w->across > 0 ? MOST_TILES / w->across : 1;
	int64_t pieces = (w->down + most - 1) / most;
	if (w->g.batch * w->g.out[0] < n_threads) /* as many for each thread */
		pieces = (pieces + n_threads - 1) / n_threads * n_threads;
	w->each = pieces > w->down ? 1 : (w->down + pieces - 1) / pieces;
	w->n_slices = (int)((w->down + w->each - 1) / w->each);
}

struct winograd_pixels *winograd_pixels_new(const struct winograd_pixels_spec *s, struct cpu_ctx *c)
{
	struct winograd_pixels *w = MEM_NEW(struct winograd_pixels);
	const struct window *g = &s->g;
	w->g = *g;
	w->m = s->m;
	w->points = (s->m + 2) * (s->m + 2);
	w->across = (g->out[2] + s->m - 1) / s->m;
	w->down = (g->out[1] + s->m - 1) / s->m;
	int64_t vector = LEVEL_CALL(vector_floats);
	w->padded = (g->cin + vector - 1) / vector * vector;
	w->depth = g->kernel[0] * w->padded;
	w->lo = s->lo;
	w->hi = s->hi;
	w->bias = MEM_NEWN(float, (size_t)(g->groups * n_panels(w) * GEMM_N));
	for (int64_t i = 0; s->bias && i < g->groups; i++)
		memcpy(w->bias + i * n_panels(w) * GEMM_N, s->bias + i * g->cout,
		       (size_t)g->cout * sizeof *w->bias);
	cut(w, c->n_threads);
	struct fill f = {w, s->weights};
	uint64_t layout[6] = {OP_CONVOLUTION,
			      CONV_WINOGRAD_PIXELS + (uint64_t)w->m,
			      EL_F32,
			      (uint64_t)g->groups,
			      (uint64_t)g->cout,
			      (uint64_t)(g->cin * g->taps)};
	w->pack = cpu_pack_get(c->packs, s->weights->data, layout,
			       (uint64_t)(g->groups * group_floats(w)) * sizeof(float),
			       fill_weights, &f);
	if (w->pack)
		return w;
	winograd_pixels_free(w);
	return NULL;
}

void winograd_pixels_free(struct winograd_pixels *w)
{
	if (!w)
		return;
	cpu_pack_drop(w->pack);
	mem_free(w->bias);
	mem_free(w);
}

const struct cpu_pack *winograd_pixels_pack(const struct winograd_pixels *w)
{
	return w->pack;
}

int winograd_pixels_slices(const struct winograd_pixels *w)
{
	return w->n_slices * (int)w->g.out[0];
}

/* Rows of tiles, of the input and of the output, of slice i, in its plane; planes of the input that it sees. */
struct rows {
	int64_t tile, n_tiles, from, end, at, stop;
	int64_t plane, n_planes,
		before; /* so many more are seen before `plane` that are not there */
};

static struct rows rows_of(const struct winograd_pixels *w, int i)
{
	struct rows r = {.tile = i % w->n_slices * w->each};
	int64_t left = w->down - r.tile;
	r.n_tiles = left < w->each ? left : w->each;
	r.at = r.tile * w->m;
	r.stop = r.at + r.n_tiles * w->m;
	r.from = r.at - w->g.pad[1];
	r.end = r.stop + 2 - w->g.pad[1];
	r.stop = r.stop > w->g.out[1] ? w->g.out[1] : r.stop;
	r.from = r.from < 0 ? 0 : r.from > w->g.in[1] ? w->g.in[1] : r.from;
	r.end = r.end < r.from ? r.from : r.end > w->g.in[1] ? w->g.in[1] : r.end;
	int64_t first = i / w->n_slices - w->g.pad[0], last = first + w->g.kernel[0];
	r.plane = first < 0 ? 0 : first > w->g.in[0] ? w->g.in[0] : first;
	last = last < r.plane ? r.plane : last > w->g.in[0] ? w->g.in[0] : last;
	r.n_planes = last - r.plane;
	r.before = r.plane - first;
	return r;
}

static int64_t point_stride(const struct winograd_pixels *w, int64_t tiles)
{
	return tiles * w->depth + 16;
}

/* Sums of a panel's point; those of the next panel lie behind those of all points. */
static int64_t sum_stride(int64_t tiles)
{
	return tiles * GEMM_N + 16;
}

/* Panels that read a point's tiles one after another. */
static int64_t panels_at_once(const struct winograd_pixels *w, int64_t tiles)
{
	int64_t n = SUMS_BYTES / (w->points * sum_stride(tiles) * (int64_t)sizeof(float));
	return n < 1 ? 1 : n > n_panels(w) ? n_panels(w) : n;
}

struct window_slice winograd_pixels_slice(const struct winograd_pixels *w, int i)
{
	struct rows r = rows_of(w, i);
	int64_t tiles = r.n_tiles * w->across;
	int64_t sums = panels_at_once(w, tiles) * sum_stride(tiles);
	int64_t floats = w->points * (point_stride(w, tiles) + sums) + w->padded;
	int64_t from = r.plane * w->g.in[1] + r.from;
	int64_t n_in = r.n_planes ? (r.n_planes - 1) * w->g.in[1] + r.end - r.from : 0;
	return (struct window_slice){from * w->g.in[2], n_in * w->g.in[2],
				     (i / w->n_slices * w->g.out[1] + r.at) * w->g.out[2],
				     (r.stop - r.at) * w->g.out[2], (size_t)floats * sizeof(float)};
}

/* ---- running ---- */

/* Tile t of a plane of the slice, whose first row is at x: where its inputs are, zeros for those outside. */
static void find_pixels(const struct winograd_pixels *w, const struct rows *r, int64_t t,
			const float *x, const float *zeros, const float **at)
{
	const struct window *g = &w->g;
	int64_t y0 = (r->tile + t / w->across) * w->m - g->pad[1];
	int64_t x0 = t % w->across * w->m - g->pad[2];
	for (int i = 0; i < w->m + 2; i++)
		for (int j = 0; j < w->m + 2; j++, at++) {
			int64_t iy = y0 + i, ix = x0 + j;
			bool inside = iy >= r->from && iy < r->end && ix >= 0 && ix < g->in[2];
			*at = inside ? x + ((iy - r->from) * g->in[2] + ix) * g->groups * g->cin
				     : zeros;
		}
}

/* What a run of a group has. */
struct group_run {
	const struct winograd_pixels *w;
	struct rows r;
	int64_t tiles;
	const float *x, *u, *bias; /* of the group's first channel */
	float *y;
	float *zeros, *points, *sums; /* scratch */
};

static void inputs_to_points(const struct group_run *q)
{
	const struct winograd_pixels *w = q->w;
	const struct window *g = &w->g;
	const float *at[MAX_POINTS];
	int64_t plane = g->in[1] * g->in[2] * g->groups * g->cin,
		stride = point_stride(w, q->tiles);
	for (int64_t z = 0; z < g->kernel[0]; z++) {
		int64_t in = z - q->r.before;
		float *to = q->points + z * w->padded;
		for (int64_t t = 0; t < q->tiles; t++, to += w->depth) {
			if (in < 0 || in >= q->r.n_planes) {
				for (int i = 0; i < w->points; i++)
					memset(to + i * stride, 0, (size_t)w->padded * sizeof *to);
				continue;
			}
			find_pixels(w, &q->r, t, q->x + in * plane, q->zeros, at);
			LEVEL_CALL(tile_to_points, w->m, at, g->cin, to, stride);
		}
	}
}

/* Tiles of one point by a panel of weights. */
static void multiply_point(const struct winograd_pixels *w, const float *points, const float *u,
			   int64_t tiles, float *sums)
{
	for (int64_t t = 0; t < tiles; t += GEMM_M) {
		struct gemm_block b = {.mr = tiles - t < GEMM_M ? (int)(tiles - t) : GEMM_M,
				       .nr = GEMM_N,
				       .kc = n_summands(w),
				       .a = points + t * w->depth,
				       .a_row = w->depth,
				       .b = u,
				       .ldb = GEMM_N,
				       .c = sums + t * GEMM_N,
				       .ldc = GEMM_N,
				       .ahead = u};
		gemm_multiply(&b);
	}
}

/* Panels first .. first + n - 1, whose sums are n panels. */
static void multiply_panels(const struct group_run *q, int64_t first, int64_t n)
{
	const struct winograd_pixels *w = q->w;
	int64_t panel = panel_floats(w), stride = sum_stride(q->tiles);
	for (int64_t p = 0; p < w->points; p++)
		for (int64_t i = 0; i < n; i++)
			multiply_point(w, q->points + p * point_stride(w, q->tiles),
				       q->u + (first + i) * panel + p * n_summands(w) * GEMM_N,
				       q->tiles, q->sums + (i * w->points + p) * stride);
}

static void points_to_outputs(const struct group_run *q, int64_t panel, const float *sums)
{
	const struct winograd_pixels *w = q->w;
	const struct window *g = &w->g;
	int64_t first = panel * GEMM_N, pixel = g->groups * g->cout;
	int64_t n = g->cout - first < GEMM_N ? g->cout - first : GEMM_N;
	for (int64_t t = 0; t < q->tiles; t++) {
		int64_t y = t / w->across * w->m, x = t % w->across * w->m;
		int64_t rows = q->r.stop - q->r.at - y, cols = g->out[2] - x;
		LEVEL_CALL(tile_from_points, w->m, sums + t * GEMM_N, sum_stride(q->tiles), n,
			   q->bias + first, w->lo, w->hi, (int)(rows < w->m ? rows : w->m),
			   (int)(cols < w->m ? cols : w->m),
			   q->y + (y * g->out[2] + x) * pixel + first, g->out[2] * pixel, pixel);
	}
}

int winograd_pixels_parts(const struct winograd_pixels *w)
{
	return (int)n_panels(w);
}

void winograd_pixels_run(const struct winograd_pixels *w, int i, struct channel_part part,
			 const float *x, float *y, void *scratch)
{
	const struct window *g = &w->g;
	struct group_run q = {
		.w = w, .r = rows_of(w, i), .x = x, .y = y, .u = w->pack->data, .bias = w->bias};
	q.tiles = q.r.n_tiles * w->across;
	q.zeros = scratch;
	q.points = q.zeros + w->padded;
	q.sums = q.points + w->points * point_stride(w, q.tiles);
	memset(q.zeros, 0, (size_t)w->padded * sizeof *q.zeros);
	int64_t at_once = panels_at_once(w, q.tiles), panels = n_panels(w), first, end;
	cpu_range(panels, part.of, part.at, &first, &end);
	for (int64_t group = 0; group < g->groups; group++) {
		inputs_to_points(&q);
		for (int64_t p = first; p < end; p += at_once) {
			int64_t n = end - p < at_once ? end - p : at_once;
			multiply_panels(&q, p, n);
			for (int64_t j = 0; j < n; j++)
				points_to_outputs(&q, p + j,
						  q.sums + j * w->points * sum_stride(q.tiles));
		}
		q.x += g->cin;
		q.y += g->cout;
		q.u += group_floats(w);
		q.bias += panels * GEMM_N;
	}
}
