/* comparedrows.h - the page's table of what was measured beside the answer, as rows of HTML. */
#ifndef HSDAG_REPORT_HTML_COMPAREDROWS_H
#define HSDAG_REPORT_HTML_COMPAREDROWS_H

#include "report/format.h"

/* Is there anything to show? */
bool compared_any(const struct report_input *in);
/* Caption, head and body: the answer first, then the single devices, then the others, each from the fastest on. */
void compared_put(FILE *out, const struct report_input *in);

#endif
