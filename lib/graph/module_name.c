/* module_name.c - modules from names. */
#include "graph/module_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

static const char SCOPE[] = "__module.", WEIGHT[] = "self.";

const char *module_of_operation(const char *name, struct arena *a)
{
	if (strncmp(name, SCOPE, sizeof SCOPE - 1) != 0)
		return NULL;
	name += sizeof SCOPE - 1;
	return arena_strndup(a, name, strcspn(name, "/"));
}

const char *module_of_weight(const char *name, struct arena *a)
{
	if (strncmp(name, WEIGHT, sizeof WEIGHT - 1) != 0 || strchr(name, '/'))
		return NULL;
	name += sizeof WEIGHT - 1;
	const char *dot = strrchr(name, '.');
	return arena_strndup(a, name, dot ? (size_t)(dot - name) : 0);
}

const char *module_path(const char *name, struct arena *a)
{
	const char *path = module_of_operation(name, a);
	if (path)
		return path;
	size_t n = strlen(name), end = n;
	while (end > 0 && name[end - 1] != '/' && name[end - 1] != '.')
		end--;
	char *text = arena_strndup(a, name, end > 1 ? end - 1 : n);
	for (char *c = text; *c; c++)
		*c = *c == '/' ? '.' : *c;
	return text;
}

static bool is_number(const char *part, size_t n)
{
	return n > 0 && strspn(part, "0123456789") >= n;
}

/* A letter, or anything that ends in '_', and then digits. */
static bool is_numbered(const char *part, size_t n)
{
	size_t at = n;
	while (at > 0 && isdigit((unsigned char)part[at - 1]))
		at--;
	return at < n &&
	       (at == 0 || part[at - 1] == '_' || (at == 1 && isalpha((unsigned char)part[0])));
}

/* Length up to the first part that is one of these; 0: there is none. */
static size_t up_to(const char *path, bool (*is)(const char *, size_t))
{
	for (size_t n = 0; path[n];) {
		size_t part = strcspn(path + n, ".");
		if (is(path + n, part))
			return n + part;
		n += part;
		n += path[n] == '.';
	}
	return 0;
}

size_t module_block(const char *path)
{
	size_t n = up_to(path, is_number);
	return n ? n : strlen(path);
}

size_t module_layer(const char *path)
{
	return up_to(path, is_numbered);
}
