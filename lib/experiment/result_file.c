/* result_file.c - taking paths apart. */
#include "experiment/result_file.h"

#include <string.h>

static size_t count_digits(const char *s)
{
	return strspn(s, "0123456789");
}

/* Is s, behind a hyphen, N, Ns, NsM or NxM? */
static bool is_setting(const char *s)
{
	size_t n = count_digits(s);
	if (n == 0)
		return false;
	s += n;
	if (*s == 's')
		return s[1 + count_digits(s + 1)] == '\0';
	if (*s == 'x')
		return count_digits(s + 1) > 0 && s[1 + count_digits(s + 1)] == '\0';
	return *s == '\0';
}

const char *result_method(const char *way, struct arena *a)
{
	const char *hyphen = strrchr(way, '-');
	size_t n = hyphen && is_setting(hyphen + 1) ? (size_t)(hyphen - way) : strlen(way);
	return arena_strndup(a, way, n);
}

struct result_file result_file_name(const char *path, struct arena *a)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *folder = slash;
	while (folder && folder > path && folder[-1] != '/')
		folder--;
	struct result_file f = {.model = slash ? arena_strndup(a, folder, (size_t)(slash - folder))
					       : ""};
	size_t n = strcspn(name, ".");
	f.way = arena_strndup(a, name, n);
	f.method = result_method(f.way, a);
	name += n + (name[n] == '.');
	f.seed = arena_strndup(a, name, strcspn(name, "."));
	return f;
}
