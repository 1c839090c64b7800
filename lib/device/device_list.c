/* device_list.c - lists of devices: names, opening in the right order, and
 * which of them share cores.  The devices themselves are elsewhere. */
#include "device/device.h"
#include "device/device_precision.h"
#include "base/mem.h"
#include "record/devrec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = sizeof(((struct device *)0)->name) };

/* A name that no class has, beside those of this machine. */
struct stranger {
	struct err_near near;
	char best[NAME_MOST], list[300];
};

static void offer_device(struct stranger *x, const char *name)
{
	const char *before = x->near.best;
	err_offer(&x->near, name);
	if (x->near.best == before)
		return;
	snprintf(x->best, sizeof x->best, "%s", name); /* names come and go */
	x->near.best = x->best;
}

static void note_device(void *arg, const struct device *d)
{
	struct stranger *x = arg;
	size_t n = strlen(x->list);
	offer_device(x, d->name);
	if (n + strlen(d->name) + 3 < sizeof x->list)
		snprintf(x->list + n, sizeof x->list - n, "%s%s", n ? ", " : "", d->name);
}

static int unknown_device(const char *name, struct err *e)
{
	char q[120], forms[200], known[600];
	struct stranger x = {.near = {.name = name}};
	device_list_machine(note_device, &x);
	offer_device(&x, "ov:GPU"); /* what other machines have */
	offer_device(&x, "ov:NPU");
	snprintf(known, sizeof known, "here are %s; names are %s", x.list,
		 device_class_forms(forms, sizeof forms));
	return err_unknown(e, ST_USAGE, &x.near, known, "unknown device '%s'",
			   err_escape(q, sizeof q, name, strlen(name)));
}

static int init_device(struct device *d, const char *name, struct err *e)
{
	char q[120];
	*d = (struct device){.class = device_class_of_name(name), .align = 64};
	if (!d->class)
		return unknown_device(name, e);
	if (strlen(name) >= sizeof d->name)
		return err_set(e, ST_USAGE, "device name '%s' is too long",
			       err_escape(q, sizeof q, name, strlen(name)));
	strcpy(d->name, name);
	return d->class->check_name(name, e);
}

int device_list_names(const char *const *names, uint32_t n, struct device_list *out, struct err *e)
{
	*out = (struct device_list){.dev = MEM_NEWN(struct device, n ? n : 1)};
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < i; j++)
			if (strcmp(names[i], names[j]) == 0)
				return err_set(e, ST_USAGE, "device '%s' is listed twice",
					       names[i]);
		if (init_device(&out->dev[i], names[i], e) < 0)
			return -1;
		out->n = i + 1;
	}
	return 0;
}

int device_list_parse(const char *text, struct device_list *out, struct err *e)
{
	struct arena *a = arena_new();
	struct devs d;
	*out = (struct device_list){0};
	int rc = devs_from_list(text, a, &d, e);
	if (rc == 0)
		rc = device_list_names(d.names, d.k, out, e);
	arena_free(a);
	return rc;
}

/* With what stays free of it. */
static uint64_t all_memory(const struct device *d)
{
	return d->mem_limit > 0 && (d->mem_limit < d->mem_bytes || d->mem_bytes == 0)
		       ? d->mem_limit
		       : d->mem_bytes;
}

uint64_t device_headroom(const struct device *d)
{
	return headroom_bytes(&d->headroom, all_memory(d));
}

uint64_t device_memory(const struct device *d)
{
	return all_memory(d) - device_headroom(d);
}

/* "512M" up to the next comma or the end; where it ends, or NULL. */
static const char *parse_bytes(const char *s, uint64_t *out)
{
	static const char units[] = "KMG";
	char *end;
	errno = 0;
	unsigned long long x = *s >= '0' && *s <= '9' ? strtoull(s, &end, 10) : 0;
	const char *unit = x > 0 && *end ? strchr(units, *end) : NULL;
	int shift = unit ? 10 * (int)(unit - units + 1) : 0;
	if (x == 0 || errno || x > UINT64_MAX >> shift)
		return NULL;
	end += unit != NULL;
	*out = (uint64_t)x << shift;
	return *end == ',' || *end == '\0' ? end : NULL;
}

static int unknown_limit(const struct device_list *l, const char *item, struct err *e)
{
	const char *names[DEVS_MAX];
	char name[NAME_MOST];
	for (uint32_t i = 0; i < l->n; i++)
		names[i] = l->dev[i].name;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(item, "="), item);
	devs_unknown(names, l->n, name, ST_USAGE, e);
	return err_prefix(e, "memory");
}

