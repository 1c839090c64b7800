/* device_list.c - lists of devices: names, opening in the right order, and
 * which of them share cores.  The devices themselves are elsewhere. */
#include "device/device.h"
#include "base/mem.h"
#include "record/devrec.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct device_class *class_of(const char *name)
{
	if (strcmp(name, "cpu") == 0 || strncmp(name, "cpu:", 4) == 0)
		return &cpu_device_class;
	if (strncmp(name, "cl:", 3) == 0)
		return &opencl_device_class;
	if (strncmp(name, "ov:", 3) == 0)
		return &openvino_device_class;
	return NULL;
}

static int init_device(struct device *d, const char *name, struct err *e)
{
	char q[120];
	*d = (struct device){.class = class_of(name), .align = 64};
	if (!d->class)
		return err_set(e, ST_USAGE,
			       "unknown device '%s'; cpu, cpu:LIST, cl:P.D or "
			       "ov:NAME (devrun --list shows this machine's)",
			       err_escape(q, sizeof q, name, strlen(name)));
	if (strlen(name) >= sizeof d->name)
		return err_set(e, ST_USAGE, "device name '%s' is too long",
			       err_escape(q, sizeof q, name, strlen(name)));
	strcpy(d->name, name);
	if (d->class == &opencl_device_class)
		return opencl_name_check(name, e);
	if (d->class == &openvino_device_class)
		return openvino_name_check(name, e);
	return cpu_name_check(name, e);
}

int device_list_names(const char *const *names, uint32_t n, struct device_list *out, struct err *e)
{
	out->n = 0;
	out->dev = MEM_NEWN(struct device, n ? n : 1);
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

uint64_t device_memory(const struct device *d)
{
	return d->mem_limit > 0 && (d->mem_limit < d->mem_bytes || d->mem_bytes == 0)
		       ? d->mem_limit
		       : d->mem_bytes;
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

/* Names may have commas (cpu:0,2=1G), so they are looked for, not cut out. */
int device_list_limit(struct device_list *l, const char *text, struct err *e)
{
	const char *s = text;
	char q[200];
	while (*s) {
		struct device *d = NULL;
		for (uint32_t i = 0; i < l->n && !d; i++) {
			size_t n = strlen(l->dev[i].name);
			if (strncmp(s, l->dev[i].name, n) == 0 && s[n] == '=') {
				d = &l->dev[i];
				s += n + 1;
			}
		}
		if (!d || !(s = parse_bytes(s, &d->mem_limit)))
			return err_set(e, ST_USAGE, "memory '%s': %s, as in cpu:0=512M,cl:0.0=2G",
				       err_escape(q, sizeof q, text, strlen(text)),
				       d ? "not a number of bytes with K, M or G"
					 : "not a limit of one of the devices");
		s += *s == ',';
	}
	return 0;
}

int device_list_find(const struct device_list *l, const char *name)
{
	for (uint32_t d = 0; d < l->n; d++)
		if (strcmp(l->dev[d].name, name) == 0)
			return (int)d;
	return -1;
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

static int refuse_shared(const struct device_list *l, struct err *e)
{
	for (uint32_t i = 0; i < l->n; i++)
		for (uint32_t j = i + 1; j < l->n; j++)
			if (device_shares_cores(&l->dev[i], &l->dev[j]))
				return err_set(
					e, ST_USAGE,
					"devices '%s' and '%s' share cores and would "
					"disturb each other; give them different cores (cpu:LIST, "
					"cl:P.D:A-B) or say --allow-shared",
					l->dev[i].name, l->dev[j].name);
	return 0;
}

int device_list_open(struct device_list *l, bool allow_shared, struct err *e)
{
	const char **cl = MEM_NEWN(const char *, l->n ? l->n : 1);
	uint32_t n_cl = 0;
	for (uint32_t i = 0; i < l->n; i++)
		if (l->dev[i].class == &opencl_device_class)
			cl[n_cl++] = l->dev[i].name;
	if (n_cl > 0)
		opencl_arrange(cl, n_cl);
	mem_free(cl);
	for (uint32_t i = 0; i < l->n; i++) {
		struct device *d = &l->dev[i];
		if (d->class->open(d, e) < 0)
			return err_prefix(e, "device '%s'", d->name);
		d->is_open = true;
	}
	return allow_shared ? 0 : refuse_shared(l, e);
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
	cpu_list_machine(fn, arg);
	opencl_list_machine(fn, arg);
	openvino_list_machine(fn, arg);
}

struct found {
	char *dst;
	size_t cap;
	int core[2048];
	int n_cores;
	bool accelerator;
};

static void find_one(void *arg, const struct device *d)
{
	struct found *f = arg;
	size_t n = strlen(f->dst);
	if (d->class == &opencl_device_class && d->n_cpus == 0 && d->mem_bytes > 0) {
		snprintf(f->dst + n, f->cap - n, ",%s", d->name);
		f->accelerator = true;
	}
	if (strcmp(d->name, "cpu") == 0)
		for (int i = 0; i < d->n_cpus && i < 2048; i++)
			f->core[f->n_cores++] = d->cpus[i];
}

/* ",cpu:A,B,..." for cores first .. last - 1 of the list. */
static void add_cores(struct found *f, int first, int last)
{
	for (int i = first; i < last; i++) {
		size_t n = strlen(f->dst);
		snprintf(f->dst + n, f->cap - n, i == first ? ",cpu:%d" : ",%d", f->core[i]);
	}
}

char *device_list_default(char *dst, size_t cap)
{
	struct found *f = MEM_NEW(struct found);
	f->dst = dst;
	f->cap = cap;
	dst[0] = '\0';
	cpu_list_machine(find_one, f);
	opencl_list_machine(find_one, f);
	size_t n = strlen(dst);
	if (f->accelerator || f->n_cores < 2) {
		snprintf(dst + n, cap - n, ",cpu");
	} else {
		add_cores(f, 0, f->n_cores / 2);
		add_cores(f, f->n_cores / 2, f->n_cores);
	}
	mem_free(f);
	memmove(dst, dst + 1, strlen(dst));
	return dst;
}
