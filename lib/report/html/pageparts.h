/* pageparts.h - operations in parts as a picture: which device computes how much of each. */
#ifndef HSDAG_REPORT_HTML_PAGEPARTS_H
#define HSDAG_REPORT_HTML_PAGEPARTS_H

#include "report/format.h"

/* Are there operations of which several devices have parts?  of: a struct report_input, as in the next one. */
bool pageparts_any(const void *of);
/* The picture, a line of text, and its key. */
int pageparts_put(FILE *out, const void *of, struct err *e) MUST_CHECK;

#endif
