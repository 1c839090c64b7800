/* comparetext.c - placements beside each other for people, as TSV and as Markdown. */
#include "report/compare.h"
#include "report/format.h"
#include "report/placetext.h"
#include "report/screen.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MAX_COLUMNS = 9, CELL = 240 };

struct column {
	const char *title;
	char key; /* which cell: see cell_text */
	bool left;
};

static const char *ratio_text(char *dst, double x)
{
	if (x > 0)
		snprintf(dst, CELL, "%.3f", x);
	else
		snprintf(dst, CELL, "-");
	return dst;
}

static const char *cell_text(char *dst, const struct compare_row *x, char key, double unit_s)
{
	const char *none = "-";
	snprintf(dst, CELL, "%s", none);
	switch (key) {
	case 'n': snprintf(dst, CELL, "%s", x->name); break;
	case 'l':
		if (x->lat_s > 0)
			snprintf(dst, CELL, "%.3f", x->lat_s / unit_s);
		break;
	case 'r':
		if (x->lo_s > 0 && x->hi_s > x->lo_s)
			snprintf(dst, CELL, "%.3f .. %.3f", x->lo_s / unit_s, x->hi_s / unit_s);
		break;
	case 'v':
		if (x->value > 0)
			snprintf(dst, CELL, "%.6g", x->value);
		break;
	case 'b': ratio_text(dst, x->of_bound); break;
	case 's': ratio_text(dst, x->speedup); break;
	case 't':
		if (x->took_s >= 0)
			snprintf(dst, CELL, "%.3f", x->took_s);
		break;
	case 'w': {
		size_t n = x->why ? strlen(x->why) : 0;
		err_escape(dst, CELL, n ? x->why : "", n);
		break;
	}
	}
	return dst;
}

/* The columns that have something to say. */
static uint32_t choose_columns(const struct compare_table *t, const char *latency,
			       struct column *col)
{
	uint32_t n = 0;
	col[n++] = (struct column){"method", 'n', true};
	col[n++] = (struct column){latency, 'l', false};
	if (t->ranges)
		col[n++] = (struct column){"95 % interval", 'r', false};
	if (t->by_value)
		col[n++] = (struct column){"value", 'v', false};
	col[n++] = (struct column){"x bound", 'b', false};
	col[n++] = (struct column){"speedup", 's', false};
	if (t->timed)
		col[n++] = (struct column){"found in s", 't', false};
	if (t->whys)
		col[n++] = (struct column){"", 'w', true};
	return n;
}

static double best_latency(const struct compare_table *t)
{
	double best = INFINITY;
	for (uint32_t i = 0; i < t->n; i++)
		if (t->row[i].lat_s > 0)
			best = fmin(best, t->row[i].lat_s);
	return isinf(best) ? 1e-3 : best;
}

/* As many as fit on a line. */
static void print_devices(FILE *out, const struct comparison *c, uint32_t room)
{
	enum { NAME_MOST = 30, MORE = 12 };
	char name[200], text[100];
	uint32_t used = 0, d = 0;
	for (; d < c->k; d++) {
		err_escape(name, sizeof name, c->names[d], strlen(c->names[d]));
		screen_cut(text, sizeof text, name, NAME_MOST);
		uint32_t n = screen_columns(text) + (d ? 2 : 0);
		if (d && used + n + (d + 1 < c->k ? MORE : 0) > room)
			break;
		fprintf(out, "%s%s", d ? ", " : "", text);
		used += n;
	}
	if (d < c->k)
		fprintf(out, " and %" PRIu32 " more", c->k - d);
}

static void print_head(FILE *out, const struct report_input *in)
{
	const struct comparison *c = in->comparison;
	const char *name = placetext_model(in->x->graph);
	char text[200];
	screen_colour(out, in->screen, "1");
	fputs(err_escape(text, sizeof text, name, strlen(name)), out);
	screen_colour(out, in->screen, "0");
	fputs(" on ", out);
	uint32_t used = screen_columns(text) + (uint32_t)strlen(" on , simulated and measured");
	print_devices(out, c, in->screen->width > used ? in->screen->width - used : 0);
	fputs(c->simulated && c->measured ? ", simulated and measured"
	      : c->simulated              ? ", simulated"
	      : c->measured               ? ", measured"
					  : "",
	      out);
	fputs("\n\n", out);
}

/* Widths of columns; that of names, and of reasons, gives way where the screen is too narrow. */
static void find_widths(const struct compare_table *t, const struct column *col, uint32_t n,
			double unit_s, const struct screen *screen, uint32_t *width)
{
	enum { NAME_LEAST = 10, WHY_LEAST = 12 };
	char text[CELL];
	uint32_t sum = 0;
	for (uint32_t j = 0; j < n; j++) {
		width[j] = screen_columns(col[j].title);
		for (uint32_t i = 0; i < t->n; i++) {
			uint32_t w =
				screen_columns(cell_text(text, &t->row[i], col[j].key, unit_s));
			width[j] = w > width[j] ? w : width[j];
		}
		sum += width[j] + (j ? 2 : 0);
	}
	for (uint32_t j = n; screen->terminal && j-- > 0 && sum > screen->width;) {
		uint32_t least = col[j].key == 'n' ? NAME_LEAST : WHY_LEAST;
		if (!col[j].left || width[j] <= least)
			continue;
		uint32_t over = sum - screen->width, room = width[j] - least;
		uint32_t cut = over < room ? over : room;
		width[j] -= cut;
		sum -= cut;
	}
}

