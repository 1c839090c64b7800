/* svgdraw.h - what pictures of a placement have in common. */
#ifndef HSDAG_REPORT_SVG_SVGDRAW_H
#define HSDAG_REPORT_SVG_SVGDRAW_H

#include <stdint.h>
#include <stdio.h>

#include "report/format.h"

/* Of a device, GRAPH_NONE: of none; into dst[20].  Letters on it: svgdraw_ink. */
const char *svgdraw_colour(uint32_t device, char dst[20]);
const char *svgdraw_ink(uint32_t device);
/* A picture of that size in pixels, its title and description for who cannot see it. */
void svgdraw_begin(FILE *out, double width, double height, const char *title, const char *about);
/* Text that begins at x, on the line y, cut to `room` pixels; nothing where that is too little. */
void svgdraw_text(FILE *out, double x, double y, double room, const char *attributes,
		  const char *text);
/* Squares with names of the devices that are used[k], from x to `width`; returns the y below them. */
double svgdraw_keys(FILE *out, double x, double y, double width, const struct report_input *in,
		    const bool *used);
/* Pixels that a text takes, about. */
double svgdraw_width(const char *text);

#endif
