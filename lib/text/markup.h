/* markup.h - text in HTML, XML, JSON and tab-separated lines, where nothing in it may end what it stands in. */
#ifndef HSDAG_TEXT_MARKUP_H
#define HSDAG_TEXT_MARKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* s[n] as text or inside quotes of HTML and XML; control characters, which they do not allow, are blanks. */
void markup_text_n(FILE *out, const char *s, size_t n);
void markup_text(FILE *out, const char *s);
void markup_textf(FILE *out, const char *form, ...) __attribute__((format(printf, 2, 3)));
/* s[n] as a JSON string with its quotes; in_script: nothing in it can end a <script>. */
void markup_json(FILE *out, const char *s, size_t n, bool in_script);
/* s[n] as a cell: tabs, line ends, other control characters and backslashes are \t, \n, \r, \xHH and \\; in_list: commas are
 * \, as well. */
void markup_tsv(FILE *out, const char *s, size_t n, bool in_list);
/* A cell of a table of a page, and the label that it has on a narrow screen. */
void markup_cell(FILE *out, const char *label, const char *text);

#endif
