/* graph_svg.c - the graph as a picture: operations by device; of a large one groups of them, which run one after another
 * on a device. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/markup.h"
#include "report/format.h"
#include "report/placetext.h"
#include "report/shown.h"
#include "report/svg/graph_layers.h"
#include "report/svg/svgdraw.h"

enum { FEW = 400, SEGMENTS = 8, KINDS = 3 };
static const double BOX_WIDTH = 132, BOX_HEIGHT = 32, COLUMN = 168, LINE = 44, MARGIN = 12,
		    HEAD = 62, ROOM_WIDTH = 2200, ROOM_HEIGHT = 1500;

/* A box: one operation, or several. */
struct box {
	uint32_t device, n,
		first; /* GRAPH_NONE: on none; how many of them; an index into shown.node */
};

struct boxes {
	uint32_t n;
	struct box *box;
	uint32_t *of; /* (shown) */
};

/* Large segments, where there are few, are cut into pieces of neighbours in topological order: no circle arises. */
static uint32_t piece_size(const struct shown *x, const struct shown_places *at, uint32_t size)
{
	bool few = x->n <= FEW;
	if (few)
		return 1;
	return at->n_segments >= SEGMENTS ? UINT32_MAX : (uint32_t)ceil(sqrt(size));
}

static struct boxes make_boxes(const struct shown *x, const struct shown_places *at,
			       struct arena *a)
{
	struct boxes b = {0, ARENA_NEWN(a, struct box, (size_t)x->n + 1),
			  ARENA_NEWN(a, uint32_t, (size_t)x->n + 1)};
	uint32_t *size = ARENA_NEWN(a, uint32_t, (size_t)at->n_segments + 1);
	uint32_t *open = ARENA_NEWN(a, uint32_t, (size_t)at->n_segments + 1); /* its box + 1 */
	for (uint32_t i = 0; i < x->n; i++)
		if (at->segment[i] != GRAPH_NONE)
			size[at->segment[i]]++;
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t s = at->segment[i];
		bool full = s == GRAPH_NONE || !open[s] ||
			    b.box[open[s] - 1].n >= piece_size(x, at, size[s]);
		if (full)
			b.box[b.n++] = (struct box){at->device[i], 0, i};
		if (full && s != GRAPH_NONE)
			open[s] = b.n;
		b.of[i] = s == GRAPH_NONE ? b.n - 1 : open[s] - 1;
		b.box[b.of[i]].n++;
	}
	return b;
}

static int by_ends(const void *a, const void *b)
{
	const struct layer_edge *x = a, *y = b;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

/* Between boxes, each once. */
static uint32_t make_edges(const struct graph *g, const struct shown *x, const struct boxes *b,
			   struct layer_edge **edge, struct arena *a)
{
	uint32_t n = 0, kept = 0;
	*edge = ARENA_NEWN(a, struct layer_edge, (size_t)g->in_ptr[g->n] + 1);
	for (uint32_t i = 0; i < x->n; i++)
		for (uint32_t j = g->in_ptr[x->node[i]]; j < g->in_ptr[x->node[i] + 1]; j++) {
			uint32_t u =
				g->in_node[j] == GRAPH_NONE ? GRAPH_NONE : x->row[g->in_node[j]];
			if (u != GRAPH_NONE && b->of[u] != b->of[i])
				(*edge)[n++] = (struct layer_edge){b->of[u], b->of[i]};
		}
	qsort(*edge, n, sizeof **edge, by_ends);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || by_ends(&(*edge)[i], &(*edge)[i - 1]) != 0)
			(*edge)[kept++] = (*edge)[i];
	return kept;
}

/* ---- drawing ---- */

/* "12 Convolution, 3 Add": the most frequent types of box b's operations. */
static char *kinds_of(const struct graph *g, const struct shown *x, const struct boxes *b,
		      uint32_t box, char *dst, size_t cap)
{
	const char *type[KINDS + 1] = {NULL};
	uint32_t count[KINDS + 1] = {0};
	size_t n = 0;
	*dst = '\0';
	/* A few types are enough, and the first ones of a box are mostly the frequent ones. */
	for (uint32_t i = b->box[box].first; i < x->n; i++) {
		int k = 0;
		if (b->of[i] != box)
			continue;
		while (k < KINDS && type[k] && type[k] != g->type[x->node[i]])
			k++;
		type[k] = g->type[x->node[i]];
		count[k]++;
	}
	for (int k = 0; k < KINDS && type[k] && n < cap; k++)
		n += (size_t)snprintf(dst + n, cap - n, "%s%" PRIu32 " %s", k ? ", " : "", count[k],
				      type[k]);
	return dst;
}

