/* shapes_parse.c - shapes as users write them. */
#include "dynamic/shapes.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

static int bad(const char *text, const char *what, struct err *e)
{
	char q[200];
	return err_set(e, ST_USAGE, "--shape '%s': %s; NAME=1,3,224,224 or NAME[1,3,224,224]",
		       err_escape(q, sizeof q, text, strlen(text)), what);
}

/* Dims "1,3,?,-1" of s[n]; an empty text is a scalar. */
static int parse_dims(const char *text, const char *s, size_t n, struct shape_given *out,
		      struct err *e)
{
	const char *end = s + n;
	out->rank = 0;
	for (;;) {
		while (s < end && *s == ' ')
			s++;
		if (s == end)
			return out->rank ? bad(text, "a dim is missing", e) : 0;
		if (out->rank == SHAPE_DIMS)
			return bad(text, "more than 8 dims", e);
		int64_t *d = &out->dim[out->rank++];
		char *stop;
		if (*s == '?') {
			*d = DIM_DYNAMIC;
			stop = (char *)(uintptr_t)s + 1;
		} else {
			*d = strtoll(s, &stop, 10);
			if (stop == s || *d < -1 || *d > INT32_MAX)
				return bad(text, "not a dim", e);
		}
		for (s = stop; s < end && *s == ' ';)
			s++;
		if (s == end)
			return 0;
		if (*s++ != ',')
			return bad(text, "dims are numbers or '?' between commas", e);
	}
}

static bool is_dims(const char *s, size_t n)
{
	return strspn(s, "0123456789-?, ") >= n;
}

/* One item of s[n]. */
static int parse_item(const char *text, const char *s, size_t n, struct arena *a,
		      struct shape_given *out, struct err *e)
{
	const char *open = n && s[n - 1] == ']' ? memrchr(s, '[', n) : NULL;
	const char *equals = memrchr(s, '=', n);
	out->name = "";
	if (open) {
		size_t name = (size_t)(open - s);
		if (name && s[name - 1] == '=')
			name--;
		out->name = arena_strndup(a, s, name);
		return parse_dims(text, open + 1, n - (size_t)(open - s) - 2, out, e);
	}
	if (equals) {
		out->name = arena_strndup(a, s, (size_t)(equals - s));
		return parse_dims(text, equals + 1, n - (size_t)(equals - s) - 1, out, e);
	}
	return is_dims(s, n) && n ? parse_dims(text, s, n, out, e)
				  : bad(text, "neither dims nor a name with dims", e);
}

/* Where the item at s ends: at ';', or at a ',' behind a bracket. */
static const char *item_end(const char *s)
{
	for (; *s && *s != ';'; s++)
		if (*s == ',' && s[-1] == ']')
			break;
	return s;
}

int shapes_parse(const char *text, struct arena *a, struct shape_list *out, struct err *e)
{
	for (const char *s = text; *s; s += *s != '\0') {
		const char *end = item_end(s);
		while (*s == ' ')
			s++;
		struct shape_given *v = ARENA_NEWN(a, struct shape_given, out->n + 1);
		if (out->n)
			memcpy(v, out->v, out->n * sizeof *v);
		if (parse_item(text, s, (size_t)(end - s), a, &v[out->n], e) < 0)
			return -1;
		for (uint32_t i = 0; i < out->n; i++)
			if (strcmp(v[i].name, v[out->n].name) == 0)
				return bad(text, "the same name twice", e);
		out->v = v;
		out->n++;
		s = end;
	}
	return *text ? 0 : bad(text, "empty", e);
}
