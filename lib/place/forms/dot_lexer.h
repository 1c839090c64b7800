/* dot_lexer.h - tokens of the DOT language ("DOT Language", graphviz.org/doc/info/lang.html); for form_dot.c alone. */
#ifndef HSDAG_PLACE_FORMS_DOT_LEXER_H
#define HSDAG_PLACE_FORMS_DOT_LEXER_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

enum dot_kind {
	DOT_END,
	DOT_ID, /* a name, a number, a text in quotes, HTML */
	DOT_ARROW,
	DOT_LINE, /* -- */
	DOT_MARK  /* one of { } [ ] ; , : = */
};

struct dot_token {
	enum dot_kind kind;
	char mark;
	bool plain;       /* no quotes: it may be a keyword */
	const char *text; /* of an ID */
};

struct dot_lexer {
	const char *at, *end;
	unsigned line;
	struct dot_token now; /* the token at hand */
	struct arena *a;
	struct err *e;
};

/* The token behind the one at hand becomes it; -1 (ST_INPUT): it is none. */
int dot_next(struct dot_lexer *l) MUST_CHECK;
bool dot_is_mark(const struct dot_lexer *l, char mark);
/* Is it this keyword, in whatever case? */
bool dot_is_word(const struct dot_lexer *l, const char *word);
/* -1: "line N: not WHAT". */
int dot_wants(const struct dot_lexer *l, const char *what) MUST_CHECK;

#endif
