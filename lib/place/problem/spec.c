/* spec.c - reading device specifications. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/utf8.h"
#include "graph/graph.h"
#include "place/problem/spec.h"

enum {
	MAX_FILE = 1 << 20,
	MAX_WORDS = 32,
	MAX_DEVICES = 1024,
	MAX_LINKS = 4096,
	MAX_PORTS = 4096,
	MAX_MEDIA = MEDIA_MAX,
	MAX_GROUPS = 4096
};

/* One line, cut into words. */
struct spec_line {
	const char *origin;
	unsigned number;
	int n;
	const char *word[MAX_WORDS];
};

static int line_error(const struct spec_line *l, struct err *e)
{
	return err_prefix(e, "%s, line %u", l->origin, l->number);
}

static int split_line(const char *s, size_t len, struct arena *a, struct spec_line *l,
		      struct err *e)
{
	size_t i = 0;

	l->n = 0;
	while (i < len && s[i] != '#') {
		size_t start = i;

		if (strchr(" \t\r", s[i])) {
			i++;
			continue;
		}
		if ((unsigned char)s[i] < ' ')
			return err_set(e, ST_INPUT, "byte %d is not text", (unsigned char)s[i]);
		while (i < len && (unsigned char)s[i] > ' ' && s[i] != '#')
			i++;
		if (l->n == MAX_WORDS)
			return err_set(e, ST_INPUT, "more than %d words", MAX_WORDS);
		l->word[l->n++] = arena_strndup(a, s + start, i - start);
	}
	return 0;
}

/* A key of a device or link line and where its number goes. */
struct spec_field {
	const char *key;
	double *value, lo, hi;
	bool given;
};

/* A key that takes a text. */
struct spec_text {
	const char *key, **text;
};

/* Read the pairs "key number" from word `first` on, and those of texts; a key NULL ends each. */
static int read_fields(const struct spec_line *l, int first, struct spec_field *f,
		       const struct spec_text *texts, struct err *e)
{
	for (int i = first; i < l->n; i += 2) {
		struct spec_field *x = f;
		const char *key = l->word[i];

		if (i + 1 == l->n)
			return err_set(e, ST_INPUT, "'%s' has no value", key);
		const struct spec_text *t = texts;
		while (t->key && strcmp(t->key, key) != 0)
			t++;
		if (t->key) {
			*t->text = l->word[i + 1];
			continue;
		}
		while (x->key && strcmp(x->key, key) != 0)
			x++;
		if (!x->key) {
			struct err_near near = {.name = key};
			for (x = f; x->key; x++)
				err_offer(&near, x->key);
			for (t = texts; t->key; t++)
				err_offer(&near, t->key);
			return err_unknown(e, ST_INPUT, &near, NULL, "unknown key '%s'", key);
		}
		if (x->given)
			return err_set(e, ST_INPUT, "'%s' is given twice", key);
		x->given = true;
		if (opt_real(l->word[i + 1], key, x->lo, x->hi, x->value, e) < 0) {
			e->code = ST_INPUT;
			return -1;
		}
	}
	return 0;
}

/* Room for item number n of an array in an arena. */
static void *grow(struct arena *a, void *old, uint32_t n, size_t size)
{
	if (n & (n - 1))
		return old;
	void *bigger = arena_alloc(a, n ? 2 * (size_t)n : 1, size);
	if (n)
		memcpy(bigger, old, n * size);
	return bigger;
}

/* NAME*N: N, and *name is NAME; 1: there is no '*'; 0: an error. */
static uint32_t read_count(const char **name, struct arena *a, struct err *e)
{
	const char *star = strrchr(*name, '*');
	int64_t n;

	if (!star || star == *name)
		return 1;
	if (opt_int(star + 1, *name, 1, MAX_DEVICES, &n, e) < 0) {
		e->code = ST_INPUT;
		return 0;
	}
	*name = arena_strndup(a, *name, (size_t)(star - *name));
	return (uint32_t)n;
}

