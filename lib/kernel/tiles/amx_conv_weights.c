/* amx_conv_weights.c - how groups, channels and taps become steps of tiles, and the weights in their order. */
#include "kernel/tiles/amx_conv_impl.h"

#include <string.h>

enum {
	MOST_ROOM = 8,   /* elements that pixels are lengthened by, for steps of equal length */
	MIN_OUTPUTS = 8, /* channels, of groups that meet in a tile */
	MIN_SHARE = 16   /* one in so many products of groups that meet is theirs */
};

/* ---- steps ---- */

/* Steps of equal length in whole units for n bytes, as few as there can be; false: none. */
static bool cut_steps(int64_t n, int64_t *steps, int64_t *step)
{
	*steps = (n + TILES_STEP - 1) / TILES_STEP;
	*step = n / *steps;
	return n % *steps == 0 && *step % TILES_UNIT == 0;
}

/* Of a convolution of groups. */
static bool find_grouped(const struct window *g, struct tiled_shape *s)
{
	int64_t most = TILES_STEP / s->size;
	s->merge = g->cin < most ? most / g->cin : 1;
	s->merge = s->merge < g->groups ? s->merge : g->groups;
	while (s->merge > 1 && s->merge * g->cin * s->size % TILES_UNIT)
		s->merge--;
	s->n_merged = (g->groups + s->merge - 1) / s->merge;
	s->cin = s->merge * g->cin;
	s->cout = s->merge * g->cout;
	s->pixel = s->n_merged * s->cin * s->size;
	s->segments = g->taps;
	return s->merge <= MIN_SHARE && s->cout >= MIN_OUTPUTS &&
	       cut_steps(s->cin * s->size, &s->steps, &s->step);
}

bool tiled_shape_find(const struct window *g, enum elem src, int64_t chunks, struct tiled_shape *s)
{
	*s = (struct tiled_shape){.merge = 1,
				  .n_merged = 1,
				  .chunks = chunks,
				  .cin = g->cin / chunks,
				  .cout = g->cout,
				  .size = src == EL_BF16 ? 2 : 1};
	if (g->groups > 1)
		return find_grouped(g, s);
	s->joins = g->dilation[2] == 1 && g->kernel[2] > 1;
	int64_t taps = s->joins ? g->kernel[2] : 1;
	s->segments = g->taps / taps;
	for (int64_t room = 0; room < MOST_ROOM; room++) {
		s->pixel = (s->cin + room) * s->size;
		if (cut_steps(taps * s->pixel, &s->steps, &s->step))
			return true;
	}
	return false;
}

int64_t tiled_panels(const struct tiled_conv *m)
{
	return (m->s.cout + PANEL_COLUMNS - 1) / PANEL_COLUMNS;
}

int64_t tiled_steps(const struct tiled_conv *m)
{
	return m->s.segments * m->s.steps;
}

int64_t tiled_panel_bytes(const struct tiled_conv *m)
{
	return tiled_steps(m) * tile_panel_step(m->s.step);
}

/* ---- weights ---- */

struct fill {
	const struct tiled_conv *m;
	const void *w; /* f32; i8 for integers */
};

