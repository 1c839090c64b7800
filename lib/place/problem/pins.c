/* pins.c - patterns of names into masks and classes of sets. */
#include "place/problem/pins.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/disjoint.h"
#include "base/msg.h"
#include "record/grouprec.h"

enum { NAME_TEXT = 200 };

struct pinning {
	const struct graph *g;
	struct devs *d;
	struct arena *a;
	struct err *e;
	uint32_t *up;         /* (n_sets) classes: disjoint.h */
	uint8_t *may;         /* (n_sets,k) what pins leave to a set; of roots, once it is told */
	uint32_t *by;         /* (n_sets) a pinned node of the set; GRAPH_NONE: none */
	bool *pinned;         /* (n) nodes that a pin has matched */
	const char **kept_by; /* (n_sets) of roots: the --keep that joined them; NULL: none */
};

/* ---- texts ---- */

/* The next pattern of a list with commas, of which \ takes the special meaning; NULL: that was the last.  Memory from a. */
static const char *next_pattern(const char **list, const char *end, struct arena *a)
{
	const char *s = *list, *c = s;
	if (!s)
		return NULL;
	while (c < end && *c != ',')
		c += *c == '\\' && c + 1 < end ? 2 : 1;
	*list = c < end ? c + 1 : NULL;
	return arena_strndup(a, s, (size_t)(c - s));
}

/* Where the patterns of a --pin end: at its last '='. */
static const char *patterns_end(const char *text)
{
	return strrchr(text, '=');
}

static int check_patterns(const char *option, const char *text, const char *end, struct err *e)
{
	char name[NAME_TEXT];
	struct arena *a = arena_new();
	const char *list = text, *pattern;
	int rc = 0;
	while (rc == 0 && (pattern = next_pattern(&list, end, a)))
		if (!*pattern)
			rc = err_set(e, ST_USAGE, "%s '%s': an empty pattern", option,
				     err_escape(name, sizeof name, text, strlen(text)));
	arena_free(a);
	return rc;
}

int pins_check(const struct pins *p, struct err *e)
{
	char name[NAME_TEXT];
	for (int i = 0; i < p->pin.n; i++) {
		const char *text = p->pin.v[i], *end = patterns_end(text);
		if (!end || !end[1])
			return err_set(e, ST_USAGE, "--pin takes PATTERN=DEVICE, not '%s'",
				       err_escape(name, sizeof name, text, strlen(text)));
		if (check_patterns("--pin", text, end, e) < 0)
			return -1;
	}
	for (int i = 0; i < p->keep.n; i++)
		if (check_patterns("--keep", p->keep.v[i], p->keep.v[i] + strlen(p->keep.v[i]), e) <
		    0)
			return -1;
	return p->rest && !*p->rest ? err_set(e, ST_USAGE, "--default: no device") : 0;
}

static const char *node_text(const struct pinning *x, uint32_t v, char text[NAME_TEXT])
{
	return err_escape(text, NAME_TEXT, x->g->node_name[v], strlen(x->g->node_name[v]));
}

/* ---- what patterns match ---- */

static bool is_called(const char *name, const char *pattern)
{
	return strcmp(name, pattern) == 0 || fnmatch(pattern, name, 0) == 0;
}

static bool matches(const struct graph *g, uint32_t v, const char *pattern)
{
	if (is_called(g->node_name[v], pattern))
		return true;
	return g->whole && g->part_of && g->part_of[v] != GRAPH_NONE &&
	       is_called(g->whole->node_name[g->part_of[v]], pattern);
}

/* How often patterns matched: placed nodes, and others. */
struct matched {
	uint32_t placed, others;
};

static int matches_nothing(const struct pinning *x, const char *option, const char *pattern,
			   uint32_t others)
{
	char name[NAME_TEXT];
	struct err_near near = {.name = name};
	err_escape(name, sizeof name, pattern, strlen(pattern));
	if (others)
		return err_set(x->e, ST_USAGE,
			       "%s: '%s' matches only constants, which are where they are read",
			       option, name);
	for (uint32_t v = 0; v < x->g->n; v++)
		if (x->g->set[v] != GRAPH_NONE)
			err_offer(&near, x->g->node_name[v]);
	return err_unknown(x->e, ST_USAGE, &near, NULL, "%s: '%s' matches no operation", option,
			   name);
}

