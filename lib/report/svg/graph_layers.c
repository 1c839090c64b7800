/* graph_layers.c - layers, sweeps over them, lines. */
#include "graph/rows.h"
#include "report/svg/graph_layers.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { SWEEPS = 6, MOST_LINES = 40 };
static const double BETTER = 1.05; /* one more line is worth so much */

/* Neighbours by box: of box i node[ptr[i]] up to ptr[i + 1]. */
struct neighbours {
	uint32_t *ptr, *node;
};

static struct neighbours neighbours_of(const struct layer_graph *g, bool before, struct arena *a)
{
	struct neighbours x = {ARENA_NEWN(a, uint32_t, (size_t)g->n + 2),
			       ARENA_NEWN(a, uint32_t, (size_t)g->n_edges + 1)};
	const uint32_t *from = &g->edge->from, *to = &g->edge->to;
	rows_sort(before ? to : from, before ? from : to, sizeof *g->edge, g->n_edges, g->n, x.ptr,
		  x.node);
	return x;
}

/* ---- layers ---- */

struct layers {
	uint32_t n;
	uint32_t *of;        /* (boxes) */
	uint32_t *ptr, *box; /* boxes of layer l: box[ptr[l]] up to ptr[l + 1] */
};

static void find_layers(const struct layer_graph *g, const struct neighbours *before,
			const struct neighbours *next, struct layers *l, struct arena *a)
{
	uint32_t *waits = ARENA_NEWN(a, uint32_t, (size_t)g->n + 1);
	uint32_t *ready = ARENA_NEWN(a, uint32_t, (size_t)g->n + 1), n_ready = 0;
	l->of = ARENA_NEWN(a, uint32_t, (size_t)g->n + 1);
	for (uint32_t i = 0; i < g->n; i++) {
		waits[i] = before->ptr[i + 1] - before->ptr[i];
		if (waits[i] == 0)
			ready[n_ready++] = i;
	}
	for (uint32_t j = 0; j < n_ready; j++) {
		uint32_t i = ready[j];
		for (uint32_t e = next->ptr[i]; e < next->ptr[i + 1]; e++) {
			uint32_t to = next->node[e];
			if (l->of[to] <= l->of[i])
				l->of[to] = l->of[i] + 1;
			if (--waits[to] == 0)
				ready[n_ready++] = to;
		}
	}
	/* Inputs stand beside what first reads them. */
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t first = UINT32_MAX;
		if (before->ptr[i + 1] > before->ptr[i])
			continue;
		for (uint32_t e = next->ptr[i]; e < next->ptr[i + 1]; e++)
			if (l->of[next->node[e]] < first)
				first = l->of[next->node[e]];
		if (first != UINT32_MAX && first > 0)
			l->of[i] = first - 1;
	}
	for (uint32_t i = 0; i < g->n; i++)
		if (l->of[i] + 1 > l->n)
			l->n = l->of[i] + 1;
	l->ptr = ARENA_NEWN(a, uint32_t, (size_t)l->n + 2);
	l->box = ARENA_NEWN(a, uint32_t, (size_t)g->n + 1);
	rows_sort(l->of, NULL, ROWS_STEP, g->n, l->n, l->ptr, l->box);
}

/* ---- sweeps ---- */

struct wish {
	double y;
	uint32_t box;
};

static int by_wish(const void *a, const void *b)
{
	const struct wish *x = a, *y = b;
	if (x->y != y->y)
		return x->y < y->y ? -1 : 1;
	return (x->box > y->box) - (x->box < y->box);
}

