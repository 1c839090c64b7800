/* svg_chart.h - lines with bands over logarithmic axes, as SVG.  Not here: what they mean. */
#ifndef HSDAG_EXPERIMENT_SVG_CHART_H
#define HSDAG_EXPERIMENT_SVG_CHART_H

#include <stdint.h>
#include <stdio.h>

/* A line: mid[n] with a band from lo to hi, at x[n], ascending.  From a point to the next it stays
 * where it is. */
struct chart_line {
	const char *name;
	uint32_t look; /* colour and dashes, by number */
	uint32_t n;
	const double *x, *mid, *lo, *hi; /* (n) above 0 */
};

/* Where it is on the page, in pixels, and what axes show, from lo to hi, both above 0. */
struct chart {
	double left, top, width, height;
	const char *title, *x_label, *y_label;
	double x_lo, x_hi, y_lo, y_hi;
};

void svg_begin(FILE *out, double width, double height);
void svg_end(FILE *out);
void svg_text(FILE *out, double x, double y, const char *attributes, const char *text);
/* Axes, then lines. */
void svg_chart(FILE *out, const struct chart *c, const struct chart_line *line, uint32_t n);
/* A piece of line and its name. */
void svg_key(FILE *out, double x, double y, uint32_t look, const char *name);

#endif
