/* sweep_page.c - sweep.html, with tables and text where its marks are. */
#include "report/html/sweep_page.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/html/pagetemplate.h"
#include "text/markup.h"
#include "text/quantity.h"

extern const char sweep_html[], page_css[]; /* made of the files of these names by the build */

struct page {
	const struct sweep *s;
	const struct sweep_words *words;
};

static const char *plural(uint32_t n)
{
	return n == 1 ? "" : "s";
}

/* "0.3 %" of 1.003. */
static const char *behind(double ratio, char dst[QUANTITY_CAP])
{
	double percent = 100 * (ratio - 1);
	snprintf(dst, QUANTITY_CAP, percent < 99.95 ? "%.1f %%" : "%.0f %%", percent);
	return dst;
}

/* ---- the beginning ---- */

static int put_title(FILE *out, const void *of, struct err *e)
{
	(void)e;
	markup_text(out, ((const struct page *)of)->words->title);
	return 0;
}

static int put_about(FILE *out, const void *of, struct err *e)
{
	const struct sweep *s = ((const struct page *)of)->s;
	uint32_t seeds = 0, failed = 0;
	(void)e;
	for (uint32_t m = 0; m < s->n_models; m++)
		seeds = s->model[m].n_seeds > seeds ? s->model[m].n_seeds : seeds;
	for (size_t i = 0; i < (size_t)s->n_models * s->n_methods; i++)
		failed += s->cell[i].n_failed;
	fprintf(out, "%" PRIu32 " model%s, %" PRIu32 " method%s, %" PRIu32 " seed%s", s->n_models,
		plural(s->n_models), s->n_methods, plural(s->n_methods), seeds, plural(seeds));
	if (failed)
		fprintf(out, "; %" PRIu32 " search%s failed", failed, failed == 1 ? "" : "es");
	return 0;
}

/* The method that takes the least time of those that are near to the best; NULL: no time is told, or it is the first. */
static const struct sweep_method *quickest_near(const struct sweep *s, double near)
{
	const struct sweep_method *q = NULL;
	for (uint32_t k = 0; k < s->n_methods; k++) {
		const struct sweep_method *m = &s->method[k];
		if (m->n_models == s->method[0].n_models && m->search_s > 0 && m->ratio <= near &&
		    (!q || m->search_s < q->search_s))
			q = m;
	}
	return q == s->method ? NULL : q;
}

static void put_seconds(FILE *out, const struct sweep_method *m)
{
	char text[QUANTITY_CAP];
	if (m->search_s > 0)
		fprintf(out, "; a search takes %s", quantity_seconds(m->search_s, text));
}

static int put_verdict(FILE *out, const void *of, struct err *e)
{
	static const double NEAR = 1.05;
	const struct sweep *s = ((const struct page *)of)->s;
	const struct sweep_method *first = s->method, *most = first;
	char text[QUANTITY_CAP];
	(void)e;
	if (s->n_methods == 0 || first->n_models == 0) {
		fputs("no search has found anything", out);
		return 0;
	}
	fputs("nearest to the best is ", out);
	markup_text(out, first->name);
	fprintf(out, ": %s behind it in the mean, and best on %" PRIu32 " of %" PRIu32 " model%s",
		behind(first->ratio, text), first->n_wins, s->n_models, plural(s->n_models));
	put_seconds(out, first);
	for (uint32_t k = 0; k < s->n_methods; k++)
		if (s->method[k].n_wins > most->n_wins)
			most = &s->method[k];
	if (most != first) {
		fputs(". ", out);
		markup_text(out, most->name);
		fprintf(out, " wins more often, on %" PRIu32, most->n_wins);
	}
	const struct sweep_method *quick = quickest_near(s, NEAR);
	if (quick) {
		fputs(". Of those within 5 % in the mean ", out);
		markup_text(out, quick->name);
		fprintf(out, " is the quickest: %s behind", behind(quick->ratio, text));
		put_seconds(out, quick);
	}
	fputc('.', out);
	return 0;
}

