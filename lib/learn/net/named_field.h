/* named_field.h - the fields of a flat struct by name: values, and one command-line
 * option for each.  For the tables hyper_fields and recipe_fields. */
#ifndef HSDAG_LEARN_NET_NAMED_FIELD_H
#define HSDAG_LEARN_NET_NAMED_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/opt.h"
#include "learn/net/hyper.h"

double field_get(const void *s, const struct hyper_field *f);
void field_set(void *s, const struct hyper_field *f, double v);

enum { FIELDS_MAX = 24 };

/* What a command line said about the fields. */
struct field_options {
	double real[FIELDS_MAX];
	int64_t whole[FIELDS_MAX];
	bool given[FIELDS_MAX];
	char name[FIELDS_MAX][32]; /* of the options: '-' for '_' */
};

/* Append to table, from its entry n on, an option for each field but `skip` (NULL: none);
 * help shows the values of *defaults.  o must outlive the parsing.  Returns the new n. */
int field_options_add(struct field_options *o, const struct hyper_field *fields,
		      const void *defaults, const char *skip, struct opt *table, int n);

/* Set those fields of *s that were given. */
void field_options_apply(const struct field_options *o, const struct hyper_field *fields, void *s);

#endif
