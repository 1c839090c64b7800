/* amx_conv_strip.c - what a strip of outputs reads, as tiles read it, and which tiles those are. */
#include "kernel/tiles/amx_conv_impl.h"

#include <string.h>

struct tiled_strip tiled_strip_of(const struct tiled_conv *m, const int64_t lo[3],
				  const int64_t hi[3])
{
	const struct window *g = &m->g;
	struct tiled_strip s;
	for (int d = 0; d < 3; d++) {
		bool one = g->kernel[d] == 1 && !m->direct; /* pixels between are left out */
		s.lo[d] = lo[d];
		s.hi[d] = hi[d];
		s.stride[d] = one ? 1 : g->stride[d];
		s.every[d] = one ? g->stride[d] : 1;
		s.from[d] = lo[d] * g->stride[d] - g->pad[d];
		s.size[d] =
			(hi[d] - lo[d] - 1) * s.stride[d] + (g->kernel[d] - 1) * g->dilation[d] + 1;
	}
	return s;
}

static int64_t strip_bytes(const struct tiled_conv *m, const struct tiled_strip *s)
{
	return s->size[0] * s->size[1] * s->size[2] * m->s.pixel;
}

/* Rows of a strip, of outputs lo .. hi - 1: what they read stays in the second-level cache.  *bytes: of the largest. */
int64_t tiled_strip_rows(const struct tiled_conv *m, const int64_t lo[3], const int64_t hi[3],
			 int64_t *bytes)
{
	int64_t all = hi[1] - lo[1], end[3] = {hi[0], hi[1], hi[2]};
	for (int64_t n = 1;; n++) {
		int64_t rows = (all + n - 1) / n;
		end[1] = lo[1] + rows;
		struct tiled_strip s = tiled_strip_of(m, lo, end);
		*bytes = strip_bytes(m, &s);
		if (*bytes <= TILED_STRIP_BYTES || rows == 1)
			return rows;
	}
}

/* ---- tiles ---- */

int64_t tiled_tiles(const struct tiled_tiling *t)
{
	return t->lines * t->across;
}

/* What a pair of tiles takes for a step: its products, or reading its weights. */
static double pair_time(int64_t rows)
{
	const double weights = 51; /* clock cycles, as 64 are those of whole tiles */
	return 4.0 * (double)rows > weights ? 4.0 * (double)rows : weights;
}

static void set_lines(struct tiled_tiling *t, int64_t lines, int64_t len, bool equal)
{
	t->lines = lines;
	t->len = len;
	t->across = (len + TILES_M - 1) / TILES_M;
	t->rows = len < TILES_M ? len : equal ? (len + t->across - 1) / t->across : TILES_M;
}

/* Rows of their own; or, where that takes less time, planes, of whose positions between the rows nothing becomes; or,
 * where nothing is between, all. */
struct tiled_tiling tiled_tiling_of(const struct tiled_conv *m, const struct tiled_strip *s,
				    int64_t row, int64_t plane)
{
	int64_t n[3], pixel = m->s.pixel;
	for (int d = 0; d < 3; d++)
		n[d] = s->hi[d] - s->lo[d];
	struct tiled_tiling t = {.step = s->stride[2] * pixel,
				 .line = {s->stride[0] * plane, s->stride[1] * row},
				 .out_plane = m->g.out[1] * m->g.out[2],
				 .outputs_row = n[2],
				 .width = n[2],
				 .valid = n[2],
				 .y_lines = n[1]};
	set_lines(&t, n[0] * n[1], n[2], true);
	struct tiled_tiling w = t;
	w.width = row / pixel;
	w.y_lines = 1;
	set_lines(&w, n[0], (n[1] - 1) * w.width + n[2], false);
	bool meet = s->stride[2] == 1 && s->stride[1] == 1 && row % pixel == 0;
	int64_t of_rows = tiled_tiles(&t), of_planes = meet ? tiled_tiles(&w) : 0;
	if (meet && (double)((of_planes + 1) / 2) * pair_time(w.rows) <
			    (double)((of_rows + 1) / 2) * pair_time(t.rows))
		t = w;
	if (tiled_is_points(&m->g) && (n[0] == 1 || n[1] == m->g.out[1])) {
		t.y_lines = 1;
		t.width = t.valid = t.outputs_row = n[0] * n[1] * n[2];
		set_lines(&t, 1, t.width, false);
	}
	t.most_tiles = of_rows > of_planes ? of_rows : of_planes;
	return t;
}

