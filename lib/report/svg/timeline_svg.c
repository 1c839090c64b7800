/* timeline_svg.c - a schedule as a picture: a row for each device that does something. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/markup.h"
#include "text/quantity.h"
#include "report/format.h"
#include "report/placetext.h"
#include "report/schedule_arrows.h"
#include "report/shown.h"
#include "report/svg/svgdraw.h"
#include "report/trace.h"

static const double WIDTH = 1200, LEFT = 10, ROW = 32, GAP = 44, TICKS = 10;
/* Narrower ones are drawn together with what touches them, and have no name. */
static const double NARROW = 1, TOUCHES = 0.3, LABELLED = 34;

struct timeline {
	const struct report_input *in;
	const struct run_schedule *s;
	const struct place_rec *p;
	const struct shown *shown;
	const uint32_t *title; /* (n_sets) */
	double end_s, scale;   /* pixels a second */
	double *y;             /* (k) of used devices */
	bool *used;            /* (k) */
	double *busy_s;        /* (k) */
	uint32_t *order;       /* (s->n) entries by start */
};

static double x_of(const struct timeline *t, double s)
{
	return LEFT + t->scale * s;
}

struct begin {
	double start_s;
	uint32_t i;
};

static int by_start(const void *a, const void *b)
{
	const struct begin *x = a, *y = b;
	if (x->start_s != y->start_s)
		return x->start_s < y->start_s ? -1 : 1;
	return (x->i > y->i) - (x->i < y->i);
}

static void sort_entries(struct timeline *t, struct arena *a)
{
	struct begin *x = ARENA_NEWN(a, struct begin, t->s->n);
	t->order = ARENA_NEWN(a, uint32_t, t->s->n);
	for (uint32_t i = 0; i < t->s->n; i++)
		x[i] = (struct begin){t->s->start_s[i], i};
	qsort(x, t->s->n, sizeof *x, by_start);
	for (uint32_t i = 0; i < t->s->n; i++)
		t->order[i] = x[i].i;
}

static uint32_t device_of(const struct timeline *t, uint32_t entry)
{
	return t->p->device[t->s->set[entry]];
}

/* Where rows are, and how tall the picture is. */
static double arrange(struct timeline *t, double top, struct arena *a)
{
	uint32_t k = t->p->k;
	t->y = ARENA_NEWN(a, double, k);
	t->used = ARENA_NEWN(a, bool, k);
	t->busy_s = ARENA_NEWN(a, double, k);
	for (uint32_t i = 0; i < t->s->n; i++) {
		uint32_t d = device_of(t, i);
		t->used[d] = true;
		t->busy_s[d] += t->s->end_s[i] - t->s->start_s[i];
		t->end_s = fmax(t->end_s, t->s->end_s[i]);
	}
	t->scale = t->end_s > 0 ? (WIDTH - 2 * LEFT) / t->end_s : 0;
	for (uint32_t d = 0; d < k; d++)
		if (t->used[d]) {
			t->y[d] = top + 18;
			top += 18 + ROW + GAP - 18;
		}
	return top;
}

static void put_axis(FILE *out, const struct timeline *t, double top, double bottom)
{
	if (!(t->end_s > 0))
		return;
	double ten = pow(10, floor(log10(t->end_s / TICKS))), step = ten;
	static const double some[] = {1, 2, 5, 10};
	for (int i = 0; i < 4 && t->end_s / step > TICKS; i++)
		step = some[i] * ten;
	for (int i = 0; i * step <= t->end_s; i++) {
		double x = x_of(t, i * step);
		char text[QUANTITY_CAP];
		fprintf(out, "<path d=\"M%.1f %.1fV%.1f\" stroke=\"#dde3ea\"/>\n", x, top, bottom);
		svgdraw_text(out, x + 3, top + 9, WIDTH - x - 3, "fill=\"#566170\"",
			     i ? quantity_trim(quantity_seconds(i * step, text)) : "0");
	}
}

/* Entries too narrow for one each: what touches each other, as one. */
struct run_of {
	double from, to; /* from < 0: none */
};

static void flush(FILE *out, const struct timeline *t, uint32_t d, struct run_of *r)
{
	char colour[20];
	if (r->from >= 0)
		fprintf(out,
			"<rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.0f\" "
			"fill=\"%s\"/>\n",
			r->from, t->y[d], fmax(r->to - r->from, 0.4), ROW,
			svgdraw_colour(d, colour));
	r->from = -1;
}

static void put_step(FILE *out, const struct timeline *t, uint32_t i, double x1, double x2)
{
	const struct graph *g = t->in->x->graph;
	uint32_t d = device_of(t, i), row = t->title[t->s->set[i]];
	uint32_t v = row == GRAPH_NONE ? GRAPH_NONE : t->shown->node[row];
	char colour[20], took[QUANTITY_CAP], at[QUANTITY_CAP], ink[40];
	quantity_seconds(t->s->end_s[i] - t->s->start_s[i], took);
	fprintf(out, "<g><title>%s", v == GRAPH_NONE ? "constants" : "");
	if (v != GRAPH_NONE)
		markup_textf(out, "%s %s", g->type[v], g->node_name[v]);
	fprintf(out,
		", at %s, takes %s</title><rect x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" "
		"height=\"%.0f\" "
		"fill=\"%s\"/>",
		quantity_seconds(t->s->start_s[i], at), took, x1, t->y[d], fmax(x2 - x1 - 0.5, 0.5),
		ROW, svgdraw_colour(d, colour));
	if (x2 - x1 > LABELLED) {
		snprintf(ink, sizeof ink, "fill=\"%s\"", svgdraw_ink(d));
		svgdraw_text(out, x1 + 3, t->y[d] + 13, x2 - x1 - 6, ink,
			     v == GRAPH_NONE ? "constants" : shown_title(g, v));
		svgdraw_text(out, x1 + 3, t->y[d] + 26, x2 - x1 - 6, ink, took);
	}
	fputs("</g>\n", out);
}

