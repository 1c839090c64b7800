/* machine_spec.c - reading specifications of machines. */
#include "machine/machine_spec.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/opt.h"

enum { MAX_FILE = 1 << 16, MAX_DEPTH = 4, MAX_ITEM = 4096 };

const struct machine_preset machine_presets[] = {
	{"exact", "profiled costs are true, nothing disturbs", ""},
	{"near", "true costs near the profiled ones, nothing disturbs",
	 "device_error=0.03 kind_error=0.1 set_error=0.1 cell_error=0.05 saving_error=0.3 "
	 "link_error=0.2 rate_error=0.2 handover=2e-6 slowdown=0.03 beside=0.02"},
	{"calm", "near, at rest: an idle desktop computer",
	 "near noise=0.01 drift=0.01 drift_s=30 cold=0.03"},
	{"shared", "as measured on two cores of a shared host",
	 "near longer=0.12 handover=5e-6 slowdown=0.06 beside=0.05 wake=5e-6 wake_after=1e-4 "
	 "noise=0.03 drift=0.2 drift_s=30 bursts=0.1 burst_s=1 burst_slow=3 cold=0.12"},
	{"wild", "shared, with costs far from the profiled ones",
	 "shared device_error=0.1 kind_error=0.3 set_error=0.3 cell_error=0.2 link_error=0.5 "
	 "rate_error=0.5 handover=2e-5 slowdown=0.15 noise=0.08 drift=0.3 bursts=0.3"},
	{NULL, NULL, NULL}};

#define KEY(name, field, about, lo, hi) \
	{ \
		name, about, lo, hi, offsetof(struct machine_spec, field) \
	}
const struct machine_key machine_keys[] = {
	KEY("longer", longer, "share that everything computes longer", -0.9, 100),
	KEY("device_error", device_error, "error of all times of a device", 0, 10),
	KEY("kind_error", kind_error, "error of an operator type on a device", 0, 10),
	KEY("set_error", set_error, "error of a set, on all devices alike", 0, 10),
	KEY("cell_error", cell_error, "error of a set on a device", 0, 10),
	KEY("saving_error", saving_error, "error of what neighbours save", 0, 10),
	KEY("saves", saves, "share that a set saves beside what it reads, if untold", 0, 1),
	KEY("link_error", link_error, "error of a link's latency", 0, 10),
	KEY("rate_error", rate_error, "error of a link's rate", 0, 10),
	KEY("handover", handover_s, "seconds that a set waits for what was copied", 0, 1e3),
	KEY("slowdown", slowdown, "more seconds per second that devices share", 0, 1),
	KEY("beside", beside, "share longer, at most, where several devices are in use", 0, 100),
	KEY("wake", wake_s, "seconds that an idle device takes to begin", 0, 1e3),
	KEY("wake_after", wake_after_s, "seconds after which it is idle", 0, 1e6),
	KEY("noise", noise, "of a run", 0, 10),
	KEY("drift", drift, "of a device's speed, in the long run", 0, 10),
	KEY("drift_s", drift_s, "seconds in which a speed is forgotten", 1e-3, 1e9),
	KEY("bursts", bursts_per_s, "in a second in which a device is shared", 0, 100),
	KEY("burst_s", burst_s, "seconds of one, in the mean", 1e-3, 1e4),
	KEY("burst_slow", burst_slow, "how many times as long all takes then", 1, 1e4),
	KEY("cold", cold, "share longer behind another placement", 0, 100),
	KEY("prepare", prepare_s, "seconds before a placement's first run", 0, 1e6),
	KEY("seed", seed, "of what is true (default: --seed)", 0, 4294967295),
	KEY("happenings", happenings, "seed of what happens (0: seed)", 0, 4294967295),
	{NULL, NULL, 0, 0, 0}};

/* Where items come from. */
struct source {
	const char *origin; /* NULL: the command line */
	int depth;
};

static int read_items(const char *text, size_t n, struct source from, struct machine_spec *out,
		      struct err *e);

static int read_key(const char *item, size_t name, struct machine_spec *out, struct err *e)
{
	for (const struct machine_key *k = machine_keys; k->name; k++)
		if (strlen(k->name) == name && memcmp(k->name, item, name) == 0)
			return opt_real(item + name + 1, k->name, k->lo, k->hi,
					(double *)((char *)out + k->at), e);
	char key[80];
	struct err_near near = {.name = key};
	snprintf(key, sizeof key, "%.*s", (int)name, item);
	for (const struct machine_key *k = machine_keys; k->name; k++)
		err_offer(&near, k->name);
	return err_unknown(e, ST_USAGE, &near, "devsim --help-all lists them",
			   "a machine has no key '%s'", key);
}

static int read_file(const char *path, int depth, struct machine_spec *out, struct err *e)
{
	FILE *f = fopen(path, "re");
	char *text = MEM_NEWN(char, MAX_FILE + 1);
	size_t n = f ? fread(text, 1, MAX_FILE + 1, f) : 0;
	int rc;
	struct err_near near = {.name = path};
	for (const struct machine_preset *p = machine_presets; p->name; p++)
		err_offer(&near, p->name);
	if (!f || ferror(f))
		rc = err_unknown(e, ST_USAGE, &near, "devsim --help-all lists machines",
				 "'%s' is neither a machine nor a file that can be read", path);
	else if (n > MAX_FILE || memchr(text, 0, n))
		rc = err_set(e, ST_INPUT, "'%s' does not describe a machine", path);
	else
		rc = read_items(text, n, (struct source){path, depth}, out, e);
	if (f)
		fclose(f);
	mem_free(text);
	return rc;
}

static int read_item(const char *item, struct source from, struct machine_spec *out, struct err *e)
{
	const char *equals = strchr(item, '=');
	if (equals)
		return read_key(item, (size_t)(equals - item), out, e);
	for (const struct machine_preset *p = machine_presets; p->name; p++)
		if (strcmp(p->name, item) == 0)
			return read_items(p->text, strlen(p->text), (struct source){p->name, 0},
					  out, e);
	if (from.depth >= MAX_DEPTH)
		return err_set(e, ST_INPUT, "files of machines name each other");
	return read_file(item, from.depth + 1, out, e);
}

static int read_items(const char *text, size_t n, struct source from, struct machine_spec *out,
		      struct err *e)
{
	const char *between = from.origin ? " \t\r\n" : ",";
	char item[MAX_ITEM];
	for (size_t i = 0; i < n;) {
		size_t begin = i;
		if (from.origin && text[i] == '#') {
			while (i < n && text[i] != '\n')
				i++;
			continue;
		}
		while (i < n && !strchr(between, text[i]) && (!from.origin || text[i] != '#'))
			i++;
		if (i - begin >= sizeof item)
			return err_set(e, ST_USAGE, "too long a part of a machine");
		memcpy(item, text + begin, i - begin);
		item[i - begin] = '\0';
		if (i > begin && read_item(item, from, out, e) < 0) {
			if (!from.origin)
				return -1;
			e->code = ST_INPUT;
			return err_prefix(e, "%s", from.origin);
		}
		i += i < n && strchr(between, text[i]) != NULL;
	}
	return 0;
}

int machine_spec_parse(const char *list, int64_t seed, struct machine_spec *out, struct err *e)
{
	*out = (struct machine_spec){
		.drift_s = 30, .burst_s = 1, .burst_slow = 1, .seed = (double)seed};
	if (!*list)
		return err_set(e, ST_USAGE, "no machine; devsim --help-all lists them");
	return read_items(list, strlen(list), (struct source){NULL, 0}, out, e);
}