/* Calls fn for each placed node that a pattern of the list matches, and counts them; each pattern matches one. */
static int for_matches(struct pinning *x, const char *option, const char *list, const char *end,
		       int (*fn)(struct pinning *x, uint32_t v, void *arg), void *arg)
{
	const char *pattern;
	while ((pattern = next_pattern(&list, end, x->a))) {
		struct matched n = {0};
		for (uint32_t v = 0; v < x->g->n; v++) {
			if (!matches(x->g, v, pattern))
				continue;
			bool placed = x->g->set[v] != GRAPH_NONE;
			n.placed += placed;
			n.others += !placed;
			if (placed && fn(x, v, arg) < 0)
				return -1;
		}
		if (n.placed == 0)
			return matches_nothing(x, option, pattern, n.others);
		msg_note(1, "%s %s: %u operation%s", option, pattern, n.placed,
			 n.placed == 1 ? "" : "s");
	}
	return 0;
}

/* ---- pins ---- */

/* (k) the devices of a list. */
static uint8_t *devices_of(struct pinning *x, const char *option, const char *list)
{
	struct devs named;
	uint8_t *on = ARENA_NEWN(x->a, uint8_t, x->d->k);
	if (devs_from_list(list, x->a, &named, x->e) < 0) {
		err_prefix(x->e, "%s", option);
		return NULL;
	}
	for (uint32_t i = 0; i < named.k; i++) {
		int d = devs_find(x->d, named.names[i]);
		if (d < 0) {
			devs_unknown(x->d->names, x->d->k, named.names[i], ST_USAGE, x->e);
			err_prefix(x->e, "%s", option);
			return NULL;
		}
		on[d] = 1;
	}
	return on;
}

/* to &= from; is anything left? */
static bool narrow(uint8_t *to, const uint8_t *from, uint32_t k)
{
	bool any = false;
	for (uint32_t i = 0; i < k; i++) {
		to[i] &= from[i];
		any |= to[i] != 0;
	}
	return any;
}

static uint8_t *row(const struct pinning *x, uint8_t *matrix, uint32_t set)
{
	return matrix + (size_t)set * x->d->k;
}

static int contradiction(const struct pinning *x, uint32_t u, uint32_t v)
{
	char a[NAME_TEXT], b[NAME_TEXT];
	return err_set(x->e, ST_USAGE,
		       "'%s' and '%s' share a device, and are pinned to different ones",
		       node_text(x, u, a), node_text(x, v, b));
}

static int pin_node(struct pinning *x, uint32_t v, void *arg)
{
	uint32_t s = x->g->set[v];
	if (x->pinned[v])
		return 0;
	x->pinned[v] = true;
	if (!narrow(row(x, x->may, s), arg, x->d->k))
		return contradiction(x, x->by[s], v);
	x->by[s] = x->by[s] == GRAPH_NONE ? v : x->by[s];
	return 0;
}

static int keep_node(struct pinning *x, uint32_t v, void *arg)
{
	uint32_t *first = arg;
	if (*first == GRAPH_NONE)
		*first = x->g->set[v];
	disjoint_join(x->up, *first, x->g->set[v]);
	return 0;
}

static int read_pins(struct pinning *x, const struct pins *p)
{
	for (int i = 0; i < p->pin.n; i++) {
		const char *text = p->pin.v[i], *end = patterns_end(text);
		uint8_t *on = devices_of(x, "--pin", end + 1);
		if (!on || for_matches(x, "--pin", text, end, pin_node, on) < 0)
			return -1;
	}
	return 0;
}

static int read_keeps(struct pinning *x, const struct pins *p)
{
	uint32_t *first = ARENA_NEWN(x->a, uint32_t, p->keep.n);
	for (int i = 0; i < p->keep.n; i++) {
		const char *text = p->keep.v[i];
		first[i] = GRAPH_NONE;
		if (for_matches(x, "--keep", text, text + strlen(text), keep_node, &first[i]) < 0)
			return -1;
	}
	for (int i = 0; i < p->keep.n; i++)
		x->kept_by[disjoint_find(x->up, first[i])] = p->keep.v[i];
	return 0;
}

/* ---- classes ---- */

/* What was pinned of its sets is true of a whole class. */
static int gather_pins(struct pinning *x)
{
	for (uint32_t s = 0; s < x->g->n_sets; s++) {
		uint32_t root = disjoint_find(x->up, s);
		if (root == s || x->by[s] == GRAPH_NONE)
			continue;
		if (!narrow(row(x, x->may, root), row(x, x->may, s), x->d->k))
			return contradiction(x, x->by[root], x->by[s]);
		x->by[root] = x->by[root] == GRAPH_NONE ? x->by[s] : x->by[root];
	}
	return 0;
}

