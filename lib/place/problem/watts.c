/* watts.c - reading the list of --watts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "record/devrec.h"
#include "place/problem/watts.h"

static const double MAX_WATTS = 1e9;

/* Do n bytes read BUSY or BUSY/IDLE?  What they are worth is not asked. */
static bool are_figures(const char *text, size_t n)
{
	char *end;

	if (n == 0)
		return false;
	strtod(text, &end);
	if (end == text || (*end == '/' && end + 1 == text + n))
		return false;
	if (*end == '/')
		strtod(end + 1, &end);
	return end == text + n;
}

/* The '=' of the item that begins the list: the first one with figures behind it; NULL: none. */
static const char *find_figures(const char *list)
{
	size_t n = devs_name_length(list);

	for (size_t i = 1; i < n; i++)
		if (list[i] == '=' && are_figures(list + i + 1, strcspn(list + i + 1, ",")))
			return list + i;
	return NULL;
}

static int read_item(const char *list, const char *equal, struct arena *a, struct watts_item *x,
		     struct err *e)
{
	char *busy = arena_strndup(a, equal + 1, strcspn(equal + 1, ","));
	char *idle = strchr(busy, '/');

	*x = (struct watts_item){.name = arena_strndup(a, list, (size_t)(equal - list))};
	if (idle)
		*idle++ = 0;
	if (opt_real(busy, "--watts", 0, MAX_WATTS, &x->busy, e) < 0)
		return -1;
	return idle ? opt_real(idle, "--watts, idle", 0, MAX_WATTS, &x->idle, e) : 0;
}

int watts_parse(const char *list, struct arena *a, struct watts_list *out, struct err *e)
{
	uint32_t n = 1;
	char text[100];

	for (const char *s = list; *s; s++)
		n += *s == ',';
	struct watts_item *item = ARENA_NEWN(a, struct watts_item, n);

	*out = (struct watts_list){.item = item};
	for (const char *s = list;;) {
		const char *equal = find_figures(s);

		if (!equal)
			return err_set(e, ST_USAGE,
				       "--watts: '%s' is not NAME=BUSY or NAME=BUSY/IDLE",
				       err_escape(text, sizeof(text), s, devs_name_length(s)));
		if (read_item(s, equal, a, &item[out->n++], e) < 0)
			return -1;
		s = equal + strcspn(equal, ",");
		if (!*s++)
			return 0;
	}
}

size_t watts_about(const struct watts_item *item, const char *device)
{
	size_t n = strlen(item->name);
	bool about = strncmp(item->name, device, n) == 0 &&
		     (!device[n] || device[n] == ':' || device[n] == '/');

	return about ? n : 0;
}

const struct watts_item *watts_find(const struct watts_list *l, const char *device)
{
	const struct watts_item *best = NULL;
	size_t longest = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		size_t n = watts_about(&l->item[i], device);

		if (n > longest) {
			longest = n;
			best = &l->item[i];
		}
	}
	return best;
}