/* Names may have commas (cpu:0,2=1G), so they are looked for, not cut out. */
static int limit_memory(struct device_list *l, const char *text, struct err *e)
{
	const char *s = text;
	char q[200];
	if (!strchr(s, '='))
		return err_set(e, ST_USAGE,
			       "memory '%s' names no device; write NAME=BYTES, as in "
			       "cpu:0=512M,cl:0.0=2G",
			       err_escape(q, sizeof q, text, strlen(text)));
	while (*s) {
		struct device *d = NULL;
		for (uint32_t i = 0; i < l->n && !d; i++) {
			size_t n = strlen(l->dev[i].name);
			if (strncmp(s, l->dev[i].name, n) == 0 && s[n] == '=') {
				d = &l->dev[i];
				s += n + 1;
			}
		}
		if (!d)
			return unknown_limit(l, s, e);
		const char *bytes = s;
		if (!(s = parse_bytes(s, &d->mem_limit)))
			return err_set(
				e, ST_USAGE,
				"memory of '%s': '%s' is not a number of bytes; write 512M or "
				"2G, with K, M or G or nothing behind it",
				d->name, err_escape(q, sizeof q, bytes, strcspn(bytes, ",")));
		s += *s == ',';
	}
	return 0;
}

static int keep_free(struct device_list *l, const char *text, struct err *e)
{
	struct arena *a = arena_new();
	const char *names[DEVS_MAX];
	struct headroom x;
	for (uint32_t i = 0; i < l->n; i++)
		names[i] = l->dev[i].name;
	int rc = headroom_parse(text, a, &x, e);
	if (rc == 0)
		rc = headroom_check(&x, names, l->n, e);
	for (uint32_t i = 0; rc == 0 && i < l->n; i++) {
		l->dev[i].headroom = headroom_of(&x, names[i]);
		l->dev[i].headroom.name = NULL;
	}
	arena_free(a);
	return rc;
}

int device_list_limit(struct device_list *l, const char *memory, const char *headroom,
		      struct err *e)
{
	if (memory && limit_memory(l, memory, e) < 0)
		return -1;
	return headroom ? keep_free(l, headroom, e) : 0;
}

int device_list_find(const struct device_list *l, const char *name)
{
	for (uint32_t d = 0; d < l->n; d++)
		if (strcmp(l->dev[d].name, name) == 0)
			return (int)d;
	return -1;
}

/* What the system says of the speed of a core, 0: nothing. */
static long core_says(int cpu, const char *what)
{
	char path[128];
	long x = 0;
	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/%s", cpu, what);
	FILE *f = fopen(path, "re");
	if (!f)
		return 0;
	if (fscanf(f, "%ld", &x) != 1)
		x = 0;
	fclose(f);
	return x;
}

/* What stands behind a name: "/precision=bf16", "/threads=2", .. */
static const char *options_of(const struct device *d)
{
	const char *slash = strchr(d->name, '/');
	return slash ? slash : "";
}

static bool alike(const struct device *a, const struct device *b)
{
	static const char *const says[] = {"cpufreq/cpuinfo_max_freq", "cpu_capacity"};
	bool same = a->class == b->class && a->n_cpus == b->n_cpus && a->n_cpus > 0 &&
		    strcmp(options_of(a), options_of(b)) == 0;
	for (int i = 0; same && i < a->n_cpus; i++)
		for (int j = 0; same && j < 2; j++)
			same = core_says(a->cpus[i], says[j]) == core_says(b->cpus[i], says[j]);
	return same;
}

uint32_t device_alike(const struct device_list *l, uint32_t d)
{
	for (uint32_t i = 0; i < d; i++)
		if (alike(&l->dev[i], &l->dev[d]))
			return i;
	return d;
}

bool device_shares_cores(const struct device *a, const struct device *b)
{
	for (int i = 0, j = 0; i < a->n_cpus && j < b->n_cpus;) {
		if (a->cpus[i] == b->cpus[j])
			return true;
		if (a->cpus[i] < b->cpus[j])
			i++;
		else
			j++;
	}
	return false;
}

bool device_list_turns(const struct device_list *l, uint32_t i, uint32_t j)
{
	const struct device *a = &l->dev[i], *b = &l->dev[j];
	return i != j && !l->at_once && !a->class->finish && !b->class->finish &&
	       device_shares_cores(a, b);
}

uint8_t *device_list_all_turns(const struct device_list *l, struct arena *a)
{
	uint8_t *turns = ARENA_NEWN(a, uint8_t, (size_t)l->n * l->n);
	bool any = false;
	for (uint32_t i = 0; i < l->n * l->n; i++) {
		turns[i] = device_list_turns(l, i / l->n, i % l->n);
		any |= turns[i];
	}
	return any ? turns : NULL;
}

