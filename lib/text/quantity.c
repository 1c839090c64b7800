/* quantity.c - a unit for each size. */
#include "text/quantity.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct unit {
	double size;
	const char *name;
};
static const struct unit seconds[] = {{1e-9, "ns"}, {1e-6, "µs"}, {1e-3, "ms"}, {1, "s"}};
static const struct unit bytes[] = {{1, "B"},    {1e3, "kB"},  {1e6, "MB"},
				    {1e9, "GB"}, {1e12, "TB"}, {1e15, "PB"}};
/* Of long times: the larger unit, the smaller one that stands behind it, and how many of that make it. */
static const struct {
	double size, part;
	const char *name, *part_name;
} long_times[] = {{86400, 3600, "d", "h"}, {3600, 60, "h", "min"}, {60, 1, "min", "s"}};
enum {
	N_SECONDS = sizeof seconds / sizeof *seconds,
	N_BYTES = sizeof bytes / sizeof *bytes,
	N_LONG = sizeof long_times / sizeof *long_times
};
/* What is rounded to four digits is 1000 from here on. */
static const double ROUNDS_UP = 0.99995, MINUTE = 60, TOO_LONG = 1e12;

static const struct unit *unit_of(const struct unit *u, size_t n, double x)
{
	size_t i = n - 1;
	while (i > 0 && x < ROUNDS_UP * u[i].size)
		i--;
	return &u[i];
}

/* Digits behind the point of four. */
static int places(double x)
{
	return x < 9.9995 ? 3 : x < 99.995 ? 2 : x < 999.95 ? 1 : 0;
}

static void put(char *dst, const struct unit *u, double x)
{
	snprintf(dst, QUANTITY_CAP, "%.*f %s", places(x / u->size), x / u->size, u->name);
}

char *quantity_seconds(double s, char dst[QUANTITY_CAP])
{
	if (!isfinite(s)) {
		snprintf(dst, QUANTITY_CAP, "-");
		return dst;
	}
	if (s <= 0) {
		snprintf(dst, QUANTITY_CAP, "0 s");
		return dst;
	}
	if (s < ROUNDS_UP * MINUTE) {
		put(dst, unit_of(seconds, N_SECONDS, s), s);
		return dst;
	}
	if (s > TOO_LONG) {
		snprintf(dst, QUANTITY_CAP, "%.3g s", s);
		return dst;
	}
	for (size_t i = 0; i < N_LONG; i++) {
		double part = round(s / long_times[i].part);
		double per = long_times[i].size / long_times[i].part;
		/* What the smaller units would not make this one of has them. */
		double finest = i + 1 < N_LONG ? long_times[i + 1].part : 1;
		if (i + 1 < N_LONG && round(s / finest) * finest < long_times[i].size)
			continue;
		double whole = floor(part / per), rest = part - whole * per;
		if (rest > 0)
			snprintf(dst, QUANTITY_CAP, "%.0f %s %.0f %s", whole, long_times[i].name,
				 rest, long_times[i].part_name);
		else
			snprintf(dst, QUANTITY_CAP, "%.0f %s", whole, long_times[i].name);
		break;
	}
	return dst;
}

char *quantity_interval(double lo_s, double hi_s, char dst[QUANTITY_CAP])
{
	char lo[QUANTITY_CAP], hi[QUANTITY_CAP];
	if (!(hi_s > 0) || !(hi_s < ROUNDS_UP * MINUTE) || !(lo_s >= 0)) {
		snprintf(dst, QUANTITY_CAP, "%.28s to %.28s", quantity_seconds(lo_s, lo),
			 quantity_seconds(hi_s, hi));
		return dst;
	}
	const struct unit *u = unit_of(seconds, N_SECONDS, hi_s);
	int n = places(hi_s / u->size);
	snprintf(dst, QUANTITY_CAP, "%.*f to %.*f %s", n, lo_s / u->size, n, hi_s / u->size,
		 u->name);
	return dst;
}

char *quantity_trim(char *text)
{
	char *point = strchr(text, '.'), *blank = point ? strchr(point, ' ') : NULL, *end = blank;
	if (!blank)
		return text;
	while (end[-1] == '0')
		end--;
	if (end[-1] == '.')
		end--;
	memmove(end, blank, strlen(blank) + 1);
	return text;
}

char *quantity_bytes(double x, char dst[QUANTITY_CAP])
{
	if (!isfinite(x))
		snprintf(dst, QUANTITY_CAP, "-");
	else if (x < 1000)
		snprintf(dst, QUANTITY_CAP, "%.0f B", fmax(x, 0));
	else
		put(dst, unit_of(bytes, N_BYTES, x), x);
	return dst;
}
