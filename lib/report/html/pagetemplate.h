/* pagetemplate.h - a page with marks for what is put into it.  <!--NAME--> stands for what a mark writes;
 * <!--?NAME--> ... <!--/NAME--> is left out where the mark has nothing to show. */
#ifndef HSDAG_REPORT_HTML_PAGETEMPLATE_H
#define HSDAG_REPORT_HTML_PAGETEMPLATE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

struct page_mark {
	const char *name;
	int (*put)(FILE *out, const void *of, struct err *e); /* NULL: `text` */
	bool (*is_there)(const void *of);                     /* NULL: it always is */
	const char *text;
};

/* marks: a name of NULL ends them.  of: handed to them.  -1: a mark failed, or the page has a mark that is not among
 * them (ST_RUNTIME). */
int page_write(FILE *out, const char *page, const struct page_mark *marks, const void *of,
	       struct err *e) MUST_CHECK;

#endif
