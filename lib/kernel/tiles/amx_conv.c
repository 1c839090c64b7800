/* amx_conv.c - see amx_conv.h.
 *
 * The summands of an output come in segments, which lie together in the input: the channels of a tap, of all taps of a row
 * where nothing is between them, or of some narrow groups at a tap.  A segment is cut into steps of up to TILES_STEP bytes, all
 * equally long, so that no step reads elements of another pixel.  Strips of rows are copied with their padding and then
 * pass by all panels of weights: pairs of tiles of pixels by PANEL_COLUMNS output channels at a time, so many steps that their
 * weights stay in the first-level cache.  Where a strip would have few rows, chunks of input channels come one after the other. */
#include "kernel/tiles/amx_conv.h"
#include "kernel/tiles/amx_conv_impl.h"

#include <math.h>
#include <string.h>

enum {
	SLICE_BYTES = 768 << 10,  /* of a slice's input and output, if a row has no more */
	PANELS_BYTES = 384 << 10, /* of weights that stay in the second-level cache */
	FEW_PAIRS = 8,            /* of tiles whose results do, too */
	MAX_CHUNKS = 64
};

bool tiled_conv_does(const struct cpu_ctx *c, const struct window *g, enum elem src)
{
	struct tiled_shape s;
	struct window w = *g;
	int64_t first[3];
	bool depthwise = g->groups > 1 && g->cin == 1;
	if ((src == EL_BF16 && !c->bf16_products) || !tiles_there() || depthwise)
		return false;
	(void)cpu_window_crop(&w, first);
	return tiled_shape_find(&w, src, 1, &s);
}

/* ---- slices and strips ---- */

/* Is the input read where it lies? */
static bool is_direct(const struct tiled_conv *m)
{
	const struct window *g = &m->g;
	bool plain = m->s.pixel == g->groups * g->cin * m->s.size;
	for (int d = 0; d < 3; d++)
		plain = plain && !g->pad[d] && (!tiled_is_points(g) || g->out[d] == g->in[d]) &&
			(g->out[d] - 1) * g->stride[d] + (g->kernel[d] - 1) * g->dilation[d] <
				g->in[d];
	return plain;
}

/* Outputs of slice i. */
static void slice_range(const struct tiled_conv *m, int i, int64_t lo[3], int64_t hi[3])
{
	memset(lo, 0, 3 * sizeof *lo);
	memcpy(hi, m->g.out, 3 * sizeof *hi);
	int d = m->slices.axis;
	lo[d] = i * m->slices.each;
	hi[d] = lo[d] + m->slices.each < hi[d] ? lo[d] + m->slices.each : hi[d];
}

/* Bytes between the caches of a slice in so many chunks, about. */
static double traffic(struct tiled_conv *m, int64_t chunks)
{
	const struct window *g = &m->g;
	int64_t lo[3], hi[3], bytes;
	if (g->cin % chunks || !tiled_shape_find(g, m->src, chunks, &m->s))
		return INFINITY;
	slice_range(m, 0, lo, hi);
	int64_t rows = tiled_strip_rows(m, lo, hi, &bytes),
		strips = (hi[1] - lo[1] + rows - 1) / rows;
	double read = (double)(bytes * strips * chunks), outputs = 1;
	for (int d = 0; d < 3; d++)
		outputs *= (double)(hi[d] - lo[d]);
	if (bytes > 2 * TILED_STRIP_BYTES) /* every panel reads it from behind the cache */
		read *= (double)tiled_panels(m);
	return read + (double)(tiled_pack_bytes(m) * strips) +
	       8.0 * outputs * (double)(g->cout * (chunks - 1));
}

static void choose_chunks(struct tiled_conv *m)
{
	double least = INFINITY;
	int64_t best = 1,
		most = m->g.groups > 1 || tiled_is_points(&m->g) ? 1 : m->g.cin / TILES_STEP;
	for (int64_t chunks = 1; chunks <= most && chunks <= MAX_CHUNKS; chunks++) {
		double bytes = m->g.cin % (chunks * TILES_STEP) && chunks > 1 ? INFINITY
									      : traffic(m, chunks);
		if (bytes < least) {
			least = bytes;
			best = chunks;
		}
	}
	(void)tiled_shape_find(&m->g, m->src, best, &m->s);
}

