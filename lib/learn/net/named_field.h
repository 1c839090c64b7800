/* named_field.h - the members of a flat struct by name: their values, and one command-line option
 * for each.  A network describes its hyperparameters with such a table, learn/train its recipe. */
#ifndef HSDAG_LEARN_NET_NAMED_FIELD_H
#define HSDAG_LEARN_NET_NAMED_FIELD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"

struct named_field {
	const char *name; /* of the member, and its key in records */
	size_t offset;    /* in the struct */
	bool is_real;     /* double, else int64_t */
	double lo, hi;    /* accepted range, ends included */
	const char *help;
	const char *
		zero; /* of an integer: word for 0 on a command line, where no 0 is taken; or NULL */
	bool later;   /* records of older versions lack it */
};

/* Rows of a table of struct S; the table ends with a NULL name. */
#define FIELD_INT(S, f, lo, hi, help) \
	{ \
#f, offsetof(S, f), false, lo, hi, help, NULL, false \
	}
#define FIELD_REAL(S, f, lo, hi, help) \
	{ \
#f, offsetof(S, f), true, lo, hi, help, NULL, false \
	}

double field_get(const void *s, const struct named_field *f);
void field_set(void *s, const struct named_field *f, double v);

/* Can the field have this value?  ST_INPUT: out of range, or not an integer where one is due;
 * `what` names the kind of the field. */
int field_check(const struct named_field *f, double v, const char *what, struct err *e) MUST_CHECK;

enum { FIELDS_MAX = 40 };

/* What a command line said about the fields. */
struct field_options {
	double real[FIELDS_MAX];
	int64_t whole[FIELDS_MAX];
	const char *text[FIELDS_MAX]; /* of fields with a word for 0 */
	bool given[FIELDS_MAX];
	char name[FIELDS_MAX][32]; /* of the options: '-' for '_' */
	char arg[FIELDS_MAX][32];
	char number[FIELDS_MAX][32];
};

/* Append to table, from its entry n on, an option for each field, of which there are at most
 * FIELDS_MAX; help shows the values of
 * *defaults.  o must outlive the parsing.  Returns the new n. */
int field_options_add(struct field_options *o, const struct named_field *fields,
		      const void *defaults, struct opt *table, int n);

/* Set those fields of *s that were given.  ST_USAGE: neither a number of the range nor the word. */
int field_options_apply(const struct field_options *o, const struct named_field *fields, void *s,
			struct err *e) MUST_CHECK;

#endif
