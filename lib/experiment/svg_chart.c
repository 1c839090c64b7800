/* svg_chart.c - axes, bands, lines. */
#include "experiment/svg_chart.h"

#include <math.h>
#include <stdbool.h>

#include "text/markup.h"

static const char *const colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e",
				      "#17becf", "#8c564b", "#e377c2", "#555555", "#a8a800"};
static const char *const dashes[] = {"", "5 3", "1.5 2.5", "8 3 2 3"};
enum {
	N_COLOURS = sizeof colours / sizeof *colours,
	N_DASHES = sizeof dashes / sizeof *dashes,
	ENOUGH = 4, /* ticks of an axis */
	FINEST = 3
};

static const char *colour_of(uint32_t look)
{
	return colours[look % N_COLOURS];
}

static const char *dash_of(uint32_t look)
{
	return dashes[look / N_COLOURS % N_DASHES];
}

/* ---- the page ---- */

void svg_begin(FILE *out, double width, double height)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
		width, height, width, height);
}

void svg_end(FILE *out)
{
	fputs("</svg>\n", out);
}

void svg_text(FILE *out, double x, double y, const char *attributes, const char *text)
{
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
	markup_text(out, text);
	fputs("</text>\n", out);
}

void svg_key(FILE *out, double x, double y, uint32_t look, const char *name)
{
	fprintf(out,
		"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
		"stroke-width=\"2\" stroke-dasharray=\"%s\"/>\n",
		x, y - 4, x + 26, y - 4, colour_of(look), dash_of(look));
	svg_text(out, x + 32, y, "", name);
}

/* ---- axes ---- */

static double place_x(const struct chart *c, double x)
{
	double at = log(x / c->x_lo) / log(c->x_hi / c->x_lo);
	return c->left + c->width * fmin(1, fmax(0, at));
}

static double place_y(const struct chart *c, double y)
{
	double at = log(y / c->y_lo) / log(c->y_hi / c->y_lo);
	return c->top + c->height * (1 - fmin(1, fmax(0, at)));
}

/* The tick behind `at`: one of 1, 1 2 5, ... times a power of ten; with `fine` FINEST a multiple
 * of a step that fits the range. */
static double next_tick(double at, int fine, double range)
{
	static const double some[][6] = {{1, 10}, {1, 2, 5, 10}, {1, 2, 3, 5, 7, 10}};
	if (fine >= FINEST) {
		double ten = pow(10, floor(log10(range / ENOUGH)));
		double step = range / ENOUGH > 5 * ten   ? 5 * ten
			      : range / ENOUGH > 2 * ten ? 2 * ten
							 : ten;
		return step * (floor(at / step + 1e-9) + 1);
	}
	double ten = pow(10, floor(log10(at) + 1e-9));
	for (const double *s = some[fine];; s++)
		if (*s * ten > at * (1 + 1e-9))
			return *s * ten;
}

/* The coarsest scale with enough ticks from lo to hi. */
static int choose_ticks(double lo, double hi)
{
	for (int fine = 0; fine < FINEST; fine++) {
		int n = 0;
		for (double x = next_tick(lo * (1 - 1e-6), fine, 0); x <= hi && n < ENOUGH;
		     x = next_tick(x, fine, 0))
			n++;
		if (n >= ENOUGH)
			return fine;
	}
	return FINEST;
}

static void put_tick(FILE *out, const struct chart *c, double v, bool on_x)
{
	double x = on_x ? place_x(c, v) : c->left, y = on_x ? c->top + c->height : place_y(c, v);
	char text[40];
	snprintf(text, sizeof text, v >= 1e5 || v < 1e-4 ? "%.0e" : "%.6g", v);
	fprintf(out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#e4e4e4\"/>\n",
		x, y, on_x ? x : c->left + c->width, on_x ? c->top : y);
	svg_text(out, on_x ? x : x - 5, on_x ? y + 14 : y + 4,
		 on_x ? "text-anchor=\"middle\"" : "text-anchor=\"end\"", text);
}

static void put_ticks(FILE *out, const struct chart *c, bool on_x)
{
	double lo = on_x ? c->x_lo : c->y_lo, hi = on_x ? c->x_hi : c->y_hi;
	int fine = choose_ticks(lo, hi);
	double v = fine < FINEST ? next_tick(lo * (1 - 1e-6), fine, 0)
				 : next_tick(lo - 1e-6 * (hi - lo), fine, hi - lo);
	for (; v <= hi * (1 + 1e-9); v = next_tick(v, fine, hi - lo))
		put_tick(out, c, v, on_x);
}

static void put_axes(FILE *out, const struct chart *c)
{
	put_ticks(out, c, true);
	put_ticks(out, c, false);
	fprintf(out,
		"<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"none\" "
		"stroke=\"#888888\"/>\n",
		c->left, c->top, c->width, c->height);
	svg_text(out, c->left, c->top - 8, "font-weight=\"bold\"", c->title);
	svg_text(out, c->left + c->width / 2, c->top + c->height + 30, "text-anchor=\"middle\"",
		 c->x_label);
	char turned[120];
	double x = c->left - 42, y = c->top + c->height / 2;
	snprintf(turned, sizeof turned,
		 "text-anchor=\"middle\" transform=\"rotate(-90 %.1f %.1f)\"", x, y);
	svg_text(out, x, y, turned, c->y_label);
}

/* ---- lines ---- */

/* The steps of y over the line's x, to the right, or back to the left. */
static void put_steps(FILE *out, const struct chart *c, const struct chart_line *l, const double *y,
		      bool back)
{
	for (uint32_t i = 0; i < l->n; i++) {
		uint32_t at = back ? l->n - 1 - i : i;
		if (!back && i > 0 && i + 1 < l->n && y[i] == y[i - 1])
			continue;
		double px = place_x(c, l->x[at]), py = place_y(c, y[at]);
		if (back && at + 1 < l->n)
			fprintf(out, "L%.1f %.1f", place_x(c, l->x[at + 1]), py);
		else if (!back && at > 0)
			fprintf(out, "L%.1f %.1f", px, place_y(c, y[at - 1]));
		fprintf(out, "%c%.1f %.1f", i == 0 && !back ? 'M' : 'L', px, py);
	}
}

static void put_line(FILE *out, const struct chart *c, const struct chart_line *l)
{
	const char *colour = colour_of(l->look);
	fputs("<path d=\"", out);
	put_steps(out, c, l, l->lo, false);
	put_steps(out, c, l, l->hi, true);
	fprintf(out, "Z\" fill=\"%s\" fill-opacity=\"0.12\"/>\n<path d=\"", colour);
	put_steps(out, c, l, l->mid, false);
	fprintf(out,
		"\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\" "
		"stroke-dasharray=\"%s\"><title>",
		colour, dash_of(l->look));
	markup_text(out, l->name);
	fputs("</title></path>\n", out);
	uint32_t last = l->n - 1;
	fprintf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\" fill=\"%s\"/>\n",
		place_x(c, l->x[last]), place_y(c, l->mid[last]), colour);
}

void svg_chart(FILE *out, const struct chart *c, const struct chart_line *line, uint32_t n)
{
	put_axes(out, c);
	for (uint32_t i = 0; i < n; i++)
		if (line[i].n)
			put_line(out, c, &line[i]);
}
