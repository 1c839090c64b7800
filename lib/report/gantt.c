/* gantt.c - a run's schedule as a picture of letters: who computes when, and what goes over the links.
 *
 * One row for each device, time from left to right; a column is as dark as the device is busy in it.  Steps of one
 * segment have one shade, and where another segment begins the shade changes. */
#include "report/format.h"
#include "report/placetext.h"
#include "report/screen.h"
#include "report/trace.h"
#include "text/quantity.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_LINKS = 12, LABEL_MOST = 24, BAR_LEAST = 16, NAME = 120 };
/* Single devices that take longer than so many times the run lie outside the picture. */
static const double FAR = 2.5;

struct row {
	char label[NAME];
	uint32_t colour; /* of row_colours */
	bool link;
	double busy_s, end_s;
	double *in_s;      /* (width) seconds busy in each column */
	uint32_t *segment; /* (width) that of most of them; GRAPH_NONE: none */
	double *most_s;    /* (width) its seconds */
	uint64_t bytes;    /* over a link */
};

struct picture {
	const struct screen *screen;
	uint32_t width, label; /* columns of the bars, of labels */
	double span_s;         /* of the bars */
	double end_s;          /* of the run */
	struct row *row;       /* (n_rows) devices, then links */
	uint32_t n_rows, n_links_left;
};

/* ---- what each column holds ---- */

/* Seconds from start to end of `segment` in the columns that they lie in. */
static void spread(const struct picture *x, struct row *r, double start_s, double end_s,
		   uint32_t segment)
{
	double step = x->span_s / x->width;
	double first = floor(start_s / step);
	r->busy_s += end_s - start_s;
	r->end_s = fmax(r->end_s, end_s);
	for (uint32_t c = first > 0 ? (uint32_t)first : 0; c < x->width && c * step < end_s; c++) {
		double s = fmin(end_s, (c + 1) * step) - fmax(start_s, c * step);
		if (!(s > 1e-6 * step)) /* what rounding leaves over */
			continue;
		r->in_s[c] += s;
		/* Of short ones that alternate within a column the longest is shown. */
		if (r->segment[c] == segment || s > r->most_s[c]) {
			r->most_s[c] = r->segment[c] == segment ? r->most_s[c] + s : s;
			r->segment[c] = segment;
		}
	}
}

static void init_row(struct row *r, const struct picture *x, struct arena *a)
{
	r->in_s = ARENA_NEWN(a, double, x->width);
	r->most_s = ARENA_NEWN(a, double, x->width);
	r->segment = ARENA_NEWN(a, uint32_t, x->width);
	for (uint32_t c = 0; c < x->width; c++)
		r->segment[c] = GRAPH_NONE;
}

/* Links by what they carry, the busiest first. */
struct link {
	uint32_t src, dst;
	double busy_s;
	uint64_t bytes;
};

static uint32_t find_links(const struct traced *t, struct link *link)
{
	const struct run_schedule *s = &t->run;
	uint32_t n = 0;
	for (uint32_t i = 0; i < s->n_copies; i++) {
		uint32_t l = 0;
		if (!(s->copy_end_s[i] > s->copy_start_s[i])) /* read where it lies */
			continue;
		while (l < n && (link[l].src != s->copy_src[i] || link[l].dst != s->copy_dst[i]))
			l++;
		if (l == n)
			link[n++] = (struct link){s->copy_src[i], s->copy_dst[i], 0, 0};
		link[l].busy_s += s->copy_end_s[i] - s->copy_start_s[i];
		link[l].bytes += s->copy_bytes[i];
	}
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t j = i; j > 0 && link[j].busy_s > link[j - 1].busy_s; j--) {
			struct link x = link[j];
			link[j] = link[j - 1];
			link[j - 1] = x;
		}
	return n;
}

