/* sweep_page.h - a sweep as a page for browsers: which methods win where, by how much, and what they take. */
#ifndef HSDAG_REPORT_HTML_SWEEP_PAGE_H
#define HSDAG_REPORT_HTML_SWEEP_PAGE_H

#include <stdio.h>

#include "experiment/sweep.h"

struct sweep_words {
	const char *title, *command, *note; /* command, note: NULL: none */
};

/* One file that loads nothing from elsewhere. */
int sweep_page(FILE *out, const struct sweep *s, const struct sweep_words *words,
	       struct err *e) MUST_CHECK;

#endif