/* Each box to the middle of its neighbours there, as near as those above it let it. */
static void sweep(const struct layer_graph *g, struct layers *l, uint32_t layer,
		  const struct neighbours *there, double *y, struct wish *wish)
{
	uint32_t first = l->ptr[layer], n = l->ptr[layer + 1] - first;
	double at = -INFINITY, off = 0;
	for (uint32_t j = 0; j < n; j++) {
		uint32_t i = l->box[first + j], m = there->ptr[i + 1] - there->ptr[i];
		double sum = 0;
		for (uint32_t e = there->ptr[i]; e < there->ptr[i + 1]; e++)
			sum += y[there->node[e]];
		wish[j] = (struct wish){m ? sum / m : y[i], i};
	}
	qsort(wish, n, sizeof *wish, by_wish);
	for (uint32_t j = 0; j < n; j++) {
		at = fmax(at + g->line, wish[j].y);
		y[wish[j].box] = at;
		off += (at - wish[j].y) / n;
		l->box[first + j] = wish[j].box;
	}
	for (uint32_t j = 0; j < n; j++)
		y[wish[j].box] -= off;
}

static void sweep_all(const struct layer_graph *g, struct layers *l,
		      const struct neighbours *before, const struct neighbours *next, double *y,
		      struct arena *a)
{
	struct wish *wish = ARENA_NEWN(a, struct wish, (size_t)g->n + 1);
	for (uint32_t j = 0; j < l->n; j++)
		for (uint32_t i = l->ptr[j]; i < l->ptr[j + 1]; i++)
			y[l->box[i]] =
				g->line * (i - l->ptr[j] - (l->ptr[j + 1] - l->ptr[j] - 1) / 2.0);
	for (int k = 0; k < SWEEPS; k++)
		for (uint32_t j = 0; j < l->n; j++)
			k % 2 ? sweep(g, l, l->n - 1 - j, next, y, wish)
			      : sweep(g, l, j, before, y, wish);
}

/* ---- lines ---- */

/* Tops of lines of `per` layers; returns the height of all. */
static double line_tops(const struct layer_graph *g, uint32_t n_layers, const double *low,
			const double *high, uint32_t per, double *top)
{
	double y = 0;
	for (uint32_t j = 0; j < n_layers; j += per) {
		double lo = INFINITY, hi = -INFINITY;
		for (uint32_t i = j; i < n_layers && i < j + per; i++) {
			lo = fmin(lo, low[i]);
			hi = fmax(hi, high[i]);
		}
		top[j / per] = y - lo;
		y += hi - lo + g->box_height + 1.2 * (g->line - g->box_height) + g->line / 2;
	}
	return y;
}

struct layer_places graph_layers(const struct layer_graph *g, struct arena *a)
{
	struct layer_places out = {ARENA_NEWN(a, double, (size_t)g->n + 1),
				   ARENA_NEWN(a, double, (size_t)g->n + 1), 0, 0};
	const struct neighbours before = neighbours_of(g, true, a),
				next = neighbours_of(g, false, a);
	struct layers l = {0};
	find_layers(g, &before, &next, &l, a);
	sweep_all(g, &l, &before, &next, out.y, a);
	double *low = ARENA_NEWN(a, double, (size_t)l.n + 1);
	double *high = ARENA_NEWN(a, double, (size_t)l.n + 1);
	double *top = ARENA_NEWN(a, double, (size_t)l.n + 1);
	for (uint32_t j = 0; j < l.n; j++) {
		low[j] = INFINITY;
		high[j] = -INFINITY;
	}
	for (uint32_t i = 0; i < g->n; i++) {
		low[l.of[i]] = fmin(low[l.of[i]], out.y[i]);
		high[l.of[i]] = fmax(high[l.of[i]], out.y[i]);
	}
	uint32_t per = l.n;
	double best = 0;
	for (uint32_t rows = 1; rows <= MOST_LINES && rows <= l.n; rows++) {
		uint32_t each = (l.n + rows - 1) / rows;
		double height = line_tops(g, l.n, low, high, each, top);
		double scale = fmin(g->room_width / (each * g->column), g->room_height / height);
		if (scale > best * BETTER) {
			best = scale;
			per = each;
		}
	}
	if (l.n == 0)
		return out;
	out.height = line_tops(g, l.n, low, high, per, top);
	out.width = per * g->column - (g->column - g->box_width);
	for (uint32_t i = 0; i < g->n; i++) {
		out.x[i] = l.of[i] % per * g->column;
		out.y[i] += top[l.of[i] / per];
	}
	return out;
}
