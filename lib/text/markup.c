/* markup.c - escapes of HTML, XML, JSON and tab-separated lines. */
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

void markup_json(FILE *out, const char *s, size_t n, bool in_script)
{
	fputc('"', out);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		size_t control = utf8_control(s + i, n - i);
		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c == '\n')
			fputs("\\n", out);
		else if (control)
			fprintf(out, "\\u%04x", (unsigned char)s[i += control - 1]);
		else if (in_script && (c == '<' || c == '>' || c == '&'))
			fprintf(out, "\\u%04x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

void markup_tsv(FILE *out, const char *s, size_t n, bool in_list)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		size_t control = utf8_control(s + i, n - i);
		switch (c) {
		case '\t': fputs("\\t", out); break;
		case '\n': fputs("\\n", out); break;
		case '\r': fputs("\\r", out); break;
		case '\\': fputs("\\\\", out); break;
		default:
			if (control)
				fprintf(out, "\\x%02x", c);
			if (control == 2)
				fprintf(out, "\\x%02x", (unsigned char)s[++i]);
			if (c == ',' && in_list)
				fputs("\\,", out);
			else if (!control)
				fputc(c, out);
		}
	}
}

void markup_cell(FILE *out, const char *label, const char *text)
{
	fputs("<td role=\"cell\" data-label=\"", out);
	markup_text(out, label);
	fputs("\">", out);
	markup_text(out, text);
	fputs("</td>", out);
}
