/* attr_get.c - one attribute of a node from the string of the IR. */
#include "op/attr_get.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

int op_bad_attr(const struct op *op, const char *key, const char *value, struct err *e)
{
	char text[80];
	err_escape(text, sizeof text, value, strlen(value));
	return err_set(e, ST_INPUT, "attribute '%s' of %s has the value '%s'", key,
		       op_info(op->kind)->type, text);
}

int op_get_int(const struct op *op, const char *key, int64_t lo, int64_t *out, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	if (!s)
		return 0;
	char *end;
	long long x = strtoll(s, &end, 10);
	while (*end == ' ')
		end++;
	if (end == s || *end || x < lo || x > INT32_MAX)
		return op_bad_attr(op, key, s, e);
	*out = x;
	return 0;
}

int op_get_real(const struct op *op, const char *key, double *out, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	if (!s)
		return 0;
	char *end;
	double x = strtod(s, &end);
	while (*end == ' ')
		end++;
	if (end == s || *end || isnan(x))
		return op_bad_attr(op, key, s, e);
	*out = x;
	return 0;
}

int op_get_float(const struct op *op, const char *key, float *out, struct err *e)
{
	double x = (double)*out;
	if (op_get_real(op, key, &x, e))
		return -1;
	*out = (float)x;
	return 0;
}

int op_get_bool(const struct op *op, const char *key, bool *out, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	if (!s)
		return 0;
	if (!strcasecmp(s, "true") || !strcmp(s, "1"))
		*out = true;
	else if (!strcasecmp(s, "false") || !strcmp(s, "0"))
		*out = false;
	else
		return op_bad_attr(op, key, s, e);
	return 0;
}

/* Index of the attribute's value among words separated by '|'. */
int op_get_choice(const struct op *op, const char *key, const char *words, int *out, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	if (!s)
		return 0;
	size_t n = strlen(s);
	int i = 0;
	for (const char *w = words;; w++, i++) {
		size_t len = strcspn(w, "|");
		if (len == n && !strncasecmp(w, s, n)) {
			*out = i;
			return 0;
		}
		w += len;
		if (!*w)
			return op_bad_attr(op, key, s, e);
	}
}

/* Up to max integers separated by commas and blanks; *n = -1 when absent. */
int op_get_list(const struct op *op, const char *key, int64_t lo, int max, int64_t *out, int *n,
		struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key), *p = s;
	*n = -1;
	if (!s)
		return 0;
	*n = 0;
	for (p += strspn(p, ", "); *p; p += strspn(p, ", ")) {
		char *end;
		long long x = strtoll(p, &end, 10);
		if (end == p || (*end && *end != ',' && *end != ' ') || *n == max || x < lo ||
		    x > INT32_MAX)
			return op_bad_attr(op, key, s, e);
		out[(*n)++] = x;
		p = end;
	}
	return 0;
}

int op_reals(const struct op_reals *r, float *dst)
{
	const char *p = r->text;
	for (int i = 0; i < r->n; i++) {
		char *end;
		p += strspn(p, ", ");
		dst[i] = strtof(p, &end);
		p = end;
	}
	return r->n;
}

int op_get_reals(const struct op *op, const char *key, struct op_reals *r, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key), *p = s;
	*r = (struct op_reals){s, 0};
	if (!s)
		return 0;
	for (p += strspn(p, ", "); *p; p += strspn(p, ", ")) {
		char *end;
		float x = strtof(p, &end);
		if (end == p || (*end && *end != ',' && *end != ' ') || !isfinite(x) ||
		    r->n == OP_MAX_REALS)
			return op_bad_attr(op, key, s, e);
		r->n++;
		p = end;
	}
	return 0;
}

int op_get_elem(const struct op *op, const char *key, enum elem *out, struct err *e)
{
	const char *s = graph_attr(op->g, op->v, key);
	if (!s)
		return 0;
	int t = elem_parse(s);
	if (t < 0)
		return op_bad_attr(op, key, s, e);
	*out = (enum elem)t;
	return 0;
}
