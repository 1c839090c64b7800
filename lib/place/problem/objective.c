/* objective.c - reading an objective. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "place/problem/objective.h"

enum { N_METRICS = 5, MAX_ITEM = 80 };
static const double MAX_WEIGHT = 1e30;

/* What is behind "latency<=": a number and a unit. */
static int read_limit(const char *text, double *limit_s, struct err *e)
{
	static const struct {
		const char *name;
		double s;
	} units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
	char *unit;
	double x = strtod(text, &unit);

	if (*limit_s > 0)
		return err_set(e, ST_USAGE, "the limit of latency is there twice");
	for (size_t i = 0; unit != text && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(units[i].name, unit) == 0)
			*limit_s = x * units[i].s;
	if (!(*limit_s > 0) || !isfinite(*limit_s))
		return err_set(e, ST_USAGE,
			       "'latency<=%s' is no time above 0 in s, ms or us, as in "
			       "latency<=50ms",
			       text);
	return 0;
}

/* One of "name", "name=weight" and "latency<=time", of n bytes. */
static int read_item(const char *item, size_t n, double *const metric[N_METRICS], bool *given,
		     double *limit_s, struct err *e)
{
	static const char *const names[N_METRICS] = {"latency", "throughput", "energy", "memory",
						     "price"};
	char text[MAX_ITEM];
	int i = 0;

	if (n >= sizeof(text))
		return err_set(e, ST_USAGE, "an item has more than %d characters", MAX_ITEM - 1);
	memcpy(text, item, n);
	text[n] = 0;
	static const char LIMIT[] = "latency<=";
	if (strncmp(text, LIMIT, sizeof(LIMIT) - 1) == 0)
		return read_limit(text + sizeof(LIMIT) - 1, limit_s, e);
	char *weight = strchr(text, '=');
	if (weight)
		*weight++ = 0;
	while (i < N_METRICS && strcmp(names[i], text) != 0)
		i++;
	if (i == N_METRICS) {
		struct err_near near = {.name = text};
		for (i = 0; i < N_METRICS; i++)
			err_offer(&near, names[i]);
		return err_unknown(e, ST_USAGE, &near, NULL,
				   "'%s' is not latency, throughput, energy, memory or price",
				   text);
	}
	if (given[i])
		return err_set(e, ST_USAGE, "'%s' is there twice", text);
	given[i] = true;
	*metric[i] = 1;
	return weight ? opt_real(weight, text, 0, MAX_WEIGHT, metric[i], e) : 0;
}

int place_objective_parse(const char *text, struct place_objective *out, struct err *e)
{
	struct place_objective o = {0};
	double *const metric[N_METRICS] = {&o.latency, &o.throughput, &o.energy, &o.memory,
					   &o.price};
	bool given[N_METRICS] = {false};

	for (const char *at = text;; at++) {
		size_t n = strcspn(at, ",");

		if (read_item(at, n, metric, given, &o.limit_s, e) < 0)
			return err_prefix(e, "objective '%s'", text);
		at += n;
		if (!*at)
			break;
	}
	if (o.limit_s > 0 && (o.throughput != 1 || o.latency + o.energy + o.memory + o.price > 0))
		return err_set(e, ST_USAGE,
			       "objective '%s': a limit of latency goes with throughput alone, as "
			       "in throughput,latency<=50ms",
			       text);
	if (o.latency + o.throughput + o.energy + o.memory + o.price == 0)
		return err_set(e, ST_USAGE, "objective '%s': every weight is 0", text);
	*out = o;
	return 0;
}