struct tiled_conv *tiled_conv_new(const struct tiled_conv_spec *s, struct cpu_ctx *c)
{
	struct tiled_conv *m = MEM_NEW(struct tiled_conv);
	m->g = s->g;
	memcpy(m->all, m->g.kernel, sizeof m->all);
	(void)cpu_window_crop(&m->g, m->first);
	for (int d = 0; d < 3; d++)
		if (m->g.out[d] == 1) /* nothing is a stride away */
			m->g.stride[d] = 1;
	m->src = s->src;
	m->dst = s->dst;
	m->post = s->post;
	int64_t size = m->src == EL_BF16 ? 2 : 1;
	const struct window_cut cut = {size,
				       m->dst == EL_F32    ? 4
				       : m->dst == EL_BF16 ? 2
							   : 1,
				       size, SLICE_BYTES, c->n_threads};
	m->slices = window_slices_of(&m->g, &cut);
	(void)tiled_shape_find(&m->g, m->src, 1, &m->s);
	m->direct = is_direct(m);
	if (!m->direct)
		choose_chunks(m);
	int64_t each = tiled_panels(m) * PANEL_COLUMNS, outputs = m->g.groups * m->g.cout;
	m->bias = MEM_NEWN(float, (size_t)(m->s.n_merged * each));
	m->scale = s->scale ? MEM_NEWN(float, (size_t)(m->s.n_merged * each)) : NULL;
	m->post.integers = s->scale != NULL;
	for (int64_t i = 0; i < outputs; i++) {
		int64_t at = i / m->s.cout * each + i % m->s.cout;
		m->bias[at] = s->bias ? s->bias[i] : 0;
		if (s->scale)
			m->scale[at] = s->scale[i];
	}
	m->pack = tiled_pack_weights(m, s, c);
	if (m->pack)
		return m;
	tiled_conv_free(m);
	return NULL;
}

void tiled_conv_free(struct tiled_conv *m)
{
	if (!m)
		return;
	cpu_pack_drop(m->pack);
	mem_free(m->bias);
	mem_free(m->scale);
	mem_free(m);
}

const struct cpu_pack *tiled_conv_pack(const struct tiled_conv *m)
{
	return m->pack;
}

int tiled_conv_slices(const struct tiled_conv *m)
{
	return m->slices.n;
}

int tiled_conv_parts(const struct tiled_conv *m)
{
	return (int)tiled_chunk_panels(m);
}

/* ---- running ---- */

/* A strip that tiles read, from its first output on, and what its sums need. */
struct run {
	const struct tiled_conv *m;
	const char *a;
	int64_t *at; /* (steps): bytes from an output's first to each of its steps */
	struct tiled_tiling t;
	int64_t *tile; /* (tiles): from a to each of them */
	struct tiled_outputs *outputs;
	int64_t chunk, panel, first, columns; /* output channels of the panel */
	float *sums; /* as struct tile_panel has them; kept with several chunks, for each panel */
	char *y;
	const struct tiled_conv_sum *sum;
};

static void find_steps(const struct tiled_conv *m, int64_t row, int64_t plane, int64_t *at)
{
	const struct window *g = &m->g;
	const struct tiled_shape *s = &m->s;
	int64_t across = s->joins ? 1 : g->kernel[2];
	for (int64_t i = 0; i < s->segments; i++) {
		int64_t first = i / across / g->kernel[1] * g->dilation[0] * plane +
				i / across % g->kernel[1] * g->dilation[1] * row +
				i % across * g->dilation[2] * s->pixel;
		for (int64_t j = 0; j < s->steps; j++)
			*at++ = first + j * s->step;
	}
}

/* The groups that meet in the panel; *column: its first output of theirs. */
static int64_t merged_of(const struct run *r, int64_t *column)
{
	*column = r->panel % tiled_panels(r->m) * PANEL_COLUMNS;
	return r->panel / tiled_panels(r->m);
}

static enum tiles_form form_of(enum elem dst)
{
	return dst == EL_F32    ? TILES_TO_F32
	       : dst == EL_BF16 ? TILES_TO_BF16
	       : dst == EL_U8   ? TILES_TO_U8
				: TILES_TO_I8;
}

static int64_t bytes_of(enum tiles_form form)
{
	return form == TILES_TO_F32 ? 4 : form == TILES_TO_BF16 ? 2 : 1;
}

/* The input of the groups that meet in the panel. */
static const char *input_of(const struct run *r)
{
	int64_t column, merged = merged_of(r, &column);
	return r->a + (r->m->g.groups > 1 ? merged * r->m->s.cin * r->m->s.size : 0);
}