/* One device, or one of many alike. */
static int add_device(struct spec *s, const struct device_spec *d, struct arena *a, struct err *e)
{
	for (uint32_t i = 0; i < s->n_devs; i++) {
		const struct device_spec *x = &s->dev[i];
		const char *twice = d->class && strcmp(x->name, d->class) == 0 ? d->class
				    : strcmp(x->name, d->name) == 0 ||
						    (x->class && strcmp(x->class, d->name) == 0)
					    ? d->name
					    : NULL;
		if (twice)
			return err_set(e, ST_INPUT, "device '%s' is described twice", twice);
	}
	if (s->n_devs == MAX_DEVICES)
		return err_set(e, ST_INPUT, "more than %d devices", MAX_DEVICES);
	s->dev = grow(a, s->dev, s->n_devs, sizeof(*d));
	s->dev[s->n_devs++] = *d;
	return 0;
}

/* ST_INPUT: there is no such pool above. */
static int find_pool(const struct spec *s, const char *name, uint32_t *pool, struct err *e)
{
	struct err_near near = {.name = name};

	*pool = dev_pool_find(s->pool, s->n_pools, name);
	for (uint32_t i = 0; i < s->n_pools; i++)
		err_offer(&near, s->pool[i].name);
	return *pool < s->n_pools ? 0
				  : err_unknown(e, ST_INPUT, &near, NULL,
						"no pool '%s' is described above", name);
}

static int read_pool(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	struct dev_pool x = {0};
	double memory = 0;
	const char *weights = "shared";
	struct spec_field f[] = {{"memory", &memory, 1, 1e18, false},
				 {"bandwidth", &x.bytes_per_s, 1, 1e30, false},
				 {NULL, NULL, 0, 0, false}};
	const struct spec_text texts[] = {{"weights", &weights}, {NULL, NULL}};

	if (l->n < 2)
		return err_set(e, ST_INPUT, "a pool needs a name");
	x.name = l->word[1];
	if (!utf8_valid(x.name, strlen(x.name)))
		return err_set(e, ST_INPUT, "'%s' is no name for a pool: not UTF-8", x.name);
	if (read_fields(l, 2, f, texts, e) < 0)
		return -1;
	if (!f[0].given && !f[1].given)
		return err_set(e, ST_INPUT, "pool '%s' needs memory or bandwidth", x.name);
	x.copied = strcmp(weights, "copied") == 0;
	if (!x.copied && strcmp(weights, "shared") != 0)
		return err_set(e, ST_INPUT, "weights of a pool are shared or copied, not '%s'",
			       weights);
	if (s->n_pools == POOLS_MAX || dev_pool_find(s->pool, s->n_pools, x.name) < s->n_pools)
		return err_set(e, ST_INPUT, "pool '%s' is described twice, or one of too many",
			       x.name);
	x.mem_bytes = (uint64_t)memory;
	s->pool = grow(a, s->pool, s->n_pools, sizeof(x));
	s->pool[s->n_pools++] = x;
	return 0;
}

