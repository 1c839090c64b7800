/* named_field.c - fields by name, and their options. */
#include "learn/net/named_field.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

double field_get(const void *s, const struct named_field *f)
{
	const char *p = (const char *)s + f->offset;
	return f->is_real ? *(const double *)(const void *)p
			  : (double)*(const int64_t *)(const void *)p;
}

void field_set(void *s, const struct named_field *f, double v)
{
	char *p = (char *)s + f->offset;
	if (f->is_real)
		*(double *)(void *)p = v;
	else
		*(int64_t *)(void *)p = (int64_t)v;
}

int field_check(const struct named_field *f, double v, const char *what, struct err *e)
{
	if (!(v >= f->lo && v <= f->hi))
		return err_set(e, ST_INPUT, "%s '%s' is %g; it lies between %g and %g", what,
			       f->name, v, f->lo, f->hi);
	if (!f->is_real && v != floor(v))
		return err_set(e, ST_INPUT, "%s '%s' is %g; it is an integer", what, f->name, v);
	return 0;
}

/* ---- options ---- */

/* The option of field i, whose default is v. */
static struct opt option_of(struct field_options *o, int i, const struct named_field *f, double v)
{
	struct opt opt = {.name = o->name[i],
			  .kind = f->is_real ? OPT_REAL : OPT_INT,
			  .dst = f->is_real ? (void *)&o->real[i] : (void *)&o->whole[i],
			  .arg = f->is_real ? "X" : "N",
			  .help = f->help,
			  .lo = f->lo,
			  .hi = f->hi,
			  .given = &o->given[i]};
	snprintf(o->name[i], sizeof o->name[i], "%s", f->name);
	for (char *c = o->name[i]; *c; c++)
		*c = *c == '_' ? '-' : *c;
	o->real[i] = v;
	o->whole[i] = (int64_t)v;
	if (f->zero) {
		snprintf(o->number[i], sizeof o->number[i], "%g", v);
		snprintf(o->arg[i], sizeof o->arg[i], "%s|%s", opt.arg, f->zero);
		o->text[i] = v == 0 ? f->zero : o->number[i];
		opt.kind = OPT_TEXT;
		opt.dst = &o->text[i];
		opt.arg = o->arg[i];
	}
	return opt;
}

int field_options_add(struct field_options *o, const struct named_field *fields,
		      const void *defaults, struct opt *table, int n)
{
	int i = 0;
	for (const struct named_field *f = fields; f->name; f++, i++) {
		assert(i < FIELDS_MAX && !(f->zero && f->is_real));
		table[n++] = option_of(o, i, f, field_get(defaults, f));
	}
	return n;
}

/* A whole number of the field's range but 0, or the word for 0. */
static int apply_text(const struct named_field *f, const char *name, const char *text, void *s,
		      struct err *e)
{
	char what[48];
	int64_t v = 0;
	snprintf(what, sizeof what, "--%s", name);
	if (strcmp(text, f->zero) != 0 &&
	    opt_int(text, what, (int64_t)fmax(f->lo, 1), (int64_t)f->hi, &v, e) < 0)
		return -1;
	field_set(s, f, (double)v);
	return 0;
}

int field_options_apply(const struct field_options *o, const struct named_field *fields, void *s,
			struct err *e)
{
	int i = 0;
	for (const struct named_field *f = fields; f->name && i < FIELDS_MAX; f++, i++) {
		if (!o->given[i])
			continue;
		if (!f->zero)
			field_set(s, f, f->is_real ? o->real[i] : (double)o->whole[i]);
		else if (apply_text(f, o->name[i], o->text[i], s, e) < 0)
			return -1;
	}
	return 0;
}
