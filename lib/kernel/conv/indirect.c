/* indirect.c - see indirect.h.
 *
 * Some tiles at a time find their pixels: for each tap that any of their pixels sees, the addresses of the pixels that it
 * reads, zeros for those outside.  Then come pieces of the sums, some taps or some channels of one tap, whose weights
 * for GEMM_N output channels stay in the second-level cache while the tiles pass by. */
#include "kernel/conv/indirect.h"
#include "kernel/conv/conv.h"
#include "kernel/gemm/gemm.h"

#include <string.h>

enum {
	TILE_MOST = 12,          /* pixels of a tile, at any level */
	BLOCK_TILES = 24,        /* that pass by together, but they end */
	BLOCK_TAPS = 512,        /* with the tile that comes to more taps */
	PIECE = 768,             /* rows of weights that stay in cache */
	SLICE_BYTES = 512 << 10, /* of a slice's input and output, if a row has no more */
	/* Below these oneDNN's are as fast: */
	MIN_CHANNELS = 1024, /* input times output channels */
	MIN_INPUTS = 8,
	MIN_GROUPED = 128, /* of a group's, of one tap, in whole vectors */
	MIN_PIXELS = 16    /* with fewer, weights from memory are all of it */
};

/* What a tap adds to a tile, or a row of taps, whose pixels lie side by side as their weights do. */
struct tile_tap {
	int64_t weights; /* floats from the panel's first */
	int64_t n;       /* of each pixel, from there on */
	const float *pixel[TILE_MOST];
};

/* A tile of `rows` pixels, ld floats apart, and a piece of its sums. */
struct tile {
	int rows, n_taps;
	const struct tile_tap *tap;
	int64_t channel, kc; /* of each pixel: kc channels from `channel` on; kc 0: as taps say */
	const float *weights, *bias;
	float *y;
	int64_t ld;
	bool first, last; /* pieces */
	float lo, hi;
};

#define LEVEL_FILE "kernel/conv/indirect_loops.h"
#include "kernel/isa_dispatch.h"

struct indirect {
	struct window g;
	struct window_slices slices;
	bool joins; /* rows of taps */
	float lo, hi;
	float *bias; /* (groups, panels, GEMM_N) */
	struct cpu_pack *pack;
};

bool indirect_pays(const struct window *g)
{
	bool one_tap = g->taps == 1;
	for (int d = 0; d < 3; d++)
		one_tap = one_tap && g->stride[d] == 1 && !g->pad[d] && !g->pad_end[d];
	bool many = g->cin >= MIN_INPUTS && g->cin * g->cout >= MIN_CHANNELS &&
		    g->out_plane >= MIN_PIXELS;
	/* Of 1x1 in groups oneDNN has good code for the smallest in whole vectors alone. */
	bool grouped = g->groups > 1 && g->cin > 1 &&
		       !(one_tap && g->cin % 8 == 0 && g->cout % 8 == 0 &&
			 g->cin * g->cout <= MIN_GROUPED);
	/* Of groups of 12 channels it takes twice the time of those of 11 or 14, with AVX-512, too. */
	bool twelve = g->groups > 1 && g->cin == 12 && g->cout == 12;
	return twelve || (cpu_level < 4 && (grouped || (many && !one_tap)));
}

static int64_t n_panels(const struct window *g)
{
	return (g->cout + GEMM_N - 1) / GEMM_N;
}

/* ---- weights ---- */

struct fill {
	const struct window *g;
	const struct tensor *t;
};

/* (groups, panels, taps, cin, GEMM_N) */
static void fill_weights(void *arg, void *data)
{
	const struct fill *f = arg;
	const struct window *g = f->g;
	int64_t panel = g->taps * g->cin * GEMM_N;
	memset(data, 0, (size_t)(g->groups * n_panels(g) * panel) * sizeof(float));
	for (int64_t o = 0; o < g->groups * g->cout; o++) {
		int64_t channel = o % g->cout;
		float *to = (float *)data + (o / g->cout * n_panels(g) + channel / GEMM_N) * panel +
			    channel % GEMM_N;
		for (int64_t c = 0; c < g->cin; c++)
			for (int64_t q = 0; q < g->taps; q++)
				to[(q * g->cin + c) * GEMM_N] =
					(float)tensor_real(f->t, (o * g->cin + c) * g->taps + q);
	}
}

/* ---- slices ---- */