static void put_steps(FILE *out, const struct timeline *t, struct arena *a)
{
	struct run_of *run = ARENA_NEWN(a, struct run_of, t->p->k);
	for (uint32_t d = 0; d < t->p->k; d++)
		run[d].from = -1;
	for (uint32_t j = 0; j < t->s->n; j++) {
		uint32_t i = t->order[j], d = device_of(t, i);
		double x1 = x_of(t, t->s->start_s[i]), x2 = x_of(t, t->s->end_s[i]);
		if (x2 - x1 >= NARROW) {
			flush(out, t, d, &run[d]);
			put_step(out, t, i, x1, x2);
		} else if (run[d].from >= 0 && x1 - run[d].to < TOUCHES) {
			run[d].to = fmax(run[d].to, x2);
		} else {
			flush(out, t, d, &run[d]);
			run[d] = (struct run_of){x1, x2};
		}
	}
	for (uint32_t d = 0; d < t->p->k; d++)
		flush(out, t, d, &run[d]);
}

static void put_copies(FILE *out, const struct timeline *t, struct arena *a)
{
	const struct run_schedule *s = t->s;
	const struct schedule_arrows arrows = schedule_arrows(t->in->x->graph, s, t->p, a);
	fprintf(out, "<g stroke=\"#39424f\" stroke-opacity=\"%s\" fill=\"none\">\n",
		s->n_copies > 2000  ? "0.1"
		: s->n_copies > 300 ? "0.3"
				    : "0.8");
	for (uint32_t i = 0; i < s->n_copies; i++) {
		uint32_t from = s->copy_src[i], to = s->copy_dst[i];
		bool down = t->y[to] > t->y[from];
		double end_s = s->copy_end_s[i];
		if (!(end_s > s->copy_start_s[i]) && arrows.to[i] != GRAPH_NONE)
			end_s = s->start_s[arrows.to[i]];
		if (t->used[from] && t->used[to])
			fprintf(out, "<path d=\"M%.1f %.1fL%.1f %.1f\"/>\n",
				x_of(t, s->copy_start_s[i]), t->y[from] + (down ? ROW : 0),
				x_of(t, end_s), t->y[to] + (down ? 0 : ROW));
	}
	fputs("</g>\n", out);
}

static void put_labels(FILE *out, const struct timeline *t)
{
	for (uint32_t d = 0; d < t->p->k; d++) {
		char share[60], name[300];
		if (!t->used[d])
			continue;
		snprintf(share, sizeof share, "%.0f %% busy",
			 t->end_s > 0 ? 100 * t->busy_s[d] / t->end_s : 0);
		snprintf(name, sizeof name, "%.200s: %s", t->in->names[d], share);
		svgdraw_text(out, LEFT, t->y[d] - 5, WIDTH - 2 * LEFT,
			     "fill=\"#1c2430\" font-weight=\"bold\"", name);
	}
}

static int write_timeline(FILE *out, const struct report_input *in, struct err *e)
{
	const struct graph *g = in->x->graph;
	struct arena *a = arena_new();
	struct traced read;
	int rc = trace_read(in->trace, g, in->map, a, &read, e);
	if (rc == 0) {
		const struct shown shown = shown_nodes(in, a);
		struct timeline t = {.in = in,
				     .s = &read.run,
				     .p = &read.place,
				     .shown = &shown,
				     .title = shown_titles(g, &shown, a)};
		char title[400], about[200], end[QUANTITY_CAP];
		static const double TOP = 48;
		double height = arrange(&t, TOP + 6, a);
		sort_entries(&t, a);
		snprintf(title, sizeof title, "%.200s: one run, %s", placetext_model(g),
			 quantity_seconds(t.end_s, end));
		snprintf(about, sizeof about,
			 "a row for each device: when it ran which of %" PRIu32
			 " steps; lines: %" PRIu32 " copies between devices",
			 read.run.n, read.run.n_copies);
		svgdraw_begin(out, WIDTH, height, title, about);
		svgdraw_text(out, LEFT, 20, WIDTH - 2 * LEFT, "font-size=\"14\" fill=\"#1c2430\"",
			     title);
		put_axis(out, &t, TOP - 16, height - 4);
		put_steps(out, &t, a);
		put_copies(out, &t, a);
		put_labels(out, &t);
		fputs("</svg>\n", out);
	}
	arena_free(a);
	return rc;
}

const struct report_format format_timeline_svg = {
	.name = "timeline-svg",
	.about = "a picture of the schedule that devrun or devsim --schedule tells",
	.needs_trace = true,
	.write = write_timeline,
};