/* Rows with their labels; the width of these. */
static void make_rows(struct picture *x, const struct traced *t, const struct link *link,
		      uint32_t n_links, struct arena *a)
{
	const char *arrow = x->screen->utf8 ? "\xe2\x86\x92" : ">";
	uint32_t k = t->place.k, shown = n_links < MAX_LINKS ? n_links : MAX_LINKS;
	uint32_t most = x->screen->width / 4 < LABEL_MOST ? x->screen->width / 4 : LABEL_MOST;
	char one[50], other[50];
	x->n_links_left = n_links - shown;
	x->n_rows = k + shown;
	x->row = ARENA_NEWN(a, struct row, (size_t)x->n_rows + 1);
	for (uint32_t d = 0; d < k; d++) {
		err_escape(x->row[d].label, NAME, t->names[d], strlen(t->names[d]));
		x->row[d].colour = d;
	}
	for (uint32_t l = 0; l < shown; l++) {
		struct row *r = &x->row[k + l];
		/* Where both do not fit, both are cut. */
		uint32_t n = screen_columns(x->row[link[l].src].label), half = (most - 3) / 2,
			 m = screen_columns(x->row[link[l].dst].label);
		bool cut = n + 3 + m > most;
		screen_cut(one, 50, x->row[link[l].src].label, cut ? half : n);
		screen_cut(other, 50, x->row[link[l].dst].label, cut ? half : m);
		snprintf(r->label, NAME, "%s %s %s", one, arrow, other);
		r->link = true;
		r->bytes = link[l].bytes;
	}
	for (uint32_t i = 0; i < x->n_rows; i++) {
		uint32_t n = screen_columns(x->row[i].label);
		x->label = n > x->label ? n : x->label;
	}
	x->label = x->label > most ? most : x->label;
}

/* " 100 %  " before, "  12.31 ms" behind. */
enum { BEFORE = 8, BEHIND = 11 };

static void fill(struct picture *x, const struct traced *t, const uint32_t *segment,
		 struct arena *a)
{
	const struct run_schedule *s = &t->run;
	struct link *link = ARENA_NEWN(a, struct link, (size_t)t->place.k * t->place.k);
	uint32_t n = find_links(t, link), used;
	make_rows(x, t, link, n, a);
	used = x->label + BEFORE + BEHIND;
	x->width = x->screen->width > used + BAR_LEAST ? x->screen->width - used : BAR_LEAST;
	for (uint32_t i = 0; i < x->n_rows; i++)
		init_row(&x->row[i], x, a);
	for (uint32_t i = 0; i < s->n; i++)
		spread(x, &x->row[t->place.device[s->set[i]]], s->start_s[i], s->end_s[i],
		       segment[s->set[i]]);
	for (uint32_t i = 0; i < s->n_copies; i++)
		for (uint32_t l = 0; l < x->n_rows - t->place.k; l++)
			if (link[l].src == s->copy_src[i] && link[l].dst == s->copy_dst[i])
				spread(x, &x->row[t->place.k + l], s->copy_start_s[i],
				       s->copy_end_s[i], 0);
}

/* ---- drawing ---- */

/* Two shades of each colour: of segments that follow each other. */
static const char *const row_colours[][2] = {{"34", "94"}, {"32", "92"}, {"35", "95"},
					     {"33", "93"}, {"36", "96"}, {"31", "91"}};
enum { N_COLOURS = sizeof row_colours / sizeof *row_colours };
static const char LINK_COLOUR[] = "37", FAINT[] = "90", BOLD[] = "1";

/* A column that is busy for `share` of its time. */
static const char *letter_of(const struct screen *s, double share, uint32_t shade)
{
	static const char *const eighths[] = {"\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83",
					      "\xe2\x96\x84", "\xe2\x96\x85", "\xe2\x96\x86",
					      "\xe2\x96\x87", "\xe2\x96\x88"};
	if (!(share > 0))
		return s->utf8 ? "\xc2\xb7" : ".";
	if (!s->utf8)
		return share < 0.5 ? (shade ? "-" : "+") : (shade ? "=" : "#");
	if (!s->colour && shade) /* without colours the pattern tells segments apart */
		return share < 0.5 ? "\xe2\x96\x91" : "\xe2\x96\x92";
	long i = lround(share * 8) - 1;
	return eighths[i < 0 ? 0 : i > 7 ? 7 : i];
}

static void draw_bar(FILE *out, const struct picture *x, const struct row *r)
{
	double step = x->span_s / x->width;
	const char *now = NULL;
	uint32_t before = GRAPH_NONE, shade = 1;
	for (uint32_t c = 0; c < x->width; c++) {
		bool busy = r->in_s[c] > 0;
		if (busy && (r->segment[c] != before || before == GRAPH_NONE)) {
			shade = !shade;
			before = r->segment[c];
		}
		const char *colour = !busy     ? FAINT
				     : r->link ? LINK_COLOUR
					       : row_colours[r->colour % N_COLOURS][shade];
		if (colour != now)
			screen_colour(out, x->screen, colour);
		now = colour;
		fputs(letter_of(x->screen, r->in_s[c] / step, r->link ? 0 : shade), out);
	}
	screen_colour(out, x->screen, "0");
}