struct indirect *indirect_new(const struct indirect_spec *s, struct cpu_ctx *c)
{
	struct indirect *m = MEM_NEW(struct indirect);
	const struct window *g = &s->g;
	int64_t panels = n_panels(g);
	m->g = *g;
	m->lo = s->lo;
	m->hi = s->hi;
	m->joins = g->groups == 1 && g->dilation[2] == 1 && g->kernel[2] * g->cin <= PIECE;
	m->bias = MEM_NEWN(float, (size_t)(g->groups * panels * GEMM_N));
	for (int64_t i = 0; s->bias && i < g->groups; i++)
		memcpy(m->bias + i * panels * GEMM_N, s->bias + i * g->cout,
		       (size_t)g->cout * sizeof *m->bias);
	const struct window_cut cut = {4, 4, 4, SLICE_BYTES, c->n_threads};
	m->slices = window_slices_of(g, &cut);
	struct fill f = {g, s->weights};
	uint64_t layout[6] = {OP_CONVOLUTION,      CONV_INDIRECT,     EL_F32,
			      (uint64_t)g->groups, (uint64_t)g->cout, (uint64_t)(g->cin * g->taps)};
	m->pack = cpu_pack_get(c->packs, s->weights->data, layout,
			       (uint64_t)(g->groups * panels * g->taps * g->cin * GEMM_N) *
				       sizeof(float),
			       fill_weights, &f);
	if (m->pack)
		return m;
	indirect_free(m);
	return NULL;
}

void indirect_free(struct indirect *m)
{
	if (!m)
		return;
	cpu_pack_drop(m->pack);
	mem_free(m->bias);
	mem_free(m);
}

const struct cpu_pack *indirect_pack(const struct indirect *m)
{
	return m->pack;
}

int indirect_slices(const struct indirect *m)
{
	return m->slices.n;
}

/* Floats that stand for a pixel outside. */
static int64_t n_zeros(const struct indirect *m)
{
	return (m->g.groups * m->g.cin * (m->joins ? m->g.kernel[2] : 1) + 15) / 16 * 16;
}

struct window_slice indirect_slice(const struct indirect *m, int i)
{
	struct window_slice s = window_slice_at(&m->g, &m->slices, i);
	s.scratch = (size_t)n_zeros(m) * sizeof(float) +
		    (size_t)(BLOCK_TAPS + m->g.taps) * sizeof(struct tile_tap);
	return s;
}

/* ---- running ---- */

/* Where the taps of a tile begin among those of its block, and how many there are. */
struct span {
	int first, n;
};

/* Pixels of a tile: where their windows begin. */
struct corners {
	int rows;
	int64_t at[TILE_MOST][3];
	bool joins; /* all of their windows are inside along dim 2 */
};

static void find_corners(const struct indirect *m, int64_t first, int rows, struct corners *c)
{
	const struct window *g = &m->g;
	int64_t o[3], p = first;
	for (int d = 2; d >= 0; p /= g->out[d--])
		o[d] = p % g->out[d];
	c->rows = rows;
	c->joins = m->joins;
	for (int i = 0; i < rows; i++) {
		for (int d = 0; d < 3; d++)
			c->at[i][d] = o[d] * g->stride[d] - g->pad[d];
		c->joins = c->joins && c->at[i][2] >= 0 && c->at[i][2] + g->kernel[2] <= g->in[2];
		for (int d = 2; d >= 0 && ++o[d] == g->out[d]; d--)
			o[d] = 0;
	}
}

/* The pixels that the tap at `shift` sees; false: none.  x: pixel number `from`. */
static bool find_pixels(const struct window *g, const struct corners *c, const int64_t *shift,
			const float *x, int64_t from, const float *zeros, const float **pixel)
{
	int64_t line = g->groups * g->cin;
	bool any = false;
	for (int i = 0; i < c->rows; i++) {
		int64_t z = c->at[i][0] + shift[0], y = c->at[i][1] + shift[1],
			q = c->at[i][2] + shift[2];
		bool inside = (uint64_t)z < (uint64_t)g->in[0] &&
			      (uint64_t)y < (uint64_t)g->in[1] && (uint64_t)q < (uint64_t)g->in[2];
		pixel[i] = inside ? x + ((z * g->in[1] + y) * g->in[2] + q - from) * line : zeros;
		any = any || inside;
	}
	for (int i = c->rows; i < LEVEL_CALL(tile_rows); i++)
		pixel[i] = zeros;
	return any;
}

/* The taps that pixels first .. first + rows - 1 of the output see: how many.  x: the slice's first pixel, number `from`. */
static int find_taps(const struct indirect *m, int64_t first, int rows, const float *x,
		     int64_t from, const float *zeros, struct tile_tap *tap)
{
	const struct window *g = &m->g;
	struct corners c;
	int n = 0;
	find_corners(m, first, rows, &c);
	int64_t step = c.joins ? g->kernel[2] : 1;
	for (int64_t q = 0; q < g->taps; q += step) {
		const int64_t shift[3] = {q / g->kernel[2] / g->kernel[1] * g->dilation[0],
					  q / g->kernel[2] % g->kernel[1] * g->dilation[1],
					  q % g->kernel[2] * g->dilation[2]};
		tap[n].weights = q * g->cin * GEMM_N;
		tap[n].n = step * g->cin;
		n += find_pixels(g, &c, shift, x, from, zeros, tap[n].pixel);
	}
	return n;
}