static void print_cell(FILE *out, const char *text, uint32_t width, bool left, bool first,
		       bool last)
{
	uint32_t n = screen_columns(text);
	if (last && n == 0)
		return;
	fputs(first ? "" : "  ", out);
	if (!left)
		for (uint32_t i = n; i < width; i++)
			fputc(' ', out);
	if (left && !(last && n <= width))
		screen_pad(out, text, width);
	else
		fputs(text, out);
}

static int write_compare(FILE *out, const struct report_input *in, struct err *e)
{
	struct arena *a = arena_new();
	const struct compare_table t = comparison_table(in->comparison, true, a);
	struct column col[MAX_COLUMNS];
	double unit_s;
	char latency[40], text[CELL];
	uint32_t width[MAX_COLUMNS];
	const char *unit = screen_unit(best_latency(&t), &unit_s);
	(void)e;
	snprintf(latency, sizeof latency, "latency %s", unit);
	uint32_t n = choose_columns(&t, latency, col);
	find_widths(&t, col, n, unit_s, in->screen, width);
	print_head(out, in);
	screen_colour(out, in->screen, "4");
	for (uint32_t j = 0; j < n; j++) {
		print_cell(out, col[j].title, width[j], col[j].left, j == 0, j + 1 == n);
	}
	screen_colour(out, in->screen, "0");
	fputc('\n', out);
	bool first = true;
	for (uint32_t i = 0; i < t.n; i++) {
		const struct compare_row *x = &t.row[i];
		bool best = first && x->kind == COMPARE_PLACEMENT && !x->why;
		first = first && !best;
		screen_colour(out, in->screen,
			      best                           ? "1;32"
			      : x->kind != COMPARE_PLACEMENT ? "90"
							     : "0");
		for (uint32_t j = 0; j < n; j++) {
			print_cell(out, cell_text(text, x, col[j].key, unit_s), width[j],
				   col[j].left, j == 0, j + 1 == n);
		}
		screen_colour(out, in->screen, "0");
		fputc('\n', out);
	}
	arena_free(a);
	return 0;
}

static void markdown_cell(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '|' || *text == '\\' || *text == '<' || *text == '*' || *text == '`')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputs(" |", out);
}

static int write_markdown(FILE *out, const struct report_input *in, struct err *e)
{
	struct arena *a = arena_new();
	const struct compare_table t = comparison_table(in->comparison, true, a);
	struct column col[MAX_COLUMNS];
	double unit_s;
	char latency[40], text[CELL];
	(void)e;
	snprintf(latency, sizeof latency, "latency %s", screen_unit(best_latency(&t), &unit_s));
	uint32_t n = choose_columns(&t, latency, col);
	fputc('|', out);
	for (uint32_t j = 0; j < n; j++) {
		fputc(' ', out);
		markdown_cell(out, col[j].title);
	}
	fputs("\n|", out);
	for (uint32_t j = 0; j < n; j++)
		fputs(col[j].left ? "---|" : "---:|", out);
	fputc('\n', out);
	for (uint32_t i = 0; i < t.n; i++) {
		fputc('|', out);
		for (uint32_t j = 0; j < n; j++) {
			fputc(' ', out);
			markdown_cell(out, cell_text(text, &t.row[i], col[j].key, unit_s));
		}
		fputc('\n', out);
	}
	arena_free(a);
	return 0;
}

static void tsv_number(FILE *out, bool known, double x)
{
	known ? fprintf(out, "\t%.9g", x) : fputs("\t", out);
}

static int write_tsv(FILE *out, const struct report_input *in, struct err *e)
{
	struct arena *a = arena_new();
	const struct compare_table t = comparison_table(in->comparison, false, a);
	char text[CELL];
	(void)e;
	fputs("method\tlatency_s\tlo_s\thi_s\tvalue\tof_bound\tspeedup\tseconds\treason\n", out);
	for (uint32_t i = 0; i < t.n; i++) {
		const struct compare_row *x = &t.row[i];
		fputs(x->name, out);
		tsv_number(out, x->lat_s > 0, x->lat_s);
		tsv_number(out, x->lo_s > 0, x->lo_s);
		tsv_number(out, x->lo_s > 0, x->hi_s);
		tsv_number(out, x->value > 0, x->value);
		tsv_number(out, x->of_bound > 0, x->of_bound);
		tsv_number(out, x->speedup > 0, x->speedup);
		tsv_number(out, x->took_s >= 0, x->took_s);
		fprintf(out, "\t%s\n", cell_text(text, x, 'w', 1));
	}
	arena_free(a);
	return 0;
}

const struct report_format format_compare = {
	.name = "compare",
	.about = "all placements of the stream beside each other, the fastest first,\n"
		 "with the bound, the best single device, and what finding each took",
	.needs_comparison = true,
	.styled = true,
	.write = write_compare,
};

const struct report_format format_compare_tsv = {
	.name = "compare-tsv",
	.about = "compare as tab-separated values, in seconds",
	.needs_comparison = true,
	.write = write_tsv,
};

const struct report_format format_compare_md = {
	.name = "compare-md",
	.about = "compare as a table in Markdown",
	.needs_comparison = true,
	.write = write_markdown,
};