static int refuse_shared(const struct device_list *l, struct err *e)
{
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t j = i + 1; j < l->n; j++)
			if (device_shares_cores(&l->dev[i], &l->dev[j]) &&
			    !device_list_turns(l, i, j))
				return err_set(e, ST_USAGE,
					       "devices '%s' and '%s' share cores, cannot take "
					       "turns, and would disturb each other; give them "
					       "different cores (cpu:LIST, "
					       "cl:P.D:A-B) or say --allow-shared",
					       l->dev[i].name, l->dev[j].name);
	return 0;
}

/* Every class at once, before any driver loads: a driver may load another one. */
static void set_environments(const struct device_list *l)
{
	const char **names = MEM_NEWN(const char *, l->n ? l->n : 1);
	const struct device_class *c;
	for (uint32_t k = 0; (c = device_class_at(k)); k++) {
		uint32_t n = 0;
		for (uint32_t i = 0; i < l->n; i++)
			if (l->dev[i].class == c)
				names[n++] = l->dev[i].name;
		if (n > 0 && c->set_environment)
			c->set_environment(names, n);
	}
	mem_free(names);
}

int device_list_open(struct device_list *l, bool at_once, struct err *e)
{
	l->at_once = at_once;
	set_environments(l);
	for (uint32_t i = 0; i < l->n; i++) {
		struct device *d = &l->dev[i];
		if (d->class->open(d, e) < 0)
			return err_prefix(e, "device '%s'", d->name);
		d->is_open = true;
	}
	for (uint32_t i = 0; i < l->n * l->n; i++) {
		struct device *d = &l->dev[i / l->n];
		if (d->class->take_turns && device_list_turns(l, i / l->n, i % l->n))
			d->class->take_turns(d);
	}
	return at_once ? 0 : refuse_shared(l, e);
}

void device_list_close(struct device_list *l)
{
	for (uint32_t i = 0; i < l->n; i++) {
		struct device *d = &l->dev[i];
		if (d->is_open)
			d->class->close(d);
		mem_free(d->cpus);
	}
	mem_free(l->dev);
	*l = (struct device_list){0};
}

void device_list_machine(void (*fn)(void *arg, const struct device *d), void *arg)
{
	const struct device_class *c;
	for (uint32_t i = 0; (c = device_class_at(i)); i++)
		c->list_machine(fn, arg);
}

/* A list of names that grows. */
struct names {
	char *dst;
	size_t cap;
};

static void add_name(struct names *l, const char *name)
{
	size_t n = strlen(l->dst);
	snprintf(l->dst + n, l->cap - n, "%s%s", n ? "," : "", name);
}

static bool is_all_cores(const struct device *d)
{
	return d->class->all_cores && strcmp(d->name, d->class->all_cores) == 0;
}

/* Devices as this machine lists them. */
struct found_devices {
	struct names accelerators;
	const char *all_cores; /* the name of the device of all cores; NULL: none */
	int *core, n_cores;    /* its cores */
};

static void note_default(void *arg, const struct device *d)
{
	struct found_devices *f = arg;
	if (d->class->is_default && d->n_cpus == 0 && d->mem_bytes > 0)
		add_name(&f->accelerators, d->name);
	if (is_all_cores(d)) {
		f->all_cores = d->class->all_cores;
		f->n_cores = d->n_cpus;
		f->core = mem_copy(d->cpus, (size_t)d->n_cpus, sizeof *d->cpus);
	}
}

/* "cpu:A,B,..." for cores first .. last - 1 of f. */
static void add_cores(const struct found_devices *f, int first, int last)
{
	struct names l = f->accelerators;
	for (int i = first; i < last; i++) {
		char text[80];
		snprintf(text, sizeof text, i == first ? "%s:%d" : "%.0s%d", f->all_cores,
			 f->core[i]);
		add_name(&l, text);
	}
}

static const char precision_key[] = "/precision=";

bool device_is_f32(const struct device *d)
{
	return devs_name_is_f32(d->name);
}

/* The device of all cores in int8, where it can be opened. */
static void add_int8(const struct found_devices *f)
{
	struct names l = f->accelerators;
	struct device_list one = {0};
	struct err e = ERR_INIT;
	char text[80];
	snprintf(text, sizeof text, "%s%sint8", f->all_cores, precision_key);
	if (device_list_parse(text, &one, &e) == 0 && device_list_open(&one, true, &e) == 0)
		add_name(&l, text);
	device_list_close(&one);
}