static int cannot_run(const struct pinning *x, uint32_t root, bool by_itself)
{
	char name[NAME_TEXT];
	const char *kept = x->kept_by[root];
	if (by_itself && kept)
		return err_set(x->e, ST_INPUT,
			       "no device can run all that --keep '%s' holds together",
			       err_escape(name, sizeof name, kept, strlen(kept)));
	return err_set(x->e, ST_INPUT, "'%s' cannot run where it is pinned%s",
		       node_text(x, x->by[root], name),
		       kept ? ", with all that --keep holds together with it" : "");
}

/* can (n_sets,k), of roots: what all of a class can run on.  Narrows it by pins, or by `rest` (k; NULL). */
static int settle_classes(struct pinning *x, uint8_t *can, const uint8_t *rest)
{
	uint32_t k = x->d->k;
	for (uint32_t s = 0; s < x->g->n_sets; s++) {
		bool is_pinned = x->by[s] != GRAPH_NONE;
		if (disjoint_find(x->up, s) != s || (!is_pinned && !x->kept_by[s] && !rest))
			continue;
		if (x->kept_by[s] && !memchr(row(x, can, s), 1, k))
			return cannot_run(x, s, true);
		if (is_pinned && !narrow(row(x, can, s), row(x, x->may, s), k))
			return cannot_run(x, s, false);
		uint8_t *both = memcpy(arena_raw(x->a, k, 1), row(x, can, s), k);
		if (!is_pinned && rest && narrow(both, rest, k))
			memcpy(row(x, can, s), both, k);
	}
	return 0;
}

static int write_masks(struct pinning *x, const char *rest_list)
{
	struct devs *d = x->d;
	uint32_t n = x->g->n_sets, k = d->k;
	uint8_t *can = ARENA_NEWN(x->a, uint8_t, (size_t)n * k);
	uint8_t *rest = rest_list ? devices_of(x, "--default", rest_list) : NULL;
	if (rest_list && !rest)
		return -1;
	memset(can, 1, (size_t)n * k);
	for (uint32_t s = 0; s < n; s++)
		narrow(row(x, can, disjoint_find(x->up, s)), row(x, d->mask, s), k);
	if (gather_pins(x) < 0 || settle_classes(x, can, rest) < 0)
		return -1;
	for (uint32_t s = 0; s < n; s++) {
		uint32_t root = disjoint_find(x->up, s);
		if (rest || x->by[root] != GRAPH_NONE || x->kept_by[root])
			memcpy(row(x, d->mask, s), row(x, can, root), k);
	}
	return 0;
}

/* The classes that there are. */
static void begin_classes(struct pinning *x)
{
	uint32_t n = x->g->n_sets;
	x->up = disjoint_new(n, x->a);
	if (!x->d->together)
		return;
	memcpy(x->up, x->d->together, n * sizeof *x->up);
	group_first(x->up, n);
}

static void begin(struct pinning *x)
{
	struct devs *d = x->d;
	uint32_t n = x->g->n_sets;
	size_t cells = (size_t)n * d->k;
	if (!d->mask) {
		d->graph = x->g->digest;
		d->n_sets = n;
		d->mask = memset(arena_raw(x->a, cells, 1), 1, cells);
	}
	begin_classes(x);
	x->may = memset(arena_raw(x->a, cells, 1), 1, cells);
	x->by = memset(arena_raw(x->a, n, sizeof *x->by), 0xff, n * sizeof *x->by);
	x->pinned = ARENA_NEWN(x->a, bool, x->g->n);
	x->kept_by = ARENA_NEWN(x->a, const char *, n);
}

int pins_apply(const struct pins *p, const struct graph *g, struct devs *d, struct arena *a,
	       struct err *e)
{
	struct pinning x = {.g = g, .d = d, .a = a, .e = e};
	if (d->mask && (d->graph != g->digest || d->n_sets != g->n_sets))
		return err_set(e, ST_INPUT, "devices of another graph");
	begin(&x);
	if (read_pins(&x, p) < 0 || read_keeps(&x, p) < 0 || write_masks(&x, p->rest) < 0)
		return -1;
	if (p->keep.n || d->together) {
		d->together = ARENA_NEWN(a, uint32_t, g->n_sets);
		for (uint32_t s = 0; s < g->n_sets; s++)
			d->together[s] = disjoint_find(x.up, s);
	}
	return 0;
}
