/* markup.c - escapes of HTML, XML and JSON inside HTML. */
#include "text/markup.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void markup_text_n(FILE *out, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		size_t control = utf8_control(s + i, n - i);
		if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'')
			fprintf(out, "&#%u;", c);
		else
			fputc(control ? ' ' : c, out);
		i += control == 2;
	}
}

void markup_text(FILE *out, const char *s)
{
	markup_text_n(out, s, strlen(s));
}

void markup_textf(FILE *out, const char *form, ...)
{
	char *text;
	va_list ap;
	va_start(ap, form);
	int n = vasprintf(&text, form, ap);
	va_end(ap);
	if (n < 0)
		return;
	markup_text_n(out, text, (size_t)n);
	free(text);
}

void markup_json(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f || c == '<' || c == '>' || c == '&')
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}