static int read_device(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	struct device_spec d = {.type = "model"};
	double efficiency = 1, memory = 0;
	struct spec_field f[] = {{"flops", &d.flops_per_s, 1, 1e30, false},
				 {"bandwidth", &d.bytes_per_s, 1, 1e30, false},
				 {"efficiency", &efficiency, 1e-6, 1, false},
				 {"overhead", &d.overhead_s, 0, 1e6, false},
				 {"memory", &memory, 0, 1e18, false},
				 {"workspace", &d.workspace, 0, 1000, false},
				 {"watts", &d.watts, 0, 1e9, false},
				 {"idle", &d.idle_watts, 0, 1e9, false},
				 {"price", &d.usd_per_hour, 0, 1e9, false},
				 {NULL, NULL, 0, 0, false}};

	if (l->n < 2)
		return err_set(e, ST_INPUT, "a device needs a name");
	d.name = l->word[1];
	if (strcmp(d.name, "*") == 0 || !utf8_valid(d.name, strlen(d.name)))
		return err_set(e, ST_INPUT, "'%s' is no name for a device: %s", d.name,
			       *d.name == '*' ? "it stands for any" : "not UTF-8");
	const struct spec_text texts[] = {{"type", &d.type},        {"keeps", &d.keeps_told},
					  {"fuses", &d.fuses_told}, {"peaks", &d.peaks_told},
					  {"pool", &d.pool_name},   {NULL, NULL}};
	if (read_fields(l, 2, f, texts, e) < 0)
		return -1;
	d.efficiency = efficiency;
	if (spec_device_told(&d, a, e) < 0)
		return -1;
	if (d.pool_name && find_pool(s, d.pool_name, &d.pool, e) < 0)
		return -1;
	if (!f[0].given || !f[1].given)
		return err_set(e, ST_INPUT, "device '%s' needs flops and bandwidth", d.name);
	d.flops_per_s *= efficiency;
	d.mem_bytes = (uint64_t)memory;
	bool many = strchr(d.name, '*') != NULL;
	uint32_t n = read_count(&d.name, a, e);
	if (!many || n == 0)
		return n ? add_device(s, &d, a, e) : -1;
	d.class = d.name;
	for (uint32_t i = 0; i < n; i++) {
		d.name = arena_printf(a, "%s:%u", d.class, i);
		if (add_device(s, &d, a, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- groups ---- */

/* The group of that name; n_groups: there is none. */
static uint32_t find_group(const struct spec *s, const char *name)
{
	uint32_t i = 0;

	while (i < s->n_groups && strcmp(s->group[i].name, name) != 0)
		i++;
	return i;
}

static int add_member(const struct spec *s, struct group_spec *g, uint32_t dev, struct err *e)
{
	for (uint32_t i = 0; i < g->n; i++)
		if (g->dev[i] == dev)
			return err_set(e, ST_INPUT, "'%s' is in the group twice", s->dev[dev].name);
	g->dev[g->n++] = dev;
	return 0;
}

/* A device, all of a class, or an earlier group's. */
static int add_members(const struct spec *s, struct group_spec *g, const char *name, struct err *e)
{
	uint32_t before = g->n, of = find_group(s, name);
	struct err_near near = {.name = name};

	for (uint32_t i = 0; of < s->n_groups && i < s->group[of].n; i++)
		if (add_member(s, g, s->group[of].dev[i], e) < 0)
			return -1;
	for (uint32_t i = 0; of == s->n_groups && i < s->n_devs; i++) {
		const struct device_spec *d = &s->dev[i];

		err_offer(&near, d->class ? d->class : d->name);
		if ((strcmp(d->name, name) == 0 || (d->class && strcmp(d->class, name) == 0)) &&
		    add_member(s, g, i, e) < 0)
			return -1;
	}
	return g->n > before ? 0
			     : err_unknown(e, ST_INPUT, &near, NULL,
					   "no device or group '%s' is described above", name);
}

static int read_group(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	struct group_spec g = {0};

	if (l->n < 3)
		return err_set(e, ST_INPUT, "a group needs a name and devices");
	g.name = l->word[1];
	g.n_parts = read_count(&g.name, a, e);
	if (g.n_parts == 0)
		return -1;
	if (find_group(s, g.name) < s->n_groups || s->n_groups == MAX_GROUPS)
		return err_set(e, ST_INPUT, "group '%s' is described twice, or one of too many",
			       g.name);
	g.dev = ARENA_NEWN(a, uint32_t, MAX_DEVICES);
	for (int i = 2; i < l->n; i++)
		if (add_members(s, &g, l->word[i], e) < 0)
			return -1;
	if (g.n % g.n_parts)
		return err_set(e, ST_INPUT, "group '%s': %u devices are not %u equal parts", g.name,
			       g.n, g.n_parts);
	g.part = ARENA_NEWN(a, uint32_t, MAX_DEVICES);
	for (uint32_t i = 0; i < MAX_DEVICES; i++)
		g.part[i] = g.n_parts;
	for (uint32_t i = 0; i < g.n; i++)
		g.part[g.dev[i]] = i / (g.n / g.n_parts);
	s->group = grow(a, s->group, s->n_groups, sizeof(g));
	s->group[s->n_groups++] = g;
	return 0;
}

static int read_port_name(const char *name, struct arena *a, struct spec *s, uint32_t *port,
			  struct err *e)
{
	if (!utf8_valid(name, strlen(name)))
		return err_set(e, ST_INPUT, "'%s' is no name for a port: not UTF-8", name);
	*port = port_names_add(&s->port_names, name, a);
	return *port ? 0 : err_set(e, ST_INPUT, "more than %d names of ports", PORT_NAMES_MAX);
}

static int read_medium(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	struct dev_medium x = {0};
	struct spec_field f[] = {{"bandwidth", &x.bytes_per_s, 1, 1e30, false},
				 {NULL, NULL, 0, 0, false}};

	if (l->n < 2)
		return err_set(e, ST_INPUT, "a medium needs a name");
	x.name = l->word[1];
	if (strchr(x.name, ',') || !utf8_valid(x.name, strlen(x.name)))
		return err_set(e, ST_INPUT, "'%s' is no name for a medium: %s", x.name,
			       strchr(x.name, ',') ? "commas separate media" : "not UTF-8");
	if (read_fields(l, 2, f, &(struct spec_text){NULL, NULL}, e) < 0)
		return -1;
	if (!f[0].given)
		return err_set(e, ST_INPUT, "medium '%s' needs bandwidth", x.name);
	if (s->n_media == MAX_MEDIA || dev_medium_find(s->medium, s->n_media, x.name) < s->n_media)
		return err_set(e, ST_INPUT, "medium '%s' is described twice, or one of too many",
			       x.name);
	s->medium = grow(a, s->medium, s->n_media, sizeof(x));
	s->medium[s->n_media++] = x;
	return 0;
}

/* A link's media: names with commas between them, of lines above. */
static int read_link_media(const char *list, struct arena *a, const struct spec *s,
			   struct link_spec *x, struct err *e)
{
	x->medium = ARENA_NEWN(a, uint32_t, strlen(list) / 2 + 1);
	for (const char *at = list;; at++) {
		size_t n = strcspn(at, ",");
		struct err_near near = {.name = arena_strndup(a, at, n)};
		uint32_t m = dev_medium_find(s->medium, s->n_media, near.name);

		for (uint32_t i = 0; i < s->n_media; i++)
			err_offer(&near, s->medium[i].name);
		if (m == s->n_media)
			return err_unknown(e, ST_INPUT, &near, NULL,
					   "no medium '%s' is described above", near.name);
		x->medium[x->n_media++] = m;
		at += n;
		if (!*at)
			return 0;
	}
}

/* What a link's line names: two devices, or a group.  The number of words; -1: an error. */
static int read_ends(const struct spec_line *l, struct spec *s, struct link_spec *x, struct err *e)
{
	struct err_near near = {.name = l->n > 1 ? l->word[1] : ""};

	if (x->reach == LINK_NAMED && l->n < 3)
		return err_set(e, ST_INPUT, "a link needs two device names");
	if (x->reach == LINK_NAMED) {
		x->src = l->word[1];
		x->dst = l->word[2];
		return 3;
	}
	if (l->n < 2)
		return err_set(e, ST_INPUT, "%s needs the name of a group", l->word[0]);
	x->group = find_group(s, l->word[1]);
	for (uint32_t i = 0; i < s->n_groups; i++)
		err_offer(&near, s->group[i].name);
	if (x->group == s->n_groups)
		return err_unknown(e, ST_INPUT, &near, NULL, "no group '%s' is described above",
				   l->word[1]);
	return 2;
}

static int read_link(const struct spec_line *l, enum spec_reach reach, struct arena *a,
		     struct spec *s, struct err *e)
{
	struct link_spec x = {.reach = reach};
	struct spec_field f[] = {{"latency", &x.latency_s, 0, 1e6, false},
				 {"bandwidth", &x.bytes_per_s, 1, 1e30, false},
				 {"j_per_byte", &x.j_per_byte, 0, 1e6, false},
				 {NULL, NULL, 0, 0, false}};

	const char *port = NULL, *contention = NULL, *media = NULL;
	const struct spec_text texts[] = {
		{"port", &port}, {"contention", &contention}, {"media", &media}, {NULL, NULL}};
	int first = read_ends(l, s, &x, e);
	x.where = arena_printf(a, "%s, line %u", l->origin, l->number);
	if (first < 0 || read_fields(l, first, f, texts, e) < 0 ||
	    (port && read_port_name(port, a, s, &x.port, e) < 0) ||
	    (media && read_link_media(media, a, s, &x, e) < 0))
		return -1;
	if (contention && (x.contention = dev_contention_named(contention, e)) == DEV_UNTOLD)
		return -1;
	if (!f[0].given || !f[1].given)
		return err_set(e, ST_INPUT, "a link needs latency and bandwidth");
	if (x.n_media && x.contention == DEV_UNTOLD)
		x.contention = DEV_SHARED;
	if (x.n_media && x.contention != DEV_SHARED)
		return err_set(e, ST_INPUT, "a link with media is shared");
	if (s->n_links == MAX_LINKS)
		return err_set(e, ST_INPUT, "more than %d links", MAX_LINKS);
	s->link = grow(a, s->link, s->n_links, sizeof(x));
	s->link[s->n_links++] = x;
	return 0;
}

static int read_port(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	struct port_spec x = {0};
	struct spec_field f[] = {{"out", &x.out_bytes_per_s, 1, 1e30, false},
				 {"in", &x.in_bytes_per_s, 1, 1e30, false},
				 {NULL, NULL, 0, 0, false}};

	if (l->n < 3)
		return err_set(e, ST_INPUT, "a port needs a device and a name");
	x.where = arena_printf(a, "%s, line %u", l->origin, l->number);
	x.dev = l->word[1];
	if (read_port_name(l->word[2], a, s, &x.port, e) < 0 ||
	    read_fields(l, 3, f, &(struct spec_text){NULL, NULL}, e) < 0)
		return -1;
	if (!f[0].given && !f[1].given)
		return err_set(e, ST_INPUT, "a port needs out or in, bytes per second");
	if (s->n_ports == MAX_PORTS)
		return err_set(e, ST_INPUT, "more than %d ports", MAX_PORTS);
	s->port = grow(a, s->port, s->n_ports, sizeof(x));
	s->port[s->n_ports++] = x;
	return 0;
}

static int read_named(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	return read_link(l, LINK_NAMED, a, s, e);
}

static int read_within(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	return read_link(l, LINK_WITHIN, a, s, e);
}

static int read_between(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	return read_link(l, LINK_BETWEEN, a, s, e);
}

/* fuses NAME KINDS, of devices that are described above. */
static int read_fuses(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	struct err_near near = {.name = l->n > 1 ? l->word[1] : ""};
	bool found = false;

	if (s->n_devs == 0)
		return err_set(e, ST_INPUT, "no device is described above");
	if (l->n != 3)
		return err_set(e, ST_INPUT, "fuses needs a device, or *, and kinds of kernels");
	for (uint32_t i = 0; i < s->n_devs; i++) {
		struct device_spec *d = &s->dev[i];

		err_offer(&near, d->class ? d->class : d->name);
		if (strcmp(near.name, "*") != 0 && strcmp(near.name, d->name) != 0 &&
		    !(d->class && strcmp(near.name, d->class) == 0))
			continue;
		found = true;
		d->fuses_told = l->word[2];
		if (spec_device_told(d, a, e) < 0)
			return -1;
	}
	return found ? 0
		     : err_unknown(e, ST_INPUT, &near, NULL, "no device '%s' is described above",
				   near.name);
}

/* Kinds of lines. */
static const struct {
	const char *word;
	int (*read)(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e);
} kinds[] = {{"device", read_device}, {"link", read_named},    {"port", read_port},
	     {"group", read_group},   {"within", read_within}, {"between", read_between},
	     {"medium", read_medium}, {"fuses", read_fuses},   {"pool", read_pool}};

static int read_line(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	struct err_near near = {.name = l->n ? l->word[0] : ""};

	if (l->n == 0)
		return 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (strcmp(l->word[0], kinds[i].word) == 0)
			return kinds[i].read(l, a, s, e);
		err_offer(&near, kinds[i].word);
	}
	return err_unknown(e, ST_INPUT, &near, NULL,
			   "'%s' is neither device, link nor port, nor group, within, between, "
			   "medium, pool, fuses",
			   l->word[0]);
}

int spec_parse(const char *text, size_t n, const char *origin, struct arena *a, struct spec *out,
	       struct err *e)
{
	struct spec_line l = {.origin = origin};

	for (size_t at = 0; at < n;) {
		const char *nl = memchr(text + at, '\n', n - at);
		size_t len = nl ? (size_t)(nl - text) - at : n - at;

		l.number++;
		if (split_line(text + at, len, a, &l, e) < 0 || read_line(&l, a, out, e) < 0)
			return line_error(&l, e);
		at += len + 1;
	}
	return 0;
}

/* ---- files and presets ---- */

static int parse_file(const char *path, int fd, struct arena *a, struct spec *out, struct err *e)
{
	struct stat st;
	size_t n = 0;
	ssize_t got;

	if (fstat(fd, &st) < 0)
		return err_sys(e, ST_RUNTIME, "cannot read '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(e, ST_USAGE, "'%s' is not a regular file", path);
	char *text = ARENA_NEWN(a, char, MAX_FILE + 1);
	while ((got = read(fd, text + n, MAX_FILE + 1 - n)) > 0)
		n += (size_t)got;
	if (got < 0)
		return err_sys(e, ST_RUNTIME, "cannot read '%s'", path);
	if (n > MAX_FILE)
		return err_set(e, ST_INPUT, "'%s' is larger than %d bytes", path, MAX_FILE);
	return spec_parse(text, n, path, a, out, e);
}

static int unknown_spec(const char *name, struct err *e)
{
	char list[500] = "presets are ", why[100];
	struct err_near near = {.name = name};

	snprintf(why, sizeof(why), "%s", strerror(errno));
	for (const struct preset *p = presets; p->name; p++) {
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
			 p > presets ? ", " : "", p->name);
		err_offer(&near, p->name);
	}
	return err_unknown(e, ST_USAGE, &near, list,
			   "'%s' is neither a preset nor a readable file (%s)", name, why);
}

static int load_one(const char *name, struct arena *a, struct spec *out, struct err *e)
{
	for (const struct preset *p = presets; p->name; p++)
		if (strcmp(p->name, name) == 0)
			return spec_parse(p->text, strlen(p->text), p->name, a, out, e);
	int fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return unknown_spec(name, e);
	int rc = parse_file(name, fd, a, out, e);
	close(fd);
	return rc;
}

/* Does a line's device name one, or any? */
static int check_device(const struct spec *s, const char *name, const char *where, struct err *e)
{
	struct err_near near = {.name = name};

	if (strcmp(name, "*") == 0 || spec_find(s, name))
		return 0;
	for (uint32_t d = 0; d < s->n_devs; d++) {
		if (s->dev[d].class && strcmp(s->dev[d].class, name) == 0)
			return 0;
		err_offer(&near, s->dev[d].name);
	}
	return err_unknown(e, ST_INPUT, &near, NULL, "%s: no device '%s' is described", where,
			   name);
}

static int check_shared_ports(const struct spec *s, struct err *e)
{
	struct devs d = {.port_names = s->port_names,
			 .n_links = s->n_links,
			 .medium = s->medium,
			 .link = MEM_NEWN(struct dev_link, s->n_links)};

	for (uint32_t i = 0; i < s->n_links; i++)
		d.link[i] = (struct dev_link){.port = s->link[i].port,
					      .contention = s->link[i].contention,
					      .n_media = s->link[i].n_media,
					      .medium = s->link[i].medium};
	int rc = devs_settle_links(&d, e);
	mem_free(d.link);
	return rc;
}

/* Does every link name devices, and every port a device and links? */
static int check_links(const struct spec *s, struct err *e)
{
	bool linked[PORT_NAMES_MAX + 1] = {false};

	for (uint32_t i = 0; i < s->n_links; i++) {
		const struct link_spec *l = &s->link[i];

		linked[l->port] = true;
		if (l->reach == LINK_NAMED && (check_device(s, l->src, l->where, e) < 0 ||
					       check_device(s, l->dst, l->where, e) < 0))
			return -1;
	}
	if (check_shared_ports(s, e) < 0)
		return -1;
	for (uint32_t i = 0; i < s->n_ports; i++) {
		const struct port_spec *p = &s->port[i];
		struct err_near near = {.name = s->port_names.name[p->port - 1]};

		if (check_device(s, p->dev, p->where, e) < 0)
			return -1;
		for (uint32_t j = 0; j < s->port_names.n; j++)
			if (linked[j + 1])
				err_offer(&near, s->port_names.name[j]);
		if (!linked[p->port])
			return err_unknown(e, ST_INPUT, &near, NULL, "%s: no link has port '%s'",
					   p->where, near.name);
	}
	return 0;
}

int spec_load(const char *list, struct arena *a, struct spec *out, struct err *e)
{
	memset(out, 0, sizeof(*out));
	for (const char *at = list;;) {
		size_t len = strcspn(at, ",");

		if (len == 0)
			return err_set(e, ST_USAGE,
				       "empty name in '%s'; presets and files are "
				       "separated by single commas",
				       list);
		if (load_one(arena_strndup(a, at, len), a, out, e) < 0)
			return -1;
		if (!at[len])
			break;
		at += len + 1;
	}
	if (out->n_devs == 0)
		return err_set(e, ST_INPUT, "'%s' describes no device", list);
	return check_links(out, e);
}
