/* svgdraw.c - colours, text, keys. */
#include "report/svg/svgdraw.h"

#include <string.h>

#include "text/markup.h"
#include "base/utf8.h"

/* Okabe and Ito's colours, which people tell apart whose eyes see few; then hues. */
static const char *const colours[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
				      "#56b4e9", "#d55e00", "#b8a800", "#9a6fb8"};
enum { N_COLOURS = sizeof colours / sizeof *colours };
static const double LETTER = 6.2; /* pixels, of 11 pixel letters, about */

const char *svgdraw_colour(uint32_t device, char dst[20])
{
	if (device == GRAPH_NONE)
		snprintf(dst, 20, "#aab2bd");
	else if (device < N_COLOURS)
		snprintf(dst, 20, "%s", colours[device]);
	else
		snprintf(dst, 20, "hsl(%u,60%%,65%%)", device * 47 % 360);
	return dst;
}

const char *svgdraw_ink(uint32_t device)
{
	return device == 0 ? "#ffffff" : "#000000";
}

void svgdraw_begin(FILE *out, double width, double height, const char *title, const char *about)
{
	fprintf(out,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
		"viewBox=\"0 0 %.0f %.0f\" role=\"img\" font-family=\"sans-serif\" "
		"font-size=\"11\">\n<title>",
		width, height, width, height);
	markup_text(out, title);
	fputs("</title>\n<desc>", out);
	markup_text(out, about);
	fputs("</desc>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n", out);
}

/* Characters of a text, and the bytes of its first `most`. */
static size_t count_characters(const char *s, size_t most, size_t *bytes)
{
	size_t n = 0, len = strlen(s);
	*bytes = 0;
	for (size_t i = 0; i < len; n++) {
		size_t step = utf8_length(s + i, len - i);
		i += step ? step : 1;
		if (n < most)
			*bytes = i;
	}
	return n;
}

double svgdraw_width(const char *text)
{
	size_t bytes;
	return LETTER * (double)count_characters(text, 0, &bytes);
}

void svgdraw_text(FILE *out, double x, double y, double room, const char *attributes,
		  const char *text)
{
	size_t bytes, fit = room > 0 ? (size_t)(room / LETTER) : 0;
	size_t n = count_characters(text, fit, &bytes);
	if (fit < 2)
		return;
	if (n > fit)
		(void)count_characters(text, fit - 1, &bytes);
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
	markup_text_n(out, text, bytes);
	fputs(n > fit ? "…</text>\n" : "</text>\n", out);
}

double svgdraw_keys(FILE *out, double x, double y, double width, const struct report_input *in,
		    const bool *used)
{
	double left = x;
	char colour[20];
	for (uint32_t d = 0; d < in->p->k; d++) {
		if (!used[d])
			continue;
		double w = 16 + svgdraw_width(in->names[d]);
		if (left > x && left + w > width) {
			left = x;
			y += 16;
		}
		fprintf(out,
			"<rect x=\"%.1f\" y=\"%.1f\" width=\"10\" height=\"10\" fill=\"%s\"/>\n",
			left, y - 9, svgdraw_colour(d, colour));
		svgdraw_text(out, left + 14, y, width - left - 14, "fill=\"#1c2430\"",
			     in->names[d]);
		left += w + 14;
	}
	return y + 10;
}
