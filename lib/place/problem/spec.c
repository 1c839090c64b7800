/* spec.c - reading device specifications. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/opt.h"
#include "base/utf8.h"
#include "place/problem/spec.h"

enum { MAX_FILE = 1 << 20, MAX_WORDS = 32, MAX_DEVICES = 1024, MAX_LINKS = 4096, MAX_PORTS = 4096 };

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

/* Read the pairs "key number" from word `first` on.  Key text_key takes a text; NULL: there is none. */
static int read_fields(const struct spec_line *l, int first, struct spec_field *f,
		       const char *text_key, const char **text, struct err *e)
{
	for (int i = first; i < l->n; i += 2) {
		struct spec_field *x = f;
		const char *key = l->word[i];

		if (i + 1 == l->n)
			return err_set(e, ST_INPUT, "'%s' has no value", key);
		if (text_key && strcmp(key, text_key) == 0) {
			*text = l->word[i + 1];
			continue;
		}
		while (x->key && strcmp(x->key, key) != 0)
			x++;
		if (!x->key) {
			struct err_near near = {.name = key};
			for (x = f; x->key; x++)
				err_offer(&near, x->key);
			if (text_key)
				err_offer(&near, text_key);
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

static int read_device(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	struct device_spec d = {.type = "model"};
	double efficiency = 1, memory = 0;
	struct spec_field f[] = {{"flops", &d.flops_per_s, 1, 1e30, false},
				 {"bandwidth", &d.bytes_per_s, 1, 1e30, false},
				 {"efficiency", &efficiency, 1e-6, 1, false},
				 {"overhead", &d.overhead_s, 0, 1e6, false},
				 {"memory", &memory, 0, 1e18, false},
				 {"watts", &d.watts, 0, 1e9, false},
				 {"idle", &d.idle_watts, 0, 1e9, false},
				 {NULL, NULL, 0, 0, false}};

	if (l->n < 2)
		return err_set(e, ST_INPUT, "a device needs a name");
	d.name = l->word[1];
	if (strcmp(d.name, "*") == 0 || !utf8_valid(d.name, strlen(d.name)))
		return err_set(e, ST_INPUT, "'%s' is no name for a device: %s", d.name,
			       *d.name == '*' ? "it stands for any" : "not UTF-8");
	if (read_fields(l, 2, f, "type", &d.type, e) < 0)
		return -1;
	if (!f[0].given || !f[1].given)
		return err_set(e, ST_INPUT, "device '%s' needs flops and bandwidth", d.name);
	for (uint32_t i = 0; i < s->n_devs; i++)
		if (strcmp(s->dev[i].name, d.name) == 0)
			return err_set(e, ST_INPUT, "device '%s' is described twice", d.name);
	if (s->n_devs == MAX_DEVICES)
		return err_set(e, ST_INPUT, "more than %d devices", MAX_DEVICES);
	d.flops_per_s *= efficiency;
	d.mem_bytes = (uint64_t)memory;
	s->dev = grow(a, s->dev, s->n_devs, sizeof(d));
	s->dev[s->n_devs++] = d;
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

static int read_link(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	struct link_spec x = {0};
	struct spec_field f[] = {{"latency", &x.latency_s, 0, 1e6, false},
				 {"bandwidth", &x.bytes_per_s, 1, 1e30, false},
				 {"j_per_byte", &x.j_per_byte, 0, 1e6, false},
				 {NULL, NULL, 0, 0, false}};

	if (l->n < 3)
		return err_set(e, ST_INPUT, "a link needs two device names");
	const char *port = NULL;
	x.where = arena_printf(a, "%s, line %u", l->origin, l->number);
	x.src = l->word[1];
	x.dst = l->word[2];
	if (read_fields(l, 3, f, "port", &port, e) < 0 ||
	    (port && read_port_name(port, a, s, &x.port, e) < 0))
		return -1;
	if (!f[0].given || !f[1].given)
		return err_set(e, ST_INPUT, "a link needs latency and bandwidth");
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
	    read_fields(l, 3, f, NULL, NULL, e) < 0)
		return -1;
	if (!f[0].given && !f[1].given)
		return err_set(e, ST_INPUT, "a port needs out or in, bytes per second");
	if (s->n_ports == MAX_PORTS)
		return err_set(e, ST_INPUT, "more than %d ports", MAX_PORTS);
	s->port = grow(a, s->port, s->n_ports, sizeof(x));
	s->port[s->n_ports++] = x;
	return 0;
}

static int read_line(const struct spec_line *l, struct arena *a, struct spec *s, struct err *e)
{
	if (l->n == 0)
		return 0;
	if (strcmp(l->word[0], "device") == 0)
		return read_device(l, a, s, e);
	if (strcmp(l->word[0], "link") == 0)
		return read_link(l, a, s, e);
	if (strcmp(l->word[0], "port") == 0)
		return read_port(l, a, s, e);
	struct err_near near = {.name = l->word[0]};
	err_offer(&near, "device");
	err_offer(&near, "link");
	err_offer(&near, "port");
	return err_unknown(e, ST_INPUT, &near, NULL, "'%s' is neither device, link nor port",
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
	for (uint32_t d = 0; d < s->n_devs; d++)
		err_offer(&near, s->dev[d].name);
	return err_unknown(e, ST_INPUT, &near, NULL, "%s: no device '%s' is described", where,
			   name);
}

/* Does every link name devices, and every port a device and links? */
static int check_links(const struct spec *s, struct err *e)
{
	bool linked[PORT_NAMES_MAX + 1] = {false};

	for (uint32_t i = 0; i < s->n_links; i++) {
		const struct link_spec *l = &s->link[i];

		linked[l->port] = true;
		if (check_device(s, l->src, l->where, e) < 0 ||
		    check_device(s, l->dst, l->where, e) < 0)
			return -1;
	}
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

/* ---- questions ---- */

const struct device_spec *spec_find(const struct spec *s, const char *name)
{
	size_t base = strcspn(name, ":");

	for (uint32_t i = 0; i < s->n_devs; i++)
		if (strcmp(s->dev[i].name, name) == 0)
			return &s->dev[i];
	for (uint32_t i = 0; i < s->n_devs; i++)
		if (strlen(s->dev[i].name) == base && strncmp(s->dev[i].name, name, base) == 0)
			return &s->dev[i];
	return NULL;
}

/* 2: pattern is this name, 1: it is "*", 0: it does not match. */
static int match_name(const struct spec *s, const char *pattern, const char *name)
{
	const struct device_spec *d = spec_find(s, name);

	if (strcmp(pattern, "*") == 0)
		return 1;
	return strcmp(pattern, name) == 0 || (d && strcmp(pattern, d->name) == 0) ? 2 : 0;
}

static const struct link_spec *find_link(const struct spec *s, const char *src, const char *dst)
{
	const struct link_spec *best = NULL;
	int best_score = 0;

	for (uint32_t i = 0; i < s->n_links; i++) {
		int from = match_name(s, s->link[i].src, src),
		    to = match_name(s, s->link[i].dst, dst);

		if (!from || !to || from + to < best_score)
			continue;
		best = &s->link[i];
		best_score = from + to;
	}
	return best;
}

/* What lines tell of the ports of device number i. */
static void tell_ports(const struct spec *s, const char *name, uint32_t i, struct sched_ports *p)
{
	for (int score = 1; score <= 2; score++)
		for (uint32_t j = 0; j < s->n_ports; j++) {
			const struct port_spec *x = &s->port[j];
			size_t at = (size_t)i * p->n + x->port - 1;

			if (match_name(s, x->dev, name) != score)
				continue;
			if (x->out_bytes_per_s > 0)
				p->out_bytes_per_s[at] = x->out_bytes_per_s;
			if (x->in_bytes_per_s > 0)
				p->in_bytes_per_s[at] = x->in_bytes_per_s;
		}
}

void spec_links(const struct spec *s, const char *const *names, uint32_t k, struct arena *a,
		struct sched_links *out, double **j_per_byte)
{
	struct sched_ports *ports = s->port_names.n ? sched_ports_new(k, s->port_names.n, a) : NULL;

	*out = (struct sched_links){.k = k,
				    .latency_s = ARENA_NEWN(a, double, (size_t)k *k),
				    .bytes_per_s = ARENA_NEWN(a, double, (size_t)k *k),
				    .ports = ports};
	*j_per_byte = ARENA_NEWN(a, double, (size_t)k *k);
	for (uint32_t i = 0; i < k; i++) {
		for (uint32_t j = 0; j < k; j++) {
			const struct link_spec *l = find_link(s, names[i], names[j]);
			size_t at = (size_t)i * k + j;

			out->latency_s[at] = i == j ? 0 : l ? l->latency_s : -1;
			out->bytes_per_s[at] = i == j || !l ? INFINITY : l->bytes_per_s;
			(*j_per_byte)[at] = i == j || !l ? 0 : l->j_per_byte;
			if (i != j && l && l->port)
				ports->of[at] = l->port - 1;
		}
		if (ports)
			tell_ports(s, names[i], i, ports);
	}
	sched_ports_limit(out);
}
