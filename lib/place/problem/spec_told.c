/* spec_told.c - what a specification tells of a device in words: types that it keeps weights in, what it fuses, and peaks by type. */
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "place/problem/spec.h"

/* What `keeps` says; text NULL: the default. */
static int read_keeps(const char *text, op_keeps *out, struct err *e)
{
	char name[20];

	*out = op_keeps_usual();
	if (!text || strcmp(text, "usual") == 0)
		return 0;
	*out = strcmp(text, "all") == 0 ? ~(op_keeps)0 : 0;
	if (*out || strcmp(text, "none") == 0)
		return 0;
	for (size_t n; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		snprintf(name, sizeof name, "%.*s", (int)n, text);
		int t = elem_parse(name);
		if (t < 0)
			return err_set(e, ST_INPUT,
				       "keeps: '%s' is no type of elements, nor all, none or usual",
				       name);
		*out |= (op_keeps)1 << t;
	}
	return 0;
}

/* TYPE=FLOPS,...: of each type the product of that and the efficiency. */
static int read_peaks(const char *text, double efficiency, struct arena *a, const double **out,
		      struct err *e)
{
	double *peak = ARENA_NEWN(a, double, EL_COUNT), x;
	char pair[80];

	for (size_t n; *text; text += n + (text[n] == ',')) {
		n = strcspn(text, ",");
		int cut = snprintf(pair, sizeof pair, "%.*s", (int)n, text);
		char *value = strchr(pair, '=');

		if (value)
			*value++ = 0;
		int t = elem_parse(pair);
		if (!value || t < 0 || (size_t)cut >= sizeof pair)
			return err_set(e, ST_INPUT,
				       "peaks: '%.*s' is no type and FLOP/s, as in bf16=9.9e14",
				       (int)n, text);
		if (opt_real(value, "peaks", 1e-30, 1e30, &x, e) < 0) {
			e->code = ST_INPUT;
			return -1;
		}
		peak[t] = x * efficiency;
	}
	*out = peak;
	return 0;
}

int spec_device_told(struct device_spec *d, struct arena *a, struct err *e)
{
	if (read_keeps(d->keeps_told, &d->keeps, e) < 0 ||
	    fusing_parse(d->fuses_told, &d->fuses, e) < 0)
		return -1;
	d->peak = NULL;
	return d->peaks_told && strcmp(d->peaks_told, "none") != 0
		       ? read_peaks(d->peaks_told, d->efficiency, a, &d->peak, e)
		       : 0;
}

double spec_product_flops(const struct device_spec *d, enum elem type)
{
	return d->peak && d->peak[type] > 0 ? d->peak[type] : d->flops_per_s;
}
