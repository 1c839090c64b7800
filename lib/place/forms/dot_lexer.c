/* dot_lexer.c - tokens of DOT. */
#include "place/forms/dot_lexer.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static bool is_letter(char c)
{
	return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* Blanks, comments, and lines of a preprocessor. */
static int skip_blanks(struct dot_lexer *l)
{
	bool begins = l->line == 0;
	l->line += begins;
	while (l->at < l->end) {
		if (*l->at == '\n') {
			l->line++;
			l->at++;
			begins = true;
			continue;
		}
		if (isspace((unsigned char)*l->at)) {
			l->at++;
			continue;
		}
		bool rest = (begins && *l->at == '#') || strncmp(l->at, "//", 2) == 0;
		if (rest) {
			l->at += strcspn(l->at, "\n");
			continue;
		}
		if (strncmp(l->at, "/*", 2) != 0)
			return 0;
		const char *close = strstr(l->at + 2, "*/");
		if (!close)
			return err_set(l->e, ST_INPUT, "line %u: a comment without an end",
				       l->line);
		for (; l->at < close + 2; l->at++)
			l->line += *l->at == '\n';
	}
	return 0;
}

/* The text of quotes behind the one at hand: \" is ", \\ stays two, and a line may go on behind a \. */
static int take_quoted(struct dot_lexer *l, char **text, size_t *n, size_t *cap)
{
	unsigned from = l->line;
	for (l->at++; l->at < l->end && *l->at != '"'; l->at++) {
		l->line += *l->at == '\n';
		if (*l->at == '\\' && l->at[1] == '\n') {
			l->at++;
			l->line++;
			continue;
		}
		*text = mem_grow(*text, cap, *n + 3, 1);
		if (*l->at == '\\' && l->at[1] == '\\')
			(*text)[(*n)++] = *l->at++;
		else if (*l->at == '\\' && l->at[1] == '"')
			l->at++;
		(*text)[(*n)++] = *l->at;
	}
	if (l->at >= l->end)
		return err_set(l->e, ST_INPUT, "line %u: a text in quotes without an end", from);
	l->at++;
	return 0;
}

/* A text in quotes, and those that a + joins to it. */
static int take_text(struct dot_lexer *l)
{
	char *text = NULL;
	size_t n = 0, cap = 0;
	int rc = take_quoted(l, &text, &n, &cap);
	while (rc == 0) {
		struct dot_lexer ahead = *l;
		rc = skip_blanks(&ahead);
		if (rc < 0 || ahead.at >= ahead.end || *ahead.at != '+')
			break;
		ahead.at++;
		rc = skip_blanks(&ahead);
		if (rc < 0)
			break;
		*l = ahead;
		if (l->at >= l->end || *l->at != '"') {
			rc = err_set(l->e, ST_INPUT, "line %u: no text in quotes behind a +",
				     l->line);
			break;
		}
		rc = take_quoted(l, &text, &n, &cap);
	}
	l->now = (struct dot_token){.kind = DOT_ID,
				    .text = arena_strndup(l->a, text ? text : "", n)};
	mem_free(text);
	return rc;
}

static int take_html(struct dot_lexer *l)
{
	const char *from = l->at;
	unsigned line = l->line;
	int depth = 0;
	for (; l->at < l->end; l->at++) {
		l->line += *l->at == '\n';
		depth += *l->at == '<' ? 1 : *l->at == '>' ? -1 : 0;
		if (depth == 0)
			break;
	}
	if (l->at >= l->end)
		return err_set(l->e, ST_INPUT, "line %u: a '<' without its '>'", line);
	l->at++;
	l->now = (struct dot_token){.kind = DOT_ID,
				    .text = arena_strndup(l->a, from, (size_t)(l->at - from))};
	return 0;
}

/* A number: -?(.digits | digits[.digits]), and an exponent, which DOT itself has in quotes alone. */
static size_t number_length(const char *s)
{
	size_t n = s[0] == '-', digits = strspn(s + n, "0123456789");
	n += digits;
	if (s[n] == '.') {
		size_t behind = strspn(s + n + 1, "0123456789");
		digits += behind;
		n += 1 + behind;
	}
	if (digits == 0)
		return 0;
	if (s[n] == 'e' || s[n] == 'E') {
		size_t sign = s[n + 1] == '-' || s[n + 1] == '+',
		       power = strspn(s + n + 1 + sign, "0123456789");
		n += power ? 1 + sign + power : 0;
	}
	return n;
}

int dot_next(struct dot_lexer *l)
{
	size_t n = 0;
	if (skip_blanks(l) < 0)
		return -1;
	l->now = (struct dot_token){.kind = DOT_END};
	if (l->at >= l->end)
		return 0;
	if (*l->at == '"')
		return take_text(l);
	if (*l->at == '<')
		return take_html(l);
	if (strncmp(l->at, "->", 2) == 0 || strncmp(l->at, "--", 2) == 0) {
		l->now.kind = l->at[1] == '>' ? DOT_ARROW : DOT_LINE;
		l->at += 2;
		return 0;
	}
	if (strchr("{}[];,:=", *l->at)) {
		l->now = (struct dot_token){.kind = DOT_MARK, .mark = *l->at++};
		return 0;
	}
	if (is_letter(*l->at))
		while (l->at + n < l->end &&
		       (is_letter(l->at[n]) || isdigit((unsigned char)l->at[n])))
			n++;
	else
		n = number_length(l->at);
	if (n && !is_letter(*l->at) && is_letter(l->at[n]))
		return err_set(l->e, ST_INPUT, "line %u: a number that goes on with a letter",
			       l->line);
	if (n == 0)
		return err_set(l->e, ST_INPUT, "line %u: byte %d begins nothing", l->line,
			       (unsigned char)*l->at);
	l->now = (struct dot_token){
		.kind = DOT_ID, .plain = true, .text = arena_strndup(l->a, l->at, n)};
	l->at += n;
	return 0;
}

bool dot_is_mark(const struct dot_lexer *l, char mark)
{
	return l->now.kind == DOT_MARK && l->now.mark == mark;
}

bool dot_is_word(const struct dot_lexer *l, const char *word)
{
	return l->now.kind == DOT_ID && l->now.plain && strcasecmp(l->now.text, word) == 0;
}

int dot_wants(const struct dot_lexer *l, const char *what)
{
	char text[100];
	const struct dot_token *t = &l->now;
	if (t->kind == DOT_ID)
		return err_set(l->e, ST_INPUT, "line %u: '%s' where %s is to come", l->line,
			       err_escape(text, sizeof text, t->text, strlen(t->text)), what);
	if (t->kind == DOT_MARK)
		return err_set(l->e, ST_INPUT, "line %u: '%c' where %s is to come", l->line,
			       t->mark, what);
	return err_set(l->e, ST_INPUT, "line %u: %s where %s is to come", l->line,
		       t->kind == DOT_ARROW  ? "'->'"
		       : t->kind == DOT_LINE ? "'--'"
					     : "the end",
		       what);
}
