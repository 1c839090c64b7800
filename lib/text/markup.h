/* markup.h - text in HTML, in XML and in scripts, where nothing in it may end what it stands in. */
#ifndef HSDAG_TEXT_MARKUP_H
#define HSDAG_TEXT_MARKUP_H

#include <stddef.h>
#include <stdio.h>

/* s[n] as text or inside quotes of HTML and XML; control characters, which they do not allow, are blanks. */
void markup_text_n(FILE *out, const char *s, size_t n);
void markup_text(FILE *out, const char *s);
void markup_textf(FILE *out, const char *form, ...) __attribute__((format(printf, 2, 3)));
/* s as a JSON string in which nothing can end a <script>. */
void markup_json(FILE *out, const char *s);

#endif