void tiled_find_tiles(const struct tiled_tiling *t, int64_t *first, struct tiled_outputs *outputs)
{
	for (int64_t line = 0; line < t->lines; line++) {
		int64_t z = line / t->y_lines, y = line % t->y_lines;
		int64_t out = t->out + z * t->out_plane + y * t->outputs_row;
		for (int64_t i = 0; i < t->across; i++, outputs++) {
			int64_t at = i * t->rows;
			at = at + t->rows > t->len ? t->len - t->rows : at;
			*first++ = z * t->line[0] + y * t->line[1] + at * t->step;
			outputs->at = at % t->width;
			outputs->out = out + at / t->width * t->outputs_row;
		}
	}
}

/* ---- copies ---- */

/* n pixels of fewer bytes than eight, `step` bytes apart, to pixels of eight, or of four; zeros behind the channels. */
static void copy_small(const char *x, int64_t c, int64_t step, int64_t n, int64_t pixel, char *to)
{
	const uint64_t mask = ((uint64_t)1 << (8 * c)) - 1;
	for (int64_t i = 0; i < n; i++, x += step, to += pixel) {
		uint64_t v = 0;
		if (i + 8 < n) /* eight bytes can be read */
			memcpy(&v, x, sizeof v);
		else
			memcpy(&v, x, (size_t)c);
		v &= mask;
		if (pixel == 8)
			memcpy(to, &v, 8);
		else
			memcpy(to, &v, 4);
	}
}

/* n pixels of which c bytes are wanted, `step` bytes apart, to pixels of `pixel` bytes; zeros behind the channels. */
static void copy_pixels(const char *x, int64_t c, int64_t step, int64_t n, int64_t pixel, char *to)
{
	if (step == c && c == pixel) {
		memcpy(to, x, (size_t)(n * c));
		return;
	}
	if ((pixel == 8 || pixel == 4) && c < pixel) {
		copy_small(x, c, step, n, pixel, to);
		return;
	}
	for (int64_t i = 0; i < n; i++, x += step, to += pixel) {
		memcpy(to, x, (size_t)c);
		for (int64_t j = c; j < pixel; j++)
			to[j] = 0;
	}
}

/* One row of a strip; x: the row of the input from the chunk's first channel on, NULL: outside. */
static void copy_row(const struct tiled_conv *m, const struct tiled_strip *s, const char *x,
		     char *to)
{
	int64_t all = m->g.groups * m->g.cin * m->s.size;
	int64_t c = m->g.groups > 1 ? all : m->s.cin * m->s.size;
	int64_t pixel = m->s.pixel, n = s->size[2], lo = 0, hi = n;
	while (lo < n && s->from[2] + lo * s->every[2] < 0)
		lo++;
	while (hi > lo && s->from[2] + (hi - 1) * s->every[2] >= m->g.in[2])
		hi--;
	if (!x)
		lo = hi = n;
	memset(to, 0, (size_t)(lo * pixel));
	if (lo < hi)
		copy_pixels(x + (s->from[2] + lo * s->every[2]) * all, c, s->every[2] * all,
			    hi - lo, pixel, to + lo * pixel);
	memset(to + hi * pixel, 0, (size_t)((n - hi) * pixel));
}

/* x: pixel number `from` of the image, the chunk's first channel. */
void tiled_strip_copy(const struct tiled_conv *m, const struct tiled_strip *s, const char *x,
		      int64_t from, char *to)
{
	const struct window *g = &m->g;
	int64_t c = g->groups * g->cin * m->s.size;
	for (int64_t i = 0; i < s->size[0]; i++)
		for (int64_t j = 0; j < s->size[1]; j++, to += s->size[2] * m->s.pixel) {
			int64_t z = s->from[0] + i * s->every[0], y = s->from[1] + j * s->every[1];
			bool inside = z >= 0 && z < g->in[0] && y >= 0 && y < g->in[1];
			copy_row(m, s,
				 inside ? x + ((z * g->in[1] + y) * g->in[2] - from) * c : NULL,
				 to);
		}
}
