/* screen.h - where text is shown: how wide it may be, which letters and colours there are, and what
 * both make of numbers. */
#ifndef HSDAG_REPORT_SCREEN_H
#define HSDAG_REPORT_SCREEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct screen {
	uint32_t width; /* columns, SCREEN_NARROW or more */
	bool colour;    /* ANSI's 16 colours */
	bool utf8;      /* block characters; else ASCII */
	bool terminal;  /* it is one */
	bool told;      /* the width is the terminal's, or $COLUMNS: longer lines do not fit */
};

enum { SCREEN_NARROW = 40, SCREEN_USUAL = 80, SCREEN_WIDE = 1000 };
/* Choices of --color, in the order of screen_choices (NULL ends). */
enum screen_colour { SCREEN_AUTO, SCREEN_ALWAYS, SCREEN_NEVER };
extern const char *const screen_choices[];

/* Of what is written to the file at path ("-": standard output).  The width is $COLUMNS, else the terminal's, else 80.
 * SCREEN_AUTO: colours on a terminal that has them (TERM is not dumb) where NO_COLOR (no-color.org) is unset or
 * empty.  UTF-8 is what the locale's variables say. */
struct screen screen_find(const char *path, enum screen_colour when);

/* A change of colour, by its SGR parameters as in "1;34"; nothing on a screen without.  "0" ends all. */
void screen_colour(FILE *out, const struct screen *s, const char *sgr);

/* text[n] on out as text_write does (base/msg.h), but changes of colour pass. */
void screen_write(FILE *out, const char *text, size_t n);

/* Columns that UTF-8 text takes, each character one. */
uint32_t screen_columns(const char *text);
/* At most `width` columns of text, and what fits into dst[cap], with an ellipsis where that is not all.  Returns dst. */
const char *screen_cut(char *dst, size_t cap, const char *text, uint32_t width);
/* At most `width` columns of text on out, with an ellipsis where that is not all, then blanks up to width. */
void screen_pad(FILE *out, const char *text, uint32_t width);

/* The unit from ns to s in which s has one to three digits before the point, and how many seconds it has. */
const char *screen_unit(double s, double *unit_s);

#endif
