/* methods.c - placement methods by their names. */
#include <stdio.h>
#include <string.h>

#include "place/method/method.h"

#define ADDRESS(name) &method_##name,
const struct place_method *const place_methods[] = {PLACE_METHODS(ADDRESS) NULL};

const struct place_method *place_method_find(const char *text, const char **arg, struct err *e)
{
	size_t n = strcspn(text, ":");

	*arg = text[n] && text[n + 1] ? text + n + 1 : NULL;
	for (size_t i = 0; place_methods[i]; i++) {
		const struct place_method *x = place_methods[i];

		if (strlen(x->name) != n || memcmp(x->name, text, n) != 0)
			continue;
		if (text[n] && !x->arg) {
			err_set(e, ST_USAGE, "method '%s' takes nothing after a colon", x->name);
			return NULL;
		}
		if ((text[n] || x->needs_arg) && !*arg) {
			err_set(e, ST_USAGE, "'%s' has no %s: it goes as '%s:%s'", text, x->arg,
				x->name, x->arg);
			return NULL;
		}
		return x;
	}
	char name[80];
	struct err_near near = {.name = name};
	snprintf(name, sizeof(name), "%.*s", (int)n, text);
	for (size_t i = 0; place_methods[i]; i++)
		err_offer(&near, place_methods[i]->name);
	err_unknown(e, ST_USAGE, &near, "--list has them", "unknown method '%s'", text);
	return NULL;
}

/* Does text begin with the name of a method, at whose end the list or the name ends? */
static bool begins_method(const char *text)
{
	for (size_t i = 0; place_methods[i]; i++) {
		size_t n = strlen(place_methods[i]->name);

		if (strncmp(text, place_methods[i]->name, n) == 0 &&
		    (!text[n] || text[n] == ',' || text[n] == ':'))
			return true;
	}
	return false;
}

int place_methods_find(char *text, int most, struct place_chosen *out, struct err *e)
{
	int n = 0;

	for (char *s = text, *end; s; s = end, n++) {
		char *colon = strchr(s, ':');

		end = strchr(s, ',');
		while (end && colon && colon < end && !begins_method(end + 1))
			end = strchr(end + 1, ',');
		if (end)
			*end++ = '\0';
		if (n == most)
			return err_set(e, ST_USAGE, "more than %d methods", most);
		out[n].method = place_method_find(s, &out[n].arg, e);
		if (!out[n].method)
			return -1;
	}
	return n;
}