static void put_box(FILE *out, const struct report_input *in, const struct shown *x,
		    const struct boxes *b, uint32_t i, double left, double top)
{
	const struct graph *g = in->x->graph;
	const struct box *box = &b->box[i];
	uint32_t v = x->node[box->first];
	char colour[20], ink[40], kinds[200], many[40];
	snprintf(ink, sizeof ink, "fill=\"%s\"", svgdraw_ink(box->device));
	fputs("<g><title>", out);
	if (box->n > 1) {
		snprintf(many, sizeof many, "%" PRIu32 " operations", box->n);
		kinds_of(g, x, b, i, kinds, sizeof kinds);
		markup_textf(out, "%s: %s", many, kinds);
	} else {
		markup_textf(out, "%s %s", g->type[v], g->node_name[v]);
	}
	if (box->device != GRAPH_NONE)
		markup_textf(out, ", on %s", in->names[box->device]);
	fprintf(out,
		"</title><rect x=\"%.1f\" y=\"%.1f\" width=\"%.0f\" height=\"%.0f\" "
		"fill=\"%s\"%s/>",
		left, top, BOX_WIDTH, BOX_HEIGHT, svgdraw_colour(box->device, colour),
		box->n > 1 ? " stroke=\"#1c2430\"" : "");
	svgdraw_text(out, left + 4, top + 13, BOX_WIDTH - 8, ink,
		     box->n > 1 ? many : shown_title(g, v));
	svgdraw_text(out, left + 4, top + 26, BOX_WIDTH - 8, ink,
		     box->n > 1      ? kinds
		     : g->ir_version ? g->node_name[v]
				     : g->type[v]);
	fputs("</g>\n", out);
}

static void put_edges(FILE *out, const struct boxes *b, const struct layer_graph *l,
		      const struct layer_places *at)
{
	for (int crossing = 0; crossing < 2; crossing++) {
		fprintf(out, "<path fill=\"none\" stroke-opacity=\"0.7\" stroke=\"%s\" d=\"",
			crossing ? "#b83227" : "#8894a3");
		for (uint32_t i = 0; i < l->n_edges; i++) {
			uint32_t from = l->edge[i].from, to = l->edge[i].to;
			uint32_t d = b->box[from].device, e = b->box[to].device;
			if ((d != GRAPH_NONE && e != GRAPH_NONE && d != e) != crossing)
				continue;
			double x1 = MARGIN + at->x[from] + BOX_WIDTH, x2 = MARGIN + at->x[to];
			double y1 = HEAD + at->y[from] + BOX_HEIGHT / 2;
			double y2 = HEAD + at->y[to] + BOX_HEIGHT / 2;
			double bend = fmax(14, fabs(x2 - x1) * 0.4);
			fprintf(out, "M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f", x1, y1, x1 + bend,
				y1, x2 - bend, y2, x2, y2);
		}
		fputs("\"/>\n", out);
	}
}

static int write_graph(FILE *out, const struct report_input *in, struct err *e)
{
	const struct graph *g = in->x->graph;
	struct arena *a = arena_new();
	const struct shown x = shown_nodes(in, a);
	const struct shown_places at = shown_places(in, &x, in->p, a);
	const struct boxes b = make_boxes(&x, &at, a);
	struct layer_edge *edge;
	bool *used = ARENA_NEWN(a, bool, in->p->k);
	char title[300], about[200];
	(void)e;
	uint32_t n_edges = make_edges(g, &x, &b, &edge, a);
	const struct layer_graph l = {b.n,    n_edges, edge,       BOX_WIDTH,  BOX_HEIGHT,
				      COLUMN, LINE,    ROOM_WIDTH, ROOM_HEIGHT};
	const struct layer_places places = graph_layers(&l, a);
	double width = fmax(places.width + 2 * MARGIN, 480);
	for (uint32_t i = 0; i < x.n; i++)
		if (at.device[i] != GRAPH_NONE)
			used[at.device[i]] = true;
	snprintf(title, sizeof title, "%.200s: operations by device", placetext_model(g));
	snprintf(about, sizeof about,
		 "%" PRIu32 " operations in %" PRIu32 " boxes; red lines cross devices", x.n, b.n);
	svgdraw_begin(out, width, HEAD + places.height + MARGIN, title, about);
	svgdraw_text(out, MARGIN, 20, width - 2 * MARGIN, "font-size=\"14\" fill=\"#1c2430\"",
		     title);
	(void)svgdraw_keys(out, MARGIN, 42, width - MARGIN, in, used);
	put_edges(out, &b, &l, &places);
	for (uint32_t i = 0; i < b.n; i++)
		put_box(out, in, &x, &b, i, MARGIN + places.x[i], HEAD + places.y[i]);
	fputs("</svg>\n", out);
	arena_free(a);
	return 0;
}

const struct report_format format_graph_svg = {
	.name = "graph-svg",
	.about = "a picture of the graph: operations, of a large one groups, by device",
	.write = write_graph,
};
