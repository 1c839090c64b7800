/* named_field.c - fields by name, and their options. */
#include "learn/net/named_field.h"

#include <stdio.h>
#include <string.h>

double field_get(const void *s, const struct hyper_field *f)
{
	const char *p = (const char *)s + f->offset;
	return f->is_real ? *(const double *)(const void *)p
			  : (double)*(const int64_t *)(const void *)p;
}

void field_set(void *s, const struct hyper_field *f, double v)
{
	char *p = (char *)s + f->offset;
	if (f->is_real)
		*(double *)(void *)p = v;
	else
		*(int64_t *)(void *)p = (int64_t)v;
}

int field_options_add(struct field_options *o, const struct hyper_field *fields,
		      const void *defaults, const char *skip, struct opt *table, int n)
{
	int i = 0;
	for (const struct hyper_field *f = fields; f->name && i < FIELDS_MAX; f++, i++) {
		if (skip && strcmp(f->name, skip) == 0)
			continue;
		snprintf(o->name[i], sizeof o->name[i], "%s", f->name);
		for (char *c = o->name[i]; *c; c++)
			*c = *c == '_' ? '-' : *c;
		o->real[i] = field_get(defaults, f);
		o->whole[i] = (int64_t)o->real[i];
		table[n++] =
			(struct opt){.name = o->name[i],
				     .kind = f->is_real ? OPT_REAL : OPT_INT,
				     .dst = f->is_real ? (void *)&o->real[i] : (void *)&o->whole[i],
				     .arg = f->is_real ? "X" : "N",
				     .help = f->help,
				     .lo = f->lo,
				     .hi = f->hi,
				     .given = &o->given[i]};
	}
	return n;
}

void field_options_apply(const struct field_options *o, const struct hyper_field *fields, void *s)
{
	int i = 0;
	for (const struct hyper_field *f = fields; f->name && i < FIELDS_MAX; f++, i++)
		if (o->given[i])
			field_set(s, f, f->is_real ? o->real[i] : (double)o->whole[i]);
}
