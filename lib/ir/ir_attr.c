/* ir_attr.c - attributes of elements, and errors with where they are. */
#include "ir/ir_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int reader_fail(struct ir_reader *r, struct err *e, const char *fmt, ...)
{
	char what[400];
	uint32_t layer = GRAPH_NONE;
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	for (size_t i = r->place.n; i-- > 0 && layer == GRAPH_NONE;)
		if (r->place.v[i] == AT_EDGES)
			break;
		else if (r->place.v[i] == AT_LAYER && net_of(r)->layer.n)
			layer = (uint32_t)net_of(r)->layer.n - 1;
		else if (r->place.v[i] == AT_NET)
			break;
	return raw_error(&r->src, r->net.n ? net_of(r) : NULL, layer, r->xml.line, e, "%s", what);
}

const struct xml_attr *find_attr(const struct xml_attr *a, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(a[i].name, name) == 0)
			return &a[i];
	return NULL;
}

int need_attr(struct ir_reader *r, const char *element, const struct xml_attr *a, int n,
	      const char *name, const struct xml_attr **out, struct err *e)
{
	*out = find_attr(a, n, name);
	return *out ? 0 : reader_fail(r, e, "<%s> without the attribute '%s'", element, name);
}

int need_int(struct ir_reader *r, const char *element, const struct xml_attr *a, int n,
	     const char *name, int64_t lo, int64_t *out, struct err *e)
{
	const struct xml_attr *x;
	char value[80];
	if (need_attr(r, element, a, n, name, &x, e) < 0)
		return -1;
	if (parse_int(x->value, x->len, lo, out))
		return 0;
	return reader_fail(r, e, "<%s %s=\"%s\">: not an integer >= %" PRId64, element, name,
			   err_escape(value, sizeof value, x->value, x->len), lo);
}
