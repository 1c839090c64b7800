/* xml_lenient.c - see xml_lenient.h. */
#include "ir/xml_lenient.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT, OPEN, BANG, BANG_DASH, COMMENT, CDATA, INSTRUCTION, TAG, VALUE };

/* U+10FF00 and the 31 behind it, of the last private plane. */
#define PRIVATE "&#x10FF%02X;"
static const char private_utf8[] = "\xf4\x8f\xbc";

bool xml_lenient_can(const char *start, size_t n)
{
	static const char zero = '\0';
	if (n > 4)
		n = 4;
	return !memchr(start, zero, n) && !(n >= 2 && (memcmp(start, "\xff\xfe", 2) == 0 ||
						       memcmp(start, "\xfe\xff", 2) == 0));
}

static bool is_control(long c)
{
	return c > 0 && c < 0x20 && c != '\t' && c != '\n' && c != '\r';
}

static void emit(struct xml_lenient *x, const char *s, size_t n)
{
	memcpy(x->out + x->n_out, s, n);
	x->n_out = (uint8_t)(x->n_out + n);
}

static void emit_control(struct xml_lenient *x, long c)
{
	char ref[16];
	int n = snprintf(ref, sizeof ref, PRIVATE, (unsigned)c & 0xff);
	emit(x, ref, (size_t)n);
}

static bool is_entity(const char *ref)
{
	static const char *const xml[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
	for (size_t i = 0; i < sizeof xml / sizeof *xml; i++)
		if (strcmp(ref, xml[i]) == 0)
			return true;
	return false;
}

/* What has begun as a reference goes on.  One that is none is an "&" with what follows. */
static void emit_reference(struct xml_lenient *x)
{
	char *end;
	x->ref[x->n_ref] = '\0';
	bool hex = x->ref[1] == '#' && x->ref[2] == 'x';
	const char *digits = x->ref + (hex ? 3 : 2);
	long c = x->ref[1] == '#' && isxdigit((uint8_t)*digits)
			 ? strtol(digits, &end, hex ? 16 : 10)
			 : 0;
	bool is_number = c > 0 && end > digits && *end == ';';
	if (is_number && is_control(c)) {
		emit_control(x, c);
	} else if (is_number || is_entity(x->ref)) {
		emit(x, x->ref, x->n_ref);
	} else {
		emit(x, "&amp;", 5);
		emit(x, x->ref + 1, x->n_ref - 1u);
	}
	x->n_ref = 0;
}

/* A byte inside quotes. */
static void add_to_value(struct xml_lenient *x, char c)
{
	if (x->n_ref && (c == '&' || c == '<' || (uint8_t)c == x->quote || c == '\n' ||
			 x->n_ref + 2u > sizeof x->ref))
		emit_reference(x); /* it was none */
	if (x->n_ref || c == '&') {
		x->ref[x->n_ref++] = c;
		if (c == ';')
			emit_reference(x);
	} else if (c == '<') {
		emit(x, "&lt;", 4);
	} else if (is_control(c)) {
		emit_control(x, c);
	} else {
		emit(x, &c, 1);
		if ((uint8_t)c == x->quote)
			x->state = TAG;
	}
}

static void begin_value(struct xml_lenient *x, char quote)
{
	x->state = VALUE;
	x->quote = (uint8_t)quote;
	if (++x->n_attrs > XML_MAX_ATTRIBUTES)
		x->fault = "a tag with more than 4096 attributes";
}

/* The end of what `last` twice (or once) and '>' ends. */
static void await(struct xml_lenient *x, char c, char last, uint8_t times)
{
	if (c == '>' && x->run >= times)
		x->state = TEXT;
	x->run = c == last ? (uint8_t)(x->run < times ? x->run + 1 : times) : 0;
}

static void step(struct xml_lenient *x, char c)
{
	switch (x->state) {
	case TEXT:
		if (c == '<') {
			x->state = OPEN;
			x->bytes = x->n_attrs = 0;
		}
		break;
	case OPEN:
		x->state = c == '!' ? BANG : c == '?' ? INSTRUCTION : c == '>' ? TEXT : TAG;
		x->run = 0;
		break;
	case BANG: x->state = c == '-' ? BANG_DASH : c == '[' ? CDATA : TAG; break;
	case BANG_DASH: x->state = c == '-' ? COMMENT : TAG; break;
	case COMMENT: await(x, c, '-', 2); break;
	case CDATA: await(x, c, ']', 2); break;
	case INSTRUCTION: await(x, c, '?', 1); break;
	case TAG:
		if (c == '>')
			x->state = TEXT;
		else if (c == '"' || c == '\'')
			begin_value(x, c);
		break;
	}
	if (is_control(c))
		c = '?';
	emit(x, &c, 1);
}

/* Bytes that are nothing but themselves, wherever they stand. */
static size_t count_plain(const char *s, size_t n)
{
	static const bool is_mark[256] = {
		['<'] = true, ['>'] = true, ['&'] = true, ['"'] = true, ['\''] = true,
		['!'] = true, ['-'] = true, ['['] = true, [']'] = true, ['?'] = true};
	size_t i = 0;
	while (i < n && (uint8_t)s[i] >= ' ' && !is_mark[(uint8_t)s[i]])
		i++;
	return i;
}

/* As many of them as there are, at once. */
static size_t copy_plain(struct xml_lenient *x, const char *in, size_t n, char *out)
{
	if (x->n_ref || (x->state >= OPEN && x->state <= BANG_DASH))
		return 0;
	n = count_plain(in, n);
	memcpy(out, in, n);
	if (n)
		x->run = 0;
	if (x->state != TEXT)
		x->bytes += n;
	return n;
}

size_t xml_lenient_read(struct xml_lenient *x, const char *in, size_t *used, size_t end, char *out,
			size_t n)
{
	size_t made = 0;
	while (made < n) {
		if (x->at < x->n_out) {
			out[made++] = x->out[x->at++];
			continue;
		}
		if (*used == end || x->fault)
			break;
		size_t most = n - made < end - *used ? n - made : end - *used;
		size_t plain = copy_plain(x, in + *used, most, out + made);
		made += plain;
		*used += plain;
		if (plain)
			continue;
		char c = in[(*used)++];
		x->at = x->n_out = 0;
		x->line += c == '\n';
		if (x->state == VALUE)
			add_to_value(x, c);
		else
			step(x, c);
		if (x->state != TEXT && ++x->bytes > XML_MAX_TAG_BYTES)
			x->fault = "a tag or comment of more than 64 MiB";
	}
	return made;
}

bool xml_lenient_has(const char *value, size_t len)
{
	return memmem(value, len, private_utf8, 3) != NULL;
}

size_t xml_lenient_value(char *value, size_t len)
{
	size_t n = 0;
	for (size_t i = 0; i < len; n++) {
		uint8_t last = i + 4 <= len ? (uint8_t)value[i + 3] : 0;
		if (last >= 0x80 && last < 0xa0 && memcmp(value + i, private_utf8, 3) == 0) {
			value[n] = (char)(last - 0x80);
			i += 4;
		} else {
			value[n] = value[i++];
		}
	}
	return n;
}
