/* headroom.c - reading the list of --headroom. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/devrec.h"
#include "record/headroom.h"

/* A share or bytes in text[n]. */
static bool read_figure(const char *text, size_t n, struct headroom_item *x)
{
	static const char units[] = "BKMGT";
	char *end;

	errno = 0;
	/* Decimal: strtod reads 0x10, too. */
	size_t digits = strspn(text, "0123456789.");
	double v = n > 0 && digits > 0 && text[digits] != 'x' && text[digits] != 'X'
			   ? strtod(text, &end)
			   : -1;
	if (v < 0 || errno || !isfinite(v) || (size_t)(end - text) > n)
		return false;
	size_t rest = n - (size_t)(end - text);
	const char *unit = rest == 1 && *end != '%' ? strchr(units, *end) : NULL;
	if (unit) {
		v *= pow(1024, (double)(unit - units));
		x->bytes = v < 1e18 ? (uint64_t)v : 0;
		return v < 1e18;
	}
	x->share = v / 100;
	return (rest == 0 || (rest == 1 && *end == '%')) && v < 100;
}

/* The '=' of the item that begins the list, behind which is a figure: a name may have commas in front of digits, and '='. */
static const char *find_figure(const char *list)
{
	struct headroom_item x;

	for (const char *s = strchr(list, '='); s; s = strchr(s + 1, '='))
		if (s > list && read_figure(s + 1, strcspn(s + 1, ","), &x))
			return (size_t)(s - list) < devs_name_length(list) ? s : NULL;
	return NULL;
}

int headroom_parse(const char *list, struct arena *a, struct headroom *out, struct err *e)
{
	uint32_t n = 1;
	char text[100];

	for (const char *s = list; *s; s++)
		n += *s == ',';
	struct headroom_item *item = ARENA_NEWN(a, struct headroom_item, n);

	*out = (struct headroom){.item = item};
	for (const char *s = list;;) {
		struct headroom_item *x = &item[out->n++];
		size_t len = strcspn(s, ",");

		if (!read_figure(s, len, x)) {
			const char *equal = find_figure(s);

			*x = (struct headroom_item){0};
			if (!equal)
				return err_set(
					e, ST_USAGE,
					"--headroom: '%s' is neither a share below 100%% nor a "
					"number of bytes; write 10%%, 2G, cpu:0=10%% or gpu=512M",
					err_escape(text, sizeof text, s, len));
			x->name = arena_strndup(a, s, (size_t)(equal - s));
			len = strcspn(equal + 1, ",");
			(void)read_figure(equal + 1, len, x);
			s = equal + 1;
		}
		s += len;
		if (!*s++)
			return 0;
	}
}

int headroom_check(const struct headroom *x, const char *const *names, uint32_t k, struct err *e)
{
	for (uint32_t i = 0; i < x->n; i++) {
		uint32_t d = 0;

		while (x->item[i].name && d < k && strcmp(names[d], x->item[i].name) != 0)
			d++;
		if (d < k || !x->item[i].name)
			continue;
		devs_unknown(names, k, x->item[i].name, ST_USAGE, e);
		return err_prefix(e, "--headroom");
	}
	return 0;
}

struct headroom_item headroom_of(const struct headroom *x, const char *device)
{
	struct headroom_item own = {0}, all = {0};

	for (uint32_t i = 0; i < x->n; i++) {
		if (!x->item[i].name)
			all = x->item[i];
		else if (strcmp(x->item[i].name, device) == 0)
			own = x->item[i];
	}
	return own.name ? own : all;
}

uint64_t headroom_bytes(const struct headroom_item *x, uint64_t memory)
{
	double free = fmax(x->share * (double)memory, (double)x->bytes);

	return memory == 0 ? 0 : free < (double)memory ? (uint64_t)free : memory - 1;
}