/* ---- tables ---- */

static void row_begin(FILE *out, const char *name, bool first)
{
	fprintf(out, "<tr role=\"row\"%s><th role=\"rowheader\" scope=\"row\">",
		first ? " class=\"answer\"" : "");
	markup_text(out, name);
	fputs("</th>", out);
}

static int put_methods(FILE *out, const void *of, struct err *e)
{
	const struct sweep *s = ((const struct page *)of)->s;
	char text[QUANTITY_CAP + 100], part[QUANTITY_CAP];
	(void)e;
	for (uint32_t k = 0; k < s->n_methods; k++) {
		const struct sweep_method *m = &s->method[k];
		row_begin(out, m->name, k == 0);
		snprintf(text, sizeof text, "%" PRIu32, m->n_wins);
		markup_cell(out, "wins", text);
		markup_cell(out, "behind the best", m->n_models ? behind(m->ratio, part) : "-");
		snprintf(text, sizeof text, "%s on %.90s", behind(m->worst, part),
			 s->model[m->worst_model].name);
		markup_cell(out, "at worst", m->n_models ? text : "-");
		markup_cell(out, "a search takes",
			    m->search_s > 0 ? quantity_seconds(m->search_s, part) : "-");
		snprintf(text, sizeof text, "%" PRIu32, m->n_models);
		markup_cell(out, "models", text);
		fputs("</tr>\n", out);
	}
	return 0;
}

static int put_heads(FILE *out, const void *of, struct err *e)
{
	const struct sweep *s = ((const struct page *)of)->s;
	(void)e;
	for (uint32_t k = 0; k < s->n_methods; k++) {
		fputs("<th role=\"columnheader\" scope=\"col\">", out);
		markup_text(out, s->method[k].name);
		fputs("</th>", out);
	}
	return 0;
}

static void put_cell(FILE *out, const char *method, const struct sweep_cell *c)
{
	char text[QUANTITY_CAP];
	int class = c->n == 0                  ? 5
		    : c->ratio < 1 + SWEEP_TIE ? 0
		    : c->ratio < 1.02          ? 1
		    : c->ratio < 1.1           ? 2
		    : c->ratio < 1.3           ? 3
					       : 4;
	fprintf(out, "<td role=\"cell\" class=\"q%d\" data-label=\"", class);
	markup_text(out, method);
	fputs("\">", out);
	if (c->n == 0) {
		fputs(c->n_failed ? "failed" : "-", out);
		if (c->failed && *c->failed) {
			fputs(": ", out);
			markup_text(out, c->failed);
		}
	} else {
		fprintf(out, "<span>%.3f%s", c->ratio, class == 0 ? " ★" : "");
		if (c->n_failed)
			fprintf(out, ", %" PRIu32 " failed", c->n_failed);
		if (c->search_s > 0)
			fprintf(out, " <small>%s</small>", quantity_seconds(c->search_s, text));
		fputs("</span>", out);
	}
	fputs("</td>", out);
}

static int put_models(FILE *out, const void *of, struct err *e)
{
	const struct sweep *s = ((const struct page *)of)->s;
	char text[QUANTITY_CAP];
	(void)e;
	for (uint32_t m = 0; m < s->n_models; m++) {
		const struct sweep_model *model = &s->model[m];
		const struct sweep_cell *c = s->cell + (size_t)m * s->n_methods;
		double best_s = model->best == UINT32_MAX ? 0 : c[model->best].best_s;
		row_begin(out, model->name, false);
		markup_cell(out, "best", best_s > 0 ? quantity_seconds(best_s, text) : "-");
		snprintf(text, sizeof text, "%.3f times as fast", model->single_s / best_s);
		markup_cell(out, "over one device", best_s > 0 && model->single_s > 0 ? text : "-");
		for (uint32_t k = 0; k < s->n_methods; k++)
			put_cell(out, s->method[k].name, &c[k]);
		fputs("</tr>\n", out);
	}
	return 0;
}

/* ---- how it was made ---- */

