/* curve_page.h - curves of searches on one page: for each model over evaluations and seconds. */
#ifndef HSDAG_EXPERIMENT_CURVE_PAGE_H
#define HSDAG_EXPERIMENT_CURVE_PAGE_H

#include <stdio.h>

#include "base/err.h"

/* From the table of curve_table (CURVES_HEADER) to SVG: medians as
 * lines, quartiles as bands. */
int curve_page(const char *path, const char *title, FILE *out, struct err *e) MUST_CHECK;

#endif