char *device_list_default(char *dst, size_t cap, bool quantised)
{
	struct found_devices f = {.accelerators = {dst, cap}};
	const struct device_class *c;
	dst[0] = '\0';
	for (uint32_t i = 0; (c = device_class_at(i)); i++)
		if (c->is_default || c->all_cores)
			c->list_machine(note_default, &f);
	if (f.all_cores && (dst[0] || f.n_cores < 2)) {
		add_name(&f.accelerators, f.all_cores);
	} else if (f.all_cores) {
		add_cores(&f, 0, f.n_cores / 2);
		add_cores(&f, f.n_cores / 2, f.n_cores);
		add_name(&f.accelerators, f.all_cores);
	}
	if (f.all_cores && quantised)
		add_int8(&f);
	mem_free(f.core);
	return dst;
}

static void add_whole(void *arg, const struct device *d)
{
	if (!d->class->all_cores || is_all_cores(d))
		add_name(arg, d->name);
}

char *device_list_whole(char *dst, size_t cap)
{
	struct names l = {dst, cap};
	dst[0] = '\0';
	device_list_machine(add_whole, &l);
	return dst;
}

char *device_list_precision(const char *list, const char *precision)
{
	size_t commas = 1;
	for (const char *c = list; *c; c++)
		commas += *c == ',';
	size_t cap = strlen(list) + commas * (strlen(precision) + sizeof precision_key) + 1,
	       len = 0;
	char *all = mem_alloc(cap, 1);
	while (*list) {
		size_t n = devs_name_length(list);
		char *name = mem_copy(list, n + 1, 1);
		name[n] = '\0';
		const struct device_class *c = device_class_of_name(name);
		bool add = c && has_word(c->precisions, precision) && !strchr(name, '/');
		len += (size_t)snprintf(all + len, cap - len, "%s%s%s", name,
					add ? precision_key : "", add ? precision : "");
		mem_free(name);
		list += n;
		if (*list == ',')
			all[len++] = *list++;
	}
	all[len] = '\0';
	return all;
}

/* Can it be opened, and is it faster there? */
static bool is_fast(const char *name, const char *precision)
{
	const struct device_class *c = device_class_of_name(name);
	struct device_list one = {0};
	struct err e = ERR_INIT;
	bool fast = c && has_word(c->precisions, precision) &&
		    (!c->is_fast || c->is_fast(precision)) &&
		    device_list_parse(name, &one, &e) == 0 && device_list_open(&one, true, &e) == 0;
	device_list_close(&one);
	return fast;
}

char *device_list_reduced(const char *list, bool quantised)
{
	static const char *const precisions[] = {"bf16", "int8"};
	enum { N = sizeof precisions / sizeof *precisions };
	size_t commas = 1;
	for (const char *c = list; *c; c++)
		commas += *c == ',';
	struct names all = {.cap = (1 + N) * (strlen(list) + commas * NAME_MOST) + 1};
	struct arena *a = arena_new();
	struct err e = ERR_INIT;
	struct devs d;
	all.dst = mem_alloc(all.cap, 1);
	snprintf(all.dst, all.cap, "%s", list);
	for (uint32_t p = 0; p < N && devs_from_list(list, a, &d, &e) == 0; p++)
		for (uint32_t i = 0; i < d.k && (p == 0 || quantised); i++) {
			char name[NAME_MOST];
			int n = snprintf(name, sizeof name, "%s%s%s", d.names[i], precision_key,
					 precisions[p]);
			if (!strchr(d.names[i], '/') && n < NAME_MOST && devs_find(&d, name) < 0 &&
			    is_fast(name, precisions[p]))
				add_name(&all, name);
		}
	arena_free(a);
	return all.dst;
}

struct device_limit {
	uint64_t mem_limit;
	struct headroom_item headroom;
};

struct device_limit *device_list_lift(struct device_list *l)
{
	struct device_limit *limits = MEM_NEWN(struct device_limit, (size_t)l->n + 1);
	for (uint32_t d = 0; d < l->n; d++) {
		limits[d] = (struct device_limit){l->dev[d].mem_limit, l->dev[d].headroom};
		l->dev[d].mem_limit = 0;
		l->dev[d].headroom = (struct headroom_item){0};
	}
	return limits;
}

void device_list_restore(struct device_list *l, struct device_limit *limits)
{
	for (uint32_t d = 0; d < l->n; d++) {
		l->dev[d].mem_limit = limits[d].mem_limit;
		l->dev[d].headroom = limits[d].headroom;
	}
	mem_free(limits);
}