/* The outputs of a tile from their sums.  Is one of these not finite, *odd is set, where somebody asks. */
static void write_tile(const struct run *r, int64_t tile, const float *sums, bool *odd)
{
	const struct tiled_conv *m = r->m;
	const struct tiled_tiling *t = &r->t;
	int64_t ld = m->g.groups * m->g.cout, x = r->outputs[tile].at, out = r->outputs[tile].out;
	struct tiles_to to = {.ld = ld, .form = form_of(m->dst), .odd = odd};
	if (r->sum) {
		to.form = form_of(r->sum->to);
		to.add_form = form_of(r->sum->elem);
		to.made = form_of(m->dst);
		to.made_scale = r->sum->made_scale;
		to.add_scale = r->sum->add_scale;
		to.lo = r->sum->lo;
		to.hi = r->sum->hi;
	}
	for (int64_t i = 0, n; i < t->rows; i += n, x = 0, out += t->outputs_row) {
		int64_t element = (out + x) * ld + r->first;
		n = t->width - x < t->rows - i ? t->width - x : t->rows - i;
		int64_t some = t->valid - x < n ? t->valid - x : n;
		to.y = r->y + element * bytes_of(to.form);
		to.add =
			r->sum ? (const char *)r->sum->add + element * bytes_of(to.add_form) : NULL;
		if (some > 0)
			tiles_finish(&m->post, sums + i * PANEL_COLUMNS, (int)some, r->columns,
				     m->bias + r->panel * PANEL_COLUMNS,
				     m->scale ? m->scale + r->panel * PANEL_COLUMNS : NULL, &to);
	}
}

/* Zeros keep groups that meet apart only as long as what they are multiplied by is finite. */
static void finish_tile(const void *arg, int64_t tile, const float *sums)
{
	const struct run *r = arg;
	float apart[TILES_M * PANEL_COLUMNS] __attribute__((aligned(64)));
	bool odd = false;
	write_tile(r, tile, sums, r->m->s.merge > 1 && r->m->src == EL_BF16 ? &odd : NULL);
	if (!odd)
		return;
	tiled_sum_apart(r->m, r->panel, input_of(r) + r->tile[tile], r->at, r->t.step, r->t.rows,
			apart);
	write_tile(r, tile, apart, NULL);
}

static int64_t pairs_of(const struct tiled_tiling *t)
{
	return (tiled_tiles(t) + 1) / 2;
}

/* Pairs of tiles from .. end - 1 by the panel. */
static void run_panel(struct run *r, int64_t from, int64_t end)
{
	const struct tiled_conv *m = r->m;
	int64_t kept = m->s.chunks > 1 ? pairs_of(&r->t) * PANEL_SUMS : 0;
	int64_t panel = r->chunk * tiled_chunk_panels(m) + r->panel;
	int64_t column, merged = merged_of(r, &column), all = m->g.groups * m->g.cout;
	r->first = merged * m->s.cout + column;
	r->columns = m->s.cout - column < PANEL_COLUMNS ? m->s.cout - column : PANEL_COLUMNS;
	r->columns = all - r->first < r->columns ? all - r->first : r->columns;
	if (r->columns <= 0) /* of groups that are not there */
		return;
	const struct tile_panel p = {.type = m->src == EL_BF16 ? TILES_BF16
					     : m->src == EL_U8 ? TILES_U8
							       : TILES_I8,
				     .a = input_of(r),
				     .tile = r->tile,
				     .n_tiles = tiled_tiles(&r->t),
				     .a_step = r->t.step,
				     .at = r->at,
				     .steps = tiled_steps(m),
				     .step = m->s.step,
				     .b = (const char *)m->pack->data +
					  panel * tiled_panel_bytes(m),
				     .columns = r->columns > TILES_N ? 2 : 1,
				     .sums = r->sums + r->panel * kept,
				     .keep = kept > 0,
				     .add = r->chunk > 0,
				     .last = r->chunk == m->s.chunks - 1,
				     .finish = finish_tile,
				     .arg = r};
	for (; from < end; from += PANEL_PAIRS)
		tile_panel_run(&p, from, from + PANEL_PAIRS < end ? from + PANEL_PAIRS : end);
}

/* Panels from .. end - 1 of a chunk.  The results of few tiles stay in cache while all panels pass by, if these do; or else
 * panels do. */
static void run_panels(struct run *r, int64_t from, int64_t end)
{
	int64_t pairs = pairs_of(&r->t), bytes = (end - from) * tiled_panel_bytes(r->m);
	int64_t step = bytes <= PANELS_BYTES ? FEW_PAIRS : pairs;
	tiles_begin((int)r->t.rows, r->m->s.step);
	for (int64_t p = 0; p < pairs; p += step)
		for (r->panel = from; r->panel < end; r->panel++)
			run_panel(r, p, p + step < pairs ? p + step : pairs);
	tiles_end();
}

