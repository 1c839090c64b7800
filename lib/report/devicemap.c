/* devicemap.c - lists of new names for devices. */
#include <stdio.h>
#include <string.h>

#include "report/devicemap.h"

/* The device with whose name and a '=' the text begins, or k. */
static uint32_t device_named(const char *const *names, uint32_t k, const char *text)
{
	uint32_t d = 0;
	for (; d < k; d++) {
		size_t n = strlen(names[d]);
		if (strncmp(text, names[d], n) == 0 && text[n] == '=')
			break;
	}
	return d;
}

static int no_such_device(const char *const *names, uint32_t k, const char *text, struct err *e)
{
	char name[80], known[400] = "";
	err_escape(name, sizeof name, text, strcspn(text, "="));
	if (!strchr(text, '='))
		return err_set(e, ST_USAGE, "--map: '%s' has no new name; write OLD=NEW,OLD=NEW",
			       name);
	for (uint32_t d = 0; d < k; d++)
		snprintf(known + strlen(known), sizeof known - strlen(known), "%s%s", d ? ", " : "",
			 names[d]);
	return err_set(e, ST_USAGE, "--map: '%s' is no device of this placement; it has %s", name,
		       known);
}

int devicemap_rename(const char *map, uint32_t k, const char **names, struct arena *a,
		     struct err *e)
{
	const char **old = arena_raw(a, k, sizeof *old);
	memcpy(old, names, k * sizeof *old);
	for (const char *s = map; *s;) {
		uint32_t d = device_named(old, k, s);
		if (d == k)
			return no_such_device(old, k, s, e);
		s += strlen(old[d]) + 1;
		size_t n = strcspn(s, ",");
		if (n == 0)
			return err_set(e, ST_USAGE,
				       "--map: '%s' has no new name; write OLD=NEW,OLD=NEW",
				       old[d]);
		names[d] = arena_strndup(a, s, n);
		s += n;
		s += *s == ',';
	}
	return 0;
}