static void draw_row(FILE *out, const struct picture *x, const struct row *r)
{
	char text[QUANTITY_CAP];
	screen_colour(out, x->screen,
		      r->link ? LINK_COLOUR : row_colours[r->colour % N_COLOURS][0]);
	screen_pad(out, r->label, x->label);
	screen_colour(out, x->screen, "0");
	fprintf(out, " %3.0f %%  ", x->end_s > 0 ? 100 * r->busy_s / x->end_s : 0);
	draw_bar(out, x, r);
	if (r->link)
		fprintf(out, "  %6.*f MB\n", (double)r->bytes < 99.95e6 ? 2 : 0,
			(double)r->bytes * 1e-6);
	else
		fprintf(out, " %10s\n", r->end_s > 0 ? quantity_seconds(r->end_s, text) : "unused");
}

static void blanks(FILE *out, uint32_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

static uint32_t column_of(const struct picture *x, double s)
{
	double c = floor(s / x->span_s * x->width + 1e-6);
	return c < 0 ? 0 : c >= x->width ? x->width - 1 : (uint32_t)c;
}

/* A step of 1, 2 or 5 times a power of ten, for about one tick in ten columns. */
static double tick_step(const struct picture *x)
{
	double want = x->span_s * 10 / x->width, ten = pow(10, floor(log10(want)));
	return want <= ten ? ten : want <= 2 * ten ? 2 * ten : want <= 5 * ten ? 5 * ten : 10 * ten;
}

static void draw_axis(FILE *out, const struct picture *x)
{
	double unit_s, step = tick_step(x);
	const char *unit = screen_unit(x->span_s, &unit_s);
	char text[40];
	uint32_t at = 0;
	blanks(out, x->label + BEFORE);
	for (uint32_t i = 0; i * step < x->span_s; i++) {
		uint32_t c = column_of(x, i * step);
		int n = snprintf(text, sizeof text, "%.6g", i * step / unit_s);
		if (c < at || c + (uint32_t)n > x->width)
			continue;
		blanks(out, c - at);
		fputs(text, out);
		at = c + (uint32_t)n;
	}
	blanks(out, x->width + 1 - at);
	fprintf(out, "%s\n", unit);
}

/* A line that says what happens at a moment, under its column. */
static void draw_mark(FILE *out, const struct picture *x, double s, const char *what)
{
	bool outside = s > x->span_s;
	uint32_t c = outside ? x->width - 1 : column_of(x, s), n = screen_columns(what);
	blanks(out, x->label + BEFORE);
	if (c + 2 + n <= x->width + BEHIND) {
		blanks(out, c);
		fprintf(out, "%s %s\n", outside ? ">" : "^", what);
	} else {
		blanks(out, c > n ? c - n - 1 : 0);
		fprintf(out, "%s %s\n", what, outside ? ">" : "^");
	}
}

/* ---- what is beside it ---- */

/* What the record of the run says of it. */
struct told {
	const char *source;
	double lat_s, ref_s;
	bool simulated;
	char ref[NAME]; /* the best single device, and "alone" */
};

static int read_told(const struct report_input *in, const struct traced *t, struct arena *a,
		     struct told *x, struct err *e)
{
	const struct rec *r = in->trace->run;
	const struct answer *answer = in->x;
	const char *ref = "";
	*x = (struct told){.source = t->place.source, .simulated = run_is_simulated(r)};
	if (rec_is(r, "best")) {
		x->lat_s = answer->m.lat_s;
		x->ref_s = answer->m.ref_s;
		ref = answer->reference;
	} else {
		struct run_rec run;
		if (run_decode(r, RUN_LATENCY | RUN_REFERENCE, a, &run, e) < 0)
			return -1;
		x->lat_s = run.lat_s;
		x->ref_s = run.ref_s;
		double best_s = INFINITY;
		for (uint32_t d = 0; d < answer->n_single && d < answer->place.k; d++) {
			const struct measured *m = &answer->single[d];
			if (!m->given || m->reason || !(m->lat_s < best_s))
				continue;
			best_s = m->lat_s;
			ref = answer->place.names[d];
		}
	}
	snprintf(x->ref, sizeof x->ref, "best single device");
	for (uint32_t d = 0; *ref && d < t->place.k; d++)
		if (strcmp(ref, t->place.names[d]) == 0)
			snprintf(x->ref, sizeof x->ref, "%.60s alone", t->names[d]);
	return 0;
}

/* Under the axis what happens when, in the order of time. */
static void draw_marks(FILE *out, const struct picture *x, const struct told *told,
		       const struct place_rec *p)
{
	struct mark {
		double s;
		char what[300];
	} mark[3], swap;
	char name[NAME], time[QUANTITY_CAP];
	uint32_t n = 0;
	if (p->bounded && !p->by_value && p->bound_s > 0) {
		mark[n].s = p->bound_s;
		snprintf(mark[n++].what, sizeof mark->what, "bound: no placement before %s",
			 quantity_seconds(p->bound_s, time));
	}
	mark[n].s = x->end_s;
	snprintf(mark[n++].what, sizeof mark->what, "done: %s", quantity_seconds(x->end_s, time));
	if (told->ref_s > 0) {
		mark[n].s = told->ref_s;
		snprintf(mark[n++].what, sizeof mark->what, "%s: %s",
			 err_escape(name, sizeof name, told->ref, strlen(told->ref)),
			 quantity_seconds(told->ref_s, time));
	}
	for (uint32_t i = 1; i < n; i++)
		for (uint32_t j = i; j > 0 && mark[j].s < mark[j - 1].s; j--) {
			swap = mark[j];
			mark[j] = mark[j - 1];
			mark[j - 1] = swap;
		}
	for (uint32_t i = 0; i < n; i++)
		draw_mark(out, x, mark[i].s, mark[i].what);
}

static void draw_title(FILE *out, const struct picture *x, const struct told *told,
		       const struct graph *g)
{
	const char *model = placetext_model(g);
	char name[NAME], source[NAME], time[QUANTITY_CAP];
	screen_colour(out, x->screen, BOLD);
	fprintf(out, "%s", err_escape(name, sizeof name, model, strlen(model)));
	screen_colour(out, x->screen, "0");
	fprintf(out, ", placed by %s: ",
		err_escape(source, sizeof source, told->source, strlen(told->source)));
	screen_colour(out, x->screen, BOLD);
	fputs(quantity_seconds(told->lat_s, time), out);
	screen_colour(out, x->screen, "0");
	fputs(told->simulated ? ", simulated\n" : "\n", out);
	if (told->ref_s > 0 && told->lat_s > 0)
		fprintf(out, "%.3f times as fast as the best single device\n",
			told->ref_s / told->lat_s);
}

static void draw_legend(FILE *out, const struct picture *x, const struct placed *p)
{
	uint32_t used = 0;
	blanks(out, x->label + BEFORE);
	if (x->screen->colour)
		fputs("a change of shade: another segment of the model", out);
	else
		fprintf(out, "%s and %s: segments in turn", letter_of(x->screen, 1, 0),
			letter_of(x->screen, 1, 1));
	for (uint32_t d = 0; d < p->k; d++)
		used += p->segments[d] > 0;
	fprintf(out, " (%" PRIu32 " on %" PRIu32 " device%s); %s idle\n", p->n_segments, used,
		used == 1 ? "" : "s", letter_of(x->screen, 0, 0));
	if (x->n_links_left) {
		blanks(out, x->label + BEFORE);
		fprintf(out, "%" PRIu32 " links that carry less are left out\n", x->n_links_left);
	}
}

static int write_timeline(FILE *out, const struct report_input *in, struct err *e)
{
	const struct graph *g = in->x->graph;
	struct arena *a = arena_new();
	struct picture x = {.screen = in->screen};
	struct traced t;
	struct told told;
	struct placed placed;
	int rc = trace_read(in->trace, g, in->map, a, &t, e);
	if (rc == 0)
		rc = read_told(in, &t, a, &told, e);
	if (rc == 0) {
		placed_init(g, t.place.device, t.place.k, in->constant, NULL, a, &placed);
		for (uint32_t i = 0; i < t.run.n; i++)
			x.end_s = fmax(x.end_s, t.run.end_s[i]);
		x.span_s = fmax(x.end_s, told.ref_s <= FAR * x.end_s ? told.ref_s : 0);
		if (!(x.span_s > 0)) /* nothing takes time */
			x.span_s = 1;
		x.span_s *= 1 + 1e-9; /* the end lies in the last column */
		fill(&x, &t, placed.segment, a);
		draw_title(out, &x, &told, g);
		fprintf(out, "%*s\n", (int)(x.label + BEFORE + x.width + BEHIND), "busy until");
		for (uint32_t i = 0; i < x.n_rows; i++)
			draw_row(out, &x, &x.row[i]);
		draw_axis(out, &x);
		draw_marks(out, &x, &told, &t.place);
		draw_legend(out, &x, &placed);
	}
	arena_free(a);
	return rc;
}

const struct report_format format_timeline = {
	.name = "timeline",
	.about = "the same schedule as a picture for a terminal: who computes when,\n"
		 "and what goes over the links",
	.needs_trace = true,
	.styled = true,
	.write = write_timeline,
};