static bool has_how(const void *of)
{
	const struct sweep_words *w = ((const struct page *)of)->words;
	return w->command || w->note;
}

static int put_how(FILE *out, const void *of, struct err *e)
{
	const struct sweep_words *w = ((const struct page *)of)->words;
	(void)e;
	if (w->command) {
		fputs("<p><code>", out);
		markup_text(out, w->command);
		fputs("</code></p>\n", out);
	}
	if (w->note) {
		fputs("<p class=\"hint\">", out);
		markup_text(out, w->note);
		fputs("</p>\n", out);
	}
	return 0;
}

/* ---- time and quality ---- */

static const double CHART_HEIGHT = 300, LEFT = 64, BOTTOM = 40, TOP = 12, RIGHT = 12, LETTER = 6.4,
		    LINE = 14;

struct chart {
	double width;
	double x_lo, x_hi, y_lo, y_hi; /* logarithms */
	double box[256][4];            /* of labels */
	int n;
};

static bool is_plotted(const struct sweep_method *m)
{
	return m->n_models && m->search_s > 0;
}

/* How far behind, in percent; what is the best everywhere stands at a hundredth. */
static double percent(const struct sweep_method *m)
{
	return fmax(100 * (m->ratio - 1), 0.01);
}

static bool has_trade(const void *of)
{
	const struct sweep *s = ((const struct page *)of)->s;
	uint32_t n = 0;
	for (uint32_t k = 0; k < s->n_methods; k++)
		n += is_plotted(&s->method[k]);
	return n > 1;
}

static double chart_x(const struct chart *c, double s)
{
	return LEFT + (c->width - LEFT - RIGHT) * (log10(s) - c->x_lo) / (c->x_hi - c->x_lo);
}

static double chart_y(const struct chart *c, double p)
{
	return TOP + (CHART_HEIGHT - TOP - BOTTOM) * (c->y_hi - log10(p)) / (c->y_hi - c->y_lo);
}

static void put_axes(FILE *out, const struct chart *c)
{
	char text[QUANTITY_CAP];
	/* Each power of ten, or each second or third one, so that labels have room. */
	int by = 1 + (int)((c->x_hi - c->x_lo) * 70 / c->width);
	for (int k = (int)c->x_lo; k <= (int)c->x_hi; k += by) {
		double x = chart_x(c, pow(10, k));
		bool last = k + by > (int)c->x_hi;
		fprintf(out,
			"<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"%s\">%s</text>\n",
			x, TOP, CHART_HEIGHT - BOTTOM, x, CHART_HEIGHT - BOTTOM + 16,
			last                ? "end"
			: k == (int)c->x_lo ? "start"
					    : "middle",
			quantity_trim(quantity_seconds(pow(10, k), text)));
	}
	for (int k = (int)c->y_lo; k <= (int)c->y_hi; k++) {
		double y = chart_y(c, pow(10, k));
		fprintf(out,
			"<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/><text x=\"%.1f\" y=\"%.1f\" "
			"text-anchor=\"end\">%g %%</text>\n",
			LEFT, y, c->width - RIGHT, LEFT - 6, y + 4, pow(10, k));
	}
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">a search takes</text>\n",
		(c->width + LEFT) / 2, CHART_HEIGHT - 6);
}

static bool is_free(const struct chart *c, const double b[4])
{
	if (b[0] < LEFT || b[2] > c->width || b[1] < 0 || b[3] > CHART_HEIGHT - BOTTOM)
		return false;
	for (int i = 0; i < c->n; i++)
		if (b[0] < c->box[i][2] && c->box[i][0] < b[2] && b[1] < c->box[i][3] &&
		    c->box[i][1] < b[3])
			return false;
	return true;
}

/* The name right of its point, left of it, or above or below, where it has its place alone; else it is left to the title
 * and the table. */
