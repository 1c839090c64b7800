/* drawing.c - kinds of graphs: windows, repeated cells, stages, blocks, rows, trees, lanes. */
#include <math.h>

#include "base/mem.h"
#include "learn/pretrain/drawing.h"

enum { CELL = 24 };

uint32_t draw_below(struct drawing *d, uint32_t n)
{
	return random_stream_below(&d->rng, n);
}

double draw_uniform(struct drawing *d, double lo, double hi)
{
	return lo + (hi - lo) * random_stream_uniform(&d->rng);
}

double draw_normal(struct drawing *d)
{
	double u = 1 - random_stream_uniform(&d->rng), v = random_stream_uniform(&d->rng);

	return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* A new node of a type; it reads nothing yet. */
static uint32_t add_node(struct drawing *d, uint32_t type)
{
	d->type[d->n] = (uint8_t)(type % d->n_types);
	d->n_in[d->n] = 0;
	return d->n++;
}

static void add_edge(struct drawing *d, uint32_t from, uint32_t to)
{
	if (from >= to || d->n_in[to] == MOST_INPUTS)
		return;
	for (uint32_t i = 0; i < d->n_in[to]; i++)
		if (d->in[to][i] == from)
			return;
	d->in[to][d->n_in[to]++] = from;
}

/* Nodes that read some of the `window` nodes before them. */
static void draw_window(struct drawing *d)
{
	uint32_t window = 2 + draw_below(d, 2 + d->most / 4), most_in = 1 + draw_below(d, 3);

	while (d->n < d->most) {
		uint32_t v = add_node(d, draw_below(d, d->n_types));

		for (uint32_t i = 0; v > 0 && i <= draw_below(d, most_in + 1); i++) {
			uint32_t back = 1 + draw_below(d, window);

			add_edge(d, back > v ? 0 : v - back, v);
		}
	}
}

/* A cell of random wiring, repeated in depth and side by side: cell (i,j) reads (i-1,j), and may
 * read (i,j-1). */
static void draw_cells(struct drawing *d)
{
	uint32_t size = 2 + draw_below(d, CELL - 2),
		 wide = 1 + (draw_below(d, 3) > 0) * draw_below(d, 14);
	uint32_t from[CELL][3], n_from[CELL], type[CELL], taps = 1 + draw_below(d, 3);
	bool along = draw_below(d, 2), shortcut = draw_below(d, 2);
	uint32_t *before = MEM_NEWN(uint32_t, wide), n_cells = 0;

	for (uint32_t i = 0; i < size; i++) {
		n_from[i] = i ? 1 + draw_below(d, i < 3 ? i : 3) : 0;
		type[i] = draw_below(d, d->n_types);
		for (uint32_t j = 0; j < n_from[i]; j++)
			from[i][j] = draw_below(d, 3) ? i - 1 - draw_below(d, i < 4 ? i : 4)
						      : draw_below(d, i);
	}
	while (d->n + size <= d->most) {
		uint32_t lane = n_cells % wide, first = d->n;

		for (uint32_t i = 0; i < size; i++) {
			uint32_t v = add_node(d, type[i]);

			for (uint32_t j = 0; j < n_from[i]; j++)
				add_edge(d, first + from[i][j], v);
			if (i < taps && n_cells >= wide)
				add_edge(d, before[lane], v);
			if (i == 0 && along && lane > 0)
				add_edge(d, before[lane - 1], v);
		}
		if (shortcut && n_cells >= wide)
			add_edge(d, before[lane], d->n - 1);
		/* leaves of the cell are gathered by its last node */
		for (uint32_t i = 0; i + 1 < size; i++) {
			bool read = false;

			for (uint32_t k = i + 1; k < size; k++)
				for (uint32_t j = 0; j < n_from[k]; j++)
					read |= from[k][j] == i;
			if (!read)
				add_edge(d, first + i, d->n - 1);
		}
		before[lane] = d->n - 1;
		n_cells++;
	}
	mem_free(before);
	if (d->n < 2)
		draw_window(d);
}

/* Stages of maps, each of which reads a few of what the stage before made, and sums of some of
 * them. */
static void draw_stages(struct drawing *d)
{
	uint32_t width = 2 + draw_below(d, 2 + (uint32_t)sqrt(2.0 * d->most));
	uint32_t reads = 1 + draw_below(d, 3), sums = 1 + draw_below(d, 8), first = 0, n_last = 0;
	bool rule = draw_below(d, 2);

	while (d->n < d->most) {
		uint32_t type = draw_below(d, d->n_types), start = d->n;
		uint32_t n = n_last && draw_below(d, 3) == 0 ? (n_last + sums - 1) / sums : width;
		uint32_t each = n < width ? (sums < MOST_INPUTS ? sums : MOST_INPUTS) : reads;

		for (uint32_t i = 0; i < n && d->n < d->most; i++) {
			uint32_t v = add_node(d, type);

			for (uint32_t j = 0; j < each && n_last; j++)
				add_edge(d,
					 first + (rule ? (i * each + j) % n_last
						       : draw_below(d, n_last)),
					 v);
		}
		first = start;
		n_last = d->n - start;
	}
}

/* Splits and joins within each other: a node, or one after the other, or side by side. */
static void draw_blocks(struct drawing *d)
{
	uint32_t open[64], n_open = 1, last;

	open[0] = add_node(d, draw_below(d, d->n_types));
	while (d->n + n_open + 1 < d->most) {
		uint32_t at = draw_below(d, n_open), how = draw_below(d, 8);

		if (how < 2 && n_open < 60) { /* split */
			uint32_t ways = 1 + draw_below(d, 4), type = draw_below(d, d->n_types);

			for (uint32_t i = 0; i < ways && n_open < 60; i++) {
				last = add_node(d, type);
				add_edge(d, open[at], last);
				open[n_open++] = last;
			}
		}
		if (how == 2 && n_open > 1) { /* join some */
			uint32_t ways = 2 + draw_below(d, n_open < 6 ? n_open - 1 : 5);

			last = add_node(d, draw_below(d, d->n_types));
			for (uint32_t i = 0; i < ways && n_open > 0; i++) {
				uint32_t j = draw_below(d, n_open);

				add_edge(d, open[j], last);
				open[j] = open[--n_open];
			}
			open[n_open++] = last;
			continue;
		}
		last = add_node(d, draw_below(d, d->n_types));
		add_edge(d, open[at], last);
		open[at] = last;
	}
	last = add_node(d, 0);
	for (uint32_t i = 0; i < n_open; i++)
		add_edge(d, open[i], last);
}

/* Rows over time: a place reads itself and some neighbours of the row before. */
static void draw_rows(struct drawing *d)
{
	uint32_t wide = 2 + draw_below(d, 2 + (uint32_t)sqrt(2.0 * d->most)),
		 reach = 1 + draw_below(d, 2);
	bool ring = draw_below(d, 2);

	for (uint32_t row = 0; d->n + wide <= d->most; row++)
		for (uint32_t i = 0; i < wide; i++) {
			uint32_t v = add_node(d, row);

			for (uint32_t j = 0; row > 0 && j <= 2 * reach; j++) {
				int64_t at = (int64_t)i + j - reach;

				if (ring)
					at = (at + wide) % wide;
				if (at >= 0 && at < wide && (at == i || draw_below(d, 4)))
					add_edge(d, v - i - wide + (uint32_t)at, v);
			}
		}
	if (d->n < 2)
		draw_window(d);
}

/* Trees that gather, or spread, or both. */
static void draw_tree(struct drawing *d)
{
	uint32_t ways = 2 + draw_below(d, 4), kind = draw_below(d, 3),
		 half = kind == 2 ? d->most / 2 : d->most;

	while (kind != 0 && d->n < half) {
		uint32_t v = add_node(d, draw_below(d, d->n_types));

		if (v > 0)
			add_edge(d, (v - 1) / ways, v);
	}
	if (kind == 1)
		return;
	uint32_t first = kind == 2 ? d->n - (d->n - 1) / 2 : 0, next = first;

	if (kind == 0)
		for (uint32_t i = 0; i < d->most / 2; i++)
			add_node(d, draw_below(d, d->n_types));
	while (d->n < d->most && d->n - next > 1) {
		uint32_t v = add_node(d, draw_below(d, d->n_types));

		for (uint32_t i = 0; i < ways && next < v; i++)
			add_edge(d, next++, v);
	}
}

/* Lanes that go on by themselves and meet now and then. */
static void draw_lanes(struct drawing *d)
{
	uint32_t lanes = 2 + draw_below(d, 14), *last = MEM_NEWN(uint32_t, lanes),
		 meet = 2 + draw_below(d, 20);

	for (uint32_t i = 0; i < lanes; i++)
		last[i] = UINT32_MAX;
	while (d->n < d->most) {
		uint32_t i = draw_below(d, lanes), v = add_node(d, i + d->n / 16);

		if (last[i] != UINT32_MAX)
			add_edge(d, last[i], v);
		if (draw_below(d, meet) == 0)
			for (uint32_t j = 0; j < 1 + draw_below(d, lanes); j++) {
				uint32_t other = last[draw_below(d, lanes)];

				if (other != UINT32_MAX)
					add_edge(d, other, v);
			}
		last[i] = v;
	}
	mem_free(last);
}

void draw_graph(struct drawing *d)
{
	static void (*const kinds[])(struct drawing *) = {
		draw_window, draw_cells, draw_stages, draw_blocks, draw_cells,
		draw_cells,  draw_rows,  draw_tree,   draw_stages, draw_lanes};

	kinds[draw_below(d, sizeof(kinds) / sizeof(kinds[0]))](d);
}