/* A piece of the sums: taps from .. end - 1, of each kc channels from `channel` on; kc 0: all. */
struct piece {
	int64_t from, end, channel, kc;
	bool first, last;
};

/* Some tiles by panel j of a group's weights. */
static void multiply(const struct indirect *m, const struct piece *p, const struct span *span,
		     const struct tile_tap *tap, int64_t group, int64_t j, int64_t pixels, float *y)
{
	const struct window *g = &m->g;
	int step = LEVEL_CALL(tile_rows);
	int64_t panel = group * n_panels(g) + j, left = g->cout - j * GEMM_N;
	int64_t row = g->cin * GEMM_N;
	struct tile t = {.channel = group * g->cin + p->channel,
			 .kc = p->kc,
			 .weights = (const float *)m->pack->data + panel * g->taps * row +
				    p->channel * GEMM_N,
			 .bias = m->bias + panel * GEMM_N,
			 .ld = g->groups * g->cout,
			 .first = p->first,
			 .last = p->last,
			 .lo = m->lo,
			 .hi = m->hi};
	for (int64_t i = 0; i < pixels; i += step, span++) {
		int lo = span->first, hi = span->first + span->n;
		while (lo < hi && tap[lo].weights < p->from * row)
			lo++;
		while (hi > lo && tap[hi - 1].weights >= p->end * row)
			hi--;
		if (lo == hi && !p->first && !p->last)
			continue;
		t.rows = pixels - i < step ? (int)(pixels - i) : step;
		t.tap = tap + lo;
		t.n_taps = hi - lo;
		t.y = y + i * t.ld + group * g->cout + j * GEMM_N;
		LEVEL_CALL(tile, &t, left < GEMM_N ? (int)left : GEMM_N);
	}
}

/* `pixels` of the output whose taps were found. */
static void run_block(const struct indirect *m, struct channel_part part, const struct span *span,
		      const struct tile_tap *tap, int64_t pixels, float *y)
{
	const struct window *g = &m->g;
	int64_t panel, end;
	cpu_range(n_panels(g), part.of, part.at, &panel, &end);
	int64_t row = m->joins ? g->kernel[2] : 1, rows = PIECE / (g->cin * row);
	int64_t taps = rows < 1 ? row : rows * row;
	for (int64_t group = 0; group < g->groups; group++)
		for (int64_t q = 0; q < g->taps; q += taps)
			for (int64_t c = 0; c < g->cin; c += PIECE) {
				struct piece p = {.from = q,
						  .end = q + taps,
						  .channel = c,
						  .kc = g->cin <= PIECE      ? 0
							: g->cin - c < PIECE ? g->cin - c
									     : PIECE,
						  .first = q == 0 && c == 0,
						  .last = q + taps >= g->taps &&
							  c + PIECE >= g->cin};
				for (int64_t j = panel; j < end; j++)
					multiply(m, &p, span, tap, group, j, pixels, y);
			}
}

/* Pixels p .. p + n - 1 of the slice, BLOCK_TILES at most. */
static void run_tiles(const struct indirect *m, const struct window_slice *s,
		      struct channel_part part, int64_t p, int64_t n, const float *x, float *y,
		      void *scratch)
{
	const float *zeros = scratch;
	struct tile_tap *tap = (struct tile_tap *)(void *)((float *)scratch + n_zeros(m));
	struct span span[BLOCK_TILES];
	int64_t rows = LEVEL_CALL(tile_rows), line = m->g.groups * m->g.cout;
	while (n > 0) {
		int64_t pixels = 0;
		for (int found = 0, t = 0; pixels < n && found <= BLOCK_TAPS; t++) {
			int64_t some = n - pixels < rows ? n - pixels : rows;
			span[t].first = found;
			span[t].n = find_taps(m, s->at + p + pixels, (int)some, x, s->from, zeros,
					      tap + found);
			found += span[t].n;
			pixels += some;
		}
		run_block(m, part, span, tap, pixels, y + p * line);
		p += pixels;
		n -= pixels;
	}
}

int indirect_parts(const struct indirect *m)
{
	return (int)n_panels(&m->g);
}

void indirect_run(const struct indirect *m, int i, struct channel_part part, const float *x,
		  float *y, void *scratch)
{
	struct window_slice s = indirect_slice(m, i);
	/* What several planes read of one stays in cache where they take it strip by strip. */
	int64_t plane = m->slices.axis == 0 ? m->slices.out_inner : s.n;
	int64_t strip = (int64_t)BLOCK_TILES * LEVEL_CALL(tile_rows);
	memset(scratch, 0, (size_t)n_zeros(m) * sizeof(float));
	for (int64_t p = 0; p < plane; p += strip)
		for (int64_t z = 0; z < s.n; z += plane)
			run_tiles(m, &s, part, z + p, plane - p < strip ? plane - p : strip, x, y,
				  scratch);
}