static uint16_t rounded(float x)
{
	uint32_t u;
	memcpy(&u, &x, sizeof u);
	if ((u & 0x7fffffff) > 0x7f800000)
		return (uint16_t)(u >> 16 | 0x40);
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

/* Element `at` of a segment: which tap and which input channel, of a chunk or of those that meet; -1: none. */
static int64_t channel_at(const struct tiled_conv *m, int64_t segment, int64_t at, int64_t *tap)
{
	const struct tiled_shape *s = &m->s;
	const struct window *g = &m->g;
	int64_t q = s->joins ? segment * g->kernel[2] + at / (s->pixel / s->size) : segment;
	int64_t c = s->joins ? at % (s->pixel / s->size) : at;
	int64_t z = q / g->kernel[2] / g->kernel[1] + m->first[0],
		y = q / g->kernel[2] % g->kernel[1] + m->first[1],
		x = q % g->kernel[2] + m->first[2];
	*tap = (z * m->all[1] + y) * m->all[2] + x;
	return c < s->cin ? c : -1;
}

/* Element `at` of each unit of a row of a tile: the weights of TILES_N outputs from o on, of those that meet, for input channel c. */
static void fill_row(const struct fill *f, int64_t merged, int64_t o, int64_t c, int64_t tap,
		     int64_t at, char *to)
{
	const struct tiled_conv *m = f->m;
	const struct window *g = &m->g;
	int64_t in = c / g->cin, group = merged * m->s.merge + in;
	int64_t first = in * g->cout, end = first + g->cout; /* of those that meet, it sees these */
	int64_t taps = m->all[0] * m->all[1] * m->all[2], step = g->cin * taps;
	if (group >= g->groups)
		return;
	int64_t w = ((group * g->cout - first) * g->cin + c % g->cin) * taps + tap;
	int64_t begin = o < first ? first : o, last = o + TILES_N < end ? o + TILES_N : end;
	if (m->s.size == 1)
		for (int64_t i = begin; i < last; i++)
			to[(i - o) * TILES_UNIT + at] = (char)((const int8_t *)f->w)[w + i * step];
	else
		for (int64_t i = begin; i < last; i++)
			((uint16_t *)(void *)to)[(i - o) * 2 + at] =
				rounded(((const float *)f->w)[w + i * step]);
}

/* Of the input channels from `channel` on. */
static void fill_panel(const struct fill *f, int64_t channel, int64_t merged, int64_t panel,
		       char *to)
{
	const struct tiled_shape *s = &f->m->s;
	int64_t length = s->step / s->size, unit = TILES_UNIT / s->size; /* in elements */
	for (int64_t segment = 0; segment < s->segments; segment++)
		for (int64_t i = 0; i < s->steps; i++)
			for (int64_t t = 0; t < 2; t++, to += s->step * TILES_N)
				for (int64_t row = 0; row < length; row++) {
					int64_t tap, c = channel_at(f->m, segment, i * length + row,
								    &tap);
					int64_t o = panel * PANEL_COLUMNS + t * TILES_N;
					if (c >= 0 && o < s->cout)
						fill_row(f, merged, o, channel + c, tap, row % unit,
							 to + row / unit * TILES_N * TILES_UNIT);
				}
}

/* Panels of a chunk. */
int64_t tiled_chunk_panels(const struct tiled_conv *m)
{
	return m->s.n_merged * tiled_panels(m);
}

int64_t tiled_pack_bytes(const struct tiled_conv *m)
{
	return m->s.chunks * tiled_chunk_panels(m) * tiled_panel_bytes(m);
}

static void fill_weights(void *arg, void *data)
{
	const struct fill *f = arg;
	const struct tiled_conv *m = f->m;
	int64_t n = tiled_panels(m), each = tiled_chunk_panels(m);
	memset(data, 0, (size_t)tiled_pack_bytes(m));
	for (int64_t i = 0; i < m->s.chunks * each; i++)
		fill_panel(f, i / each * m->s.cin * (m->g.groups == 1), i % each / n, i % n,
			   (char *)data + i * tiled_panel_bytes(m));
}

struct cpu_pack *tiled_pack_weights(const struct tiled_conv *m, const struct tiled_conv_spec *s,
				    struct cpu_ctx *c)
{
	const struct window *g = &m->g;
	int64_t n = tensor_elements(s->weights);
	struct fill f = {m, s->weights->data};
	float *wide = NULL;
	if (s->weights->elem != EL_F32 && m->s.size != 1) {
		wide = mem_try((size_t)n * sizeof *wide);
		if (!wide)
			return NULL;
		cpu_convert(EL_F32, wide, s->weights->elem, s->weights->data, n);
		f.w = wide;
	}
	uint64_t first =
		(uint64_t)((m->first[0] * m->all[1] + m->first[1]) * m->all[2] + m->first[2]);
	uint64_t layout[6] = {
		(uint64_t)OP_CONVOLUTION | (uint64_t)1 << 32 | (uint64_t)m->s.chunks << 33,
		first,
		(uint64_t)g->groups << 32 | (uint64_t)g->cout,
		(uint64_t)g->cin << 32 | (uint64_t)g->kernel[0],
		(uint64_t)g->kernel[1] << 32 | (uint64_t)g->kernel[2],
		(uint64_t)m->s.pixel << 2 | (uint64_t)(m->s.size == 1) << 1 | m->s.joins};
	struct cpu_pack *p = cpu_pack_get(c->packs, s->key, layout, (uint64_t)tiled_pack_bytes(m),
					  fill_weights, &f);
	mem_free(wide);
	return p;
}

/* ---- groups apart ---- */

/* A bf16 at p. */
static float widened(const char *p)
{
	uint16_t x;
	memcpy(&x, p, sizeof x);
	uint32_t u = (uint32_t)x << 16;
	float f;
	memcpy(&f, &u, sizeof f);
	return f;
}

/* Column `column` of a panel b, of group `in` of those that meet. */
static float sum_group(const struct tiled_conv *m, int64_t in, int64_t column, const char *a,
		       const int64_t *at, const char *b)
{
	const struct tiled_shape *s = &m->s;
	float sum = 0;
	b += column / TILES_N * s->step * TILES_N + column % TILES_N * TILES_UNIT;
	for (int64_t segment = 0; segment < s->segments; segment++)
		for (int64_t c = 2 * in * m->g.cin; c < 2 * (in + 1) * m->g.cin; c += 2) {
			int64_t i = segment * s->steps + c / s->step, byte = c % s->step;
			const char *w = b + i * tile_panel_step(s->step);
			w += byte / TILES_UNIT * TILES_N * TILES_UNIT + byte % TILES_UNIT;
			sum += widened(a + at[i] + byte) * widened(w);
		}
	return sum;
}

void tiled_sum_apart(const struct tiled_conv *m, int64_t panel, const char *a, const int64_t *at,
		     int64_t a_step, int64_t rows, float *sums)
{
	const char *b = (const char *)m->pack->data + panel * tiled_panel_bytes(m);
	int64_t first = panel % tiled_panels(m) * PANEL_COLUMNS;
	for (int64_t i = 0; i < rows; i++, a += a_step)
		for (int64_t j = 0; j < PANEL_COLUMNS; j++) {
			int64_t in = (first + j) / m->g.cout;
			*sums++ = in < m->s.merge ? sum_group(m, in, j, a, at, b) : 0;
		}
}