static size_t lines(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

/* Bytes of the steps' and the tiles' beginnings. */
static size_t offset_bytes(const struct tiled_conv *m, const struct tiled_tiling *t)
{
	return lines((size_t)(tiled_steps(m) + t->most_tiles) * sizeof(int64_t) +
		     (size_t)t->most_tiles * sizeof(struct tiled_outputs));
}

/* Floats of the sums of a strip, or of one with fewer rows. */
static int64_t sums_of(const struct tiled_conv *m, const struct tiled_tiling *t)
{
	int64_t pairs = (t->most_tiles + 1) / 2;
	return (m->s.chunks > 1 ? tiled_chunk_panels(m) * pairs : PANEL_PAIRS) * PANEL_SUMS;
}

/* Bytes from a row of what a strip reads to the next. */
static int64_t row_of(const struct tiled_conv *m, const struct tiled_strip *s)
{
	return (m->direct ? m->g.in[2] : s->size[2]) * m->s.pixel;
}

/* Outputs lo .. hi - 1 of a slice; x: pixel number sl->from. */
static void run_strip(const struct tiled_conv *m, const struct window_slice *sl,
		      const int64_t lo[3], const int64_t hi[3], struct channel_part part,
		      const char *x, char *y, const struct tiled_conv_sum *sum, char *scratch)
{
	const struct window *g = &m->g;
	struct tiled_strip strip = tiled_strip_of(m, lo, hi);
	struct run r = {.m = m, .at = (int64_t *)(void *)scratch, .y = y, .sum = sum};
	int64_t row = row_of(m, &strip), from, end;
	int64_t plane = (m->direct ? g->in[1] : strip.size[1]) * row;
	r.t = tiled_tiling_of(m, &strip, row, plane);
	r.t.out = (lo[0] * g->out[1] + lo[1]) * g->out[2] + lo[2] - sl->at;
	r.sums = (float *)(void *)(scratch + offset_bytes(m, &r.t));
	char *copied = (char *)(r.sums + sums_of(m, &r.t));
	r.a = copied;
	if (m->direct)
		r.a = x + strip.from[0] * plane + strip.from[1] * row +
		      (strip.from[2] - sl->from) * m->s.pixel;
	find_steps(m, row, plane, r.at);
	r.tile = r.at + tiled_steps(m);
	r.outputs = (struct tiled_outputs *)(void *)(r.tile + tiled_tiles(&r.t));
	tiled_find_tiles(&r.t, r.tile, r.outputs);
	cpu_range(tiled_chunk_panels(m), part.of, part.at, &from, &end);
	for (r.chunk = 0; r.chunk < m->s.chunks; r.chunk++) {
		if (!m->direct)
			tiled_strip_copy(m, &strip, x + r.chunk * m->s.cin * m->s.size, sl->from,
					 copied);
		run_panels(&r, from, end);
	}
}

struct window_slice tiled_conv_slice(const struct tiled_conv *m, int i)
{
	struct window_slice s = window_slice_at(&m->g, &m->slices, i);
	int64_t lo[3], hi[3], bytes;
	slice_range(m, i, lo, hi);
	hi[1] = lo[1] + tiled_strip_rows(m, lo, hi, &bytes);
	struct tiled_strip strip = tiled_strip_of(m, lo, hi);
	struct tiled_tiling t = tiled_tiling_of(m, &strip, row_of(m, &strip), 0);
	s.scratch = offset_bytes(m, &t) + (size_t)sums_of(m, &t) * sizeof(float) +
		    (m->direct ? 0 : lines((size_t)bytes));
	return s;
}

void tiled_conv_run(const struct tiled_conv *m, int i, struct channel_part part, const void *x,
		    void *y, const struct tiled_conv_sum *sum, void *scratch)
{
	struct window_slice sl = tiled_conv_slice(m, i);
	int64_t lo[3], hi[3], bytes;
	slice_range(m, i, lo, hi);
	int64_t rows = tiled_strip_rows(m, lo, hi, &bytes), last = hi[1];
	for (; lo[1] < last; lo[1] += rows) {
		hi[1] = lo[1] + rows < last ? lo[1] + rows : last;
		run_strip(m, &sl, lo, hi, part, x, y, sum, scratch);
	}
}