static void put_label(FILE *out, struct chart *c, double x, double y, const char *name)
{
	double w = LETTER * (double)strlen(name);
	const double at[][2] = {{x + 7, y + 4},
				{x - 7 - w, y + 4},
				{x - w / 2, y - 8},
				{x - w / 2, y + 17},
				{x + 7, y + 4 - LINE},
				{x + 7, y + 4 + LINE},
				{x - 7 - w, y + 4 - LINE},
				{x - 7 - w, y + 4 + LINE}};
	for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
		double b[4] = {at[i][0] - 2, at[i][1] - 11, at[i][0] + w + 2, at[i][1] + 3};
		if (!is_free(c, b) || c->n == (int)(sizeof c->box / sizeof *c->box))
			continue;
		memcpy(c->box[c->n++], b, sizeof b);
		fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"name\">", at[i][0], at[i][1]);
		markup_text(out, name);
		fputs("</text>\n", out);
		return;
	}
}

static void put_chart(FILE *out, const struct sweep *s, const char *class, double width)
{
	struct chart c = {width, INFINITY, -INFINITY, INFINITY, -INFINITY, {{0}}, 0};
	for (uint32_t k = 0; k < s->n_methods; k++) {
		const struct sweep_method *m = &s->method[k];
		if (!is_plotted(m))
			continue;
		c.x_lo = fmin(c.x_lo, floor(log10(m->search_s)));
		c.x_hi = fmax(c.x_hi, ceil(log10(m->search_s)));
		c.y_lo = fmin(c.y_lo, floor(log10(percent(m))));
		c.y_hi = fmax(c.y_hi, ceil(log10(percent(m))));
	}
	c.x_hi = fmax(c.x_hi, c.x_lo + 1);
	c.y_hi = fmax(c.y_hi, c.y_lo + 1);
	fprintf(out,
		"<svg class=\"chart %s\" role=\"img\" viewBox=\"0 0 %.0f %.0f\"><title>methods by "
		"the "
		"time of a search and how far behind the best they are</title>\n",
		class, width, CHART_HEIGHT);
	put_axes(out, &c);
	for (uint32_t k = 0; k < s->n_methods; k++) {
		const struct sweep_method *m = &s->method[k];
		if (!is_plotted(m) || c.n == (int)(sizeof c.box / sizeof *c.box))
			continue;
		double x = chart_x(&c, m->search_s), y = chart_y(&c, percent(m));
		const double b[4] = {x - 5, y - 5, x + 5, y + 5};
		memcpy(c.box[c.n++], b, sizeof b);
	}
	for (uint32_t k = 0; k < s->n_methods; k++) {
		const struct sweep_method *m = &s->method[k];
		char seconds[QUANTITY_CAP], part[QUANTITY_CAP];
		if (!is_plotted(m))
			continue;
		double x = chart_x(&c, m->search_s), y = chart_y(&c, percent(m));
		fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>", x, y);
		markup_textf(out, "%s: %s behind, %s", m->name, behind(m->ratio, part),
			     quantity_seconds(m->search_s, seconds));
		fputs("</title></circle>\n", out);
		put_label(out, &c, x, y, m->name);
	}
	fputs("</svg>\n", out);
}

/* Letters keep their size: a narrow screen has a picture of its own. */
static int put_trade(FILE *out, const void *of, struct err *e)
{
	const struct sweep *s = ((const struct page *)of)->s;
	(void)e;
	put_chart(out, s, "wide", 760);
	put_chart(out, s, "narrow", 380);
	return 0;
}

static const struct page_mark marks[] = {
	{.name = "title", .put = put_title},
	{.name = "style", .text = page_css},
	{.name = "about", .put = put_about},
	{.name = "verdict", .put = put_verdict},
	{.name = "methods", .put = put_methods},
	{.name = "trade", .put = put_trade, .is_there = has_trade},
	{.name = "heads", .put = put_heads},
	{.name = "models", .put = put_models},
	{.name = "how", .put = put_how, .is_there = has_how},
	{.name = NULL},
};

int sweep_page(FILE *out, const struct sweep *s, const struct sweep_words *words, struct err *e)
{
	return page_write(out, sweep_html, marks, &(struct page){s, words}, e);
}
